#include "recorded_rules.h"

#include "shard/resolve.h"

namespace shard::tests {

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
  std::vector<RuleConfig> rules;
  if (recorded.is_null()) return rules;
  if (!recorded.is_array()) return std::nullopt;
  for (const json& pair : recorded) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) return std::nullopt;
    const std::optional<PartitionEntry> target = entry_of(pair[1]);
    if (!target) return std::nullopt;
    rules.push_back({LogicalAxis(pair[0].get<std::string>()), *target, {}});
  }
  return rules;
}

std::optional<PartitionSpec> spec_of(const json& recorded) {
  if (!recorded.is_array()) return std::nullopt;
  PartitionSpec spec;
  for (const json& one : recorded) {
    const std::optional<PartitionEntry> entry = entry_of(one);
    if (!entry) return std::nullopt;
    spec.entries.push_back(*entry);
  }
  return spec;
}

std::string expected_id(const json& error) {
  const std::string kind = error.at("class").get<std::string>();
  const std::string message = error.at("message").get<std::string>();
  const auto says = [&](const char* phrase) { return message.find(phrase) != std::string::npos; };
  if (kind == "DuplicateSpecError" || says("has duplicate entries for")) {
    return "duplicate-mesh-axis";
  }
  if (says("is not found in mesh")) return "unknown-mesh-axis";
  if (says("should evenly divide the shape")) return "indivisible";
  if (says("only valid for values of rank at least")) return "rank-mismatch";
  if (says("Unconstrained dims are not allowed")) return "unconstrained-argument";
  return kind + ": " + message;
}

std::string verdict(const Mesh& mesh, const PartitionSpec& spec, const Shape& shape, Part part) {
  const RulesConfig rules;
  Diagnostics diagnostics;
  Resolver resolver(rules, mesh, diagnostics);
  const SpecConfig written{spec, {}};
  const TensorType type{DType::f32, shape};
  resolver.resolve({written, type, part, "x"});
  return diagnostics.all().empty() ? "accepted" : diagnostics.all().front().id;
}

}  // namespace shard::tests
