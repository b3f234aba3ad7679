#pragma once
// Specs as a user writes them. A YAML list is logical axes and goes through the rules; text that
// starts with `P(` is mesh axes and does not; text that starts with `{` is XLA's, read on the mesh.

#include <optional>
#include <set>
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
  friend auto operator<=>(const PartitionEntry&, const PartitionEntry&) = default;
};

/// `'data'`, `('data', 'model')`, `None`, `UNCONSTRAINED`.
std::string to_string(const PartitionEntry& entry);

/// Stored as JAX stores it: 1-tuples unwrapped, empty tuples None, trailing Nones kept. The two
/// sets have no axis in common with each other or with the entries.
struct PartitionSpec {
  std::vector<PartitionEntry> entries;
  std::set<MeshAxis> unreduced{};  ///< the value is the sum of the shards along these
  std::set<MeshAxis> reduced{};    ///< whole along these; its derivative is unreduced there

  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;
};

/// As Python prints it: `P('data', None)`, `P('x',)`, `P(('data', 'model'), None)`, `P()`,
/// `P('x', unreduced={'y'})`; sets in the order of their names.
std::string to_string(const PartitionSpec& spec);

/// Logical axes of an array's dims; nothing means None, or what `verbatim` has for the dim.
struct LogicalSpec {
  std::vector<std::optional<LogicalAxis>> names;
  /// Empty, or one per dim: mesh axes or UNCONSTRAINED that a dim without a name has as written.
  /// No rule is asked for them, and their axes are taken.
  std::vector<PartitionEntry> verbatim{};

  /// What the dim has as written; None where it has a name.
  PartitionEntry written(std::size_t dim) const {
    return dim < verbatim.size() ? verbatim[dim] : PartitionEntry{};
  }
  friend bool operator==(const LogicalSpec&, const LogicalSpec&) = default;
  friend auto operator<=>(const LogicalSpec&, const LogicalSpec&) = default;
};

/// `[embed, hidden]`, `[batch, None]`, `[[data, model], UNCONSTRAINED]`.
std::string to_string(const LogicalSpec& spec);

/// A sharding as XLA writes it: `{devices=[2,4]<=[8]}`. Which axes it means only a mesh can tell.
struct ShardingText {
  /// A dim that came or went after the text was written: a stack of layers, a reduced slot.
  struct Edit {
    std::size_t dim = 0;
    std::optional<PartitionEntry> added{};  ///< nothing: the dim went

    friend bool operator==(const Edit&, const Edit&) = default;
  };

  std::string text;
  std::vector<Edit> edits{};  ///< in the order of their making

  friend bool operator==(const ShardingText&, const ShardingText&) = default;
};

/// The text, and its edits in words.
std::string to_string(const ShardingText& sharding);

/// `std::monostate`: written as null, i.e. unannotated.
struct SpecConfig {
  std::variant<std::monostate, LogicalSpec, PartitionSpec, ShardingText> spec;
  Location at;

  bool is_unannotated() const { return std::holds_alternative<std::monostate>(spec); }
  const LogicalSpec* logical() const { return std::get_if<LogicalSpec>(&spec); }
  const PartitionSpec* mesh() const { return std::get_if<PartitionSpec>(&spec); }
  const ShardingText* sharding() const { return std::get_if<ShardingText>(&spec); }
};

/// As the user would write it: `[embed, hidden]`, `P('data', None)`, `{replicated}`, `null`.
std::string to_string(const SpecConfig& spec);

}  // namespace shard
