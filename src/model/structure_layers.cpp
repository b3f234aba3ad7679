// Layers made of other layers, and the two that name things: let and param.

#include "model/expressions.h"
#include "model/layer_kinds.h"

namespace shard {

ValueId lower_let(Lowering& lowering, LayerCall& call) {
  const LayerConfig& layer = call.layer;
  const Assignment& let = *layer.let;
  const std::string name = let.name.empty() ? "let" : let.name;
  lowering.builder.origin.name = call.scope.path(name);
  const Operand operand = evaluate(lowering, call.scope, let.value);
  ValueId value = operand.value;
  if (operand.is_number) {
    lowering.diagnostics.error("not-an-array", let.value.at,
                               "the value of a let must be an array, found a number");
  }
  lowering.builder.origin.at = layer.at;
  if (layer.dtype) value = lowering.converted(value, *layer.dtype);
  if (let.name.empty()) {
    lowering.name_value(value, call.scope.counted("let"));
  } else {
    lowering.name_value(value, call.scope.path(call.scope.rebind(let.name, value)));
  }
  return value;
}

ValueId lower_param(Lowering& lowering, LayerCall& call) {
  const ParamConfig& param = *call.layer.param;
  ParameterRequest request;
  request.path = call.path.empty() ? call.scope.path(param.name) : call.path;
  request.type.dtype = param.has_dtype ? param.type.dtype : lowering.config.dtypes.params;
  for (const DimConfig& dim : param.type.dims) {
    request.type.shape.push_back(dim.size);
    request.labels.push_back(dim.label);
  }
  if (!param.type.placement.is_unannotated()) request.placement = param.type.placement;
  request.init = param.init;
  request.at = param.at;
  if (call.path.empty() && !call.scope.claim(request.path)) {
    lowering.diagnostics.error("duplicate-name", param.at,
                               "there is a layer '" + request.path + "' already",
                               "give one of them another name:");
  }
  call.scope.bind(param.name, lowering.parameter(std::move(request)));
  return call.scope.running;
}

ValueId lower_residual(Lowering& lowering, LayerCall& call) {
  const ValueId x = call.inputs.front();
  call.scope.running = x;
  lower_layers(lowering, call.scope, call.layer.layers);
  lowering.builder.origin.at = call.layer.at;
  lowering.builder.origin.name = call.path;
  const ValueId sum = lowering.emit_binary(Op::add, x, call.scope.running);
  lowering.name_value(sum, call.path);
  return sum;
}

ValueId lower_parallel(Lowering& lowering, LayerCall& call) {
  const ValueId x = call.inputs.front();
  ValueId sum = ValueId::none;
  for (std::size_t i = 0; i < call.layer.layers.size(); ++i) {
    call.scope.running = x;
    lower_layers(lowering, call.scope, std::span(&call.layer.layers[i], 1));
    lowering.builder.origin.at = call.layer.at;
    lowering.builder.origin.name = call.path;
    sum = i == 0 ? call.scope.running : lowering.emit_binary(Op::add, sum, call.scope.running);
  }
  lowering.name_value(sum, call.path);
  return sum;
}

namespace {

/// The layers inside a region, where the inputs' names mean the values that came in.
ValueId region(Lowering& lowering, LayerCall& call, const std::vector<ValueId>& inside) {
  for (std::size_t k = 0; k < call.layer.of.size(); ++k) {
    call.scope.bind(call.layer.of[k], inside[k]);
  }
  call.scope.running = inside.front();
  lower_layers(lowering, call.scope, call.layer.layers);
  for (std::size_t k = 0; k < call.layer.of.size(); ++k) {
    call.scope.bind(call.layer.of[k], call.inputs[k]);
  }
  return call.scope.running;
}

ValueId entered(Lowering& lowering, const LayerCall& call, ValueId input, PlacementAsk ask,
                const SpecConfig& spec) {
  if (input == ValueId::none) return input;
  lowering.builder.origin.name = lowering.builder.graph().value(input).name;
  lowering.builder.origin.at = call.layer.at;
  return lowering.entered(input, call.layer.mesh_axes, ask, spec);
}

}  // namespace

ValueId lower_auto_axes(Lowering& lowering, LayerCall& call) {
  std::vector<ValueId> inside;
  for (const ValueId input : call.inputs) {
    inside.push_back(
        entered(lowering, call, input, PlacementAsk::enter_auto, SpecConfig{{}, call.layer.at}));
    if (inside.back() == ValueId::none) return ValueId::none;
  }
  return region(lowering, call, inside);
}

ValueId lower_explicit_axes(Lowering& lowering, LayerCall& call) {
  const std::vector<SpecConfig>& specs = call.layer.in_specs;
  if (specs.size() > 1 && specs.size() != call.inputs.size()) {
    lowering.diagnostics.error("wrong-argument-count", call.layer.at,
                               "explicit_axes has " + std::to_string(specs.size()) +
                                   " specs in in_sharding for " +
                                   std::to_string(call.inputs.size()) + " inputs",
                               "one spec for all of them, or one for each");
    return ValueId::none;
  }
  std::vector<ValueId> inside;
  for (std::size_t k = 0; k < call.inputs.size(); ++k) {
    const SpecConfig whole{PartitionSpec{}, call.layer.at};
    const SpecConfig& spec = specs.empty() ? whole : specs[specs.size() == 1 ? 0 : k];
    inside.push_back(entered(lowering, call, call.inputs[k], PlacementAsk::enter_explicit, spec));
    if (inside.back() == ValueId::none) return ValueId::none;
  }
  const ValueId result = region(lowering, call, inside);
  return entered(lowering, call, result, PlacementAsk::leave_explicit,
                 SpecConfig{{}, call.layer.at});
}

}  // namespace shard
