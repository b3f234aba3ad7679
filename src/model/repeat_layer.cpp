// `repeat`: the block written out several times, or one loop over stacked parameters.

#include <algorithm>

#include "base/check.h"
#include "model/layer_kinds.h"

namespace shard {
namespace {

// Written out, every iteration costs nodes; a loop does not.
constexpr std::int64_t most_written_out = 100'000;

// Folding takes two plans of the ends and what is between, and pays from twice as many iterations
// on.
constexpr std::int64_t least_folded = 16;

KeepsNode policy_of(const LayerConfig& repeat) {
  for (const auto& [key, word] : repeat.words) {
    if (key == "remat") return remat_policy(word);
  }
  return nullptr;
}

std::vector<const BlockConfig*> blocks_of(const Lowering& lowering, const RepeatConfig& repeat) {
  std::vector<const BlockConfig*> blocks;
  for (const std::string& name : repeat.pattern) {
    if (const BlockConfig* block = lowering.block_named(name)) blocks.push_back(block);
  }
  return blocks;
}

/// Every block once: only then are the numbers in the names of equal iterations a range.
bool are_distinct(std::vector<const BlockConfig*> blocks) {
  std::sort(blocks.begin(), blocks.end());
  return std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end();
}

/// The iterations of a repeat that are written when it is folded. Those that are not are skipped
/// between one and the next.
std::vector<Iteration> folded_iterations(int repeat, std::int64_t times,
                                         const BuildOptions& options) {
  const std::int64_t first = options.ends, last = times - options.ends;
  std::vector<Iteration> written;
  for (std::int64_t i = 0; i < first; ++i) written.push_back({repeat, i, i});
  if (repeat == options.widened) {
    written.push_back({repeat, first, first});
    written.push_back({repeat, first + 1, first + 1});
  } else {
    written.push_back({repeat, first, last - 1});
  }
  for (std::int64_t i = last; i < times; ++i) written.push_back({repeat, i, i});
  return written;
}

/// The block once; with a policy, its backward pass computes it again.
ValueId lower_once(Lowering& lowering, const LayerCall& call, const BlockConfig& block,
                   const std::string& path, const std::vector<ValueId>& inputs) {
  const auto next_node = [&] { return id_at<NodeId>(lowering.builder.graph().nodes.size()); };
  const NodeId first = next_node();
  const ValueId result = lower_block(lowering, block, path, inputs, block.arguments);
  const KeepsNode keeps = policy_of(call.layer);
  if (keeps != nullptr) lowering.remats.push_back({first, next_node(), keeps});
  return result;
}

/// Writes repeats out: all iterations, or those that stand for the others too.
class WriteOut {
 public:
  WriteOut(Lowering& lowering, LayerCall& call, const std::vector<const BlockConfig*>& blocks)
      : lowering_(lowering), call_(call), blocks_(blocks), inputs_(call.inputs) {}

  ValueId run(std::int64_t times) {
    // Within an iteration of another repeat everything belongs to that one.
    const bool is_outermost = origin().repeat < 0;
    if (!is_outermost) {
      for (std::int64_t i = 0; i < times; ++i) write(1);
      return inputs_.front();
    }
    const int repeat = lowering_.repeats++;
    if (can_fold(times)) {
      write_folded(repeat, times);
    } else {
      for (std::int64_t i = 0; i < times; ++i) {
        origin() = {repeat, i, i};
        write(1);
      }
    }
    origin() = {};
    return inputs_.front();
  }

 private:
  Iteration& origin() { return lowering_.builder.origin.iteration; }

  bool can_fold(std::int64_t times) const {
    return lowering_.options.fold && times >= least_folded && lowering_.frames.empty() &&
           are_distinct(blocks_);
  }

  void write_folded(int repeat, std::int64_t times) {
    std::int64_t next = 0;
    for (const Iteration& iteration : folded_iterations(repeat, times, lowering_.options)) {
      if (iteration.first > next) skip(iteration.first - next);
      next = iteration.last + 1;
      origin() = iteration;
      if (iteration.count() > 1) lowering_.folded.push_back(iteration);
      write(iteration.count());
    }
  }

  std::string word(const BlockConfig& block) const {
    return word_for(block.name, lowering_.config.naming);
  }

