#pragma once
// One array's description, as every dump has it: name, element type, shape, axes.

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "config/arrays_config.h"
#include "text/tree.h"

namespace shard {

/// Collects arrays and what is wrong with them.
class ArrayReader {
 public:
  explicit ArrayReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  /// A list of non-negative whole numbers. Raises `bad-array`, `bad-shape`.
  std::optional<Shape> shape(const TextNode& node);
  /// An element type by any of its names. Raises `unknown-dtype`.
  std::optional<DType> dtype(const TextNode& node);
  /// Names, lists of names (mesh axes only) and nulls. Raises `bad-array`.
  SpecConfig logical_axes(const TextNode& node);
  SpecConfig mesh_axes(const TextNode& node);

  /// Raises `duplicate-array` for a name that is there already.
  void add(ArrayConfig array);
  /// Raises `bad-array`: `WHAT is FOUND, expected EXPECTED`.
  void refuse(const TextNode& found, std::string_view what, std::string_view expected);
  /// Warns, once per key, that it is not read.
  void note_unread(const TextEntry& entry);

  Diagnostics& diagnostics() { return diagnostics_; }
  bool has_arrays() const { return !arrays_.empty(); }
  std::vector<ArrayConfig> take_arrays() { return std::move(arrays_); }

 private:
  Diagnostics& diagnostics_;
  std::vector<ArrayConfig> arrays_;
  std::set<std::string> names_;
  std::set<std::string> unread_;
};

}  // namespace shard
