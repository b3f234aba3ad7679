#include "config/layered_rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "base/nearest.h"
#include "config/overrides.h"
#include "config/read_mesh.h"
#include "config/read_rules.h"
#include "text/number.h"

namespace shard {
namespace {

struct MergeWord {
  std::string_view word;
  RuleMerge merge;
};
constexpr std::array<MergeWord, 3> merge_words = {{{"prepend", RuleMerge::prepend},
                                                   {"replace", RuleMerge::replace},
                                                   {"append", RuleMerge::append}}};

std::string key_of(const RuleConfig& rule) { return rule.logical.text(); }
std::string key_of(const PathRuleConfig& rule) { return rule.glob; }

template <class Rule>
std::vector<Rule> joined(std::vector<Rule> first, std::vector<Rule> second) {
  first.insert(first.end(), std::make_move_iterator(second.begin()),
               std::make_move_iterator(second.end()));
  return first;
}

/// Rules of a name that both have come from `upper`, at the place where `lower` has the first.
template <class Rule>
std::vector<Rule> replaced_by_name(const std::vector<Rule>& lower, const std::vector<Rule>& upper) {
  std::set<std::string> names;
  for (const Rule& rule : upper) names.insert(key_of(rule));
  std::set<std::string> placed;
  std::vector<Rule> rules;
  const auto place = [&](const std::string& name) {
    if (!placed.insert(name).second) return;
    std::copy_if(upper.begin(), upper.end(), std::back_inserter(rules),
                 [&](const Rule& rule) { return key_of(rule) == name; });
  };
  for (const Rule& rule : lower) {
    if (names.contains(key_of(rule))) {
      place(key_of(rule));
    } else {
      rules.push_back(rule);
    }
  }
  std::copy_if(upper.begin(), upper.end(), std::back_inserter(rules),
               [&](const Rule& rule) { return !placed.contains(key_of(rule)); });
  return rules;
}

template <class Rule>
std::vector<Rule> merged(std::vector<Rule> lower, std::vector<Rule> upper, RuleMerge merge) {
  switch (merge) {
    case RuleMerge::prepend:
      return joined(std::move(upper), std::move(lower));
    case RuleMerge::append:
      return joined(std::move(lower), std::move(upper));
    case RuleMerge::replace:
      break;
  }
  return replaced_by_name(lower, upper);
}

void lay_parts(std::vector<PartRulesConfig>& lower, std::vector<PartRulesConfig> upper,
               RuleMerge merge) {
  for (PartRulesConfig& part : upper) {
    const auto found = std::find_if(lower.begin(), lower.end(), [&](const PartRulesConfig& one) {
      return one.part == part.part;
    });
    if (found == lower.end()) {
      lower.push_back(std::move(part));
    } else {
      found->rules = merged(std::move(found->rules), std::move(part.rules), merge);
    }
  }
}

/// What belongs to a mesh goes with it.
void lay_mesh(RulesConfig& lower, RulesConfig& upper) {
  const bool is_new = upper.given.mesh;
  if (is_new) lower.mesh = std::move(upper.mesh);
  if (is_new || !upper.devices.empty()) {
    lower.devices = std::move(upper.devices);
    lower.devices_at = upper.devices_at;
  }
  if (is_new || !upper.dcn.empty()) lower.dcn = std::move(upper.dcn);
  if (is_new || !upper.axis_types.empty()) lower.axis_types = std::move(upper.axis_types);
  if (is_new || upper.device_order_at.is_known()) {
    lower.device_order = upper.device_order;
    lower.device_ids = std::move(upper.device_ids);
    lower.device_order_at = upper.device_order_at;
  }
  lower.given.mesh = lower.given.mesh || is_new;
}

void lay_policies(RulesConfig& lower, const RulesConfig& upper) {
  if (upper.given.resolver) lower.resolver = upper.resolver;
  if (upper.given.unmatched) lower.unmatched = upper.unmatched;
  if (upper.given.misfit) lower.misfit = upper.misfit;
  if (upper.reshard_memory > Bytes(0)) lower.reshard_memory = upper.reshard_memory;
  lower.given.resolver = lower.given.resolver || upper.given.resolver;
  lower.given.unmatched = lower.given.unmatched || upper.given.unmatched;
  lower.given.misfit = lower.given.misfit || upper.given.misfit;
}

/// The rules in the order of their numbers: the general ones, then those of each part.
std::size_t count_rules(const RulesConfig& rules) {
  std::size_t count = rules.rules.size();
  for (const PartRulesConfig& part : rules.rules_for) count += part.rules.size();
  return count;
}

void drop_numbers(std::vector<RuleConfig>& rules, const std::set<std::int64_t>& numbers,
                  std::int64_t& number) {
  std::erase_if(rules, [&](const RuleConfig&) { return numbers.contains(++number); });
}

void drop_rules(RulesConfig& rules, const std::vector<std::string>& texts, Sources& sources,
                Diagnostics& diagnostics) {
  if (texts.empty()) return;
  const std::string flag = "--drop-rule";
  sources.add(flag, as_lines(texts));
  const auto count = static_cast<std::int64_t>(count_rules(rules));
  std::set<std::int64_t> numbers;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Location at = {flag, static_cast<int>(i) + 1, 1,
                         std::max(1, static_cast<int>(texts[i].size()))};
    const IntegerReading number = read_integer(texts[i]);
    if (number.fault) {
      diagnostics.error("bad-override", at, "'" + texts[i] + "' is not the number of a rule",
                        "reports number the rules from 1, e.g. --drop-rule 2");
    } else if (number.value < 1 || number.value > count) {
      diagnostics.error(
          "bad-override", at, "there is no rule " + std::to_string(number.value),
          count == 0 ? "there are no rules" : "the rules are 1 to " + std::to_string(count));
    } else {
      numbers.insert(number.value);
    }
  }
  std::int64_t number = 0;
  drop_numbers(rules.rules, numbers, number);
  for (PartRulesConfig& part : rules.rules_for) drop_numbers(part.rules, numbers, number);
}

void override_resolver(RulesConfig& rules, const std::string& word, Diagnostics& diagnostics) {
  if (word.empty()) return;
  rules.given.resolver = true;
  rules.resolver = word == "nnx" ? RuleResolver::nnx : RuleResolver::linen;
  if (word == "nnx" || word == "linen") return;
  const std::vector<std::string> words = {"linen", "nnx"};
  diagnostics.error("bad-value", {"--resolver"}, "'" + word + "' is not one of its values",
                    did_you_mean(word, words));
}

}  // namespace

