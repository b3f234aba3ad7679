// JAX and Flax NNX running code with layers in explicit mode: the lines that a model file can say
// are written as one, planned with types, and compared.

#include <doctest/doctest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "config/load.h"
#include "model/model.h"
#include "recorded_types.h"
#include "shard/sharded_graph.h"
#include "yaml_stories.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::string rules_text(const json& axes, const std::string& rules) {
  std::string mesh;
  for (const json& axis : axes) {
    mesh += (mesh.empty() ? "" : ", ") + axis.at(0).get<std::string>() + ": " +
            std::to_string(axis.at(1).get<int>());
  }
  // Where the code has no rules, labels place nothing.
  const std::string whole =
      "[[batch, null], [length, null], [embed, null], [mlp, null], [heads, null], "
      "[head_dim, null]]";
  return "mesh: {" + mesh +
         "}\naxis_types: explicit\nresolver: nnx\nrules: " + (rules.empty() ? whole : rules) + "\n";
}

/// A mistake of a file in the words of typing: its id is that of the refusal.
[[noreturn]] void refuse_as(const Error& error) {
  const Diagnostic& first = error.diagnostics().front();
  // More entries than dims are found before anything is typed.
  if (first.id == "rank-mismatch") throw TypingRefusal(RefusalKind::spec_rank, first.message);
  for (int kind = 0; kind < static_cast<int>(RefusalKind::count_); ++kind) {
    const RefusalRow& row = row_of(static_cast<RefusalKind>(kind));
    if (row.id == first.id) throw TypingRefusal(row.kind, first.message);
  }
  throw error;
}

/// The type of what is asked for; a refusal is thrown.
std::string type_in_yaml(const SaidInYaml& said, const json& axes) {
  const std::string dtype =
      said.inputs.find("bf16") == said.inputs.npos ? "f32" : "{params: f32, compute: bf16}";
  MemoryReader memory({{"model.yaml", "dtype: " + dtype + "\ninputs: {" + said.inputs +
                                          "}\nlayers:\n" + said.layers},
                       {"rules.yaml", rules_text(axes, said.rules)}});
  Sources sources(memory);
  try {
    const RulesConfig rules = read_rules(merge_rules_file("rules.yaml", {}, sources));
    const Mesh mesh = make_mesh(rules);
    const Graph graph = build_model(read_model(merge_model_file("model.yaml", {}, sources))).apply;
    const GraphTypes types = graph_types(graph, rules, mesh);
    ValueId value = graph.outputs.front().value;
    for (const GraphInput& input : graph.inputs) {
      if (input.path == said.asks) value = input.value;
    }
    const auto& type = types.types[index_of(value)];
    if (type) return type_text(types.mesh(value), *type);
    throw TypingRefusal(types.mistakes.front().kind, types.mistakes.front().message);
  } catch (const Error& error) {
    refuse_as(error);
  }
}

}  // namespace

TEST_CASE("model files give the types that Flax NNX gives in explicit mode") {
  const std::optional<json> recorded = read_goldens("explicit/nnx.json");
  if (!recorded) return;
  Conformance conformance("explicit/nnx.json from model files");
  for (const json& one : *recorded) {
    const std::string name = one.at("name").get<std::string>();
    YamlTeller teller(name);
    for (const json& step : one.at("steps")) {
      const std::string code = step.at("code").get<std::string>();
      const auto said = teller.say(code);
      if (!said) {
        conformance.leave_out(teller.why_not());
        continue;
      }
      CAPTURE(said->layers);
      compare_typing(conformance, name.substr(0, 20) + ": " + code, step, recorded_print(step),
                     [&] { return type_in_yaml(*said, one.at("mesh")); });
    }
  }
  CHECK(conformance.matched() == conformance.total());
}
