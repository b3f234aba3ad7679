// Flax Linen's own `with_logical_constraint`, with all three fallbacks.

#include <doctest/doctest.h>

#include <algorithm>

#include "recorded_rules.h"

using namespace shard;
using namespace shard::tests;

namespace {

bool is_about_names(const std::string& answer) {
  return answer == "refused: unmatched-name" || answer == "refused: duplicate-logical-name" ||
         answer == "refused: nested-names" || answer == "refused: malformed";
}

/// Without a mesh nothing is constrained, but the names are looked at all the same.
std::string answer_to(const json& asked, const std::string& fallback) {
  const std::string answer = constrained(asked, rules_in_force(asked), fallback);
  const bool has_mesh = asked.value("mesh_how", "none") != "none";
  return has_mesh || is_about_names(answer) ? answer : "none";
}

/// On a mesh of Explicit axes alone a constraint that splits nothing is none or one of None
/// entries, by the way the mesh was handed over; both change nothing.
bool changes_nothing(const json& asked, const std::string& answer) {
  const json types = asked.contains("mesh") ? asked.at("mesh").value("types", json()) : json();
  return types == json({"Explicit", "Explicit"}) && answer.find('\'') == answer.npos;
}

/// A tuple of mesh axes among the names.
bool has_axes_inside(const json& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const json& name) { return name.is_array() && !name.empty(); });
}

void compare_constraint(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  const std::string id = one.at("id").get<std::string>();
  if (has_python_list(asked.at("names"))) return conformance.leave_out(python_list);
  const std::string fallback = asked.value("fallback", "AXIS_IS_UNSHARDED");
  const std::string why =
      asked.at("names").is_null() ? "" : nonsense_in_rules(rules_in_force(asked));
  if (!why.empty()) {
    const std::string refusal = constrained(asked, rules_in_force(asked), fallback);
    return conformance.expect_refused(id, refusal, why);
  }
  std::string found = answer_to(asked, fallback);
  const std::string expected =
      out.contains("error") ? expected_refusal(out.at("error")) : spec_text(out.at("constraint"));
  if (expected == "refused: nested-names" && !has_axes_inside(asked.at("names"))) {
    return conformance.leave_out("an empty list is None");
  }
  if (changes_nothing(asked, found) && changes_nothing(asked, expected)) found = expected;
  conformance.expect(id, found, expected);
}

std::string constrained_tree(const json& asked) {
  const json& tree = asked.at("tree");
  std::string all;
  for (const auto& [key, shape] : asked.at("shapes").items()) {
    json array = asked;
    array["names"] = tree.is_object() ? tree.value(key, json()) : tree;
    array["shape"] = shape;
    if (tree.is_object() && array["names"].is_null()) return "refused: missing-names";
    const std::string answer =
        constrained(array, rules_in_force(asked), asked.at("fallback").get<std::string>());
    if (answer.starts_with("refused")) return answer;
    if (answer != "none") all += answer + " ";
  }
  return all;
}

void compare_constrained_tree(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  const json& tree = asked.at("tree");
  bool is_of_arrays = !tree.is_object() || tree.size() == asked.at("shapes").size();
  for (const auto& [key, names] : tree.items()) {
    is_of_arrays = is_of_arrays && (!tree.is_object() || !names.is_null());
  }
  // In our files names stand at their array, so there are as many of them as arrays.
  if (!is_of_arrays) return conformance.leave_out("names and arrays are two trees");
  std::string expected;
  if (out.contains("error")) {
    expected = expected_refusal(out.at("error"));
  } else {
    for (const json& spec : out.at("constraints")) expected += spec_text(spec) + " ";
  }
  conformance.expect(one.at("id").get<std::string>(), constrained_tree(asked), expected);
}

void compare_constraints(const std::string& kind, CompareOne compare_one) {
  compare_kind("semantics/rules_linen.json", kind, compare_one);
}

}  // namespace

TEST_CASE("constraints resolve as Linen resolves them with every fallback") {
  compare_constraints("constraint", compare_constraint);
}

TEST_CASE("constraints on trees of arrays resolve as in Linen") {
  compare_constraints("constraint_tree", compare_constrained_tree);
}
