// A scanned repeat in a manual region: a loop over the whole arrays that its carry is on all
// devices.

#include <algorithm>

#include "base/check.h"
#include "model/manual_replay.h"

namespace shard {
namespace {

bool holds_all(const std::vector<int>& axes, const std::vector<int>& others) {
  return std::includes(axes.begin(), axes.end(), others.begin(), others.end());
}

std::vector<int> joined_axes(const std::vector<int>& axes, const std::vector<int>& more) {
  std::vector<int> all;
  std::set_union(axes.begin(), axes.end(), more.begin(), more.end(), std::back_inserter(all));
  return all;
}

}  // namespace

/// The carry differs along all axes along which an iteration makes it differ: these are found by
/// playing the loop until it brings no more of them.
bool ManualReplay::play_loop(const Node& node) {
  const Region& region = body_.graph.region(node.region);
  const bool has_one_carry = node.attributes.integer("carries") == 1 &&
                             node.attributes.integer("stacked") == 0 && region.results.size() == 1;
  if (!has_one_carry) return refuse(node, "write the repeat with scan: false");
  StackedValue carry = stacked(node.operands.front());
  const Graph before = lowering_.builder.graph();
  while (true) {
    const StackedValue tried = carry;
    const RegionId around = lowering_.builder.region();
    const bool is_written = write_loop(node, carry);
    lowering_.builder.enter(around);
    if (!is_written) return false;
    if (carry.axes == tried.axes && carry.varying == tried.varying) return true;
    lowering_.builder.graph() = before;
  }
}

/// With a carry of these axes; they become those that are needed, at least. The loop's result is
/// kept.
bool ManualReplay::write_loop(const Node& node, StackedValue& carry) {
  const Region& inner = body_.graph.region(node.region);
  GraphBuilder& builder = lowering_.builder;
  const NodeOrigin origin = builder.origin;
  const StackedValue given = stacked(node.operands.front());
  std::vector<ValueId> operands{widened(given, carry.axes).value};
  for (std::size_t k = 1; k < node.operands.size(); ++k)
    operands.push_back(stacked(node.operands[k]).value);
  const RegionId region = builder.add_region();
  const RegionId around = builder.enter(region);
  std::vector<ValueId> parameters;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const GraphValue like = builder.graph().value(operands[k]);
    StackedValue inside = k == 0 ? carry : stacked(node.operands[k]);
    inside.value = builder.add_value(like.type, "", like.labels, node.at);
    parameters.push_back(inside.value);
    keep(inner.parameters[k], std::move(inside));
  }
  if (!play(node.region)) return false;
  const StackedValue made = stacked(inner.results.front());
  const bool is_enough = holds_all(carry.axes, made.axes) && holds_all(carry.varying, made.varying);
  const ValueId result = is_enough ? widened(made, carry.axes).value : made.value;
  builder.enter(around);
  carry.axes = joined_axes(carry.axes, made.axes);
  carry.varying = joined_axes(carry.varying, made.varying);
  if (!is_enough) return true;
  Region& body = builder.graph().regions[index_of(region)];
  body.parameters = std::move(parameters);
  body.results = {result};
  builder.origin = origin;
  const NodeId loop = builder.add_repeat(region, std::move(operands), node.attributes);
  const GraphValue value = builder.graph().value(result);
  keep(node.results.front(),
       {builder.add_result(loop, value.type, value.labels), carry.axes, carry.varying});
  return true;
}

}  // namespace shard
