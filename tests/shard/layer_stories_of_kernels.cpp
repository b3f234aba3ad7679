// Stories about parameters: what they are made with, embeddings, stacks.

#include "layer_stories.h"
#include "shard/explicit_gradient.h"

namespace shard::tests {

// ---- where a kernel's type comes from -------------------------------------------------------

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

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

// ---- stacks and optimizers ------------------------------------------------------------------

namespace {

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

}  // namespace

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

}  // namespace shard::tests
