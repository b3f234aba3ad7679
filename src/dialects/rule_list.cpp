#include "dialects/rule_list.h"

#include <algorithm>
#include <optional>

#include "text/number.h"
#include "text/utf8.h"

namespace shard {
namespace {

constexpr const char* pair_form = "[logical name, mesh axes]";

std::string describe_list(const TextNode& node) {
  if (!node.is_sequence()) return describe(node);
  return "a list of " + std::to_string(node.items.size());
}

bool is_plain_word(const TextNode& node, std::string_view word) {
  return node.is_scalar() && !node.quoted && node.scalar == word;
}

bool is_boolean_word(std::string_view text) {
  return text == "true" || text == "True" || text == "false" || text == "False";
}

// Why a scalar is not a name; nothing when it is one.
std::optional<std::string> fault_of_name(const TextNode& node) {
  if (!node.is_scalar()) return describe_list(node);
  if (node.scalar.empty()) return "an empty text";
  const bool has_control = std::any_of(node.scalar.begin(), node.scalar.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (has_control) return "a text with control characters";
  if (node.quoted) return std::nullopt;
  if (is_boolean_word(node.scalar)) return "the truth value " + node.scalar;
  if (read_number(node.scalar)) return "the number " + node.scalar;
  return std::nullopt;
}

class RuleListReader {
 public:
  explicit RuleListReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  std::vector<RuleConfig> read(const TextNode& list);
  std::optional<MeshAxis> axis(const TextNode& node, const char* id);

 private:
  std::optional<RuleConfig> rule(const TextNode& node);
  std::optional<PartitionEntry> target(const TextNode& node);
  void warn_of_letters(const TextNode& name);

  Diagnostics& diagnostics_;
};

std::vector<RuleConfig> RuleListReader::read(const TextNode& list) {
  std::vector<RuleConfig> rules;
  if (list.is_map()) {
    diagnostics_.error("bad-rule", list.at,
                       "Unknown axis rule specification type: the rules are a map, expected a list "
                       "of pairs",
                       "a map has no order, and the order of rules counts: write [[batch, data], "
                       "...]");
    return rules;
  }
  if (!list.is_sequence()) {
    diagnostics_.error("bad-rule", list.at,
                       "Unknown axis rule specification type: the rules are " + describe(list) +
                           ", expected a list of pairs");
    return rules;
  }
  rules.reserve(list.items.size());
  for (const TextNode& item : list.items) {
    if (auto found = rule(item)) rules.push_back(std::move(*found));
  }
  return rules;
}

std::optional<RuleConfig> RuleListReader::rule(const TextNode& node) {
  if (!node.is_sequence() || node.items.size() != 2) {
    diagnostics_.error(
        "bad-rule", node.at,
        "a rule is a pair " + std::string(pair_form) + ", found " + describe_list(node),
        node.is_sequence() && node.items.size() > 2
            ? "several mesh axes are a list of their own: [batch, [data, fsdp]]"
            : "");
    return std::nullopt;
  }
  const TextNode& name = node.items[0];
  const auto fault = fault_of_name(name);
  if (fault) {
    diagnostics_.error("bad-rule", name.at, "a logical name is a text, found " + *fault);
  }
  auto entry = target(node.items[1]);
  if (fault || !entry) return std::nullopt;
  warn_of_letters(name);
  return RuleConfig{LogicalAxis(name.scalar), std::move(*entry), node.at};
}

std::optional<PartitionEntry> RuleListReader::target(const TextNode& node) {
  PartitionEntry entry;
  if (node.is_null()) return entry;
  if (is_plain_word(node, "None")) {
    diagnostics_.warning("none-is-text", node.at,
                         "None is read as null; in YAML it is a text, which a framework would take "
                         "for a mesh axis called 'None'",
                         "write null or []");
    return entry;
  }
  if (node.is_scalar() &&
      (node.scalar == "UNCONSTRAINED" || node.scalar.ends_with(".UNCONSTRAINED"))) {
    entry.is_unconstrained = true;
    return entry;
  }
  if (!node.is_sequence()) {
    const auto name = axis(node, "bad-rule");
    if (!name) return std::nullopt;
    entry.axes.push_back(*name);
    return entry;
  }
  bool is_whole = true;
  for (const TextNode& item : node.items) {
    const auto name = axis(item, "bad-rule");
    if (name) entry.axes.push_back(*name);
    is_whole = is_whole && name.has_value();
  }
  if (!is_whole) return std::nullopt;
  return entry;
}

std::optional<MeshAxis> RuleListReader::axis(const TextNode& node, const char* id) {
  if (const auto fault = fault_of_name(node)) {
    diagnostics_.error(id, node.at, "a mesh axis is a text, found " + *fault);
    return std::nullopt;
  }
  warn_of_letters(node);
  return MeshAxis(node.scalar);
}

void RuleListReader::warn_of_letters(const TextNode& name) {
  const std::string& text = name.scalar;
  const auto odd = std::find_if(text.begin(), text.end(),
                                [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (odd == text.end()) return;
  const auto at = static_cast<std::size_t>(odd - text.begin());
  const std::size_t length = std::max<std::size_t>(utf8_length(text, at), 1);
  diagnostics_.warning("look-alike-name", name.at,
                       "the name '" + text + "' has the letter '" + text.substr(at, length) +
                           "', which is not ASCII",
                       "it never equals a name typed with the letter it looks like");
}

TextNode node_of(TextNode::Kind kind, const PythonValue& value, bool quoted = false) {
  TextNode node;
  node.kind = kind;
  node.at = value.at;
  if (kind == TextNode::Kind::scalar) node.scalar = value.text;
  node.quoted = quoted;
  return node;
}

std::string_view last_word(std::string_view dotted) {
  return dotted.substr(dotted.rfind('.') + 1);  // npos + 1 is 0
}

bool is_spec_call(const PythonValue& value) {
  const std::string_view name = last_word(value.text);
  return value.kind == PythonValue::Kind::call && value.entries.empty() &&
         (name == "P" || name == "PS" || name == "PartitionSpec");
}

bool is_conversion(const PythonValue& value) {
  return value.kind == PythonValue::Kind::call && value.entries.empty() &&
         value.items.size() == 1 && (value.text == "tuple" || value.text == "list");
}

TextNode sequence_of(const PythonValue& value, Diagnostics& diagnostics) {
  TextNode node = node_of(TextNode::Kind::sequence, value);
  node.items.reserve(value.items.size());
  for (const PythonValue& item : value.items) node.items.push_back(to_tree(item, diagnostics));
  return node;
}

TextNode map_of(const PythonValue& value, Diagnostics& diagnostics) {
  TextNode node = node_of(TextNode::Kind::map, value);
  for (const PythonEntry& entry : value.entries) {
    node.entries.push_back({entry.key.text, entry.key.at, to_tree(entry.value, diagnostics)});
  }
  return node;
}

TextNode refused(const PythonValue& value, Diagnostics& diagnostics) {
  if (value.kind == PythonValue::Kind::set) {
    diagnostics.error("bad-rule", value.at, "a set has no order", "write a tuple or a list");
  } else if (value.kind == PythonValue::Kind::bytes) {
    diagnostics.error("bad-rule", value.at, value.text + " is bytes, expected a text");
  } else {
    diagnostics.error("not-a-literal", value.at,
                      "'" + value.text + "(...)' is code, expected a literal value",
                      "paste the value that Python prints for it");
  }
  return node_of(TextNode::Kind::null, value);
}

}  // namespace

std::vector<RuleConfig> read_rule_list(const TextNode& list, Diagnostics& diagnostics) {
  return RuleListReader(diagnostics).read(list);
}

std::vector<MeshAxisConfig> read_axis_names(const TextNode& list, Diagnostics& diagnostics) {
  RuleListReader reader(diagnostics);
  std::vector<MeshAxisConfig> axes;
  const auto add = [&](const TextNode& node) {
    if (const auto name = reader.axis(node, "bad-mesh-axis")) axes.push_back({*name, 0, node.at});
  };
  if (!list.is_sequence()) {
    add(list);
    return axes;
  }
  for (const TextNode& item : list.items) add(item);
  return axes;
}

bool looks_like_rules(const PythonValue& value) {
  const auto is_rule = [](const PythonValue& item) {
    return item.is_sequence() && item.items.size() == 2 &&
           item.items[0].kind == PythonValue::Kind::string;
  };
  return value.is_sequence() && !value.items.empty() &&
         std::all_of(value.items.begin(), value.items.end(), is_rule);
}

TextNode to_tree(const PythonValue& value, Diagnostics& diagnostics) {
  switch (value.kind) {
    case PythonValue::Kind::none:
      return node_of(TextNode::Kind::null, value);
    case PythonValue::Kind::string:
      return node_of(TextNode::Kind::scalar, value, true);
    case PythonValue::Kind::name:
      if (value.text == "null") return node_of(TextNode::Kind::null, value);
      return node_of(TextNode::Kind::scalar, value);
    case PythonValue::Kind::boolean:
    case PythonValue::Kind::number:
      return node_of(TextNode::Kind::scalar, value);
    case PythonValue::Kind::tuple:
    case PythonValue::Kind::list:
      return sequence_of(value, diagnostics);
    case PythonValue::Kind::dict:
      return map_of(value, diagnostics);
    case PythonValue::Kind::call:
      if (is_spec_call(value)) return sequence_of(value, diagnostics);
      if (is_conversion(value)) return to_tree(value.items[0], diagnostics);
      return refused(value, diagnostics);
    case PythonValue::Kind::code:
      diagnostics.append(code_in(value));
      return node_of(TextNode::Kind::null, value);
    case PythonValue::Kind::set:
    case PythonValue::Kind::bytes:
      return refused(value, diagnostics);
  }
  return node_of(TextNode::Kind::null, value);
}

}  // namespace shard
