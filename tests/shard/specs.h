#pragma once
// Specs as a model's file says them, made from names.

#include <string>
#include <vector>

#include "shard/resolve.h"

namespace shard::tests {

inline const Location spec_place{"m.yaml", 7, 9, 4};

/// Logical axes; an empty name is a dim without one.
inline LogicalSpec logical(const std::vector<std::string>& names) {
  LogicalSpec spec;
  for (const std::string& name : names) {
    spec.names.emplace_back();
    if (!name.empty()) spec.names.back() = LogicalAxis(name);
  }
  return spec;
}

inline PartitionEntry entry(const std::vector<std::string>& axes) {
  PartitionEntry made;
  for (const std::string& axis : axes) made.axes.emplace_back(axis);
  return made;
}

inline PartitionSpec mesh_axes(const std::vector<std::vector<std::string>>& dims) {
  PartitionSpec spec;
  for (const auto& axes : dims) spec.entries.push_back(entry(axes));
  return spec;
}

}  // namespace shard::tests
