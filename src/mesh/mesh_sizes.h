#pragma once
// The sizes of a mesh as numbers: reading what somebody wrote, products, and filling in -1.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mesh/device.h"

namespace shard {

/// A size as a Python program or a file has it: None, a truth value, a number, a text.
using WrittenSize = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// The sizes by Python's `int()`: 2.9 is 2, `"2"` is 2, True is 1. Throws `Error` `bad-mesh-size`
/// for what has no whole number.
Shape whole_sizes(const std::vector<WrittenSize>& written, const Location& at);

/// Product of numbers of any sign, or nothing when it does not fit in 63 bits.
std::optional<std::int64_t> size_product(const Shape& sizes);

/// `(2, 4)`, `(8,)`, `()`: a shape the way Python prints it.
std::string tuple_text(const Shape& sizes);

/// `(2, 8) = 16`, or `(8,)` where the product says nothing new.
std::string product_text(const Shape& sizes);

/// `axis 1` or, when the origin knows names, `axis 'fsdp'`.
std::string axis_text(const MeshOrigin& origin, std::size_t axis);

/// Sizes that multiply to one count, in the words of messages: `ici` sizes to `devices per slice`,
/// `dcn` sizes to `slices`.
struct SizeGroup {
  std::string name = "mesh";
  std::string counted = "devices";
};

/// Puts the one size that makes the product `count` in the place of -1; without a -1 only checks
/// the product. Throws `Error` `bad-mesh-size` (two -1, or a size below 1) or `mesh-size` (the
/// product cannot be `count`).
Shape filled_sizes(const Shape& sizes, std::int64_t count, const SizeGroup& group,
                   const MeshOrigin& origin);

}  // namespace shard
