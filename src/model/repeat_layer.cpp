// `repeat`: the block written out several times, or one loop over stacked parameters.

#include <algorithm>

#include "base/check.h"
#include "base/nearest.h"
#include "model/layer_kinds.h"
#include "ops/composed.h"

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

/// What goes from iteration to iteration beside the first input, and what is kept of each.
struct Passing {
  std::vector<std::size_t> carries;  ///< positions among the inputs
  std::vector<std::string> names;    ///< of these, then of the stacks
  Location at;

  std::size_t stacks() const { return names.size() - carries.size(); }
  /// What is asked of one of the blocks: the last one has what is kept.
  BlockRest asked(bool is_last) const {
    const auto count = static_cast<std::ptrdiff_t>(is_last ? names.size() : carries.size());
    return {{names.begin(), names.begin() + count}, at, {}};
  }
  /// The next inputs; false where a value is missing.
  bool hand_on(ValueId result, const BlockRest& rest, std::vector<ValueId>& inputs) const {
    inputs.front() = result;
    for (std::size_t k = 0; k < carries.size(); ++k) inputs[carries[k]] = rest.values[k];
    return result != ValueId::none &&
           std::find(rest.values.begin(), rest.values.end(), ValueId::none) == rest.values.end();
  }
};

bool refuse_carry(Lowering& lowering, const RepeatConfig& repeat, const std::string& message,
                  const std::string& hint = "") {
  lowering.diagnostics.error("bad-carry", repeat.carries_at, message, hint);
  return false;
}

/// Where all blocks have the input that `name` names; 0 is the first one.
bool find_carry(Lowering& lowering, const RepeatConfig& repeat,
                const std::vector<const BlockConfig*>& blocks, const std::string& name,
                std::size_t& position) {
  for (const BlockConfig* block : blocks) {
    const std::vector<std::string>& inputs = block->inputs;
    const auto at =
        static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), name) - inputs.begin());
    if (at == inputs.size()) {
      return refuse_carry(lowering, repeat, "'" + name + "' is no input of '" + block->name + "'",
                          did_you_mean(name, inputs, "its inputs"));
    }
    if (at == 0) {
      return refuse_carry(
          lowering, repeat,
          "'" + name + "', the first input of '" + block->name + "', goes on as the block's result",
          "carries are the inputs beside it");
    }
    if (block != blocks.front() && at != position) {
      return refuse_carry(lowering, repeat,
                          "'" + name + "' is input " + std::to_string(at) + " of '" + block->name +
                              "' and input " + std::to_string(position) + " of '" +
                              blocks.front()->name + "'");
    }
    position = at;
  }
  return true;
}

std::optional<Passing> passing_of(Lowering& lowering, const LayerConfig& layer,
                                  const std::vector<const BlockConfig*>& blocks) {
  const RepeatConfig& repeat = *layer.repeat;
  Passing passing;
  passing.at = repeat.stacks.empty() ? repeat.carries_at : repeat.stacks_at;
  for (const std::string& name : repeat.carries) {
    std::size_t position = 0;
    if (!find_carry(lowering, repeat, blocks, name, position)) return std::nullopt;
    if (std::find(passing.names.begin(), passing.names.end(), name) != passing.names.end()) {
      refuse_carry(lowering, repeat, "'" + name + "' is named twice");
      return std::nullopt;
    }
    passing.carries.push_back(position);
    passing.names.push_back(name);
  }
  passing.names.insert(passing.names.end(), repeat.stacks.begin(), repeat.stacks.end());
  if (!layer.into.empty() && layer.into.size() != passing.names.size()) {
    lowering.diagnostics.error("wrong-argument-count", repeat.at,
                               "repeat hands on " + std::to_string(passing.names.size()) +
                                   (passing.names.size() == 1 ? " value" : " values") +
                                   " beside its result, into has " +
                                   std::to_string(layer.into.size()) + " names",
                               "a name for each of carries, then for each of stacks");
    return std::nullopt;
  }
  return passing;
}

/// The names that `into` gives.
void bind_rest(Lowering& lowering, LayerCall& call, const std::vector<ValueId>& values) {
  for (std::size_t k = 0; k < call.layer.into.size(); ++k) {
    call.scope.bind(call.layer.into[k], values[k]);
    lowering.name_value(values[k], call.scope.path(call.layer.into[k]));
  }
}

/// Where the repeat failed, what needs its values is not told again.
ValueId fail_repeat(LayerCall& call) {
  for (const std::string& name : call.layer.into) call.scope.bind(name, ValueId::none);
  return ValueId::none;
}

