#include "dialects/rules_yaml.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "text/tree.h"
#include "text/write_yaml.h"

namespace shard {
namespace {

// Words that a YAML reader, ours or another, takes for something else than a text.
constexpr std::array<std::string_view, 10> taken_words = {
    "null", "none", "true", "false", "yes", "no", "on", "off", "unconstrained", "nan"};

struct PartWord {
  Part part;
  std::string_view word;
};
constexpr std::array<PartWord, 6> part_words = {{{Part::inputs, "inputs"},
                                                 {Part::params, "params"},
                                                 {Part::activations, "activations"},
                                                 {Part::gradients, "gradients"},
                                                 {Part::optimizer, "optimizer"},
                                                 {Part::outputs, "outputs"}}};

bool needs_quotes(std::string_view name) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ||
           c == '/';
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_plain)) return true;
  if (!std::isalpha(static_cast<unsigned char>(name[0])) && name[0] != '_') return true;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(taken_words.begin(), taken_words.end(), lower) != taken_words.end();
}

TextNode scalar(std::string text, bool quoted) {
  TextNode node;
  node.kind = TextNode::Kind::scalar;
  node.scalar = std::move(text);
  node.quoted = quoted;
  return node;
}

TextNode name_node(const std::string& name) { return scalar(name, needs_quotes(name)); }

TextNode container(TextNode::Kind kind) {
  TextNode node;
  node.kind = kind;
  return node;
}

TextNode target_node(const PartitionEntry& target) {
  if (target.is_unconstrained) return scalar("UNCONSTRAINED", false);
  if (target.axes.empty()) return {};
  if (target.axes.size() == 1) return name_node(target.axes.front().text());
  TextNode list = container(TextNode::Kind::sequence);
  for (const MeshAxis& axis : target.axes) list.items.push_back(name_node(axis.text()));
  return list;
}

TextNode rules_node(const std::vector<RuleConfig>& rules) {
  TextNode list = container(TextNode::Kind::sequence);
  for (const RuleConfig& rule : rules) {
    TextNode pair = container(TextNode::Kind::sequence);
    pair.items.push_back(name_node(rule.logical.text()));
    pair.items.push_back(target_node(rule.target));
    list.items.push_back(std::move(pair));
  }
  return list;
}

void put(TextNode& map, std::string key, TextNode value) {
  map.entries.push_back({std::move(key), {}, std::move(value)});
}

TextNode mesh_node(const std::vector<MeshAxisConfig>& mesh) {
  TextNode map = container(TextNode::Kind::map);
  for (const MeshAxisConfig& axis : mesh) {
    put(map, axis.name.text(), scalar(std::to_string(axis.size), false));
  }
  return map;
}

std::string_view word_of(Part part) {
  const auto row = std::find_if(part_words.begin(), part_words.end(),
                                [&](const PartWord& one) { return one.part == part; });
  return row->word;
}

// Lists of pairs go down the page, all else stays in its line.
bool may_be_one_line(const TextNode& node, int depth) {
  if (depth == 0) return false;
  if (node.is_map()) {
    return std::none_of(node.entries.begin(), node.entries.end(),
                        [](const TextEntry& entry) { return entry.value.is_sequence(); });
  }
  return node.items.empty() || !node.items.front().is_sequence();
}

}  // namespace

std::string write_rules_yaml(const RulesConfig& rules) {
  TextNode root = container(TextNode::Kind::map);
  put(root, "mesh", mesh_node(rules.mesh));
  put(root, "rules", rules_node(rules.rules));
  if (!rules.rules_for.empty()) {
    TextNode parts = container(TextNode::Kind::map);
    for (const PartRulesConfig& part : rules.rules_for) {
      put(parts, std::string(word_of(part.part)), rules_node(part.rules));
    }
    put(root, "rules_for", std::move(parts));
  }
  if (rules.unmatched == Unmatched::error) put(root, "unmatched", scalar("error", false));
  if (rules.unmatched == Unmatched::no_constraint) {
    put(root, "unmatched", scalar("no-constraint", false));
  }
  if (!rules.devices.empty()) put(root, "devices", name_node(rules.devices));
  std::string text;
  for (const YamlLine& line : write_yaml_lines(root, may_be_one_line)) text += line.text + "\n";
  return text;
}

}  // namespace shard
