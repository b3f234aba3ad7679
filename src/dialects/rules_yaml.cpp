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

template <class Value>
struct WordRow {
  Value value;
  std::string_view word;
};
constexpr std::array<WordRow<Unmatched>, 3> unmatched_words = {
    {{Unmatched::unsharded, "unsharded"},
     {Unmatched::error, "error"},
     {Unmatched::no_constraint, "no-constraint"}}};
constexpr std::array<WordRow<Misfit>, 3> misfit_words = {
    {{Misfit::error, "error"}, {Misfit::drop_axes, "drop-axes"}, {Misfit::pad, "pad"}}};
constexpr std::array<WordRow<DeviceOrder>, 4> order_words = {
    {{DeviceOrder::automatic, "auto"},
     {DeviceOrder::split, "split"},
     {DeviceOrder::contiguous, "contiguous"},
     {DeviceOrder::ids, "ids"}}};

template <class Rows, class Value>
std::string_view word_in(const Rows& rows, Value value) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.value == value; });
  return row == rows.end() ? std::string_view() : row->word;
}

std::string_view word_of(Unmatched unmatched) { return word_in(unmatched_words, unmatched); }
std::string_view word_of(Misfit misfit) { return word_in(misfit_words, misfit); }
std::string_view word_of(DeviceOrder order) { return word_in(order_words, order); }

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

TextNode scalar(std::string text, bool quoted, const Location& at) {
  TextNode node;
  node.kind = TextNode::Kind::scalar;
  node.scalar = std::move(text);
  node.quoted = quoted;
  node.at = at;
  return node;
}

TextNode name_node(const std::string& name, const Location& at) {
  return scalar(name, needs_quotes(name), at);
}

TextNode container(TextNode::Kind kind, const Location& at) {
  TextNode node;
  node.kind = kind;
  node.at = at;
  return node;
}

TextNode nothing(const Location& at) { return container(TextNode::Kind::null, at); }

TextNode target_node(const PartitionEntry& target, const Location& at) {
  if (target.is_unconstrained) return scalar("UNCONSTRAINED", false, at);
  if (target.axes.empty()) return nothing(at);
  if (target.axes.size() == 1) return name_node(target.axes.front().text(), at);
  TextNode list = container(TextNode::Kind::sequence, at);
  for (const MeshAxis& axis : target.axes) list.items.push_back(name_node(axis.text(), at));
  return list;
}

TextNode names_node(const LogicalSpec& spec, const Location& at) {
  TextNode list = container(TextNode::Kind::sequence, at);
  for (std::size_t dim = 0; dim < spec.names.size(); ++dim) {
    list.items.push_back(spec.names[dim] ? name_node(spec.names[dim]->text(), at)
                                         : target_node(spec.written(dim), at));
  }
  return list;
}

TextNode spec_node(const SpecConfig& spec, const Location& at) {
  if (const LogicalSpec* names = spec.logical()) return names_node(*names, at);
  if (spec.mesh() != nullptr || spec.sharding() != nullptr)
    return scalar(to_string(spec), true, at);
  return nothing(at);
}

/// The place of a list is that of its first item.
template <class Items>
Location place_of(const Items& items) {
  return items.empty() ? Location{} : items.front().at;
}

TextNode rules_node(const std::vector<RuleConfig>& rules) {
  TextNode list = container(TextNode::Kind::sequence, place_of(rules));
  for (const RuleConfig& rule : rules) {
    TextNode pair = container(TextNode::Kind::sequence, rule.at);
    pair.items.push_back(name_node(rule.logical.text(), rule.at));
    pair.items.push_back(target_node(rule.target, rule.at));
    list.items.push_back(std::move(pair));
  }
  return list;
}

TextNode paths_node(const std::vector<PathRuleConfig>& paths) {
  TextNode list = container(TextNode::Kind::sequence, place_of(paths));
  for (const PathRuleConfig& path : paths) {
    TextNode pair = container(TextNode::Kind::sequence, path.at);
    pair.items.push_back(scalar(path.glob, true, path.at));
    pair.items.push_back(spec_node(path.spec, path.at));
    list.items.push_back(std::move(pair));
  }
  return list;
}

