#include <algorithm>
#include <map>
#include <set>

#include "report/fold.h"
#include "report/rows.h"
#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

/// Parameters first, then what belongs to them, then the step counter.
int rank_of(Role role) {
  if (role == Role::parameter || role == Role::activation) return 0;
  return role == Role::optimizer ? 1 : 2;
}

/// Trees that mirror every parameter exactly, in order of appearance, with their members.
struct Mirror {
  std::string tree;
  std::vector<const ArrayRow*> members;
};

std::int64_t arrays_in(const std::vector<const ArrayRow*>& rows) {
  std::int64_t count = 0;
  for (const ArrayRow* row : rows) count += row->instances;
  return count;
}

std::vector<Mirror> mirrors_of(const std::vector<ArrayRow>& rows) {
  std::vector<Mirror> mirrors;
  for (const ArrayRow& row : rows) {
    if (row.follows < 0) continue;
    const std::string tree = optimizer_tree(row, rows[static_cast<std::size_t>(row.follows)]);
    if (tree.empty()) continue;
    auto place = std::find_if(mirrors.begin(), mirrors.end(),
                              [&](const Mirror& mirror) { return mirror.tree == tree; });
    if (place == mirrors.end()) place = mirrors.insert(mirrors.end(), Mirror{tree, {}});
    place->members.push_back(&row);
  }
  std::int64_t parameters = 0;
  for (const ArrayRow& row : rows) parameters += row.role == Role::parameter ? row.instances : 0;
  std::erase_if(mirrors, [&](const Mirror& mirror) {
    return arrays_in(mirror.members) != parameters || parameters < 2;
  });
  return mirrors;
}

/// `opt_state/0/{mu,nu}/... (8 each)`; one tree: `opt_state/0/trace/... (8)`.
std::string mirror_name(const std::vector<Mirror>& mirrors) {
  const std::string& first = mirrors.front().tree;
  const std::string count = with_commas(arrays_in(mirrors.front().members));
  if (mirrors.size() == 1) return first + "/... (" + count + ')';
  const std::size_t owner = first.rfind('/') + 1;
  std::string leaves;
  for (const Mirror& mirror : mirrors) {
    leaves += (leaves.empty() ? "" : ",") + mirror.tree.substr(owner);
  }
  return first.substr(0, owner) + '{' + leaves + "}/... (" + count + " each)";
}

/// `opt_state/0/` of `opt_state/0/mu`.
std::string owner_of(const Mirror& mirror) {
  return mirror.tree.substr(0, mirror.tree.rfind('/') + 1);
}

/// Trees of one owner with one element type stand in one row.
bool stand_together(const Mirror& a, const Mirror& b) {
  const ArrayRow& first = *a.members.front();
  const ArrayRow& second = *b.members.front();
  return owner_of(a) == owner_of(b) && first.type.dtype == second.type.dtype;
}

std::vector<std::vector<Mirror>> mirror_groups(const std::vector<Mirror>& mirrors) {
  std::vector<std::vector<Mirror>> groups;
  for (const Mirror& mirror : mirrors) {
    const bool goes_on = !groups.empty() && stand_together(groups.back().front(), mirror);
    if (!goes_on) groups.emplace_back();
    groups.back().push_back(mirror);
  }
  return groups;
}

bool is_unknown(const ArrayRow& row) { return has_unknown_size(row.type.shape); }

std::string times(const Layout& layout, std::int64_t count, Bytes each) {
  const std::string bytes = bytes_text(layout, each);
  return count == 1 ? bytes : with_commas(count) + " x " + bytes;
}

std::vector<std::string> mirror_row(const Layout& layout, const std::vector<Mirror>& mirrors) {
  Bytes each;
  bool same_copies = true;
  bool has_unknown = false;
  const ArrayRow& first = *mirrors.front().members.front();
  for (const ArrayRow* member : mirrors.front().members) {
    each += member->instances * member->bytes;
    same_copies = same_copies && member->copies == first.copies;
    has_unknown = has_unknown || is_unknown(*member);
  }
  return {mirror_name(mirrors),
          std::string(info(first.type.dtype).name),
          "as params",
          "",
          "",
          has_unknown ? "unknown" : times(layout, static_cast<std::int64_t>(mirrors.size()), each),
          same_copies ? with_commas(first.copies) : "",
          "follows params"};
}

