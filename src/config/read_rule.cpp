#include "config/read_rules.h"

#include <algorithm>

#include "config/checked_map.h"
#include "config/look_alike.h"
#include "config/read_spec.h"
#include "config/scalars.h"
#include "text/number.h"

namespace shard {
namespace {

// A number, a boolean or UNCONSTRAINED where a name belongs is a mistake, as it is in Python.
bool is_name(const TextNode& node) {
  if (!node.is_scalar() || is_none(node) || node.scalar.empty()) return false;
  if (node.quoted) return true;
  return !read_number(node.scalar) && node.scalar != "true" && node.scalar != "false" &&
         node.scalar != "UNCONSTRAINED";
}

std::optional<PartitionEntry> read_target(const TextNode& node, Diagnostics& diagnostics) {
  PartitionEntry target;
  if (is_none(node)) return target;
  if (node.is_scalar() && node.scalar == "UNCONSTRAINED") {
    target.is_unconstrained = true;
    return target;
  }
  const std::vector<TextNode> one = {node};
  for (const TextNode& axis : node.is_sequence() ? node.items : one) {
    if (!is_name(axis) || is_partition_text(axis.scalar)) {
      diagnostics.error(
          "bad-rule", axis.at,
          "the target of a rule is " + describe(axis) +
              ", expected a mesh axis, a list of them, UNCONSTRAINED or null",
          is_partition_text(axis.scalar) ? "a rule takes bare names: [data, model]" : "");
      return std::nullopt;
    }
    if (std::find(target.axes.begin(), target.axes.end(), MeshAxis(axis.scalar)) !=
        target.axes.end()) {
      diagnostics.error("duplicate-mesh-axis", axis.at,
                        "mesh axis '" + axis.scalar + "' is twice in the target of one rule",
                        "a mesh axis can split a dim once");
      return std::nullopt;
    }
    warn_of_letters(axis, diagnostics);
    target.axes.emplace_back(axis.scalar);
  }
  return target;
}

constexpr std::string_view rule_form = "a rule is written [batch, data] or [mlp, [fsdp, tensor]]";

}  // namespace

std::optional<RuleConfig> read_rule(const TextNode& node, Diagnostics& diagnostics) {
  if (!node.is_sequence() || node.items.size() != 2) {
    const std::string found =
        node.is_sequence() ? "a list of " + std::to_string(node.items.size()) : describe(node);
    diagnostics.error("bad-rule", node.at,
                      "a rule is " + found + ", expected a pair [logical axis, mesh axes]",
                      std::string(rule_form));
    return std::nullopt;
  }
  const bool has_name = is_name(node.items[0]);
  if (!has_name) {
    diagnostics.error(
        "bad-rule", node.items[0].at,
        "the name of a rule is " + describe(node.items[0]) + ", expected a logical axis",
        std::string(rule_form));
  }
  auto target = read_target(node.items[1], diagnostics);
  if (!has_name || !target) return std::nullopt;
  warn_of_letters(node.items[0], diagnostics);
  return RuleConfig{LogicalAxis(node.items[0].scalar), std::move(*target), node.at};
}

std::vector<RuleConfig> read_rule_items(const TextNode& node, Diagnostics& diagnostics) {
  std::vector<RuleConfig> rules;
  for (const TextNode& item : node.items) {
    if (auto rule = read_rule(item, diagnostics)) rules.push_back(std::move(*rule));
  }
  return rules;
}

std::vector<PathRuleConfig> read_path_rules(const TextNode& list, Diagnostics& diagnostics) {
  std::vector<PathRuleConfig> rules;
  for (const TextNode& item : list.items) {
    const bool is_pair = item.is_sequence() && item.items.size() == 2;
    if (!is_pair || !item.items[0].is_scalar() || item.items[0].scalar.empty()) {
      diagnostics.error(
          "bad-path-rule", item.at,
          "a placement by path is " + describe(item) + ", expected a pair [glob, spec]",
          "it is written [\"*q_proj.weight\", \"P(tensor, fsdp)\"]");
      continue;
    }
    auto spec = read_spec(item.items[1], "the spec of a path", diagnostics);
    if (spec) rules.push_back({item.items[0].scalar, std::move(*spec), item.at});
  }
  return rules;
}

}  // namespace shard