/// The block once; with a policy, its backward pass computes it again.
ValueId lower_once(Lowering& lowering, const LayerCall& call, const BlockConfig& block,
                   const std::string& path, const std::vector<ValueId>& inputs, BlockRest& rest) {
  const auto next_node = [&] { return id_at<NodeId>(lowering.builder.graph().nodes.size()); };
  const NodeId first = next_node();
  const ValueId result = lower_block(lowering, block, path, inputs, block.arguments, &rest);
  const KeepsNode keeps = policy_of(call.layer);
  if (keeps != nullptr) lowering.remats.push_back({first, next_node(), keeps});
  return result;
}

/// Writes repeats out: all iterations, or those that stand for the others too.
class WriteOut {
 public:
  WriteOut(Lowering& lowering, LayerCall& call, const std::vector<const BlockConfig*>& blocks,
           const Passing& passing)
      : lowering_(lowering),
        call_(call),
        blocks_(blocks),
        passing_(passing),
        inputs_(call.inputs),
        kept_(passing.stacks()) {}

  ValueId run(std::int64_t times) {
    write_all(times);
    if (is_spoiled_) return fail_repeat(call_);
    std::vector<ValueId> rest;
    for (const std::size_t carry : passing_.carries) rest.push_back(inputs_[carry]);
    for (const std::vector<ValueId>& parts : kept_) rest.push_back(one_on_another(parts));
    bind_rest(lowering_, call_, rest);
    return inputs_.front();
  }

 private:
  void write_all(std::int64_t times) {
    // Within an iteration of another repeat everything belongs to that one.
    const bool is_outermost = origin().repeat < 0;
    if (!is_outermost) {
      for (std::int64_t i = 0; i < times; ++i) write(1);
      return;
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
  }

  Iteration& origin() { return lowering_.builder.origin.iteration; }

  bool can_fold(std::int64_t times) const {
    return lowering_.options.fold && times >= least_folded && lowering_.frames.empty() &&
           are_distinct(blocks_) && kept_.empty();
  }

  /// Along a new first dim.
  ValueId one_on_another(const std::vector<ValueId>& parts) {
    std::vector<ValueId> rows;
    for (const ValueId part : parts) {
      Shape shape = lowering_.type(part).shape;
      shape.insert(shape.begin(), 1);
      rows.push_back(lowering_.emit(Op::reshape, {part}, Attributes{{"shape", std::move(shape)}}));
    }
    return rows.size() == 1 ? rows.front() : concatenated(lowering_.builder, rows, 0);
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
      const bool is_last = block == blocks_.back();
      BlockRest rest = passing_.asked(is_last);
      const ValueId result = lower_once(lowering_, call_, *block, path, inputs_, rest);
      is_spoiled_ = !passing_.hand_on(result, rest, inputs_) || is_spoiled_;
      for (std::size_t k = 0; is_last && k < kept_.size(); ++k) {
        kept_[k].push_back(rest.values[passing_.carries.size() + k]);
      }
    }
  }

  void skip(std::int64_t count) {
    for (const BlockConfig* block : blocks_) call_.scope.counted_range(word(*block), count);
  }

  Lowering& lowering_;
  LayerCall& call_;
  const std::vector<const BlockConfig*>& blocks_;
  const Passing& passing_;
  std::vector<ValueId> inputs_;
  std::vector<std::vector<ValueId>> kept_;  ///< by stack: of every iteration
  bool is_spoiled_ = false;
};

/// Carries, then stacks or slices, then what no iteration changes: the order of a loop's operands
/// and of its region's parameters.
std::vector<ValueId> in_loop_order(const std::vector<ValueId>& inputs, const Passing& passing,
                                   const std::vector<ValueId>& stacked) {
  std::vector<ValueId> all{inputs.front()}, invariants;
  for (const std::size_t carry : passing.carries) all.push_back(inputs[carry]);
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    const auto& carries = passing.carries;
    const bool is_carry = std::find(carries.begin(), carries.end(), k) != carries.end();
    if (!is_carry) invariants.push_back(inputs[k]);
  }
  all.insert(all.end(), stacked.begin(), stacked.end());
  all.insert(all.end(), invariants.begin(), invariants.end());
  return all;
}

/// The value that is kept of every iteration, of all of them.
ValueId add_stack(GraphBuilder& builder, NodeId loop, std::int64_t times, ValueId inside) {
  const GraphValue value = builder.graph().value(inside);
  TensorType stack = value.type;
  stack.shape.insert(stack.shape.begin(), times);
  std::vector<std::string> labels = value.labels;
  labels.insert(labels.begin(), "");
  return builder.add_result(loop, std::move(stack), std::move(labels));
}

