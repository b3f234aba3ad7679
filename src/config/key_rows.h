#pragma once
// Pieces that the key tables of layers are put together from.

#include <array>
#include <cstddef>

#include "config/keys.h"

namespace shard {

/// The rows of all parts, in order.
template <std::size_t... Counts>
constexpr auto joined_rows(const std::array<KeyRow, Counts>&... parts) {
  std::array<KeyRow, (Counts + ...)> all{};
  std::size_t next = 0;
  const auto append = [&](const auto& part) {
    for (const KeyRow& row : part) all[next++] = row;
  };
  (append(parts), ...);
  return all;
}

/// What every layer takes that makes one value.
inline constexpr std::array<KeyRow, 4> every_layer_rows = {{
    {.name = "name",
     .kind = ValueKind::identifier,
     .help = "makes the result a value of this name"},
    {.name = "of", .kind = ValueKind::names, .help = "the inputs; default: the value before"},
    {.name = "dtype", .kind = ValueKind::dtype, .help = "of the arithmetic and the result"},
    {.name = "out_sharding", .kind = ValueKind::spec, .help = "placement of the result"},
}};

}  // namespace shard
