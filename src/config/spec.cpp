#include "config/spec.h"

#include <string_view>

namespace shard {
namespace {

/// Python takes the quotes that the text does not have.
std::string quoted(const MeshAxis& axis) {
  const std::string& text = axis.text();
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  return quote + text + quote;
}

std::string set_text(std::string_view name, const std::set<MeshAxis>& axes) {
  std::string text;
  for (const MeshAxis& axis : axes) text += (text.empty() ? "" : ", ") + quoted(axis);
  return std::string(name) + "={" + text + "}";
}

std::string item_text(const LogicalSpec& spec, std::size_t dim) {
  if (spec.names[dim]) return spec.names[dim]->text();
  const PartitionEntry entry = spec.written(dim);
  if (entry.is_unconstrained) return "UNCONSTRAINED";
  std::string text;
  for (const MeshAxis& axis : entry.axes) text += (text.empty() ? "[" : ", ") + axis.text();
  return text.empty() ? "None" : text + "]";
}

}  // namespace

std::string to_string(const PartitionEntry& entry) {
  if (entry.is_unconstrained) return "UNCONSTRAINED";
  if (entry.axes.empty()) return "None";
  if (entry.axes.size() == 1) return quoted(entry.axes.front());
  std::string text;
  for (const MeshAxis& axis : entry.axes) text += (text.empty() ? "(" : ", ") + quoted(axis);
  return text + ")";
}

std::string to_string(const PartitionSpec& spec) {
  std::vector<std::string> parts;
  for (const PartitionEntry& entry : spec.entries) parts.push_back(to_string(entry));
  if (!spec.unreduced.empty()) parts.push_back(set_text("unreduced", spec.unreduced));
  if (!spec.reduced.empty()) parts.push_back(set_text("reduced", spec.reduced));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "P(" : ", ") + part;
  if (parts.empty()) return "P()";
  // Python's repr of a tuple of one keeps its comma.
  return text + (parts.size() == 1 && spec.entries.size() == 1 ? ",)" : ")");
}

std::string to_string(const LogicalSpec& spec) {
  std::string text = "[";
  for (std::size_t i = 0; i < spec.names.size(); ++i) {
    text += (i == 0 ? "" : ", ") + item_text(spec, i);
  }
  return text + "]";
}

std::string to_string(const ShardingText& sharding) {
  std::string text = sharding.text;
  for (const ShardingText::Edit& edit : sharding.edits) {
    text += (edit.added ? " with dim " : " without dim ") + std::to_string(edit.dim);
    if (edit.added) text += " by " + to_string(*edit.added);
  }
  return text;
}

std::string to_string(const SpecConfig& spec) {
  if (const LogicalSpec* logical = spec.logical()) return to_string(*logical);
  if (const PartitionSpec* mesh = spec.mesh()) return to_string(*mesh);
  if (const ShardingText* sharding = spec.sharding()) return to_string(*sharding);
  return "null";
}

}  // namespace shard