std::optional<RuleMerge> rule_merge_named(std::string_view word) {
  for (const MergeWord& row : merge_words) {
    if (row.word == word) return row.merge;
  }
  return std::nullopt;
}

std::vector<std::string> rule_merge_words() {
  std::vector<std::string> words;
  for (const MergeWord& row : merge_words) words.emplace_back(row.word);
  return words;
}

RulesConfig laid_over(RulesConfig lower, RulesConfig upper, RuleMerge merge) {
  lower.name += '+' + upper.name;
  lower.rules = merged(std::move(lower.rules), std::move(upper.rules), merge);
  lower.paths = merged(std::move(lower.paths), std::move(upper.paths), merge);
  lay_parts(lower.rules_for, std::move(upper.rules_for), merge);
  lay_mesh(lower, upper);
  lay_policies(lower, upper);
  lower.findings = joined(std::move(lower.findings), std::move(upper.findings));
  lower.rule_sets = joined(std::move(lower.rule_sets), std::move(upper.rule_sets));
  lower.remarks = joined(std::move(lower.remarks), std::move(upper.remarks));
  return lower;
}

void override_rules(RulesConfig& rules, const Overrides& overrides, Sources& sources,
                    Diagnostics& diagnostics) {
  drop_rules(rules, overrides.drop_rules, sources, diagnostics);
  TextNode added;
  added.kind = TextNode::Kind::map;
  override_mesh(added, overrides.mesh, sources, diagnostics);
  add_rules(added, overrides.add_rules, sources, diagnostics);
  if (const TextNode* mesh = added.find("mesh")) {
    rules.mesh = read_mesh_axes(*mesh, "mesh axis", diagnostics);
    rules.given.mesh = true;
  }
  if (!overrides.dcn.empty()) {
    const TextNode axes = read_axes_text("--dcn", overrides.dcn, sources, diagnostics);
    rules.dcn = read_mesh_axes(axes, "dcn axis", diagnostics);
  }
  if (!overrides.devices.empty()) {
    sources.add("--devices", overrides.devices);
    rules.devices = overrides.devices;
    rules.devices_at = {"--devices", 1, 1, static_cast<int>(overrides.devices.size())};
  }
  if (overrides.reshard_memory > Bytes(0)) rules.reshard_memory = overrides.reshard_memory;
  override_resolver(rules, overrides.resolver, diagnostics);
  if (const TextNode* list = added.find("rules")) {
    rules.rules = joined(std::move(rules.rules), read_rule_items(*list, diagnostics));
  }
}

}  // namespace shard
