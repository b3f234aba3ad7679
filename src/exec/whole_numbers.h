#pragma once
// Integers and truth values of every width as 64-bit integers.

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace shard {

/// Widens `count` elements of an integer dtype or bool; u64 keeps its bits. Floats are a bug.
void to_integers(DType dtype, const std::byte* from, std::int64_t* to, std::size_t count);
/// Cuts to the dtype's width; to bool: 1 for everything but 0.
void from_integers(const std::int64_t* from, DType dtype, std::byte* to, std::size_t count);

}  // namespace shard
