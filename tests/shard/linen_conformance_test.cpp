// Flax Linen's own answers to `logical_to_mesh_axes`.

#include <doctest/doctest.h>

#include "shard/resolve.h"
#include "support/goldens.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::optional<LogicalSpec> names_of(const json& recorded) {
  if (!recorded.is_array()) return std::nullopt;
  LogicalSpec names;
  for (const json& name : recorded) {
    if (!name.is_null() && (!name.is_string() || name == "UNCONSTRAINED")) return std::nullopt;
    names.names.emplace_back();
    if (name.is_string()) names.names.back() = LogicalAxis(name.get<std::string>());
  }
  return names;
}

std::optional<std::vector<RuleConfig>> rules_of(const json& recorded) {
  if (!recorded.is_array()) return std::nullopt;
  std::vector<RuleConfig> rules;
  for (const json& pair : recorded) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) return std::nullopt;
    const std::optional<PartitionEntry> target = entry_of(pair[1]);
    if (!target) return std::nullopt;
    rules.push_back({LogicalAxis(pair[0].get<std::string>()), *target, {}});
  }
  return rules;
}

std::string answer_to(const LogicalSpec& names, const std::vector<RuleConfig>& rules) {
  if (!repeated_names(names).empty()) return "refused: occur more than once";
  PartitionSpec spec;
  spec.entries = logical_to_mesh_axes(names, rules).entries;
  return to_string(spec);
}

std::string recorded_answer(const json& out) {
  if (out.contains("str")) return out.at("str").get<std::string>();
  const std::string message = out.at("error").at("message").get<std::string>();
  const bool repeats = message.find("occur more than once") != std::string::npos;
  return repeats ? "refused: occur more than once" : "refused: " + message;
}

}  // namespace

TEST_CASE("logical axes resolve as Linen resolves them") {
  const std::optional<json> recording = read_goldens("semantics/rules_linen.json");
  if (!recording) return;
  Conformance conformance("semantics/rules_linen.json axes");
  for (const json& one : *recording) {
    if (one.at("kind") != "axes") continue;
    const json& asked = one.at("in");
    const std::optional<LogicalSpec> names = names_of(asked.at("names"));
    const auto rules = rules_of(asked.value("rules", json()));
    if (!names || !rules) {
      conformance.leave_out();
      continue;
    }
    conformance.expect(one.at("id").get<std::string>(), answer_to(*names, *rules),
                       recorded_answer(one.at("out")));
  }
  CHECK(conformance.matched() == conformance.total());
}
