#include <array>
#include <filesystem>

#include "base/nearest.h"
#include "base/tensor_type.h"
#include "config/checked_map.h"
#include "config/in_file_order.h"
#include "config/load.h"
#include "config/read_rules.h"
#include "config/read_spec.h"
#include "config/scalars.h"
#include "config/sizes.h"
#include "text/number.h"

namespace shard {
namespace {

struct PartWord {
  std::string_view word;
  Part part;
};
constexpr std::array<PartWord, 6> parts = {{{"inputs", Part::inputs},
                                            {"params", Part::params},
                                            {"activations", Part::activations},
                                            {"gradients", Part::gradients},
                                            {"optimizer", Part::optimizer},
                                            {"outputs", Part::outputs}}};

Unmatched unmatched_of(const std::string& word) {
  if (word == "error") return Unmatched::error;
  if (word == "no-constraint") return Unmatched::no_constraint;
  return Unmatched::unsharded;
}

std::vector<MeshAxisConfig> read_mesh(const TextNode& node, Diagnostics& diagnostics) {
  std::vector<MeshAxisConfig> mesh;
  Shape sizes;
  for (const TextEntry& entry : node.entries) {
    if (!check_name(entry, "a mesh axis", diagnostics)) continue;
    const std::string what = "mesh axis '" + entry.key + "'";
    if (!entry.value.is_scalar()) {
      report_type(entry.value, what, "a whole number of 1 or more", diagnostics);
      continue;
    }
    const auto size = read_positive(entry.value.scalar, entry.value.at, what, diagnostics);
    if (!size) continue;
    mesh.push_back({MeshAxis(entry.key), *size, entry.key_at});
    sizes.push_back(*size);
  }
  if (!checked_product(sizes)) {
    diagnostics.error("size-overflow", node.at, "the mesh has more than 2^63 - 1 devices");
  }
  return mesh;
}

// A number or a boolean where a name belongs is a mistake, as it is in Python.
bool is_name(const TextNode& node) {
  if (!node.is_scalar() || is_none(node) || node.scalar.empty()) return false;
  if (node.quoted) return true;
  return !read_number(node.scalar) && node.scalar != "true" && node.scalar != "false";
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
  return RuleConfig{LogicalAxis(node.items[0].scalar), std::move(*target), node.at};
}

namespace {

std::vector<RuleConfig> read_rule_list(const TextNode& node, Diagnostics& diagnostics) {
  std::vector<RuleConfig> rules;
  for (const TextNode& item : node.items) {
    if (auto rule = read_rule(item, diagnostics)) rules.push_back(std::move(*rule));
  }
  return rules;
}

std::vector<PartRulesConfig> read_part_rules(const TextNode& node, Diagnostics& diagnostics) {
  std::vector<PartRulesConfig> result;
  std::vector<std::string> words;
  for (const PartWord& row : parts) words.emplace_back(row.word);
  for (const TextEntry& entry : node.entries) {
    const auto row = std::find_if(parts.begin(), parts.end(),
                                  [&](const PartWord& one) { return one.word == entry.key; });
    if (row == parts.end()) {
      diagnostics.error("unknown-key", entry.key_at, "'" + entry.key + "' is not a part of a model",
                        did_you_mean(entry.key, words, "parts"));
    } else if (!entry.value.is_sequence()) {
      report_type(entry.value, "'" + entry.key + "'", row_of(ValueKind::rules).expected,
                  diagnostics);
    } else {
      result.push_back({row->part, read_rule_list(entry.value, diagnostics)});
    }
  }
  return result;
}

void check_axis_types(const TextNode& node, const KeyRow& row, Diagnostics& diagnostics) {
  if (node.is_scalar()) read_word(node, row, diagnostics);
  for (const TextEntry& entry : node.entries) read_word(entry.value, row, diagnostics);
}

}  // namespace

RulesConfig read_rules(const MergedDocument& document) {
  Diagnostics diagnostics;
  diagnostics.append(document.problems);
  const CheckedMap map(document.root, rules_table(), diagnostics);
  RulesConfig rules;
  rules.file = document.file;
  rules.name = std::filesystem::path(document.file).stem().string();
  if (const TextNode* mesh = map.get("mesh")) rules.mesh = read_mesh(*mesh, diagnostics);
  if (const TextNode* list = map.get("rules")) rules.rules = read_rule_list(*list, diagnostics);
  if (const TextNode* node = map.get("rules_for")) {
    rules.rules_for = read_part_rules(*node, diagnostics);
  }
  if (const TextNode* word = map.get("unmatched")) {
    rules.unmatched =
        unmatched_of(read_word(*word, map.row("unmatched"), diagnostics).value_or(""));
  }
  if (const TextNode* devices = map.get("devices")) {
    rules.devices = devices->scalar;
    rules.devices_at = devices->at;
  }
  if (const TextNode* types = map.get("axis_types")) {
    check_axis_types(*types, map.row("axis_types"), diagnostics);
  }
  for (const std::string_view key : {"resolver", "misfit"}) {
    if (const TextNode* word = map.get(key)) read_word(*word, map.row(key), diagnostics);
  }
  throw_in_file_order(diagnostics);
  return rules;
}

}  // namespace shard
