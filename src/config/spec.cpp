#include "config/spec.h"

namespace shard {
namespace {

std::string quoted(const MeshAxis& axis) { return "'" + axis.text() + "'"; }

std::string entry_text(const PartitionEntry& entry) {
  if (entry.is_unconstrained) return "UNCONSTRAINED";
  if (entry.axes.empty()) return "None";
  if (entry.axes.size() == 1) return quoted(entry.axes.front());
  std::string text;
  for (const MeshAxis& axis : entry.axes) text += (text.empty() ? "(" : ", ") + quoted(axis);
  return text + ")";
}

}  // namespace

std::string to_string(const PartitionSpec& spec) {
  std::string text = "P(";
  for (std::size_t i = 0; i < spec.entries.size(); ++i) {
    text += (i == 0 ? "" : ", ") + entry_text(spec.entries[i]);
  }
  // Python's repr of a tuple of one keeps its comma.
  return text + (spec.entries.size() == 1 ? ",)" : ")");
}

std::string to_string(const LogicalSpec& spec) {
  std::string text = "[";
  for (std::size_t i = 0; i < spec.names.size(); ++i) {
    text += (i == 0 ? "" : ", ") + (spec.names[i] ? spec.names[i]->text() : std::string("None"));
  }
  return text + "]";
}

std::string to_string(const SpecConfig& spec) {
  if (const LogicalSpec* logical = spec.logical()) return to_string(*logical);
  if (const PartitionSpec* mesh = spec.mesh()) return to_string(*mesh);
  return "null";
}

}  // namespace shard
