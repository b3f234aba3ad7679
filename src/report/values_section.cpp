#include <algorithm>
#include <utility>

#include "report/fold.h"
#include "report/rows.h"
#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

std::vector<std::string> folded_row(const Layout& layout, const std::vector<ArrayRow>& rows,
                                    const std::vector<std::size_t>& group) {
  std::vector<std::string> names;
  std::vector<Clauses> whys;
  for (const std::size_t position : group) {
    names.push_back(rows[position].name);
    whys.push_back(rows[position].why);
  }
  const ArrayRow& first = rows[group.front()];
  return {fold_names(names),
          std::string(info(first.type.dtype).name),
          to_string(first.type.shape),
          first.spec,
          to_string(first.local),
          bytes_text(layout, first.bytes),
          join(whys)};
}

void add_rows(Table& table, const Layout& layout, std::vector<ArrayRow> rows) {
  if (layout.unfold) rows = unfolded(rows);
  std::vector<FoldItem> items;
  for (const ArrayRow& row : rows) {
    items.push_back({row.name, (layout.unfold ? row.name : "") + to_string(row.type) + row.spec +
                                   fold_key(row.why)});
  }
  for (const auto& group : fold_groups(items)) table.add(folded_row(layout, rows, group));
}

Table values_table(const std::string& title) {
  return Table({{title},
                {"dtype", false, 3},
                {"shape"},
                {"spec"},
                {"local", false, 4},
                {"B/device", true},
                {"why"}});
}

}  // namespace

std::string values_section(const Plan& plan, const Layout& layout) {
  const std::vector<ArrayRow> outputs = output_rows(plan.main());
  std::vector<ArrayRow> values = value_rows(plan.main());
  // A value that is returned under its own name is said once, as the caller gets it.
  std::erase_if(values, [&](const ArrayRow& value) {
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const ArrayRow& output) { return output.name == value.name; });
  });
  Table table = values_table("VALUES");
  add_rows(table, layout, std::move(values));
  add_rows(table, layout, outputs);
  return table.empty() ? "" : table.render(layout.width, layout.color);
}

}  // namespace shard
