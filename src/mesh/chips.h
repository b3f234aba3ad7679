#pragma once
// Chips as data: the facts `--device` needs.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace shard {

struct Chip {
  std::string_view name;                    ///< `v5e`
  std::string_view title;                   ///< `TPU v5e`
  std::array<std::string_view, 3> aliases;  ///< other words for it; empty when there are fewer
  Bytes hbm;                                ///< per JAX device (a v3 or v7x chip is two devices)
  std::string_view source;                  ///< where the figure is published
};

/// All chips, TPUs by generation, then GPUs.
std::span<const Chip> chip_table();

/// By name or alias, case ignored; nullptr for an unknown word.
const Chip* chip_named(std::string_view name);

/// The names (without aliases), for hints.
std::vector<std::string> chip_names();

}  // namespace shard
