// JAX and Flax NNX running code with layers in explicit mode, step by step. Every line of code is
// said again as the typed ops that the layer consists of; a line that is not here is a miss.

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "config/read_spec.h"
#include "recorded_types.h"
#include "shard/explicit_gradient.h"

using namespace shard;
using namespace shard::tests;

namespace {

PartitionSpec spec(const std::string& text) { return read_partition_text(text, {}); }

/// The text from `P(` to its closing bracket, behind `after`; nothing when there is none.
std::optional<PartitionSpec> spec_behind(const std::string& code, const std::string& after) {
  const std::size_t found = code.find(after + "P(");
  if (found == code.npos) return std::nullopt;
  const std::size_t start = found + after.size();
  int depth = 0;
  for (std::size_t end = start; end < code.size(); ++end) {
    if (code[end] == '(') ++depth;
    if (code[end] == ')' && --depth == 0) return spec(code.substr(start, end - start + 1));
  }
  return std::nullopt;
}

/// What a step printed: a type, a spec, a text.
using Answer = std::function<std::string(const std::string& code)>;

/// The code of one story: exact lines, and beginnings of lines that differ in a spec.
struct Story {
  std::map<std::string, Answer> lines;
  std::vector<std::pair<std::string, Answer>> beginnings;

  std::string run(const std::string& code) const {
    if (const auto found = lines.find(code); found != lines.end()) return found->second(code);
    for (const auto& [beginning, answer] : beginnings) {
      if (code.starts_with(beginning)) return answer(code);
    }
    return "not said";
  }
};

/// Values and layers on one mesh.
class Layers {
 public:
  explicit Layers(const json& axes) : mesh(typed_mesh(axes)) {}

  ShardedType array(const Shape& shape, const std::string& written,
                    const std::string& element = "float32") const {
    return written_type(mesh, "zeros", {element}, shape, spec(written));
  }

  ShardedType op(const std::string& name, ShardedTypes operands, const Parameters& parameters = {},
                 const std::optional<PartitionSpec>& out = std::nullopt) const {
    return type_one(mesh, name, std::move(operands), parameters, out ? &*out : nullptr);
  }

  ShardedType as(ShardedType value, const std::string& element) const {
    return op("lax.convert_element_type", {std::move(value)}, {{"new_dtype", element}});
  }

  /// `nnx.Linear`: the product takes the out_sharding, the bias comes after it.
  ShardedType linear(const ShardedType& x, const ShardedType& kernel,
                     const std::optional<PartitionSpec>& out = std::nullopt,
                     const ShardedType* bias = nullptr) const {
    const ShardedType product = op("jnp.dot", {x, as(kernel, x.element.name)}, {}, out);
    if (bias == nullptr) return product;
    Shape row(product.rank(), 1);
    row.back() = bias->shape.back();
    const ShardedType added = op("jnp.reshape", {*bias}, {{"shape", row}});
    return op("jnp.add", {product, added});
  }

  /// `auto_axes(f, out_sharding=out)(arguments)`.
  ShardedType in_auto(TypedProgram body, ShardedTypes arguments, const std::string& out) const {
    const Parameters parameters = {{"body", std::make_shared<const TypedProgram>(std::move(body))}};
    return op("auto_axes", std::move(arguments), parameters, spec(out));
  }

  /// A body of `jnp.dot` of its two arguments, converted first when asked.
  static TypedProgram dot_body(bool converts = false) {
    TypedProgram body;
    body.arguments = {"a", "b"};
    if (converts) {
      body.steps.push_back({{"k"},
                            false,
                            "lax.convert_element_type",
                            {"b"},
                            {{"new_dtype", "bfloat16"}},
                            std::nullopt});
    }
    body.steps.push_back(
        {{"y"}, false, "jnp.dot", {"a", std::string(converts ? "k" : "b")}, {}, std::nullopt});
    body.results = {"y"};
    return body;
  }

