// Layers that are one op: elementwise, reductions, transpose, broadcast, convert, constrain.

#include <algorithm>

#include "base/check.h"
#include "base/nearest.h"
#include "model/expressions.h"
#include "model/layer_kinds.h"

namespace shard {
namespace {

ValueId named(Lowering& lowering, const LayerCall& call, ValueId value) {
  lowering.name_value(value, call.path);
  return value;
}

/// The inputs in the layer's own dtype, when it has one.
std::vector<Operand> operands_of(Lowering& lowering, const LayerCall& call) {
  std::vector<Operand> operands;
  for (const ValueId input : call.inputs) {
    operands.push_back(
        Operand::array(call.layer.dtype ? lowering.converted(input, *call.layer.dtype) : input));
  }
  if (call.layer.number) operands.push_back(Operand::scalar(*call.layer.number));
  // `scale: heads`: a size where a number may stand.
  const LayerKind* kind = layer_kind(call.layer.kind);
  if (call.layer.arguments.empty() || (kind->keys & key_number) == 0) return operands;
  const auto size = lowering.count(call.layer.arguments.front().second, call.scope);
  operands.push_back(size ? Operand::scalar(static_cast<double>(size->value))
                          : Operand::array(ValueId::none));
  return operands;
}

Op op_of(const LayerConfig& layer) {
  const auto op = op_named(layer.kind);
  SHARD_CHECK(op.has_value(), "a layer of this function is an op");
  return *op;
}

}  // namespace

ValueId lower_elementwise(Lowering& lowering, LayerCall& call) {
  return named(lowering, call,
               apply_op(lowering, op_of(call.layer), operands_of(lowering, call), call.layer.at));
}

ValueId lower_reduction(Lowering& lowering, LayerCall& call) {
  ValueId input = call.inputs.front();
  if (call.layer.dtype) input = lowering.converted(input, *call.layer.dtype);
  return named(lowering, call,
               reduce(lowering, op_of(call.layer), input, call.layer.dims, call.layer.keep_dims,
                      call.layer.at));
}

ValueId lower_transpose(Lowering& lowering, LayerCall& call) {
  ValueId input = call.inputs.front();
  if (call.layer.dtype) input = lowering.converted(input, *call.layer.dtype);
  return named(lowering, call, transpose(lowering, input, call.layer.dims, call.layer.at));
}

ValueId lower_broadcast(Lowering& lowering, LayerCall& call) {
  const LayerConfig& layer = call.layer;
  ValueId input = call.inputs.front();
  if (layer.dtype) input = lowering.converted(input, *layer.dtype);
  Shape shape;
  std::vector<std::string> labels;
  for (const std::string& name : layer.dims) {
    const CountConfig* argument = call.scope.argument(name);
    const auto count = lowering.count(
        CountConfig{0, argument == nullptr ? name : "", argument == nullptr ? "" : name, layer.at},
        call.scope);
    if (!count) return ValueId::none;
    shape.push_back(count->value);
    labels.push_back(count->label);
  }
  if (input == ValueId::none) return input;
  const auto rank = static_cast<std::size_t>(lowering.type(input).rank());
  if (rank > shape.size()) {
    lowering.diagnostics.error("rank-mismatch", layer.at,
                               "broadcast of " + lowering.described(input) + " to " +
                                   std::to_string(shape.size()) + " dims");
    return ValueId::none;
  }
  std::vector<std::int64_t> dims(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    dims[i] = static_cast<std::int64_t>(shape.size() - rank + i);
  }
  const ValueId value = lowering.emit(
      Op::broadcast, {input}, Attributes{{"shape", std::move(shape)}, {"dims", std::move(dims)}});
  if (value != ValueId::none) {
    lowering.builder.graph().values[index_of(value)].labels = std::move(labels);
  }
  return named(lowering, call, value);
}

ValueId lower_convert(Lowering& lowering, LayerCall& call) {
  if (!call.layer.dtype) {
    lowering.diagnostics.error("missing-key", call.layer.at, "convert needs dtype",
                               "write convert: {dtype: bf16}");
    return ValueId::none;
  }
  return named(lowering, call, lowering.converted(call.inputs.front(), *call.layer.dtype));
}

namespace {

ValueId lower_placement(Lowering& lowering, LayerCall& call, PlacementAsk ask) {
  if (!call.layer.spec) {
    const std::string& kind = call.layer.kind;
    lowering.diagnostics.error("missing-key", call.layer.at, kind + " needs a spec",
                               "write " + kind + ": [batch, embed] or " + kind + ": P(data, None)");
    return ValueId::none;
  }
  const ValueId input = call.inputs.front();
  if (input == ValueId::none) return input;
  // The constraint belongs to the layer whose value it places.
  if (call.path.empty()) {
    lowering.builder.origin.name = lowering.builder.graph().value(input).name;
  }
  const ValueId value = lowering.constrained(input, *call.layer.spec, ask);
  return call.path.empty() ? value : named(lowering, call, value);
}

}  // namespace

ValueId lower_constrain(Lowering& lowering, LayerCall& call) {
  return lower_placement(lowering, call, PlacementAsk::constraint);
}

ValueId lower_reshard(Lowering& lowering, LayerCall& call) {
  return lower_placement(lowering, call, PlacementAsk::reshard);
}

}  // namespace shard
