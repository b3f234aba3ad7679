// Layers with a kernel: dense (Flax's nn.Dense) and the bare product.

#include <algorithm>

#include "base/nearest.h"
#include "model/layer_kinds.h"

namespace shard {
namespace {

/// What the layer says about the placement of its parameter `name`, under its own key or `params`.
std::optional<SpecConfig> placement_of(const LayerConfig& layer, const std::string& name,
                                       const std::optional<SpecConfig>& own) {
  if (own) return own;
  for (const auto& [key, spec] : layer.params) {
    if (key == name) return spec;
  }
  return std::nullopt;
}

/// `params: {NAME: SPEC}` and `constrain` may only name the layer's own parameters.
void check_params(Lowering& lowering, const LayerConfig& layer,
                  const std::vector<std::string>& names) {
  for (const auto* entries : {&layer.params, &layer.constrain}) {
    for (const auto& [key, spec] : *entries) {
      if (std::find(names.begin(), names.end(), key) != names.end()) continue;
      lowering.diagnostics.error("unknown-parameter", spec.at,
                                 layer.kind + " has no parameter '" + key + "'",
                                 did_you_mean(key, names, "parameters"));
    }
  }
}

/// The parameter as the product works on it: in that dtype, and placed as `constrain` asks.
ValueId in_use(Lowering& lowering, const LayerConfig& layer, const std::string& name, ValueId value,
               DType dtype) {
  value = lowering.converted(value, dtype);
  for (const auto& [key, spec] : layer.constrain) {
    if (key == name) value = lowering.constrained(value, spec);
  }
  return value;
}

/// x @ kernel over the last dim of x, in the layer's compute dtype.
struct Product {
  ValueId value = ValueId::none;
  DType dtype = DType::f32;
  std::string label;  ///< of the new last dim
  std::int64_t features = 0;
};

Product kernel_product(Lowering& lowering, LayerCall& call, const std::string& kernel_path,
                       const std::string& kernel_name) {
  const LayerConfig& layer = call.layer;
  Product product;
  product.dtype = layer.dtype.value_or(lowering.config.dtypes.compute);
  const auto features = lowering.count(*layer.features, call.scope);
  const ValueId x = call.inputs.front();
  if (!features || x == ValueId::none) return product;
  const TensorType type = lowering.type(x);
  if (type.rank() == 0) {
    lowering.diagnostics.error(
        "rank-mismatch", layer.at,
        layer.kind + " needs at least one dim, found " + lowering.described(x));
    return product;
  }
  ParameterRequest request;
  request.path = kernel_path;
  request.type = {lowering.config.dtypes.params, {type.shape.back(), features->value}};
  request.labels = {lowering.builder.graph().value(x).labels.back(), features->label};
  request.placement = placement_of(layer, kernel_name, layer.kernel);
  request.init = layer.kernel_init.value_or(InitConfig{"lecun_normal", {}, layer.at});
  request.at = layer.kernel ? layer.kernel->at : layer.at;
  const ValueId kernel = lowering.parameter(std::move(request));
  product.label = features->label;
  product.features = features->value;
  std::vector<std::string> labels = lowering.builder.graph().value(x).labels;
  labels.back() = features->label;
  const ValueId operands[] = {lowering.converted(x, product.dtype),
                              in_use(lowering, layer, kernel_name, kernel, product.dtype)};
  product.value = lowering.emit(Op::dot, operands, dot_attributes({}, {}, {type.rank() - 1}, {0}),
                                std::move(labels));
  return product;
}

bool has_features(Lowering& lowering, const LayerConfig& layer) {
  if (layer.features) return true;
  lowering.diagnostics.error("missing-key", layer.at, layer.kind + " needs features",
                             "write " + layer.kind + ": {features: SIZE}");
  return false;
}

}  // namespace

ValueId lower_dense(Lowering& lowering, LayerCall& call) {
  const LayerConfig& layer = call.layer;
  check_params(lowering, layer, {"kernel", "bias"});
  if (!has_features(lowering, layer)) return ValueId::none;
  const Product product = kernel_product(lowering, call, call.path + "/kernel", "kernel");
  ValueId value = product.value;
  if (value != ValueId::none && layer.use_bias.value_or(true)) {
    ParameterRequest request;
    request.path = call.path + "/bias";
    request.type = {lowering.config.dtypes.params, {product.features}};
    request.labels = {product.label};
    request.placement = placement_of(layer, "bias", layer.bias);
    request.init = layer.bias_init.value_or(InitConfig{"zeros", {}, layer.at});
    request.at = layer.bias ? layer.bias->at : layer.at;
    const ValueId bias = lowering.parameter(std::move(request));
    value =
        lowering.emit_binary(Op::add, value, in_use(lowering, layer, "bias", bias, product.dtype));
  }
  lowering.name_value(value, call.path);
  return value;
}

ValueId lower_dot(Lowering& lowering, LayerCall& call) {
  const LayerConfig& layer = call.layer;
  ValueId value = ValueId::none;
  if (call.inputs.size() == 2 && !layer.features) {
    ValueId left = call.inputs[0];
    ValueId right = call.inputs[1];
    if (layer.dtype) left = lowering.converted(left, *layer.dtype);
    if (layer.dtype) right = lowering.converted(right, *layer.dtype);
    value = lowering.matrix_product(left, right);
  } else if (call.inputs.size() == 2) {
    lowering.diagnostics.error("wrong-input-count", layer.of_at,
                               "dot with features takes 1 input, found 2",
                               "leave features out for the product of two values");
  } else if (has_features(lowering, layer)) {
    // A bare parameter sits directly in the module that uses it: `DotReluDot_0/W2`.
    const std::string name = call.path.substr(call.path.rfind('/') + 1);
    check_params(lowering, layer, {name});
    value = kernel_product(lowering, call, call.path, name).value;
  }
  lowering.name_value(value, call.path);
  return value;
}

}  // namespace shard
