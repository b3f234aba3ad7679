#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "report/change_text.h"
#include "report/comparison_grid.h"

namespace shard {
namespace {

constexpr std::size_t most_rows = 20;

/// Arrays that changed alike in some set, and that set's change.
struct SpecRow {
  const ArrayChange* change = nullptr;
  std::vector<const ArrayChange*> by_set;  ///< of the same arrays; null: none is of just these
  Bytes worst;
};

std::string key_of(const ArrayChange& change) {
  std::string key = change.names.front() + '\n' + std::to_string(change.names.size());
  for (const std::string& slot : change.slots) key += '\n' + slot;
  return key;
}

std::vector<SpecRow> rows_of(const ComparedMesh& mesh) {
  std::vector<SpecRow> rows;
  std::map<std::string, std::vector<std::size_t>> rows_of_key;
  for (std::size_t set = 1; set < mesh.sets.size(); ++set) {
    for (const ArrayChange& change : mesh.sets[set].against_base.arrays) {
      std::vector<std::size_t>& alike = rows_of_key[key_of(change)];
      const auto same = std::find_if(alike.begin(), alike.end(), [&](std::size_t row) {
        return rows[row].change->names == change.names;
      });
      if (same == alike.end()) {
        alike.push_back(rows.size());
        rows.push_back(
            {&change, std::vector<const ArrayChange*>(mesh.sets.size()), change.total()});
        rows.back().by_set[set] = &change;
      } else {
        rows[*same].by_set[set] = &change;
        rows[*same].worst = std::max(rows[*same].worst, change.total());
      }
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const SpecRow& a, const SpecRow& b) { return a.worst > b.worst; });
  return rows;
}

std::string state_text(const std::optional<ArrayState>& state) {
  return state ? state->spec : "none";
}

GridCell cell_of(const ArrayChange& change) {
  const std::optional<Bytes> each = change.each();
  return {state_text(change.after), each ? signed_bytes(*each) : "?"};
}

/// A set that has no change of just these arrays: none of them changed, or some did with others.
/// Arrays of one change differ in numbers only, so most changes are told apart by one name.
GridCell cell_of(const SpecRow& row, const std::vector<ArrayChange>& changes) {
  const std::string pattern = number_pattern(row.change->names.front());
  std::unordered_set<std::string_view> names;
  for (const ArrayChange& change : changes) {
    if (number_pattern(change.names.front()) != pattern) continue;
    if (names.empty()) names.insert(row.change->names.begin(), row.change->names.end());
    const bool is_shared =
        std::any_of(change.names.begin(), change.names.end(),
                    [&](const std::string& name) { return names.contains(name); });
    if (is_shared) return {"not alike", ""};
  }
  return {"=", ""};
}

}  // namespace

SpecRows spec_rows(const ComparedMesh& mesh, const Layout& layout) {
  const std::vector<SpecRow> rows = rows_of(mesh);
  const std::size_t shown = layout.unfold ? rows.size() : std::min(rows.size(), most_rows);
  SpecRows made;
  made.left_out = rows.size() - shown;
  for (std::size_t i = 0; i < shown; ++i) {
    const SpecRow& row = rows[i];
    GridRow grid{change_name(*row.change), {{state_text(row.change->before), ""}}};
    for (std::size_t set = 1; set < mesh.sets.size(); ++set) {
      if (row.by_set[set] != nullptr) {
        grid.cells.push_back(cell_of(*row.by_set[set]));
      } else {
        grid.cells.push_back(cell_of(row, mesh.sets[set].against_base.arrays));
      }
    }
    made.rows.push_back(std::move(grid));
  }
  return made;
}

}  // namespace shard