  void write(std::int64_t count) {
    for (const BlockConfig* block : blocks_) {
      std::string path;
      if (count > 1) {
        path = call_.scope.counted_range(word(*block), count);
      } else {
        path = call_.scope.counted(word(*block));
        call_.scope.claim(path);
      }
      inputs_.front() = lower_once(lowering_, call_, *block, path, inputs_);
    }
  }

  void skip(std::int64_t count) {
    for (const BlockConfig* block : blocks_) call_.scope.counted_range(word(*block), count);
  }

  Lowering& lowering_;
  LayerCall& call_;
  const std::vector<const BlockConfig*>& blocks_;
  std::vector<ValueId> inputs_;
};

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
  body.results.insert(body.results.end(), frame.losses.begin(), frame.losses.end());
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
  for (const ValueId loss : frame.losses) {
    TensorType stack = builder.type(loss);
    stack.shape.insert(stack.shape.begin(), frame.times);
    const ValueId losses = builder.add_result(loop, std::move(stack), {std::string()});
    lowering.add_to_loss(
        builder.emit(Op::reduce_sum, {losses}, Attributes{{"dims", std::vector<std::int64_t>{0}}}));
  }
  return out;
}

/// One iteration: the block, or all blocks of a pattern in turn under the loop's own name.
ValueId lower_body(Lowering& lowering, const LayerCall& call,
                   const std::vector<const BlockConfig*>& blocks, const std::string& path,
                   std::vector<ValueId> inputs) {
  if (blocks.size() == 1) return lower_once(lowering, call, *blocks.front(), path, inputs);
  const std::vector<LayerConfig> none;
  Scope scope(path + "/", none);
  for (const BlockConfig* block : blocks) {
    const std::string name = scope.counted(word_for(block->name, lowering.config.naming));
    inputs.front() = lower_once(lowering, call, *block, name, inputs);
  }
  return inputs.front();
}

ValueId scan(Lowering& lowering, LayerCall& call, const std::vector<const BlockConfig*>& blocks,
             std::int64_t times) {
  GraphBuilder& builder = lowering.builder;
  const std::string prefix = lowering.config.naming == Naming::linen ? "Scan" : "";
  const std::string name = blocks.size() == 1 ? blocks.front()->name : "Pattern";
  const std::string path = call.scope.counted(prefix + name);
  call.scope.claim(path);
  std::vector<ValueId> inner;
  for (const ValueId input : call.inputs) {
    if (input == ValueId::none) return input;
    const GraphValue value = builder.graph().value(input);
    inner.push_back(builder.add_value(value.type, "", value.labels, call.layer.at));
  }
  const RegionId region = builder.add_region();
  const RegionId around = builder.enter(region);
  LoopFrame frame{times, call.layer.repeat->axis, {}, {}, {}, around};
  lowering.frames.push_back(&frame);
  const ValueId result = lower_body(lowering, call, blocks, path, inner);
  builder.enter(around);
  lowering.frames.pop_back();
  if (result == ValueId::none) return result;
  if (lowering.type(result) != lowering.type(inner.front())) {
    lowering.diagnostics.error(
        "shape-mismatch", call.layer.repeat->at,
        "a scanned block must return what it takes: '" + blocks.front()->name + "' takes " +
            lowering.described(inner.front()) + " and returns " + lowering.described(result),
        "scan: false allows it");
    return ValueId::none;
  }
  return close_loop(lowering, call, frame, region, inner, result, path);
}

/// Flax keeps names on stacked parameters only if it is told that of the new dim.
void note_no_partition_name(Lowering& lowering, const RepeatConfig& repeat) {
  lowering.diagnostics.note(
      "no-partition-name", repeat.at,
      "the stacked dim has no partition name: it stays whole here, and Flax refuses to stack "
      "parameters that have names",
      "write axis: layers, or axis: null for a dim without a name");
}

}  // namespace

ValueId lower_repeat(Lowering& lowering, LayerCall& call) {
  const RepeatConfig& repeat = *call.layer.repeat;
  if (lowering.manual != nullptr && policy_of(call.layer) != nullptr) {
    lowering.diagnostics.error("manual-remat", repeat.at,
                               "remat cannot stand inside a manual region",
                               "put the region inside the block that is computed again");
    return ValueId::none;
  }
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
  if (repeat.scan) {
    const ValueId result = scan(lowering, call, blocks, times->value);
    if (!repeat.has_axis && result != ValueId::none) note_no_partition_name(lowering, repeat);
    return result;
  }
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
  return WriteOut(lowering, call, blocks).run(times->value);
}

}  // namespace shard
