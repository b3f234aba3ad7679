// Flax NNX's own answers to names and rules.

#include <doctest/doctest.h>

#include "recorded_rules.h"
#include "shard/nnx.h"
#include "shard/resolve.h"

using namespace shard;
using namespace shard::tests;

namespace {

constexpr const char* inconsistent = "refused: inconsistent-rules";

/// The spec, or the refusal on a mesh, whatever the sizes are.
std::string on_mesh(const Mesh& mesh, const PartitionSpec& spec) {
  return placed(mesh, spec, Shape(spec.entries.size(), 0), Part::activations);
}

/// What we say of one variable, field by field as it was recorded.
json answers(const json& asked, const SpecConfig& names, const std::vector<RuleConfig>& context,
             const std::vector<RuleConfig>& own) {
  const Mesh mesh = mesh_of(asked.at("mesh"));
  const NnxRules rules = composite_rules(context, own);
  const LogicalSpec unnamed;
  const LogicalSpec& logical = names.is_unannotated() ? unnamed : *names.logical();
  PartitionSpec by_text;
  PartitionSpec eager;
  by_text.entries = nnx_mesh_axes(logical, rules.rules).entries;
  eager.entries = nnx_mesh_axes(logical, rules.rules, TupleLookup::none).entries;
  std::vector<RuleConfig> both = context;
  both.insert(both.end(), own.begin(), own.end());
  PartitionSpec linen;
  linen.entries = logical_to_mesh_axes(logical, both).entries;
  // Nothing is asked of a variable without names.
  const bool is_refused = rules.inconsistent && !logical.names.empty();
  return {{"partition_spec", is_refused ? inconsistent : to_string(by_text)},
          {"named_sharding", is_refused ? inconsistent : on_mesh(mesh, by_text)},
          {"eager", logical.names.empty() ? "none"
                    : is_refused          ? inconsistent
                                          : on_mesh(mesh, eager)},
          {"linen", names.is_unannotated()             ? "none"
                    : !repeated_names(logical).empty() ? "refused: duplicate-logical-name"
                                                       : to_string(linen)}};
}

/// A target without what tells `'x'` from `('x',)` and None from `()`.
std::string bare_target(const std::string& target) {
  std::string bare;
  for (const char c : target) {
    if (std::string("()[],' ").find(c) == std::string::npos) bare += c;
  }
  return bare == "None" ? "" : bare;
}

/// Refused as inconsistent because of two spellings of one target, which are one target here.
bool is_about_spelling(const json& out) {
  if (!out.is_object() || !out.contains("error")) return false;
  const std::string message = out.at("error").at("message").get<std::string>();
  const std::size_t colon = message.find(": ");
  const std::size_t versus = message.find(" vs ");
  if (message.find("Inconsistent") == message.npos || versus == message.npos) return false;
  return bare_target(message.substr(colon + 2, versus - colon - 2)) ==
         bare_target(message.substr(versus + 4));
}

void compare_variable(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  const std::string id = one.at("id").get<std::string>();
  if (has_python_list(asked)) return conformance.leave_out(python_list);
  if (is_about_spelling(out.at("partition_spec"))) {
    return conformance.leave_out("x and [x] are one target");
  }
  const auto names = read_names(asked.at("names"));
  const auto context = read_recorded_rules(asked.value("context_rules", json()));
  const auto own = read_recorded_rules(asked.value("local_rules", json()));
  const std::string why = first_of({nonsense_in_names(asked.at("names")),
                                    nonsense_in_rules(asked.value("context_rules", json())),
                                    nonsense_in_rules(asked.value("local_rules", json()))});
  if (!why.empty()) {
    return conformance.expect_refused(id, names.refusal + context.refusal + own.refusal, why);
  }
  if (!names || !context || !own) {
    const std::string refusal = names.refusal + context.refusal + own.refusal;
    return conformance.expect(id, refusal, recorded_answer(out.at("partition_spec")));
  }
  const json found = answers(asked, *names.value, *context.value, *own.value);
  json expected;
  for (const auto& [field, answer] : found.items()) {
    expected[field] = recorded_answer(out.at(field));
  }
  conformance.expect(id, found.dump(), expected.dump());
}

/// What creating a variable on a mesh does to its value.
void compare_eager(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  if (asked.value("wrap", json()) == "NamedSharding") {
    return conformance.leave_out("names are no NamedSharding here");
  }
  const auto names = read_names(asked.at("names"));
  const bool is_named = !names.value->is_unannotated() && !names.value->logical()->names.empty();
  const bool is_asked = is_named && asked.value("eager_sharding", true);
  if (is_asked && !asked.contains("mesh")) return conformance.leave_out("there is a mesh always");
  std::string found = "none";
  if (is_asked) {
    const Mesh mesh = mesh_of(asked.at("mesh"));
    if (mesh.has(AxisType::automatic) && mesh.has(AxisType::explicit_types)) {
      return conformance.leave_out("NNX takes no mesh with axes of several types");
    }
    const auto rules = read_recorded_rules(asked.value("local_rules", json()));
    PartitionSpec spec;
    spec.entries = nnx_mesh_axes(*names.value->logical(), *rules.value, TupleLookup::none).entries;
    // A constraint of the compiler's may be uneven, a type may not.
    found = placed(mesh, spec, asked.at("shape").get<Shape>(),
                   mesh.is_explicit() ? Part::params : Part::activations);
  }
  std::string expected = "none";
  if (out.contains("error")) expected = expected_refusal(out.at("error"));
  if (out.contains("ops") && !out.at("ops").empty()) {
    expected = spec_text(out.at("ops").at(0).at("spec"));
  }
  conformance.expect(one.at("id").get<std::string>(), found, expected);
}

std::string rules_text(const std::vector<RuleConfig>& rules) {
  std::string all;
  for (const RuleConfig& rule : rules) {
    all += rule.logical.text() + " " + to_string(rule.target) + "; ";
  }
  return all;
}

void compare_composite(Conformance& conformance, const json& one) {
  const auto context = read_recorded_rules(one.at("in").at("context_rules"));
  const auto own = read_recorded_rules(one.at("in").at("local_rules"));
  const json& out = one.at("out");
  REQUIRE(context);
  REQUIRE(own);
  const NnxRules made = composite_rules(*context.value, *own.value);
  conformance.expect(
      one.at("id").get<std::string>(), made.inconsistent ? inconsistent : rules_text(made.rules),
      out.contains("error") ? expected_refusal(out.at("error"))
                            : rules_text(*read_recorded_rules(out.at("rules")).value));
}

void compare_nnx(const std::string& kind, CompareOne compare_one) {
  compare_kind("semantics/rules_nnx.json", kind, compare_one);
}

}  // namespace

TEST_CASE("logical axes resolve as NNX resolves them") { compare_nnx("var", compare_variable); }

TEST_CASE("variables are placed where NNX places them when they are made") {
  compare_nnx("eager", compare_eager);
}

TEST_CASE("rules of context and variable are put together as in NNX") {
  compare_nnx("composite", compare_composite);
}

TEST_CASE("a name without a rule is a mesh axis and the last rule of a name wins") {
  const std::vector<RuleConfig> rules = {{LogicalAxis("a"), {{MeshAxis("x")}, false}, {}},
                                         {LogicalAxis("a"), {{MeshAxis("y")}, false}, {}}};
  const NnxAnswer answer = nnx_mesh_axes({{LogicalAxis("a"), LogicalAxis("b"), {}}}, rules);
  CHECK(to_string(PartitionSpec{answer.entries}) == "P('y', 'b', None)");
  CHECK(answer.rule_of == std::vector<int>{1, -1, -1});
}
