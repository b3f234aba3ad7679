#include "report/fold.h"
#include "report/rows.h"

namespace shard {
namespace {

/// The `instance`-th of the names that `name` stands for, when those are as many as the row's.
std::string name_of_instance(const std::string& name, std::int64_t instance, std::int64_t of) {
  if (of == 1 || count_names(name) != of) return name;
  return unfold_name(name)[static_cast<std::size_t>(instance)];
}

}  // namespace

std::vector<ArrayRow> unfolded(const std::vector<ArrayRow>& rows) {
  std::vector<ArrayRow> all;
  std::vector<std::size_t> first_of;
  for (const ArrayRow& row : rows) {
    first_of.push_back(all.size());
    const std::vector<std::string> names =
        row.instances == 1 ? std::vector<std::string>{row.name} : unfold_name(row.name);
    for (std::size_t instance = 0; instance < names.size(); ++instance) {
      ArrayRow one = row;
      one.name = names[instance];
      one.instances = 1;
      const auto at = static_cast<std::int64_t>(instance);
      for (Clause& clause : one.why) {
        clause.name = name_of_instance(clause.name, at, row.instances);
      }
      all.push_back(std::move(one));
    }
  }
  // A slot follows the same instance of its parameter, which may stand behind it.
  for (std::size_t position = 0, row = 0; row < rows.size(); ++row) {
    const int follows = rows[row].follows;
    for (std::int64_t instance = 0; instance < rows[row].instances; ++instance, ++position) {
      if (follows < 0) continue;
      const auto target = static_cast<std::size_t>(follows);
      const std::int64_t same = rows[target].instances == rows[row].instances ? instance : 0;
      all[position].follows = static_cast<int>(first_of[target]) + static_cast<int>(same);
    }
  }
  return all;
}

}  // namespace shard
