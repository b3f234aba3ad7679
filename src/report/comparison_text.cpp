#include <fmt/format.h>

#include "report/comparison_grid.h"
#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

std::string base_title(const ComparedMesh& mesh) { return mesh.sets.front().title + " (base)"; }

/// One column for the base, two for every other set: what it has and how that stands to the base.
Table table_of(const ComparedMesh& mesh, const std::string& corner, const std::string& base,
               bool numbers) {
  std::vector<Column> columns = {{corner}, {base, numbers}};
  for (std::size_t set = 1; set < mesh.sets.size(); ++set) {
    columns.push_back({mesh.sets[set].title, numbers});
    columns.push_back({"", true});
  }
  return Table(std::move(columns));
}

void add_rows(Table& table, const std::vector<GridRow>& rows) {
  for (const GridRow& row : rows) {
    std::vector<std::string> cells = {row.label, row.cells.front().value};
    for (std::size_t set = 1; set < row.cells.size(); ++set) {
      cells.push_back(row.cells[set].value);
      cells.push_back(row.cells[set].beside);
    }
    table.add(std::move(cells));
  }
}

std::string specs_text(const ComparedMesh& mesh, const Layout& layout) {
  if (mesh.sets.size() < 2) return "";
  const SpecRows specs = spec_rows(mesh, layout);
  if (specs.rows.empty()) return "\nSPECS  all effective specs and bytes are equal\n";
  Table table = table_of(mesh, "SPECS THAT DIFFER, B/device each", mesh.sets.front().title, false);
  add_rows(table, specs.rows);
  std::string text = "\n" + table.render(layout.width, layout.color);
  if (specs.left_out > 0) {
    text += fmt::format("and {} more kinds of difference; --all shows them\n", specs.left_out);
  }
  return text;
}

std::string findings_text(const ComparedMesh& mesh) {
  std::string text;
  for (const FindingLine& line : finding_lines(mesh)) text += line.sets + ": " + line.text + '\n';
  return text;
}

/// What no set of a model without a program, or of arrays without sizes, can say.
std::string unknown_lines(const ComparedMesh& mesh) {
  const LayoutRecord& record = mesh.sets.front().record;
  if (record.collectives) return "";
  std::string text =
      "collectives and peak are not known: the model is a list of arrays, without a program\n";
  if (const std::int64_t count = state_bytes(record).without_type; count > 0) {
    text += counted(count, "array") + " without sizes are not in the bytes\n";
  }
  return text;
}

std::string verdict(const Comparison& comparison) {
  const std::vector<std::string> failures = failures_of(comparison);
  std::string text;
  for (const std::string& failure : failures) text += "compare failed: " + failure + '\n';
  if (!failures.empty()) return text;
  std::size_t others = 0;
  std::size_t different = 0;
  for (const ComparedMesh& mesh : comparison.meshes) {
    others += mesh.sets.size() - 1;
    for (const ComparedSet& set : mesh.sets) different += set.against_base.is_change() ? 1 : 0;
  }
  if (others == 0) return "compare ok: one rule set, nothing to hold it against\n";
  return fmt::format("compare ok: {} of {} differ from the base\n", different, others);
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Layout& layout) {
  std::string text;
  for (const ComparedMesh& mesh : comparison.meshes) {
    if (!text.empty()) text += '\n';
    Table figures = table_of(mesh, comparison.model, base_title(mesh), true);
    add_rows(figures, figure_rows(mesh, layout));
    text += figures.render(layout.width, layout.color) + unknown_lines(mesh) +
            specs_text(mesh, layout) + findings_text(mesh);
  }
  return text + verdict(comparison);
}

}  // namespace shard
