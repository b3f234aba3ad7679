// Stories about calls of layers.

#include "layer_stories.h"
#include "shard/explicit_gradient.h"

namespace shard::tests {

// ---- one product ----------------------------------------------------------------------------

Story linear_story(const Layers& on) {
  const ShardedType kernel = on.array({32, 32}, "P(None,'data')");
  const ShardedType x = on.array({64, 32}, "P('data')");
  const ShardedType bias = on.array({32}, "P()");
  const ShardedType split_bias = on.array({32}, "P('data')");
  Story story;
  story.lines = {
      {"model = nnx.Linear(32, 32, kernel_init=xavier_uniform() with out_sharding P(None,'data'), "
       "use_bias=False); model.kernel",
       [=, &on](auto&) { return on.text(kernel); }},
      {"x = jnp.ones((64, 32), out_sharding=P('data'))", [=, &on](auto&) { return on.text(x); }},
      {"jax.sharding.auto_axes(lambda x: model(x), out_sharding=P('data'))(x)",
       [=, &on](auto&) {
         return on.text(on.in_auto(on.closed_body(kernel, false), {x}, "P('data')"));
       }},
      {"jax.sharding.auto_axes(lambda x, k: jnp.dot(x, k), out_sharding=P('data'))(x, kernel)",
       [=, &on](auto&) {
         return on.text(on.in_auto(Layers::dot_body(), {x, kernel}, "P('data')"));
       }},
      {"graph, state = nnx.split(model); auto_axes(lambda s, x: nnx.merge(graph, s)(x), "
       "out_sharding=P('data'))(state, x)",
       [=, &on](auto&) {
         return on.text(on.in_auto(Layers::dot_body(), {x, kernel}, "P('data')"));
       }},
      {"g = nnx.grad(lambda m: m(x, out_sharding=P('data')).sum())(model); g.kernel",
       [=, &on](auto&) { return on.text(cotangent_type(kernel)); }},
      {"biased = nnx.Linear(..., same kernel_init); biased.bias",
       [=, &on](auto&) { return on.text(bias); }},
      {"both = nnx.Linear(..., bias_init=sharded_init(zeros_init(), P('data'))); both.bias",
       [=, &on](auto&) { return on.text(split_bias); }},
  };
  const auto call = [=, &on](const ShardedType* added) {
    return [=, &on](const std::string& code) {
      return on.text(on.linear(x, kernel, out_of(code), added));
    };
  };
  const auto kept_bias = std::make_shared<const ShardedType>(bias);
  const auto kept_split = std::make_shared<const ShardedType>(split_bias);
  story.beginnings = {
      {"y = model(x", call(nullptr)},
      {"model(x", call(nullptr)},
      {"nnx.jit(lambda m, x: m(x", call(nullptr)},
      {"biased(x", [=](const std::string& code) { return call(kept_bias.get())(code); }},
      {"both(x", [=](const std::string& code) { return call(kept_split.get())(code); }},
  };
  return story;
}

// ---- a gated feed-forward block -------------------------------------------------------------

Story swiglu_story(const Layers& on, std::int64_t length) {
  const ShardedType up = on.array({128, 256}, "P('fsdp','model')");
  const ShardedType down = on.array({256, 128}, "P('model','fsdp')");
  const ShardedType x = on.array({8, length, 128}, "P('fsdp',None,None)", "bfloat16");
  const ShardedType gated = on.linear(x, up);
  const ShardedType h = on.op("jnp.multiply", {on.op("nn.silu", {gated}), gated});
  const auto show = [&on](ShardedType type) {
    return [&on, type](const std::string&) { return on.text(type); };
  };
  const auto call = [=, &on](const std::string& code) {
    return on.text(on.linear(h, down, out_of(code)));
  };
  Story story;
  story.lines = {
      {"gate_proj.kernel", show(up)},
      {"up_proj.kernel", show(up)},
      {"down_proj.kernel", show(down)},
      {"x: bfloat16 P('fsdp', None, None)", show(x)},
      {"gate_proj(x)", show(gated)},
      {"up_proj(x)", show(gated)},
      {"silu(gate_proj(x)) * up_proj(x)", show(h)},
      {"auto_axes(lambda h, k: jnp.dot(h, k), out_sharding=P('fsdp'))(h, down_proj.kernel)",
       [=, &on](auto&) {
         return on.text(on.in_auto(Layers::dot_body(true), {h, down}, "P('fsdp')"));
       }},
      {"auto_axes(lambda h: down_proj(h), out_sharding=P('fsdp'))(h)",
       [=, &on](auto&) {
         return on.text(on.in_auto(on.closed_body(down, true), {h}, "P('fsdp')"));
       }},
      {"graph, state = nnx.split(down_proj); auto_axes(lambda s, h: nnx.merge(graph, s)(h), "
       "out_sharding=P('fsdp'))(state, h)",
       [=, &on](auto&) {
         return on.text(on.in_auto(Layers::dot_body(true), {h, down}, "P('fsdp')"));
       }},
      {"auto_axes(whole block with kernels as arguments, out_sharding=P('fsdp'))",
       [=, &on](auto&) {
         // The kernels are float32 and nothing converts them here.
         return on.text(on.in_auto(Layers::dot_body(), {h, down}, "P('fsdp')"));
       }},
      {"reshard the down kernel to P('model') and call with out_sharding=P('fsdp')",
       [=, &on](auto&) {
         const ShardedType moved = on.op("reshard", {down}, {}, spec("P('model')"));
         return on.text(on.linear(h, moved, spec("P('fsdp')")));
       }},
      {"reshard the down kernel to P() and call without out_sharding",
       [=, &on](auto&) {
         return on.text(on.linear(h, on.op("reshard", {down}, {}, spec("P()"))));
       }},
      {"reshard h to P('fsdp') and call down_proj(h)",
       [=, &on](auto&) {
         return on.text(on.linear(on.op("reshard", {h}, {}, spec("P('fsdp')")), down));
       }},
  };
  story.beginnings = {
      {"down_proj(h", call},
      // The layer passes an out_sharding of its own, none, which a partial does not keep.
      {"nnx.Linear(..., dot_general=partial(",
       [=, &on](const std::string&) { return on.text(on.linear(h, down)); }},
      {"nnx.Linear(..., dot_general=a function",
       [=, &on](const std::string& code) {
         return on.text(on.linear(h, down, spec_behind(code, "with ")));
       }},
  };
  return story;
}

// ---- other layers ---------------------------------------------------------------------------

namespace {

/// The norms: statistics over the last dim, then a scale.
ShardedType normed(const Layers& on, const ShardedType& x, const ShardedType& scale) {
  const Parameters last = {{"axis", -1}, {"keepdims", true}};
  const ShardedType mean = on.op("jnp.mean", {on.op("jnp.square", {x})}, last);
  const ShardedType factor = on.op("jnp.multiply", {on.op("lax.rsqrt", {mean}), scale});
  return on.op("jnp.multiply", {x, factor});
}

ShardedType attended(const Layers& on, const ShardedType& x, const ShardedType& kernel,
                     const ShardedType& out_kernel, const std::optional<PartitionSpec>& qkv,
                     const std::optional<PartitionSpec>& out) {
  const ShardedType heads =
      on.op("jnp.einsum", {x, kernel}, {{"subscripts", "btd,dhk->bthk"}}, qkv);
  const ShardedType mixed = on.op("nn.dot_product_attention", {heads, heads, heads});
  return on.op(
      "lax.dot_general", {mixed, out_kernel},
      {{"dimension_numbers",
        Parameter::List{
            Parameter::List{std::vector<std::int64_t>{2, 3}, std::vector<std::int64_t>{0, 1}},
            Parameter::List{std::vector<std::int64_t>{}, std::vector<std::int64_t>{}}}}},
      out);
}

}  // namespace

Story other_story(const Layers& on) {
  const ShardedType x = on.array({8, 16, 32}, "P('fsdp')");
  const ShardedType wide = on.array({8, 16, 32}, "P('fsdp',None,'model')");
  const ShardedType scale = on.array({32}, "P()");
  const auto last = std::make_shared<std::string>();
  const auto einsum = [=, &on](const std::string& written,
                               const std::optional<PartitionSpec>& out) {
    const ShardedType kernel = on.array({32, 4, 8}, written);
    return on.text(on.op("jnp.einsum", {x, kernel}, {{"subscripts", "btd,dhk->bthk"}}, out));
  };
  const auto conv = [=, &on](const std::string& written, const std::optional<PartitionSpec>& out) {
    const Parameters parameters = {{"window_strides", 1},
                                   {"padding", "SAME"},
                                   {"dimension_numbers", Parameter::List{"NWC", "WIO", "NWC"}}};
    return on.text(on.op("lax.conv_general_dilated", {x, on.array({3, 32, 16}, written)},
                         {{"window_strides", std::vector<std::int64_t>{1}},
                          {"padding", "SAME"},
                          {"dimension_numbers", Parameter::List{"NWC", "WIO", "NWC"}}},
                         out));
  };
  const auto attention = [=, &on](const std::string& in, const std::string& after,
                                  const std::optional<PartitionSpec>& qkv,
                                  const std::optional<PartitionSpec>& out) {
    return on.text(
        attended(on, x, on.array({32, 4, 8}, in), on.array({4, 8, 32}, after), qkv, out));
  };
  Story story;
  story.lines = {
      {"x: float32 (8,16,32) P('fsdp')", [=, &on](auto&) { return on.text(x); }},
      {"nnx.RMSNorm(32).scale", [=, &on](auto&) { return on.text(scale); }},
      {"nnx.RMSNorm(32)(x)", [=, &on](auto&) { return on.text(normed(on, x, scale)); }},
      {"nnx.RMSNorm(32, scale_init=partial(ones, out_sharding=P('model')))(x)",
       [=, &on](auto&) { return on.text(normed(on, x, on.array({32}, "P('model')"))); }},
      {"nnx.LayerNorm(32)(x)", [=, &on](auto&) { return on.text(normed(on, x, scale)); }},
      {"nnx.LayerNorm(32)(x P('fsdp',None,'model'))",
       [=, &on](auto&) { return on.text(normed(on, wide, scale)); }},
      {"nnx.Dropout(0.5, rngs)(x)",
       [=, &on](auto&) {
         const ShardedType kept =
             on.op("random.bernoulli", {}, {{"shape", x.shape}}, type_spec(on.mesh, x));
         return on.text(on.op("jnp.where", {kept, x, on.op("jnp.zeros_like", {x})}));
       }},
      {"nnx.LinearGeneral(32, (4,8))(x)", [=](auto&) { return einsum("P()", std::nullopt); }},
      {"nnx.LinearGeneral(32, (4,8), kernel_init=partial(lecun_normal(), "
       "out_sharding=P(None,'model'))).kernel",
       [=, &on](auto&) {
         return on.text(on.array({32, 4, 8}, "P(None,'model')"));
       }},
      {"nnx.LinearGeneral(32, (4,8), kernel_metadata={'out_sharding': (None,'model',None)})(x)",
       [=](auto&) { return einsum("P(None,'model',None)", std::nullopt); }},
      {"nnx.LoRA(32, 4, 16)(x)",
       [=, &on](auto&) {
         const ShardedType inner = on.op("jnp.dot", {x, on.array({32, 4}, "P()")});
         return on.text(on.op("jnp.dot", {inner, on.array({4, 16}, "P()")}));
       }},
  };
  const auto remember = [=](const std::string& code) { *last = code.substr(0, 10); };
  const std::string heads = "P(None,'model',None)";
  story.beginnings = {
      {"nnx.Einsum(",
       [=](const std::string& code) {
         remember(code);
         return einsum(heads, std::nullopt);
       }},
      {"nnx.Conv(32",
       [=](const std::string& code) {
         remember(code);
         return conv("P()", std::nullopt);
       }},
      {"nnx.Conv with kernel",
       [=](const std::string& code) {
         remember(code);
         return conv("P(None,None,'model')", std::nullopt);
       }},
      {"nnx.MultiHeadAttention(4, 32)(x)",
       [=](const std::string& code) {
         remember(code);
         return attention("P()", "P()", std::nullopt, std::nullopt);
       }},
      {"nnx.MultiHeadAttention(4, 32, kernel_metadata",
       [=](const std::string& code) {
         remember(code);
         return attention(heads, "P('model',None,None)", std::nullopt, std::nullopt);
       }},
      {"  with out_sharding=",
       [=](const std::string& code) {
         if (last->starts_with("nnx.Einsum")) return einsum(heads, out_of(code));
         if (last->starts_with("nnx.Conv")) return conv("P(None,None,'model')", out_of(code));
         return attention(heads, "P('model',None,None)", spec_behind(code, "qkv_sharding="),
                          out_of(code));
       }},
  };
  return story;
}

}  // namespace shard::tests
