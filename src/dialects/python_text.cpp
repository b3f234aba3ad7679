#include "dialects/python_text.h"

namespace shard {
namespace {

std::string target_text(const PartitionEntry& target) {
  if (target.is_unconstrained) return "P.UNCONSTRAINED";
  if (target.axes.empty()) return "None";
  if (target.axes.size() == 1) return python_text(target.axes.front().text());
  std::vector<std::string> axes;
  for (const MeshAxis& axis : target.axes) axes.push_back(python_text(axis.text()));
  return python_tuple(axes);
}

}  // namespace

std::string python_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string python_tuple(const std::vector<std::string>& items) {
  std::string text = "(";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ", ") + items[i];
  return text + (items.size() == 1 ? ",)" : ")");
}

std::string python_rules(const std::vector<RuleConfig>& rules) {
  if (rules.empty()) return "()";
  std::string text = "(\n";
  for (const RuleConfig& rule : rules) {
    text += "    (" + python_text(rule.logical.text()) + ", " + target_text(rule.target) + "),\n";
  }
  return text + ")";
}

std::string python_names(const LogicalSpec& names) {
  std::vector<std::string> items;
  for (std::size_t dim = 0; dim < names.names.size(); ++dim) {
    items.push_back(names.names[dim] ? python_text(names.names[dim]->text())
                                     : target_text(names.written(dim)));
  }
  return python_tuple(items);
}

}  // namespace shard
