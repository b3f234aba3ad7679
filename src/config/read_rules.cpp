#include "config/read_rules.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/in_file_order.h"
#include "config/load.h"
#include "config/read_mesh.h"
#include "config/scalars.h"

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

template <class Value>
struct WordRow {
  std::string_view word;
  Value value;
};
constexpr std::array<WordRow<Unmatched>, 3> unmatched_words = {
    {{"unsharded", Unmatched::unsharded},
     {"error", Unmatched::error},
     {"no-constraint", Unmatched::no_constraint}}};
constexpr std::array<WordRow<RuleResolver>, 2> resolver_words = {
    {{"linen", RuleResolver::linen}, {"nnx", RuleResolver::nnx}}};
constexpr std::array<WordRow<Misfit>, 3> misfit_words = {
    {{"error", Misfit::error}, {"drop-axes", Misfit::drop_axes}, {"pad", Misfit::pad}}};

/// The value of a word; nothing when the key is left out or the word is refused.
template <class Rows>
auto read_choice(const CheckedMap& map, std::string_view key, const Rows& rows,
                 Diagnostics& diagnostics) {
  using Value = decltype(rows.front().value);
  std::optional<std::remove_cv_t<Value>> chosen;
  const TextNode* node = map.get(key);
  if (node == nullptr) return chosen;
  const auto word = read_word(*node, map.row(key), diagnostics);
  for (const auto& row : rows) {
    if (word && *word == row.word) chosen = row.value;
  }
  return chosen;
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
      result.push_back({row->part, read_rule_items(entry.value, diagnostics)});
    }
  }
  return result;
}

void read_hardware(const CheckedMap& map, RulesConfig& rules, Diagnostics& diagnostics) {
  if (const TextNode* devices = map.get("devices")) {
    rules.devices = devices->scalar;
    rules.devices_at = devices->at;
  }
  if (const TextNode* node = map.get("dcn")) {
    rules.dcn = read_mesh_axes(*node, "dcn axis", diagnostics);
  }
  if (const TextNode* node = map.get("axis_types")) {
    rules.axis_types = read_axis_types(*node, rules.mesh, diagnostics);
  }
  if (const TextNode* node = map.get("device_order")) read_device_order(*node, rules, diagnostics);
}

void read_policies(const CheckedMap& map, RulesConfig& rules, Diagnostics& diagnostics) {
  if (const auto found = read_choice(map, "unmatched", unmatched_words, diagnostics)) {
    rules.unmatched = *found;
    rules.given.unmatched = true;
  }
  if (const auto found = read_choice(map, "resolver", resolver_words, diagnostics)) {
    rules.resolver = *found;
    rules.given.resolver = true;
  }
  if (const TextNode* node = map.get("reshard_memory")) {
    rules.reshard_memory = read_limit(*node, "reshard_memory", diagnostics).value_or(Bytes(0));
  }
  if (const auto found = read_choice(map, "misfit", misfit_words, diagnostics)) {
    rules.misfit = *found;
    rules.given.misfit = true;
  }
}

/// What one map of keys says, be it a file or a rule set in it.
RulesConfig read_keys(const TextNode& root, const KeyTable& table, Diagnostics& diagnostics) {
  const CheckedMap map(root, table, diagnostics);
  RulesConfig rules;
  if (const TextNode* mesh = map.get("mesh")) {
    rules.mesh = read_mesh_axes(*mesh, "mesh axis", diagnostics);
    rules.given.mesh = true;
  }
  if (const TextNode* list = map.get("rules")) rules.rules = read_rule_items(*list, diagnostics);
  if (const TextNode* node = map.get("rules_for")) {
    rules.rules_for = read_part_rules(*node, diagnostics);
  }
  if (const TextNode* list = map.get("paths")) rules.paths = read_path_rules(*list, diagnostics);
  read_hardware(map, rules, diagnostics);
  read_policies(map, rules, diagnostics);
  if (const TextNode* node = map.get("findings")) {
    rules.findings = read_finding_levels(*node, diagnostics);
  }
  return rules;
}

/// Sets that were not asked for are held to the same keys, so that no mistake waits in them.
void check_rule_sets(const TextNode& root, Diagnostics& diagnostics) {
  const TextNode* sets = root.find("rule_sets");
  if (sets == nullptr || !sets->is_map()) return;
  for (const TextEntry& set : sets->entries) read_keys(set.value, rule_set_table(), diagnostics);
}

}  // namespace

std::string_view word_of(Part part) {
  return std::find_if(parts.begin(), parts.end(),
                      [&](const PartWord& row) { return row.part == part; })
      ->word;
}

RulesConfig read_rules(const MergedDocument& document) {
  Diagnostics diagnostics;
  diagnostics.append(document.problems);
  RulesConfig rules = read_keys(document.root, rules_table(), diagnostics);
  check_rule_sets(document.root, diagnostics);
  rules.file = document.file;
  rules.name = std::filesystem::path(document.file).stem().string();
  if (!document.rule_set.empty()) rules.name += '#' + document.rule_set;
  rules.rule_sets = document.rule_sets;
  throw_in_file_order(diagnostics);
  for (const Diagnostic& remark : diagnostics.all()) rules.remarks.push_back(remark);
  return rules;
}

void check_has_mesh(const RulesConfig& rules) {
  if (rules.given.mesh) return;
  std::string hint = "mesh: " + std::string(rules_table().find("mesh")->help);
  if (!rules.rule_sets.empty()) {
    hint = "the file has rule sets, ask for one:";
    for (const std::string& set : rules.rule_sets) hint += ' ' + rules.file + '#' + set;
  }
  throw Error("missing-key", {rules.file}, "a rules file needs the key 'mesh'", hint);
}

}  // namespace shard
