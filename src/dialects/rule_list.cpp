#include "dialects/rule_list.h"

#include <algorithm>

#include "config/look_alike.h"
#include "config/read_rules.h"
#include "text/number.h"

namespace shard {
namespace {

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// What our own rules have no words for. False, after raising it, for a name that cannot be one.
bool check_names(const TextNode& node, const char* id, Diagnostics& diagnostics) {
  bool is_fine = true;
  if (node.is_scalar() && has_control_character(node.scalar)) {
    diagnostics.error(id, node.at, "a name has a control character in it");
    is_fine = false;
  }
  if (node.is_scalar() && !node.quoted && node.scalar == "None") {
    diagnostics.warning("none-is-text", node.at,
                        "None is read as null; in YAML it is a text, which a framework would take "
                        "for a mesh axis called 'None'",
                        "write null or []");
  }
  for (const TextNode& item : node.items) {
    is_fine = check_names(item, id, diagnostics) && is_fine;
  }
  return is_fine;
}

void add_axis(const TextNode& node, std::vector<MeshAxisConfig>& axes, Diagnostics& diagnostics) {
  const bool is_word = node.is_scalar() && !node.scalar.empty();
  const bool is_name = is_word && (node.quoted || !read_number(node.scalar));
  if (!is_name) {
    diagnostics.error("bad-mesh-axis", node.at,
                      "a mesh axis is " + describe(node) + ", expected a name");
  } else if (check_names(node, "bad-mesh-axis", diagnostics)) {
    warn_of_letters(node, diagnostics);
    axes.push_back({MeshAxis(node.scalar), 0, node.at});
  }
}

TextNode node_of(TextNode::Kind kind, const PythonValue& value, bool quoted = false) {
  TextNode node;
  node.kind = kind;
  node.at = value.at;
  if (kind == TextNode::Kind::scalar) node.scalar = value.text;
  node.quoted = quoted;
  return node;
}

std::string_view last_name(std::string_view dotted) {
  return dotted.substr(dotted.rfind('.') + 1);  // npos + 1 is 0
}

bool is_spec_call(const PythonValue& value) {
  const std::string_view name = last_name(value.text);
  return value.kind == PythonValue::Kind::call && value.entries.empty() &&
         (name == "P" || name == "PS" || name == "PartitionSpec");
}

bool is_conversion(const PythonValue& value) {
  return value.kind == PythonValue::Kind::call && value.entries.empty() &&
         value.items.size() == 1 && (value.text == "tuple" || value.text == "list");
}

// A bare word stands for itself, as in pasted YAML; behind dots it is the name of a variable.
TextNode name_of(const PythonValue& value, Diagnostics& diagnostics) {
  TextNode node = node_of(TextNode::Kind::scalar, value);
  if (value.text == "null") return node_of(TextNode::Kind::null, value);
  if (last_name(value.text) == "UNCONSTRAINED") {
    node.scalar = "UNCONSTRAINED";
  } else if (value.text.find('.') != std::string::npos) {
    diagnostics.error("not-a-literal", value.at,
                      "'" + value.text + "' is a variable, expected a literal value",
                      "paste the value that Python prints for it");
  }
  return node;
}

TextNode truth_of(const PythonValue& value) {
  TextNode node = node_of(TextNode::Kind::scalar, value);
  node.scalar = value.text == "True" ? "true" : "false";
  return node;
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
  std::vector<RuleConfig> rules;
  if (!list.is_sequence()) {
    diagnostics.error("bad-rule", list.at,
                      "Unknown axis rule specification type: the rules are " + describe(list) +
                          ", expected a list of pairs",
                      list.is_map() ? "a map has no order, and the order of rules counts: write "
                                      "[[batch, data], [embed, null]]"
                                    : "");
    return rules;
  }
  rules.reserve(list.items.size());
  for (const TextNode& item : list.items) {
    if (!check_names(item, "bad-rule", diagnostics)) continue;
    if (auto rule = read_rule(item, diagnostics)) rules.push_back(std::move(*rule));
  }
  return rules;
}

std::vector<MeshAxisConfig> read_axis_names(const TextNode& list, Diagnostics& diagnostics) {
  std::vector<MeshAxisConfig> axes;
  if (!list.is_sequence()) {
    add_axis(list, axes, diagnostics);
    return axes;
  }
  for (const TextNode& item : list.items) add_axis(item, axes, diagnostics);
  return axes;
}

bool looks_like_rules(const PythonValue& value) {
  const auto is_rule = [](const PythonValue& item) {
    return item.is_sequence() && item.items.size() == 2 &&
           (item.items[0].kind == PythonValue::Kind::string ||
            item.items[0].kind == PythonValue::Kind::name);
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
      return name_of(value, diagnostics);
    case PythonValue::Kind::boolean:
      return truth_of(value);
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
