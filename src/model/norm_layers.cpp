// Norms and softmax.

#include "model/block_builder.h"

namespace shard {
namespace {

/// Sums of squares and of exponentials are taken in f32 at least.
DType wide_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

ValueId over_last(BlockBuilder& block, ValueId statistic, ValueId like) {
  return block.compose.spread(statistic, block.compose.type(like).shape,
                              {block.compose.last_dim(like)});
}

/// A parameter over the last dim, as an array like x.
ValueId along_last(BlockBuilder& block, ValueId x, std::string_view name, const InitConfig& init) {
  const int last = block.compose.last_dim(x);
  const ValueId parameter = block.parameter(name, {block.dim_of(x, last, "features")}, init);
  if (parameter == ValueId::none) return parameter;
  const ValueId same = block.compose.converted(parameter, block.compose.type(x).dtype);
  return block.compose.placed(same, block.compose.type(x).shape, {last});
}

InitConfig scale_init(const BlockBuilder& block) {
  for (const auto& [key, init] : block.layer.inits) {
    if (key == "scale_init") return init;
  }
  return {"ones", {}, block.layer.at};
}

/// x / sqrt(mean(x^2) + eps).
ValueId normalized(BlockBuilder& block, ValueId x) {
  Composer& c = block.compose;
  const ValueId mean = c.mean(c.one(Op::square, x), {c.last_dim(x)});
  const ValueId inverse = c.one(Op::rsqrt, c.plus(mean, block.number("eps", 1e-6)));
  return c.two(Op::multiply, x, over_last(block, inverse, x));
}

ValueId scaled(BlockBuilder& block, ValueId x) {
  const ValueId scale = along_last(block, x, "scale", scale_init(block));
  return scale == ValueId::none ? scale : block.compose.two(Op::multiply, x, scale);
}

ValueId softmax_by(Lowering& lowering, LayerCall& call, bool is_log) {
  BlockBuilder block(lowering, call);
  const ValueId input = block.input(0, 1);
  if (input == ValueId::none) return input;
  auto dims = lowering.dim_positions(input, call.layer.dims, call.layer.at);
  if (!dims) return ValueId::none;
  if (dims->empty()) dims->push_back(block.compose.last_dim(input));
  const ValueId x = block.compose.converted(input, wide_dtype(block.compute()));
  return block.finish(is_log ? block.compose.log_softmax(x, *dims)
                             : block.compose.softmax(x, *dims));
}

}  // namespace

ValueId lower_rms_norm(Lowering& lowering, LayerCall& call) {
  BlockBuilder block(lowering, call);
  const ValueId input = block.input(0, 1);
  if (input == ValueId::none) return input;
  const ValueId x = block.compose.converted(input, wide_dtype(block.compute()));
  return block.finish(scaled(block, normalized(block, x)));
}

ValueId lower_layer_norm(Lowering& lowering, LayerCall& call) {
  BlockBuilder block(lowering, call);
  const ValueId input = block.input(0, 1);
  if (input == ValueId::none) return input;
  Composer& c = block.compose;
  const ValueId x = c.converted(input, wide_dtype(block.compute()));
  const ValueId mean = c.mean(x, {c.last_dim(x)});
  const ValueId centered = c.two(Op::subtract, x, over_last(block, mean, x));
  ValueId result = scaled(block, normalized(block, centered));
  if (call.layer.use_bias.value_or(true)) {
    const InitConfig init = call.layer.bias_init.value_or(InitConfig{"zeros", {}, call.layer.at});
    const ValueId bias = along_last(block, x, "bias", init);
    const bool is_spoiled = bias == ValueId::none || result == ValueId::none;
    result = is_spoiled ? ValueId::none : c.two(Op::add, result, bias);
  }
  return block.finish(result);
}

ValueId lower_softmax(Lowering& lowering, LayerCall& call) {
  return softmax_by(lowering, call, false);
}

ValueId lower_log_softmax(Lowering& lowering, LayerCall& call) {
  return softmax_by(lowering, call, true);
}

}  // namespace shard
