#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "report/change_text.h"
#include "report/comparison_grid.h"
#include "report/rows.h"
#include "report/sections.h"

namespace shard {
namespace {

/// A figure in bytes that the sets are compared by.
struct ByteRow {
  std::string label;
  std::function<std::optional<Bytes>(const LayoutRecord&)> of;
};

/// Nothing where no array's bytes are known.
std::optional<Bytes> state_of(const LayoutRecord& record) {
  const StateBytes state = state_bytes(record);
  if (state.bytes == Bytes(0) && state.without_type > 0) return {};
  return state.bytes;
}

std::optional<Bytes> role_bytes(const LayoutRecord& record, Role role) {
  const auto bytes = bytes_by_role(record);
  const auto found = bytes.find(role);
  if (found == bytes.end()) return {};
  return found->second;
}

std::optional<Bytes> peak_part(const LayoutRecord& record, Category category) {
  const auto found =
      std::find_if(record.at_peak.begin(), record.at_peak.end(),
                   [&](const CategoryBytes& one) { return one.category == category; });
  if (found == record.at_peak.end()) return {};
  return found->bytes;
}

std::optional<Bytes> link_bytes(const LayoutRecord& record, LinkClass link) {
  const auto wire = wire_by_link(record);
  if (!wire) return {};
  const auto found = wire->find(link);
  if (found == wire->end()) return {};
  return found->second;
}

GridRow byte_row(const ComparedMesh& mesh, const Layout& layout, const ByteRow& row) {
  GridRow made{row.label, {}};
  const std::optional<Bytes> base = row.of(mesh.sets.front().record);
  for (const ComparedSet& set : mesh.sets) {
    const std::optional<Bytes> bytes = row.of(set.record);
    GridCell cell;
    cell.value = bytes ? bytes_text(layout, *bytes) : "-";
    const bool is_base = &set == &mesh.sets.front();
    if (!is_base && bytes && base) cell.beside = ratio_text(*base, *bytes);
    made.cells.push_back(std::move(cell));
  }
  return made;
}

bool is_empty(const GridRow& row) {
  return std::all_of(row.cells.begin(), row.cells.end(),
                     [](const GridCell& cell) { return cell.value == "-"; });
}

void add_bytes(const ComparedMesh& mesh, const Layout& layout, const std::vector<ByteRow>& wanted,
               std::vector<GridRow>& rows) {
  for (const ByteRow& row : wanted) {
    GridRow made = byte_row(mesh, layout, row);
    if (!is_empty(made)) rows.push_back(std::move(made));
  }
}

/// One row per set of things that any of the records has, one text per record.
GridRow text_row(const ComparedMesh& mesh, std::string label,
                 const std::function<std::string(const ComparedSet&)>& text) {
  GridRow row{std::move(label), {}};
  for (const ComparedSet& set : mesh.sets) row.cells.push_back({text(set), ""});
  return row;
}

std::string mesh_words(const std::string& mesh) {
  std::string words;
  for (const char c : mesh)
    words += c == ',' ? std::string(" x ") : std::string(1, c == '=' ? ' ' : c);
  return words;
}

/// `all_reduce data` with `8 x 1,048,576` for each set.
void add_collectives(const ComparedMesh& mesh, std::vector<GridRow>& rows) {
  std::vector<std::pair<CollectiveKind, std::string>> keys;
  for (const ComparedSet& set : mesh.sets) {
    if (!set.record.collectives) continue;
    for (const CollectiveUse& use : *set.record.collectives) {
      const std::pair key{use.kind, use.axes};
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  for (const auto& [kind, axes] : keys) {
    rows.push_back(
        text_row(mesh, fmt::format("  {} {}", name_of(kind), axes), [&](const ComparedSet& set) {
          if (!set.record.collectives) return std::string("?");
          const auto amounts = amounts_of(*set.record.collectives, kind, axes);
          return amounts.empty() ? std::string("-") : amounts_text(amounts);
        }));
  }
}

std::string findings_text(const LayoutRecord& record) {
  const std::int64_t errors = count_findings(record, Severity::error);
  const std::int64_t warnings = count_findings(record, Severity::warning) - errors;
  std::string text = errors > 0 ? counted(errors, "error") : "";
  if (warnings > 0) text += (text.empty() ? "" : ", ") + counted(warnings, "warning");
  return text.empty() ? "0" : text;
}

std::string time_text(const ComparedSet& set) {
  if (!set.step_time) return "?";
  return fmt::format("{:.2f} ± {:.2f}", 1e3 * set.step_time->mean.value,
                     1e3 * set.step_time->deviation.value);
}

void add_times(const ComparedMesh& mesh, std::vector<GridRow>& rows) {
  const bool any = std::any_of(mesh.sets.begin(), mesh.sets.end(),
                               [](const ComparedSet& set) { return set.step_time.has_value(); });
  if (!any) return;
  GridRow row = text_row(mesh, "ms per step, measured", time_text);
  const auto& base = mesh.sets.front().step_time;
  for (std::size_t i = 1; base && i < mesh.sets.size(); ++i) {
    if (!mesh.sets[i].step_time) continue;
    row.cells[i].beside =
        fmt::format("x{:.2f}", mesh.sets[i].step_time->mean.value / base->mean.value);
  }
  rows.push_back(std::move(row));
}

void add_fits(const ComparedMesh& mesh, std::vector<GridRow>& rows) {
  const bool any = std::any_of(mesh.sets.begin(), mesh.sets.end(),
                               [](const ComparedSet& set) { return set.record.fit.has_value(); });
  if (!any) return;
  rows.push_back(text_row(mesh, "fits", [](const ComparedSet& set) {
    if (!set.record.fit) return std::string("?");
    return std::string(set.record.fit->fits() ? "yes" : "NO");
  }));
}

const std::vector<ByteRow>& state_figures() {
  static const std::vector<ByteRow> rows = {
      {"state B/device", state_of},
      {"  parameters", [](const LayoutRecord& r) { return role_bytes(r, Role::parameter); }},
      {"  optimizer", [](const LayoutRecord& r) { return role_bytes(r, Role::optimizer); }},
      {"replicated B/device",
       [](const LayoutRecord& r) { return std::optional<Bytes>(replicated_bytes(r)); }},
  };
  return rows;
}

const std::vector<ByteRow>& link_figures() {
  static const std::vector<ByteRow> rows = {
      {"  inside node", [](const LayoutRecord& r) { return link_bytes(r, LinkClass::node); }},
      {"  over ICI", [](const LayoutRecord& r) { return link_bytes(r, LinkClass::ici); }},
      {"  over DCN", [](const LayoutRecord& r) { return link_bytes(r, LinkClass::dcn); }},
  };
  return rows;
}

const std::vector<ByteRow>& peak_figures() {
  static const std::vector<ByteRow> rows = {
      {"peak B/device", [](const LayoutRecord& r) { return r.peak; }},
      {"  gradients", [](const LayoutRecord& r) { return peak_part(r, Category::gradient); }},
      {"  activations", [](const LayoutRecord& r) { return peak_part(r, Category::activation); }},
      {"  collective buffers",
       [](const LayoutRecord& r) { return peak_part(r, Category::collective); }},
  };
  return rows;
}

}  // namespace

std::vector<GridRow> figure_rows(const ComparedMesh& mesh, const Layout& layout) {
  std::vector<GridRow> rows;
  rows.push_back(
      text_row(mesh, "mesh", [](const ComparedSet& set) { return mesh_words(set.record.mesh); }));
  add_bytes(mesh, layout, state_figures(), rows);
  add_bytes(
      mesh, layout,
      {{"wire B/device, step", [](const LayoutRecord& record) { return wire_bytes(record); }}},
      rows);
  add_collectives(mesh, rows);
  add_bytes(mesh, layout, link_figures(), rows);
  add_bytes(mesh, layout, peak_figures(), rows);
  add_fits(mesh, rows);
  add_times(mesh, rows);
  rows.push_back(
      text_row(mesh, "findings", [](const ComparedSet& set) { return findings_text(set.record); }));
  return rows;
}

std::vector<FindingLine> finding_lines(const ComparedMesh& mesh) {
  std::vector<FindingLine> lines;
  for (const ComparedSet& set : mesh.sets) {
    for (const Finding& finding : set.record.findings) {
      if (finding.severity == Severity::note) continue;
      const std::string text = finding.id + "  " + finding.message;
      const auto same = std::find_if(lines.begin(), lines.end(),
                                     [&](const FindingLine& line) { return line.text == text; });
      if (same == lines.end()) {
        lines.push_back({set.title, text});
      } else {
        same->sets += ", " + set.title;
      }
    }
  }
  return lines;
}

}  // namespace shard
