// Flax Linen's own `with_logical_constraint` on one array, with all three fallbacks.

#include <doctest/doctest.h>

#include "recorded_rules.h"
#include "shard/resolve.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::optional<Unmatched> fallback_of(const json& asked) {
  const std::string word = asked.value("fallback", "AXIS_IS_UNSHARDED");
  if (word == "AXIS_IS_UNSHARDED") return Unmatched::unsharded;
  if (word == "RAISE_ERROR") return Unmatched::error;
  if (word == "NO_CONSTRAINT") return Unmatched::no_constraint;
  return std::nullopt;
}

bool is_plain(const json& asked) {
  // Without a mesh or without rules nothing is asked of the resolver; types other than Auto are for
  // explicit meshes.
  if (asked.value("mesh_how", "none") == "none" || asked.contains("context_rules")) return false;
  if (asked.at("rules").empty() || asked.at("names").is_null()) return false;
  return !asked.at("mesh").contains("types");
}

std::string recorded_answer(const json& out) {
  if (!out.contains("error")) {
    const json& constraint = out.at("constraint");
    return constraint.is_null() ? "no constraint" : to_string(*spec_of(constraint));
  }
  const std::string message = out.at("error").at("message").get<std::string>();
  if (message.find("did not match a rule") != std::string::npos) return "refused: unmatched-name";
  if (message.find("occur more than once") != std::string::npos) {
    return "refused: duplicate-logical-name";
  }
  return "refused: " + expected_id(out.at("error"));
}

}  // namespace

TEST_CASE("constraints resolve as Linen resolves them with every fallback") {
  const std::optional<json> recording = read_goldens("semantics/rules_linen.json");
  if (!recording) return;
  Conformance conformance("semantics/rules_linen.json constraint");
  for (const json& one : *recording) {
    if (one.at("kind") != "constraint") continue;
    const json& asked = one.at("in");
    const auto names = names_of(asked.at("names"));
    const auto rules = is_plain(asked) ? rules_of(asked.at("rules")) : std::nullopt;
    const auto fallback = fallback_of(asked);
    if (!names || !rules || !fallback) {
      conformance.leave_out();
      continue;
    }
    RulesConfig config;
    config.rules = *rules;
    config.unmatched = *fallback;
    const Mesh mesh = mesh_of(asked.at("mesh"));
    Diagnostics diagnostics;
    Resolver resolver(config, mesh, diagnostics);
    const SpecConfig spec{*names, {}};
    const TensorType type{DType::f32, asked.at("shape").get<Shape>()};
    const Resolved answer = resolver.resolve({spec, type, Part::activations, "x"});
    std::string found = answer.is_constraint ? to_string(answer.spec) : "no constraint";
    if (diagnostics.has_errors()) found = "refused: " + diagnostics.all().front().id;
    // JAX pads an uneven constraint; here it is an error.
    if (found == "refused: indivisible") {
      conformance.leave_out();
      continue;
    }
    conformance.expect(one.at("id").get<std::string>(), found, recorded_answer(one.at("out")));
  }
  CHECK(conformance.matched() == conformance.total());
}
