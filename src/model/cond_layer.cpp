// `cond`: one of two blocks, as a condition says while the program runs.
//
// Each block is a loop of one round that is left out unless its condition holds (see Graph). What
// the first hands on when it is left out is where the second begins:
//   first  = if p:     then(x)   else zeros
//   result = if not p: else(x)   else first
// Without an `else` the first begins with x itself.

#include "base/nearest.h"
#include "model/op_arguments.h"
#include "ops/composed.h"

namespace shard {
namespace {

class Cond {
 public:
  Cond(Lowering& lowering, LayerCall& call)
      : op_(lowering, call), lowering_(lowering), call_(call) {}

  ValueId run() {
    const BlockConfig* first = block("then");
    const std::string other = op_.word("else", "");
    const BlockConfig* second = other.empty() ? nullptr : block("else");
    const ValueId condition = find_condition();
    const bool is_right = first != nullptr && (other.empty() || second != nullptr);
    if (!is_right || condition == ValueId::none || op_.is_spoiled()) return ValueId::none;
    const ValueId start = second == nullptr ? call_.inputs.front() : ValueId::none;
    const ValueId made = branch(*first, condition, start);
    if (made == ValueId::none || second == nullptr) return op_.named(made);
    // The name belongs to the result.
    const ValueId opposite = lowering_.emit(Op::bitwise_not, {condition});
    return op_.named(branch(*second, opposite, made));
  }

 private:
  const BlockConfig* block(std::string_view key) {
    const std::string name = op_.word(key, "");
    const BlockConfig* found = lowering_.block_named(name);
    if (found == nullptr) {
      std::vector<std::string> known;
      for (const BlockConfig& one : lowering_.config.blocks) known.push_back(one.name);
      op_.fail("unknown-block", "there is no block '" + name + "' in this file",
               did_you_mean(name, known, "blocks"));
      return nullptr;
    }
    const std::size_t wanted = found->inputs.empty() ? 1 : found->inputs.size();
    if (wanted == call_.inputs.size()) return found;
    op_.fail("wrong-input-count",
             "'" + name + "' takes " + std::to_string(wanted) + " inputs, found " +
                 std::to_string(call_.inputs.size()),
             "name them: of: [a, b]");
    return nullptr;
  }

  ValueId find_condition() {
    if (lowering_.manual != nullptr) {
      return op_.fail("manual-cond", "cond cannot stand inside a manual region",
                      "use where, or put the region into the blocks");
    }
    const ValueId value =
        call_.scope.find(op_.word("when", ""), call_.layer.at, lowering_.diagnostics);
    if (value == ValueId::none) return value;
    const TensorType& type = op_.type(value);
    if (type.dtype == DType::boolean && type.rank() == 0) return value;
    return op_.fail(
        "dtype-mismatch",
        "the condition of cond is one truth value (bool[]), found " + lowering_.described(value),
        "compare numbers: let: big = gt(reduce_max(x), 1)");
  }

  ValueId inside(ValueId outer) {
    const GraphValue value = lowering_.builder.graph().value(outer);
    return lowering_.builder.add_value(value.type, "", value.labels, call_.layer.at);
  }

  /// The block's result, or `start` (zeros where there is none) where the condition does not hold.
  ValueId branch(const BlockConfig& block, ValueId condition, ValueId start) {
    GraphBuilder& builder = lowering_.builder;
    const std::string path = call_.scope.counted(word_for(block.name, lowering_.config.naming));
    call_.scope.claim(path);
    std::vector<ValueId> inner;
    for (const ValueId input : call_.inputs) inner.push_back(inside(input));
    const RegionId region = builder.add_region();
    const RegionId around = builder.enter(region);
    LoopFrame frame;
    frame.is_branch = true;
    frame.around = around;
    lowering_.frames.push_back(&frame);
    const ValueId result = lower_block(lowering_, block, path, inner, block.arguments);
    builder.enter(around);
    lowering_.frames.pop_back();
    if (result == ValueId::none || !fits(block, result, start)) return ValueId::none;
    return close(region, frame, condition, start, inner, result);
  }

  bool fits(const BlockConfig& block, ValueId result, ValueId start) {
    if (start == ValueId::none || op_.type(result) == op_.type(start)) return true;
    const bool is_input = start == call_.inputs.front();
    op_.fail("shape-mismatch",
             "both ways of cond must end in one type: '" + block.name + "' returns " +
                 lowering_.described(result) + ", " +
                 (is_input ? "without an else the input stays " : "the other block returns ") +
                 lowering_.described(start));
    return false;
  }

  ValueId close(RegionId region, const LoopFrame& frame, ValueId condition, ValueId start,
                const std::vector<ValueId>& inner, ValueId result) {
    GraphBuilder& builder = lowering_.builder;
    builder.origin.name = call_.path;
    builder.origin.at = call_.layer.at;
    std::vector<ValueId> results{result};
    results.insert(results.end(), frame.losses.begin(), frame.losses.end());
    std::vector<ValueId> operands, parameters;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool is_given = i == 0 && start != ValueId::none;
      operands.push_back(is_given ? start : filled(builder, 0, TensorType(op_.type(results[i]))));
      op_.set_labels(operands.back(), op_.labels(results[i]));
      parameters.push_back(inside(results[i]));
    }
    operands.push_back(condition);
    parameters.push_back(inside(condition));
    operands.insert(operands.end(), call_.inputs.begin(), call_.inputs.end());
    parameters.insert(parameters.end(), inner.begin(), inner.end());
    operands.insert(operands.end(), frame.stacks.begin(), frame.stacks.end());
    parameters.insert(parameters.end(), frame.slices.begin(), frame.slices.end());
    Region& body = builder.graph().regions[index_of(region)];
    body.parameters = std::move(parameters);
    body.results = results;
    const NodeId node =
        builder.add_repeat(region, std::move(operands),
                           Attributes{{"times", std::int64_t{1}},
                                      {"carries", static_cast<std::int64_t>(results.size())},
                                      {"stacked", std::int64_t{0}},
                                      {"reverse", std::int64_t{0}},
                                      {"guarded", std::int64_t{1}}});
    std::vector<ValueId> out;
    for (const ValueId each : results) {
      const GraphValue& value = builder.graph().value(each);
      out.push_back(
          builder.add_result(node, TensorType(value.type), std::vector<std::string>(value.labels)));
    }
    for (std::size_t i = 1; i < out.size(); ++i) lowering_.add_to_loss(out[i]);
    return out.front();
  }

  OpArguments op_;
  Lowering& lowering_;
  LayerCall& call_;
};

}  // namespace

ValueId lower_cond(Lowering& lowering, LayerCall& call) { return Cond(lowering, call).run(); }

}  // namespace shard
