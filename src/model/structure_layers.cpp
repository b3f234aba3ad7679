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

ValueId lower_auto_axes(Lowering& lowering, LayerCall& call) {
  std::vector<ValueId> inside;
  for (const ValueId input : call.inputs) {
    if (input == ValueId::none) return ValueId::none;
    lowering.builder.origin.name = lowering.builder.graph().value(input).name;
    inside.push_back(lowering.entered(input, call.layer.mesh_axes, call.layer.at));
  }
  // Inside, the inputs' names mean the values that came in.
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

}  // namespace shard
