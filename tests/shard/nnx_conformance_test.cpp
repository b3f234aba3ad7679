// Flax NNX's own answers to names and rules.

#include <doctest/doctest.h>

#include "recorded_rules.h"
#include "shard/nnx.h"
#include "shard/resolve.h"

using namespace shard;
using namespace shard::tests;

namespace {

constexpr const char* inconsistent = "refused: Inconsistent logical axis annotations";

/// A spec as text, or which refusal it is.
std::string recorded_answer(const json& out) {
  if (out.is_null()) return "no spec";
  if (out.is_array()) return to_string(*spec_of(out));
  const json& error = out.at("error");
  const std::string message = error.at("message").get<std::string>();
  if (message.find("Inconsistent logical axis") != std::string::npos) return inconsistent;
  return "refused: " + expected_id(error);
}

/// The spec, or the refusal on a mesh, whatever the sizes are.
std::string on_mesh(const Mesh& mesh, const PartitionSpec& spec) {
  const Shape shape(spec.entries.size(), 0);
  const std::string id = verdict(mesh, spec, shape, Part::activations);
  return id == "accepted" ? to_string(spec) : "refused: " + id;
}

void compare_variable(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const auto names = names_of(asked.at("names"));
  const auto context = rules_of(asked.value("context_rules", json()));
  const auto own = rules_of(asked.value("local_rules", json()));
  // A variable without names is not annotated at all.
  if (!names || names->names.empty() || !context || !own) return conformance.leave_out();
  // Python tells lists from tuples when it compares targets.
  if (!context->empty() && !own->empty() && asked.dump().find("\"list\"") != std::string::npos) {
    return conformance.leave_out();
  }
  const NnxRules rules = composite_rules(*context, *own);
  PartitionSpec spec;
  spec.entries = nnx_mesh_axes(*names, rules.rules).entries;
  const std::string id = one.at("id").get<std::string>();
  const json& out = one.at("out");
  const bool is_refused = rules.inconsistent.has_value();
  conformance.expect(id + " spec", is_refused ? inconsistent : to_string(spec),
                     recorded_answer(out.at("partition_spec")));
  if (!asked.contains("mesh") || !out.contains("named_sharding")) return;
  conformance.expect(id + " sharding",
                     is_refused ? inconsistent : on_mesh(mesh_of(asked.at("mesh")), spec),
                     recorded_answer(out.at("named_sharding")));
}

void compare_composite(Conformance& conformance, const json& one) {
  const auto context = rules_of(one.at("in").at("context_rules"));
  const auto own = rules_of(one.at("in").at("local_rules"));
  const json& out = one.at("out");
  if (!context || !own) return conformance.leave_out();
  const auto text = [](const std::vector<RuleConfig>& rules) {
    std::string all;
    for (const RuleConfig& rule : rules) {
      all += rule.logical.text() + " " + to_string(PartitionSpec{{rule.target}}) + " ";
    }
    return all;
  };
  const NnxRules made = composite_rules(*context, *own);
  const std::string expected =
      out.contains("error") ? inconsistent : text(*rules_of(out.at("rules")));
  conformance.expect(one.at("id").get<std::string>(),
                     made.inconsistent ? inconsistent : text(made.rules), expected);
}

}  // namespace

TEST_CASE("logical axes resolve as NNX resolves them") {
  const std::optional<json> recording = read_goldens("semantics/rules_nnx.json");
  if (!recording) return;
  Conformance conformance("semantics/rules_nnx.json var and composite");
  for (const json& one : *recording) {
    if (one.at("kind") == "var") compare_variable(conformance, one);
    if (one.at("kind") == "composite") compare_composite(conformance, one);
  }
  CHECK(conformance.matched() == conformance.total());
}

TEST_CASE("a name without a rule is a mesh axis and the last rule of a name wins") {
  const std::vector<RuleConfig> rules = {{LogicalAxis("a"), {{MeshAxis("x")}, false}, {}},
                                         {LogicalAxis("a"), {{MeshAxis("y")}, false}, {}}};
  const NnxAnswer answer = nnx_mesh_axes({{LogicalAxis("a"), LogicalAxis("b"), {}}}, rules);
  CHECK(to_string(PartitionSpec{answer.entries}) == "P('y', 'b', None)");
  CHECK(answer.rule_of == std::vector<int>{1, -1, -1});
}
