// Flax Linen's own answers to `logical_to_mesh_axes`.

#include <doctest/doctest.h>

#include "recorded_rules.h"
#include "shard/resolve.h"

using namespace shard;
using namespace shard::tests;

namespace {

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
    if (!names || !rules || !asked.contains("rules") || asked.at("rules").is_null()) {
      conformance.leave_out();
      continue;
    }
    conformance.expect(one.at("id").get<std::string>(), answer_to(*names, *rules),
                       recorded_answer(one.at("out")));
  }
  CHECK(conformance.matched() == conformance.total());
}
