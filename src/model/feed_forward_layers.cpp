// Feed-forward blocks: mlp, swiglu, geglu.

#include "base/check.h"
#include "model/activation.h"
#include "model/block_builder.h"

namespace shard {
namespace {

ValueId product_over_last(BlockBuilder& block, ValueId x, std::string_view name,
                          const BlockDim& from, const BlockDim& to, bool has_bias) {
  const std::string prefix(name);
  const ValueId kernel = block.kernel(prefix + "/kernel", {from, to}, 1);
  if (kernel == ValueId::none || x == ValueId::none) return ValueId::none;
  const ValueId product =
      block.product(x, kernel, paired({{}, {}, {block.compose.last_dim(x)}, {0}}));
  return block.with_bias(product, prefix + "/bias", {to}, has_bias);
}

struct HiddenForm {
  Op activation;
  bool is_gated;
  bool has_bias;  ///< when the file does not say
};

ValueId feed_forward(Lowering& lowering, LayerCall& call, const HiddenForm& form) {
  BlockBuilder block(lowering, call);
  const ValueId input = block.input(0, 1);
  const auto hidden = block.dim("features", "mlp");
  if (input == ValueId::none || !hidden) return ValueId::none;
  Composer& c = block.compose;
  const ValueId x = c.converted(input, block.compute());
  const BlockDim features = block.dim_of(x, -1, "embed");
  const ValueId first = form.is_gated
                            ? product_over_last(block, x, "gate", features, *hidden, form.has_bias)
                            : product_over_last(block, x, "up", features, *hidden, form.has_bias);
  if (first == ValueId::none) return first;
  ValueId value = c.one(form.activation, first);
  if (form.is_gated) {
    const ValueId up = product_over_last(block, x, "up", features, *hidden, form.has_bias);
    if (up == ValueId::none) return up;
    value = c.two(Op::multiply, value, up);
  }
  value = block.value("hidden", value, "the hidden values, after the activation");
  return block.finish(product_over_last(block, value, "down", *hidden, features, form.has_bias));
}

}  // namespace

Op activation_named(std::string_view word) {
  const auto op = op_named(word);
  SHARD_CHECK(op.has_value(), "the words of activations are names of ops");
  return *op;
}

ValueId lower_swiglu(Lowering& lowering, LayerCall& call) {
  return feed_forward(lowering, call, {Op::silu, true, false});
}

ValueId lower_geglu(Lowering& lowering, LayerCall& call) {
  return feed_forward(lowering, call, {Op::gelu, true, false});
}

ValueId lower_mlp(Lowering& lowering, LayerCall& call) {
  std::string word = "gelu";
  for (const auto& [key, written] : call.layer.words) {
    if (key == "activation") word = written;
  }
  return feed_forward(lowering, call, {activation_named(word), false, true});
}

}  // namespace shard