std::vector<std::string> folded_row(const Layout& layout,
                                    const std::vector<const ArrayRow*>& rows) {
  std::vector<std::string> names;
  std::vector<Clauses> whys;
  for (const ArrayRow* row : rows) {
    names.push_back(row->name);
    whys.push_back(row->why);
  }
  const ArrayRow& first = *rows.front();
  return {fold_names(names),
          std::string(info(first.type.dtype).name),
          to_string(first.type.shape),
          first.spec,
          to_string(first.local),
          is_unknown(first) ? "unknown" : times(layout, arrays_in(rows), first.bytes),
          with_commas(first.copies),
          join(whys)};
}

FoldItem fold_item(const ArrayRow& row, bool unfold) {
  return {row.name, (unfold ? row.name : "") + to_string(row.type) + row.spec + fold_key(row.why)};
}

/// The lines of one role; a tree that mirrors the parameters is one line.
void add_role(Table& table, const Layout& layout, const std::vector<ArrayRow>& rows, int rank,
              const std::vector<Mirror>& mirrors) {
  std::set<const ArrayRow*> mirrored;
  for (const Mirror& mirror : mirrors)
    mirrored.insert(mirror.members.begin(), mirror.members.end());
  std::vector<const ArrayRow*> members;
  std::vector<FoldItem> items;
  for (const ArrayRow& row : rows) {
    if (rank_of(row.role) != rank || mirrored.contains(&row)) continue;
    members.push_back(&row);
    items.push_back(fold_item(row, layout.unfold));
  }
  for (const auto& group : fold_groups(items)) {
    std::vector<const ArrayRow*> folded;
    for (const std::size_t position : group) folded.push_back(members[position]);
    table.add(folded_row(layout, folded));
  }
}

void add_total(Table& table, const Layout& layout, const std::vector<ArrayRow>& rows) {
  std::int64_t arrays = 0;
  std::int64_t unknown = 0;
  Bytes local;
  Bytes whole;
  for (const ArrayRow& row : rows) {
    unknown += is_unknown(row) ? row.instances : 0;
    local += row.instances * row.bytes;
    whole += row.instances * bytes_of(row.type);
    arrays += row.instances;
  }
  const bool is_all_unknown = unknown == arrays;
  const std::string left_out = unknown == 0 || is_all_unknown
                                   ? ""
                                   : " and " + counted(unknown, "array") + " of unknown size";
  table.add({counted(arrays, "array"), "", "", "", "",
             is_all_unknown ? "unknown" : bytes_text(layout, local), "",
             is_all_unknown ? "whole: unknown" : "whole: " + bytes_text(layout, whole) + left_out});
}

}  // namespace

std::string state_section(const Plan& plan, const Layout& layout) {
  std::vector<ArrayRow> rows = state_rows(plan);
  if (rows.empty()) return "";
  if (layout.unfold) rows = unfolded(rows);
  const bool is_state = std::none_of(
      rows.begin(), rows.end(), [](const ArrayRow& row) { return row.role == Role::activation; });
  Table table({{is_state ? "STATE" : "ARRAYS"},
               {"dtype", false, 3},
               {"shape"},
               {"spec"},
               {"local", false, 4},
               {"B/device", true},
               {"copies", true, 2},
               {"why"}});
  std::vector<Mirror> mirrors;
  if (!layout.unfold) mirrors = mirrors_of(rows);
  add_role(table, layout, rows, 0, mirrors);
  add_role(table, layout, rows, 1, mirrors);
  for (const auto& group : mirror_groups(mirrors)) table.add(mirror_row(layout, group));
  add_role(table, layout, rows, 2, mirrors);
  add_total(table, layout, rows);
  return table.render(layout.width, layout.color);
}

}  // namespace shard