void put(TextNode& map, std::string key, TextNode value) {
  const Location at = value.at;
  map.entries.push_back({std::move(key), at, std::move(value)});
}

TextNode mesh_node(const std::vector<MeshAxisConfig>& mesh) {
  TextNode map = container(TextNode::Kind::map, place_of(mesh));
  for (const MeshAxisConfig& axis : mesh) {
    put(map, axis.name.text(), scalar(std::to_string(axis.size), false, axis.at));
  }
  return map;
}

TextNode types_node(const std::vector<AxisTypeConfig>& types) {
  if (!types.front().axis) return scalar(types.front().word, false, types.front().at);
  TextNode map = container(TextNode::Kind::map, types.front().at);
  for (const AxisTypeConfig& type : types) {
    put(map, type.axis->text(), scalar(type.word, false, type.at));
  }
  return map;
}

TextNode order_node(const RulesConfig& rules) {
  const Location& at = rules.device_order_at;
  if (rules.device_order != DeviceOrder::listed) {
    return scalar(std::string(word_of(rules.device_order)), false, at);
  }
  TextNode list = container(TextNode::Kind::sequence, at);
  for (const std::int64_t id : rules.device_ids) {
    list.items.push_back(scalar(std::to_string(id), false, at));
  }
  return list;
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

/// What is not as it is without being said.
void put_policies(TextNode& root, const RulesConfig& rules) {
  const auto put_word = [&](const char* key, std::string_view word) {
    put(root, key, scalar(std::string(word), false, {}));
  };
  if (rules.unmatched != Unmatched::unsharded) put_word("unmatched", word_of(rules.unmatched));
  if (rules.misfit != Misfit::error) put_word("misfit", word_of(rules.misfit));
  if (rules.resolver != RuleResolver::linen) put_word("resolver", "nnx");
}

/// The last word on each id counts.
void put_findings(TextNode& root, const RulesConfig& rules) {
  constexpr std::array<std::string_view, 4> words = {"off", "note", "warn", "error"};
  TextNode map = container(TextNode::Kind::map, place_of(rules.findings));
  for (const FindingLevelConfig& one : rules.findings) {
    std::erase_if(map.entries, [&](const TextEntry& entry) { return entry.key == one.id; });
    put(map, one.id,
        scalar(std::string(words[static_cast<std::size_t>(one.level)]), false, one.at));
  }
  if (!map.entries.empty()) put(root, "findings", std::move(map));
}

void put_hardware(TextNode& root, const RulesConfig& rules) {
  if (!rules.devices.empty()) put(root, "devices", scalar(rules.devices, false, rules.devices_at));
  if (!rules.dcn.empty()) put(root, "dcn", mesh_node(rules.dcn));
  if (rules.device_order != DeviceOrder::automatic) put(root, "device_order", order_node(rules));
  if (!rules.axis_types.empty()) put(root, "axis_types", types_node(rules.axis_types));
}

}  // namespace

TextNode rules_tree(const RulesConfig& rules) {
  TextNode root = container(TextNode::Kind::map, {});
  if (rules.given.mesh || !rules.mesh.empty()) put(root, "mesh", mesh_node(rules.mesh));
  put(root, "rules", rules_node(rules.rules));
  if (!rules.rules_for.empty()) {
    TextNode parts = container(TextNode::Kind::map, {});
    for (const PartRulesConfig& part : rules.rules_for) {
      put(parts, std::string(word_of(part.part)), rules_node(part.rules));
    }
    put(root, "rules_for", std::move(parts));
  }
  if (!rules.paths.empty()) put(root, "paths", paths_node(rules.paths));
  put_policies(root, rules);
  put_hardware(root, rules);
  put_findings(root, rules);
  return root;
}

std::string write_rules_yaml(const RulesConfig& rules) {
  std::string text;
  for (const YamlLine& line : write_yaml_lines(rules_tree(rules), may_be_one_line)) {
    text += line.text + "\n";
  }
  return text;
}

}  // namespace shard
