// `repeat`: the block written out several times, or one loop over stacked parameters.

#include "base/check.h"
#include "model/layer_kinds.h"

namespace shard {
namespace {

// Written out, every iteration costs nodes; a loop does not.
constexpr std::int64_t most_written_out = 100'000;

std::vector<const BlockConfig*> blocks_of(const Lowering& lowering, const RepeatConfig& repeat) {
  std::vector<const BlockConfig*> blocks;
  for (const std::string& name : repeat.pattern) {
    if (const BlockConfig* block = lowering.block_named(name)) blocks.push_back(block);
  }
  return blocks;
}

ValueId write_out(Lowering& lowering, LayerCall& call,
                  const std::vector<const BlockConfig*>& blocks, std::int64_t times) {
  // Within an iteration of another repeat everything belongs to that one.
  const bool is_outermost = lowering.builder.origin.iteration.repeat < 0;
  const int repeat = is_outermost ? lowering.repeats++ : -1;
  std::vector<ValueId> inputs = call.inputs;
  for (std::int64_t i = 0; i < times; ++i) {
    if (is_outermost) lowering.builder.origin.iteration = {repeat, i, i};
    for (const BlockConfig* block : blocks) {
      const std::string path = call.scope.counted(word_for(block->name, lowering.config.naming));
      call.scope.claim(path);
      inputs.front() = lower_block(lowering, *block, path, inputs, block->arguments);
    }
  }
  if (is_outermost) lowering.builder.origin.iteration = {};
  return inputs.front();
}

/// One iteration's parameters of the loop's region, in the region's order.
std::vector<ValueId> joined(ValueId carry, const std::vector<ValueId>& stacked,
                            std::vector<ValueId> invariants) {
  std::vector<ValueId> all{carry};
  all.insert(all.end(), stacked.begin(), stacked.end());
  all.insert(all.end(), invariants.begin(), invariants.end());
  return all;
}

ValueId close_loop(Lowering& lowering, const LayerCall& call, const LoopFrame& frame,
                   RegionId region, std::vector<ValueId> inner, ValueId result,
                   const std::string& path) {
  GraphBuilder& builder = lowering.builder;
  const std::vector<ValueId> outside(call.inputs.begin() + 1, call.inputs.end());
  const ValueId carry = inner.front();
  inner.erase(inner.begin());
  Region& body = builder.graph().regions[index_of(region)];
  body.parameters = joined(carry, frame.slices, std::move(inner));
  body.results = {result};
  builder.origin.name = path;
  builder.origin.at = call.layer.at;
  const NodeId loop =
      builder.add_repeat(region, joined(call.inputs.front(), frame.stacks, outside),
                         Attributes{{"times", frame.times},
                                    {"carries", std::int64_t{1}},
                                    {"stacked", static_cast<std::int64_t>(frame.stacks.size())},
                                    {"reverse", std::int64_t{0}}});
  const GraphValue& value = builder.graph().value(result);
  const ValueId out =
      builder.add_result(loop, TensorType(value.type), std::vector<std::string>(value.labels));
  lowering.name_value(out, path);
  return out;
}

ValueId scan(Lowering& lowering, LayerCall& call, const BlockConfig& block, std::int64_t times) {
  GraphBuilder& builder = lowering.builder;
  const std::string prefix = lowering.config.naming == Naming::linen ? "Scan" : "";
  const std::string path = call.scope.counted(prefix + block.name);
  call.scope.claim(path);
  std::vector<ValueId> inner;
  for (const ValueId input : call.inputs) {
    if (input == ValueId::none) return input;
    const GraphValue value = builder.graph().value(input);
    inner.push_back(builder.add_value(value.type, "", value.labels, call.layer.at));
  }
  const RegionId region = builder.add_region();
  LoopFrame frame{times, call.layer.repeat->axis, {}, {}};
  lowering.frames.push_back(&frame);
  const RegionId around = builder.enter(region);
  const ValueId result = lower_block(lowering, block, path, inner, block.arguments);
  builder.enter(around);
  lowering.frames.pop_back();
  if (result == ValueId::none) return result;
  if (lowering.type(result) != lowering.type(inner.front())) {
    lowering.diagnostics.error("shape-mismatch", call.layer.repeat->at,
                               "a scanned block must return what it takes: '" + block.name +
                                   "' takes " + lowering.described(inner.front()) +
                                   " and returns " + lowering.described(result),
                               "scan: false allows it");
    return ValueId::none;
  }
  return close_loop(lowering, call, frame, region, inner, result, path);
}

}  // namespace

ValueId lower_repeat(Lowering& lowering, LayerCall& call) {
  const RepeatConfig& repeat = *call.layer.repeat;
  const auto times = lowering.count(repeat.times, call.scope);
  const std::vector<const BlockConfig*> blocks = blocks_of(lowering, repeat);
  if (!times || blocks.empty() || blocks.size() != repeat.pattern.size()) return ValueId::none;
  for (const BlockConfig* block : blocks) {
    const std::size_t wanted = block->inputs.empty() ? 1 : block->inputs.size();
    if (wanted == call.inputs.size()) continue;
    lowering.diagnostics.error("wrong-input-count", repeat.at,
                               "'" + block->name + "' takes " + std::to_string(wanted) +
                                   " inputs, found " + std::to_string(call.inputs.size()),
                               "name them: of: [a, b]");
    return ValueId::none;
  }
  if (repeat.scan && blocks.size() > 1) {
    lowering.diagnostics.error("not-yet", repeat.at,
                               "a scanned pattern of several blocks is not built by this version",
                               "put the pattern into one block, or leave scan out");
    return ValueId::none;
  }
  if (repeat.scan) return scan(lowering, call, *blocks.front(), times->value);
  if (times->value > most_written_out) {
    lowering.diagnostics.error("too-many-layers", repeat.times.at,
                               std::to_string(times->value) + " iterations written out, at most " +
                                   std::to_string(most_written_out) + " are built",
                               "add scan: true");
    return ValueId::none;
  }
  if (repeat.has_axis) {
    lowering.diagnostics.note("axis-without-scan", repeat.at,
                              "axis has no effect without scan: nothing is stacked");
  }
  return write_out(lowering, call, blocks, times->value);
}

}  // namespace shard
