#pragma once
// Specs as a user writes them. A YAML list is logical axes and goes through the rules; text that
// starts with `P(` is mesh axes and does not.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "base/name.h"

namespace shard {

/// One entry of a PartitionSpec: the mesh axes that split the dim, major to minor; empty is None.
struct PartitionEntry {
  std::vector<MeshAxis> axes;
  bool is_unconstrained = false;

  friend bool operator==(const PartitionEntry&, const PartitionEntry&) = default;
};

/// Stored as JAX stores it: 1-tuples unwrapped, empty tuples None, trailing Nones kept.
struct PartitionSpec {
  std::vector<PartitionEntry> entries;

  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;
};

/// As Python prints it: `P('data', None)`, `P('x',)`, `P(('data', 'model'), None)`, `P()`.
std::string to_string(const PartitionSpec& spec);

/// Logical axes of an array's dims; nothing means None.
struct LogicalSpec {
  std::vector<std::optional<LogicalAxis>> names;

  friend bool operator==(const LogicalSpec&, const LogicalSpec&) = default;
};

/// `[embed, hidden]`, `[batch, None]`.
std::string to_string(const LogicalSpec& spec);

/// `std::monostate`: written as null, i.e. unannotated.
struct SpecConfig {
  std::variant<std::monostate, LogicalSpec, PartitionSpec> spec;
  Location at;

  bool is_unannotated() const { return std::holds_alternative<std::monostate>(spec); }
  const LogicalSpec* logical() const { return std::get_if<LogicalSpec>(&spec); }
  const PartitionSpec* mesh() const { return std::get_if<PartitionSpec>(&spec); }
};

/// As the user would write it: `[embed, hidden]`, `P('data', None)`, `null`.
std::string to_string(const SpecConfig& spec);

}  // namespace shard
