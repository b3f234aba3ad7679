// A scanned repeat in a manual region: a loop over the whole arrays that its carries are on all
// devices. Slices and what is kept of every iteration have the loop's dim before the devices'.

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

/// A carry differs along all axes along which an iteration makes it differ: these are found by
/// playing the loop until it brings no more of them.
bool ManualReplay::play_loop(const Node& node) {
  std::vector<StackedValue> carries;
  for (std::int64_t i = 0; i < node.attributes.integer("carries"); ++i) {
    carries.push_back(stacked(node.operands[static_cast<std::size_t>(i)]));
  }
  const Graph before = lowering_.builder.graph();
  while (true) {
    const RegionId around = lowering_.builder.region();
    const LoopPlay played = write_loop(node, carries);
    lowering_.builder.enter(around);
    if (played != LoopPlay::needs_more) return played == LoopPlay::done;
    lowering_.builder.graph() = before;
  }
}

/// The loop's operand outside and what the body has of it. The loop's dim of what is sliced, behind
/// the devices' outside, comes first.
std::pair<ValueId, StackedValue> ManualReplay::into_loop(const Node& node, std::size_t position,
                                                         const std::vector<StackedValue>& carries) {
  StackedValue value = stacked(node.operands[position]);
  if (position < carries.size()) {
    const ValueId given = widened(value, carries[position].axes).value;
    return {given, carries[position]};
  }
  const auto stacks = static_cast<std::size_t>(node.attributes.integer("stacked"));
  if (position >= carries.size() + stacks) return {value.value, value};
  const auto leading = static_cast<std::int64_t>(value.axes.size());
  std::vector<std::int64_t> order{leading};
  for (std::int64_t dim = 0; dim < lowering_.type(value.value).rank(); ++dim) {
    if (dim != leading) order.push_back(dim);
  }
  return {turned(value.value, std::move(order)), value};
}

/// With carries of these axes; they become those that are needed, at least. The loop's results are
/// kept.
ManualReplay::LoopPlay ManualReplay::write_loop(const Node& node,
                                                std::vector<StackedValue>& carries) {
  const Region& inner = body_.graph.region(node.region);
  GraphBuilder& builder = lowering_.builder;
  const NodeOrigin origin = builder.origin;
  const auto stacks = static_cast<std::size_t>(node.attributes.integer("stacked"));
  std::vector<ValueId> operands, parameters;
  std::vector<StackedValue> insides;
  for (std::size_t k = 0; k < node.operands.size(); ++k) {
    auto [operand, inside] = into_loop(node, k, carries);
    operands.push_back(operand);
    insides.push_back(std::move(inside));
  }
  const RegionId region = builder.add_region();
  const RegionId around = builder.enter(region);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool is_slice = k >= carries.size() && k < carries.size() + stacks;
    GraphValue like = builder.graph().value(operands[k]);
    if (is_slice) {
      like.type.shape.erase(like.type.shape.begin());
      like.labels.erase(like.labels.begin());
    }
    insides[k].value = builder.add_value(like.type, "", like.labels, node.at);
    parameters.push_back(insides[k].value);
    keep(inner.parameters[k], std::move(insides[k]));
  }
  if (!play(node.region)) return LoopPlay::refused;
  bool is_enough = true;
  for (std::size_t k = 0; k < carries.size(); ++k) {
    const StackedValue& made = stacked(inner.results[k]);
    is_enough = is_enough && holds_all(carries[k].axes, made.axes) &&
                holds_all(carries[k].varying, made.varying);
    carries[k].axes = joined_axes(carries[k].axes, made.axes);
    carries[k].varying = joined_axes(carries[k].varying, made.varying);
  }
  if (!is_enough) return LoopPlay::needs_more;
  std::vector<StackedValue> made;
  std::vector<ValueId> results;
  for (std::size_t k = 0; k < inner.results.size(); ++k) {
    made.push_back(stacked(inner.results[k]));
    if (k < carries.size()) made.back().value = widened(made.back(), carries[k].axes).value;
    results.push_back(made.back().value);
  }
  builder.enter(around);
  Region& body = builder.graph().regions[index_of(region)];
  body.parameters = std::move(parameters);
  body.results = std::move(results);
  builder.origin = origin;
  const NodeId loop = builder.add_repeat(region, std::move(operands), node.attributes);
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (k < carries.size()) {
      made[k].axes = carries[k].axes;
      made[k].varying = carries[k].varying;
    }
    out_of_loop(node, k, loop, std::move(made[k]), k >= carries.size());
  }
  return LoopPlay::done;
}

/// The loop's result; of what is kept of every iteration the devices' dims come first again.
void ManualReplay::out_of_loop(const Node& node, std::size_t position, NodeId loop,
                               StackedValue made, bool is_stack) {
  GraphBuilder& builder = lowering_.builder;
  const GraphValue inside = builder.graph().value(made.value);
  TensorType type = inside.type;
  std::vector<std::string> labels = inside.labels;
  if (is_stack) {
    type.shape.insert(type.shape.begin(), node.attributes.integer("times"));
    labels.insert(labels.begin(), "");
  }
  made.value = builder.add_result(loop, std::move(type), std::move(labels));
  if (is_stack) {
    const auto leading = static_cast<std::int64_t>(made.axes.size());
    std::vector<std::int64_t> order;
    for (std::int64_t dim = 0; dim < lowering_.type(made.value).rank(); ++dim) {
      order.push_back(dim < leading ? dim + 1 : dim == leading ? 0 : dim);
    }
    made.value = turned(made.value, std::move(order));
    if (!made.axes.empty()) made.value = placed(made.value, made.axes);
  }
  keep(node.results[position], std::move(made));
}

}  // namespace shard
