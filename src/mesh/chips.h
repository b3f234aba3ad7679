#pragma once
// Chips as data: the facts `--device` needs.

#include <optional>
#include <span>
#include <string_view>

#include "base/units.h"

namespace shard {

struct Chip {
  std::string_view name;    ///< `v5e`
  std::string_view title;   ///< `TPU v5e`
  Bytes hbm;                ///< per JAX device
  std::string_view source;  ///< where the figure is published
};

std::span<const Chip> chip_table();
const Chip* chip_named(std::string_view name);

}  // namespace shard