ValueId close_loop(Lowering& lowering, LayerCall& call, const Passing& passing,
                   const LoopFrame& frame, RegionId region, const std::vector<ValueId>& inner,
                   ValueId result, const std::vector<ValueId>& rest, const std::string& path) {
  GraphBuilder& builder = lowering.builder;
  const auto carries = static_cast<std::ptrdiff_t>(passing.carries.size());
  Region& body = builder.graph().regions[index_of(region)];
  body.parameters = in_loop_order(inner, passing, frame.slices);
  body.results = {result};
  body.results.insert(body.results.end(), rest.begin(), rest.begin() + carries);
  body.results.insert(body.results.end(), frame.losses.begin(), frame.losses.end());
  body.results.insert(body.results.end(), rest.begin() + carries, rest.end());
  builder.origin.name = path;
  builder.origin.at = call.layer.at;
  const NodeId loop =
      builder.add_repeat(region, in_loop_order(call.inputs, passing, frame.stacks),
                         Attributes{{"times", frame.times},
                                    {"carries", static_cast<std::int64_t>(carries + 1)},
                                    {"stacked", static_cast<std::int64_t>(frame.stacks.size())},
                                    {"reverse", std::int64_t{0}}});
  const auto carried = [&](ValueId inside) {
    const GraphValue value = builder.graph().value(inside);
    return builder.add_result(loop, TensorType(value.type), std::vector<std::string>(value.labels));
  };
  const ValueId out = carried(result);
  lowering.name_value(out, path);
  std::vector<ValueId> handed_on, losses;
  for (std::ptrdiff_t k = 0; k < carries; ++k) {
    handed_on.push_back(carried(rest[static_cast<std::size_t>(k)]));
  }
  for (const ValueId loss : frame.losses) {
    losses.push_back(add_stack(builder, loop, frame.times, loss));
  }
  for (auto stack = rest.begin() + carries; stack != rest.end(); ++stack) {
    handed_on.push_back(add_stack(builder, loop, frame.times, *stack));
  }
  for (const ValueId loss : losses) {
    lowering.add_to_loss(
        builder.emit(Op::reduce_sum, {loss}, Attributes{{"dims", std::vector<std::int64_t>{0}}}));
  }
  bind_rest(lowering, call, handed_on);
  return out;
}

/// One iteration: the block, or all blocks of a pattern in turn under the loop's own name. `rest`
/// gets what it hands on beside the result.
ValueId lower_body(Lowering& lowering, const LayerCall& call,
                   const std::vector<const BlockConfig*>& blocks, const Passing& passing,
                   const std::string& path, std::vector<ValueId> inputs,
                   std::vector<ValueId>& rest) {
  const std::vector<LayerConfig> none;
  Scope scope(path + "/", none);
  for (const BlockConfig* block : blocks) {
    const bool is_alone = blocks.size() == 1;
    const std::string name =
        is_alone ? path : scope.counted(word_for(block->name, lowering.config.naming));
    BlockRest asked = passing.asked(block == blocks.back());
    const ValueId result = lower_once(lowering, call, *block, name, inputs, asked);
    if (!passing.hand_on(result, asked, inputs)) return ValueId::none;
    rest = std::move(asked.values);
  }
  return inputs.front();
}

/// A scanned block must leave its carries as it takes them.
bool keeps_type(Lowering& lowering, const LayerCall& call, const std::string& block,
                const std::string& carry, ValueId before, ValueId after) {
  if (lowering.type(after) == lowering.type(before)) return true;
  lowering.diagnostics.error("shape-mismatch", call.layer.repeat->at,
                             "a scanned block must return what it takes: '" + block + "' takes " +
                                 carry + lowering.described(before) + " and returns " +
                                 lowering.described(after),
                             "scan: false allows it");
  return false;
}

ValueId scan(Lowering& lowering, LayerCall& call, const std::vector<const BlockConfig*>& blocks,
             const Passing& passing, std::int64_t times) {
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
  std::vector<ValueId> rest;
  const ValueId result = lower_body(lowering, call, blocks, passing, path, inner, rest);
  builder.enter(around);
  lowering.frames.pop_back();
  if (result == ValueId::none) return result;
  const std::string& block = blocks.front()->name;
  if (!keeps_type(lowering, call, block, "", inner.front(), result)) return ValueId::none;
  for (std::size_t k = 0; k < passing.carries.size(); ++k) {
    const ValueId before = inner[passing.carries[k]];
    if (!keeps_type(lowering, call, block, passing.names[k] + " ", before, rest[k])) {
      return ValueId::none;
    }
  }
  return close_loop(lowering, call, passing, frame, region, inner, result, rest, path);
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
  const std::optional<Passing> passing = passing_of(lowering, call.layer, blocks);
  if (!passing) return fail_repeat(call);
  if (repeat.scan) {
    const ValueId result = scan(lowering, call, blocks, *passing, times->value);
    if (result == ValueId::none) return fail_repeat(call);
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
  return WriteOut(lowering, call, blocks, *passing).run(times->value);
}

}  // namespace shard
