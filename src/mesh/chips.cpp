#include "mesh/chips.h"

#include <algorithm>

#include "base/nearest.h"

namespace shard {
namespace {

constexpr Bytes gib(std::int64_t count) { return Bytes(count << 30); }
constexpr Bytes gb(std::int64_t count) { return Bytes(count * 1'000'000'000); }

// Chip memory as published, divided by the number of JAX devices per chip.
constexpr std::array<Chip, 13> table = {{
    {"v2", "TPU v2", {"tpu_v2", ""}, gib(8), "Cloud TPU v2 page: 16 GiB per chip, 2 devices"},
    {"v3", "TPU v3", {"tpu_v3", ""}, gib(16), "Cloud TPU v3 page: 32 GiB per chip, 2 devices"},
    {"v4", "TPU v4", {"tpu_v4", "v4p"}, gib(32), "Cloud TPU v4 page: 32 GiB per chip"},
    {"v5e", "TPU v5e", {"tpu_v5e", "v5litepod"}, gb(16), "Cloud TPU v5e page: 16 GB per chip"},
    {"v5p", "TPU v5p", {"tpu_v5p", ""}, gib(95), "Cloud TPU v5p page: 95 GiB per chip"},
    {"v6e", "TPU v6e", {"tpu_v6e", "trillium"}, gb(32), "Cloud TPU v6e page: 32 GB per chip"},
    {"v7x",
     "TPU7x",
     {"tpu_v7x", "tpu7x", "ironwood"},
     gib(96),
     "Cloud TPU7x page: 192 GiB, 2 devices"},
    {"a100", "NVIDIA A100 80 GB", {"a100-80g", ""}, gib(80), "A100 datasheet: 80 GB"},
    {"a100-40g", "NVIDIA A100 40 GB", {"", ""}, gib(40), "A100 datasheet: 40 GB"},
    {"h100", "NVIDIA H100 SXM", {"h100_sxm", ""}, gib(80), "H100 SXM datasheet: 80 GB"},
    {"h200", "NVIDIA H200", {"h200_sxm", ""}, gb(141), "H200 datasheet: 141 GB"},
    {"b200", "NVIDIA B200", {"b200_sxm", ""}, gb(180), "HGX B200: 180 GB usable of 192"},
    {"gb200", "NVIDIA GB200", {"gb200_nvl72", ""}, gb(186), "GB200 NVL72 datasheet: 186 GB"},
}};

}  // namespace

std::span<const Chip> chip_table() { return table; }

const Chip* chip_named(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const Chip& chip : table) {
    if (same_word(chip.name, name)) return &chip;
    for (const std::string_view alias : chip.aliases) {
      if (same_word(alias, name)) return &chip;
    }
  }
  return nullptr;
}

std::vector<std::string> chip_names() {
  std::vector<std::string> names;
  for (const Chip& chip : table) names.emplace_back(chip.name);
  return names;
}

}  // namespace shard
