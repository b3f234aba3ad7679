#include "dialects/t5x_rules.h"

#include <array>
#include <string_view>

namespace shard {
namespace {

struct Row {
  std::string_view logical;
  std::string_view axis;  // empty: None
};

// Common to all four sets but for where `embed` goes, and before which of these it stands.
constexpr std::array<Row, 6> split_rules = {{{"batch", "data"},
                                             {"vocab", "model"},
                                             {"mlp", "model"},
                                             {"heads", "model"},
                                             {"kv", ""},
                                             {"joined_kv", "model"}}};
constexpr std::array<std::string_view, 6> whole_names = {
    "relpos_buckets", "abspos_buckets", "length", "layers", "stack", "mlp_activations"};

RuleConfig rule(std::string_view logical, std::string_view axis, const Location& at) {
  RuleConfig rule{LogicalAxis(std::string(logical)), {}, at};
  if (!axis.empty()) rule.target.axes.emplace_back(std::string(axis));
  return rule;
}

}  // namespace

std::vector<RuleConfig> standard_t5x_rules(std::int64_t activation_dims,
                                           std::int64_t parameter_dims, const Location& at) {
  const auto is_known = [](std::int64_t dims) { return dims == 1 || dims == 2; };
  if (!is_known(activation_dims) || !is_known(parameter_dims)) return {};
  std::vector<RuleConfig> rules;
  for (const Row& row : split_rules) rules.push_back(rule(row.logical, row.axis, at));
  if (activation_dims == 1 && parameter_dims == 1) {
    rules.insert(rules.begin() + 2, rule("embed", "", at));
  }
  if (activation_dims == 2) rules.push_back(rule("embed", "model", at));
  if (parameter_dims == 2) rules.push_back(rule("embed", "data", at));
  for (const std::string_view name : whole_names) rules.push_back(rule(name, "", at));
  return rules;
}

}  // namespace shard
