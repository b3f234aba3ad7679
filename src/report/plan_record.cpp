#include "report/plan_record.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "report/fold.h"
#include "report/link_of.h"
#include "report/rows.h"

namespace shard {
namespace {

/// The rule, the spec or the constraint that decided first, one that split something before others.
Location decider_of(const ValueReasons& reasons) {
  Location first;
  for (const std::vector<Reason>& dim : reasons) {
    for (const Reason& reason : dim) {
      if (!reason.at.is_known()) continue;
      if (!reason.axes.empty()) return reason.at;
      if (!first.is_known()) first = reason.at;
    }
  }
  return first;
}

ArrayLayout layout_of(const ArrayRow& row) {
  ArrayLayout layout;
  layout.names = shared_names(unfold_name(row.name));
  layout.role = row.role;
  layout.type = to_string(row.type);
  layout.spec = row.spec;
  if (!has_unknown_size(row.type.shape)) layout.bytes = row.bytes;
  layout.copies = row.copies;
  layout.why = join({row.why});
  layout.at = row.at;
  return layout;
}

/// `mu` of the tree `opt_state/0/mu`.
std::string slot_of(const ArrayRow& row, const ArrayRow& parameter) {
  const std::string tree = optimizer_tree(row, parameter);
  return tree.substr(tree.rfind('/') + 1);
}

void add_rows(const std::vector<ArrayRow>& rows, std::vector<ArrayLayout>& arrays) {
  const int start = static_cast<int>(arrays.size());
  for (const ArrayRow& row : rows) {
    arrays.push_back(layout_of(row));
    if (row.follows < 0) continue;
    arrays.back().slot = slot_of(row, rows[static_cast<std::size_t>(row.follows)]);
    if (!arrays.back().slot.empty()) arrays.back().follows = start + row.follows;
  }
}

/// The reasons of the inputs; rows and inputs are told together by their paths.
void add_deciders(const PlannedFunction& function, std::vector<ArrayLayout>& arrays) {
  const ShardedGraph& sharded = function.sharded;
  std::map<std::string_view, Location> decided;
  for (const GraphInput& input : sharded.graph.inputs) {
    decided[input.path] = decider_of(sharded.reasons[index_of(input.value)]);
  }
  for (ArrayLayout& array : arrays) {
    const auto found = decided.find(array.names->list.front());
    if (found != decided.end()) array.decided_at = found->second;
  }
}

std::vector<ArrayRow> input_rows(const PlannedFunction& function) {
  std::vector<ArrayRow> rows = value_rows(function);
  std::erase_if(rows, [](const ArrayRow& row) { return row.role != Role::input; });
  return rows;
}

std::vector<CollectiveUse> uses_of(const PlannedFunction& function) {
  const Mesh& mesh = function.program.mesh;
  const std::vector<CollectiveRow> rows = collective_rows(function);
  std::vector<CollectiveUse> uses;
  for (const CollectiveCount& count : function.collectives) {
    CollectiveUse use{count.kind, axes_text(mesh, count.axes), count.count, count.payload,
                      count.wire, link_of(mesh, count.axes),   {}};
    const auto first = std::find_if(rows.begin(), rows.end(), [&](const CollectiveRow& row) {
      return row.kind == use.kind && row.axes == use.axes && row.payload == use.payload;
    });
    if (first != rows.end()) use.at = first->at;
    uses.push_back(std::move(use));
  }
  return uses;
}

std::string axis_sizes_text(const Mesh& mesh) {
  std::string text;
  for (const MeshAxisInfo& axis : mesh.axes()) {
    text += (text.empty() ? "" : ",") + axis.name.text() + '=' + std::to_string(axis.size);
  }
  return text;
}

}  // namespace

LayoutRecord record_of(const Plan& plan) {
  const PlannedFunction& function = plan.main();
  LayoutRecord record;
  record.model = plan.model.name;
  record.rules = plan.rules.name;
  record.mesh = axis_sizes_text(plan.mesh);
  record.devices = plan.mesh.device_count();
  record.at = {plan.rules.file, 1, 1};
  record.findings = plan.findings;
  record.fit = plan.fit;
  add_rows(state_rows(plan), record.arrays);
  if (plan.model.has_program) add_rows(input_rows(function), record.arrays);
  if (plan.model.has_program) add_rows(output_rows(function), record.arrays);
  add_deciders(function, record.arrays);
  if (!plan.model.has_program) return record;
  record.collectives = uses_of(function);
  record.peak = function.program.memory.peak;
  record.at_peak = function.program.memory.by_category;
  return record;
}

}  // namespace shard
