#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "report/change_text.h"
#include "report/comparison_grid.h"

namespace shard {
namespace {

constexpr std::size_t most_rows = 20;

/// Finds what an array is in one set.
class StateByName {
 public:
  explicit StateByName(const LayoutRecord& record) {
    for (const ArrayLayout& array : record.arrays) {
      for (const std::string& name : array.names->list) arrays_.emplace(name, &array);
    }
  }

  /// Nothing when the set has not got the array.
  std::optional<ArrayState> find(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) return {};
    return ArrayState{found->second->type, found->second->spec, found->second->bytes};
  }

 private:
  std::unordered_map<std::string_view, const ArrayLayout*> arrays_;
};

/// Arrays that changed alike in some set, and that set's change.
struct Row {
  const ArrayChange* change = nullptr;
  std::vector<const ArrayChange*> by_set;  ///< of the same arrays; null: see the set's record
  Bytes worst;
};

std::string key_of(const ArrayChange& change) {
  std::string key = change.names.front() + '\n' + std::to_string(change.names.size());
  for (const std::string& slot : change.slots) key += '\n' + slot;
  return key;
}

std::vector<Row> rows_of(const ComparedMesh& mesh) {
  std::vector<Row> rows;
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
                   [](const Row& a, const Row& b) { return a.worst > b.worst; });
  return rows;
}

std::string state_text(const std::optional<ArrayState>& state) {
  return state ? state->spec : "none";
}

GridCell cell_of(const ArrayChange& change) {
  const std::optional<Bytes> each = change.each();
  return {state_text(change.after), each ? signed_bytes(*each) : "?"};
}

/// A set in which these arrays are as in the base, or in which some of them are not.
GridCell cell_of(const Row& row, const StateByName& states) {
  for (const std::string& name : row.change->names) {
    if (states.find(name) != row.change->before) return {"not alike", ""};
  }
  return {"=", ""};
}

}  // namespace

SpecRows spec_rows(const ComparedMesh& mesh, const Layout& layout) {
  const std::vector<Row> rows = rows_of(mesh);
  const std::size_t shown = layout.unfold ? rows.size() : std::min(rows.size(), most_rows);
  std::map<std::size_t, StateByName> states;
  SpecRows made;
  made.left_out = rows.size() - shown;
  for (std::size_t i = 0; i < shown; ++i) {
    const Row& row = rows[i];
    GridRow grid{change_name(*row.change), {{state_text(row.change->before), ""}}};
    for (std::size_t set = 1; set < mesh.sets.size(); ++set) {
      if (row.by_set[set] != nullptr) {
        grid.cells.push_back(cell_of(*row.by_set[set]));
      } else {
        grid.cells.push_back(
            cell_of(row, states.try_emplace(set, mesh.sets[set].record).first->second));
      }
    }
    made.rows.push_back(std::move(grid));
  }
  return made;
}

}  // namespace shard
