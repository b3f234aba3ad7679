#include <algorithm>
#include <numeric>

#include "model/range_names.h"
#include "report/fold.h"
#include "report/rows.h"

namespace shard {
namespace {

/// One of the arrays that a row stands for.
struct Instance {
  std::size_t row = 0;
  std::int64_t number = 0;
};

/// Neighbours that stand for equally many arrays are of the same iterations: one after another.
std::vector<Instance> by_iteration(const std::vector<ArrayRow>& rows) {
  std::vector<Instance> order;
  for (std::size_t first = 0; first < rows.size();) {
    const std::int64_t count = rows[first].instances;
    std::size_t end = first + 1;
    while (count > 1 && end < rows.size() && rows[end].instances == count) ++end;
    for (std::int64_t number = 0; number < count; ++number) {
      for (std::size_t row = first; row < end; ++row) order.push_back({row, number});
    }
    first = end;
  }
  return order;
}

/// Leaves with the same answer stand together and are sorted by path: the parameters, their
/// gradients, and each tree of the optimizer that mirrors them. Empty for what is no such leaf.
std::string tree_of(const ArrayRow& row) {
  if (row.role == Role::parameter) return "params";
  if (row.role == Role::gradient) return "grads";
  if (row.role != Role::optimizer) return "";
  std::size_t end = 0;
  for (int part = 0; part < 3 && end != std::string::npos; ++part)
    end = row.name.find('/', end + 1);
  return end == std::string::npos ? "" : row.name.substr(0, end);
}

/// Flax sorts dicts by key: paths compare part by part.
bool flattens_before(const std::string& a, const std::string& b) {
  const auto rank = [](char c) { return c == '/' ? 0 : 1 + static_cast<unsigned char>(c); };
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [&](char x, char y) { return rank(x) < rank(y); });
}

/// Written-out leaves of the state in the order of a train state, where block 10 precedes block 2.
void sort_trees(std::vector<Instance>& order, const std::vector<ArrayRow>& rows,
                const std::vector<std::vector<std::string>>& names) {
  const auto name = [&](const Instance& one) -> const std::string& {
    return names[one.row][static_cast<std::size_t>(one.number)];
  };
  std::vector<std::string> trees;
  for (const ArrayRow& row : rows) trees.push_back(tree_of(row));
  for (auto first = order.begin(); first != order.end();) {
    const std::string& tree = trees[first->row];
    const auto end = std::find_if(first, order.end(),
                                  [&](const Instance& one) { return trees[one.row] != tree; });
    if (!tree.empty()) {
      std::stable_sort(first, end, [&](const Instance& a, const Instance& b) {
        return flattens_before(name(a), name(b));
      });
    }
    first = end;
  }
}

ArrayRow row_of(const ArrayRow& row, const std::string& name, std::int64_t instance) {
  ArrayRow one = row;
  one.name = name;
  one.instances = 1;
  for (Clause& clause : one.why) clause.name = narrowed(clause.name, instance, 1);
  return one;
}

}  // namespace

std::vector<ArrayRow> unfolded(const std::vector<ArrayRow>& rows) {
  const bool is_folded =
      std::any_of(rows.begin(), rows.end(), [](const ArrayRow& row) { return row.instances > 1; });
  if (!is_folded) return rows;
  std::vector<std::vector<std::string>> names;
  for (const ArrayRow& row : rows) names.push_back(unfold_name(row.name));
  std::vector<Instance> order = by_iteration(rows);
  sort_trees(order, rows, names);
  std::vector<ArrayRow> all;
  std::vector<std::vector<int>> position(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    position[row].resize(static_cast<std::size_t>(rows[row].instances));
  }
  for (const Instance& one : order) {
    const auto number = static_cast<std::size_t>(one.number);
    position[one.row][number] = static_cast<int>(all.size());
    all.push_back(rows[one.row].instances == 1
                      ? rows[one.row]
                      : row_of(rows[one.row], names[one.row][number], one.number));
  }
  // A slot follows the same instance of its parameter.
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (all[i].follows < 0) continue;
    all[i].follows = position[static_cast<std::size_t>(all[i].follows)]
                             [static_cast<std::size_t>(order[i].number)];
  }
  return all;
}

}  // namespace shard