  /// The same with the second operand closed over: it keeps the type it has outside.
  TypedProgram closed_body(ShardedType kernel, bool converts) const {
    kernel.typed_on = std::make_shared<const Mesh>(mesh);
    TypedProgram body;
    body.arguments = {"a"};
    if (converts) {
      body.steps.push_back({{"k"},
                            false,
                            "lax.convert_element_type",
                            {kernel},
                            {{"new_dtype", "bfloat16"}},
                            std::nullopt});
    }
    TypedStep product{{"y"}, false, "jnp.dot", {"a"}, {}, std::nullopt};
    if (converts) {
      product.operands.emplace_back("k");
    } else {
      product.operands.emplace_back(kernel);
    }
    body.steps.push_back(product);
    body.results = {"y"};
    return body;
  }

  std::string text(const ShardedType& type) const { return type_text(mesh, type); }

  Mesh mesh;
};

/// The last spec in the code.
std::optional<PartitionSpec> out_of(const std::string& code) {
  return spec_behind(code, "out_sharding=");
}

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

// ---- where a kernel's type comes from -------------------------------------------------------

/// What a kernel is made with: a spec given to the initializer, one in its metadata.
struct KernelSpecs {
  std::optional<PartitionSpec> initializer;
  std::optional<PartitionSpec> metadata;
};

PartitionSpec without_tuple(const std::string& tuple) {
  return spec(tuple == "()" ? "P()" : tuple.front() == 'P' ? tuple : "P" + tuple);
}

KernelSpecs kernel_specs(const std::string& code) {
  const auto between = [&](const std::string& start, const std::string& end) {
    const std::size_t found = code.find(start) + start.size();
    return code.substr(found, code.rfind(end) - found);
  };
  const auto has = [&](const std::string& part) { return code.find(part) != code.npos; };
  if (has("both: ")) return {spec("P('data')"), spec("P(None,'model')")};
  if (has("with_partitioning")) {
    return {std::nullopt, without_tuple(between("lecun_normal(), ", ")"))};
  }
  if (has("kernel_metadata=")) {
    return {std::nullopt, without_tuple(between("'out_sharding': ", "}"))};
  }
  if (has("partial(")) return {spec_behind(code, "out_sharding="), std::nullopt};
  return {};
}

/// Metadata reshards the value when it is made, if eager; else the initializer's spec stays.
ShardedType made_kernel(const Layers& on, const Shape& shape, const KernelSpecs& specs,
                        bool is_eager) {
  ShardedType made = on.array(shape, "P()");
  if (specs.initializer) {
    made = written_type(on.mesh, "normal", {}, shape, *specs.initializer);
  }
  if (is_eager && specs.metadata) made = written_type(on.mesh, "jit", {}, shape, *specs.metadata);
  return made;
}

std::string spec_json(const std::optional<PartitionSpec>& written) {
  json entries = json::array();
  for (const PartitionEntry& entry : written.value_or(PartitionSpec{}).entries) {
    if (entry.axes.empty()) {
      entries.push_back(nullptr);
    } else if (entry.axes.size() == 1) {
      entries.push_back(entry.axes.front().text());
    } else {
      json names = json::array();
      for (const MeshAxis& axis : entry.axes) names.push_back(axis.text());
      entries.push_back(names);
    }
  }
  return entries.dump();
}

Story metadata_story(const Layers& on, bool is_eager) {
  const auto last = std::make_shared<std::string>();
  const auto kernel = [&on, is_eager](const std::string& code) {
    const std::int64_t columns = code.find("16x30") == code.npos ? 32 : 30;
    return made_kernel(on, {16, columns}, kernel_specs(code), is_eager);
  };
  Story story;
  story.beginnings = {
      {"nnx.Linear(16, 32, ...).kernel: ",
       [=, &on](const std::string& code) {
         *last = code;
         return on.text(kernel(code));
       }},
      {"nnx.get_partition_spec of it",
       [=](const std::string&) {
         kernel(*last);  // a kernel that cannot be made has no spec
         return spec_json(kernel_specs(*last).metadata);
       }},
  };
  return story;
}

// ---- an embedding under logical rules -------------------------------------------------------

const std::vector<RuleConfig>& embedding_rules() {
  static const std::vector<RuleConfig> rules = [] {
    std::vector<RuleConfig> made;
    const std::vector<std::pair<std::string, std::string>> pairs = {
        {"vocab", "model"}, {"embed", ""}, {"batch", "data"}, {"mlp", "model"}};
    for (const auto& [name, axis] : pairs) {
      RuleConfig rule;
      rule.logical = LogicalAxis(name);
      if (!axis.empty()) rule.target.axes.emplace_back(axis);
      made.push_back(rule);
    }
    return made;
  }();
  return rules;
}

/// Names by the rules; one that no rule has is a mesh axis.
PartitionSpec by_rules(const PartitionSpec& names, const std::vector<RuleConfig>& rules) {
  PartitionSpec resolved;
  for (const PartitionEntry& entry : names.entries) {
    PartitionEntry target = entry;
    for (const RuleConfig& rule : rules) {
      if (entry.axes.size() == 1 && rule.logical.text() == entry.axes.front().text()) {
        target = rule.target;
      }
    }
    resolved.entries.push_back(target);
  }
  return resolved;
}

Story embedding_story(const Layers& on) {
  const auto table_spec = std::make_shared<PartitionSpec>();
  const auto table = [=, &on] { return written_type(on.mesh, "jit", {}, {64, 16}, *table_spec); };
  Story story;
  story.beginnings = {
      {"nnx.Embed(64, 16",
       [=, &on](const std::string& code) {
         const std::size_t start = code.find("normal(), ") + 10;
         *table_spec = by_rules(without_tuple(code.substr(start, code.rfind(")))") - start + 1)),
                                embedding_rules());
         return on.text(table());
       }},
      {"nnx.get_partition_spec of it",
       [=](const std::string&) {
         table();
         return spec_json(*table_spec);
       }},
      {"embed(tokens",
       [=, &on](const std::string& code) {
         ShardedType tokens =
             written_type(on.mesh, "zeros", {"int32"}, {8, 4}, *spec_behind(code, "(8,4) "));
         if (const auto out = out_of(code)) {
           TypedProgram body;
           body.arguments = {"a", "b"};
           body.steps.push_back(
               {{"y"}, false, "jnp.take", {"a", "b"}, {{"axis", 0}}, std::nullopt});
           body.results = {"y"};
           return on.text(on.in_auto(body, {table(), tokens}, to_string(*out)));
         }
         return on.text(on.op("jnp.take", {table(), tokens}, {{"axis", 0}}));
       }},
      {"embed.attend(query",
       [=, &on](const std::string& code) {
         const ShardedType query =
             written_type(on.mesh, "zeros", {}, {8, 4, 16}, *spec_behind(code, "(8,4,16) "));
         const ShardedType turned = on.op("jnp.transpose", {table()});
         return on.text(on.op("jnp.dot", {query, turned}, {}, out_of(code)));
       }},
      {"nnx.Param(jnp.ones((16, 32)), out_sharding=",
       [&on](const std::string& code) {
         std::vector<RuleConfig> rules = embedding_rules();
         const std::size_t start = code.find("out_sharding=") + 13;
         const std::string names = code.substr(start, code.find(')', start) - start + 1);
         for (const auto& [name, axis] : std::vector<std::pair<std::string, std::string>>{
                  {"a", "data"}, {"b", "model"}, {"mlp", "data"}}) {
           const std::string rule = "('" + name + "','" + axis + "')";
           if (code.find(rule) == code.npos) continue;
           for (const RuleConfig& known : rules) {
             if (known.logical.text() != name || known.target.axes.front().text() == axis) continue;
             return "ValueError: Inconsistent logical axis annotations for " + name + ": " +
                    known.target.axes.front().text() + " vs " + axis;
           }
           RuleConfig more;
           more.logical = LogicalAxis(name);
           more.target.axes.emplace_back(axis);
           rules.push_back(more);
         }
         return on.text(
             written_type(on.mesh, "jit", {}, {16, 32}, by_rules(without_tuple(names), rules)));
       }},
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

// ---- stacks and optimizers ------------------------------------------------------------------

/// Three kernels made at once: the stacked dim is in front and whole.
ShardedType stack(const Layers& on, const ShardedType& kernel) {
  TypedProgram body;
  body.arguments = {"key"};
  TypedStep make{
      {"k"}, false, "random.normal", {}, {{"shape", kernel.shape}}, type_spec(on.mesh, kernel)};
  body.steps.push_back(make);
  body.results = {"k"};
  return on.op("vmap", {on.array({3}, "P()")},
               {{"body", std::make_shared<const TypedProgram>(std::move(body))}});
}

Story stacked_story(const Layers& on) {
  const ShardedType kernel = on.array({16, 32}, "P('fsdp','model')");
  Story story;
  const auto last = std::make_shared<std::string>();
  story.lines = {
      {"  its out_sharding metadata",
       [=](auto&) -> std::string {
         // The name of the stacked dim goes in front; without one the metadata stays as it was.
         if (last->find("no transform_metadata") != last->npos) return "('fsdp', 'model')";
         const bool is_named = last->find("'layers'") != last->npos;
         return std::string("(") + (is_named ? "'layers'" : "None") + ", 'fsdp', 'model')";
       }},
      {"nnx.scan over the stack: x (8,16) P('fsdp') -> layer -> dot (32,16) out_sharding P('fsdp')",
       [=, &on](auto&) {
         TypedProgram body;
         body.arguments = {"x", "k"};
         body.steps.push_back({{"h"}, false, "jnp.dot", {"x", "k"}, {}, std::nullopt});
         TypedStep back{{"y"}, false, "jnp.dot", {"h"}, {}, spec("P('fsdp')")};
         back.operands.emplace_back(on.array({32, 16}, "P()"));
         body.steps.push_back(back);
         body.results = {"y"};
         return on.text(on.op("scan", {on.array({8, 16}, "P('fsdp')"), stack(on, kernel)},
                              {{"body", std::make_shared<const TypedProgram>(std::move(body))}}));
       }},
      {"nnx.Optimizer(adam): mu of the kernel",
       [=, &on](auto&) { return on.text(on.op("jnp.zeros_like", {kernel})); }},
      {"nnx.Optimizer(adam): mu of the bias",
       [=, &on](auto&) { return on.text(on.op("jnp.zeros_like", {on.array({32}, "P()")})); }},
      {"nnx.Optimizer(adam): count",
       [=, &on](auto&) { return on.text(on.array({}, "P()", "int32")); }},
      {"one adam step on mean(model(x)**2): kernel after it",
       [=, &on](auto&) {
         const ShardedType gradient = cotangent_type(kernel);
         return on.text(on.op("jnp.add", {kernel, on.op("jnp.multiply", {gradient, kernel})}));
       }},
  };
  story.beginnings = {{"nnx.vmap over 3 Linear(16,32)", [=, &on](const std::string& code) {
                         *last = code;
                         return on.text(stack(on, kernel));
                       }}};
  return story;
}

Story story_of(const Layers& on, const std::string& name) {
  if (name.starts_with("linear")) return linear_story(on);
  if (name.starts_with("kernel sharding")) return metadata_story(on, name.ends_with(" on"));
  if (name.starts_with("embedding")) return embedding_story(on);
  if (name.starts_with("other")) return other_story(on);
  if (name.starts_with("stacked")) return stacked_story(on);
  return swiglu_story(on, name.find("seq=64 ") == name.npos ? 4096 : 64);
}

std::string expected_of(const json& step) {
  for (const char* key : {"type", "text"}) {
    if (step.contains(key)) return step.at(key).get<std::string>();
  }
  return step.contains("spec") ? step.at("spec").dump() : "";
}

}  // namespace

TEST_CASE("layers give the types that Flax NNX gives in explicit mode") {
  const std::optional<json> recorded = read_goldens("explicit/nnx.json");
  if (!recorded) return;
  Conformance conformance("explicit/nnx.json");
  for (const json& one : *recorded) {
    const std::string name = one.at("name").get<std::string>();
    const Layers on(one.at("mesh"));
    const Story story = story_of(on, name);
    for (const json& step : one.at("steps")) {
      const std::string code = step.at("code").get<std::string>();
      compare_typing(conformance, name.substr(0, 20) + ": " + code, step, expected_of(step),
                     [&] { return story.run(code); });
    }
  }
  CHECK(conformance.matched() == conformance.total());
}
