#pragma once
// Shardings in XLA's terms: tiles and a list of devices (spec section 7.1).

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shard/sharding.h"

namespace shard {

/// What the devices of a trailing tile dim have in common: copies, terms of a sum, or whatever a
/// manual program makes of them.
enum class TileGroup { manual, unreduced, replicated };

/// XLA's words for them, in enum order.
inline constexpr std::array<std::string_view, 3> tile_group_words = {"manual", "unreduced",
                                                                     "replicated"};

/// A tiled sharding. Devices are positions in the mesh's device list: iota(reshape), transposed by
/// `perm`, reshaped to `dims`. The last `groups.size()` of the dims are no array dims. Without dims
/// it is one of the words `replicated`, `unreduced`, `manual`.
struct HloSharding {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> reshape;
  std::vector<int> perm;
  std::vector<TileGroup> groups;

  friend bool operator==(const HloSharding&, const HloSharding&) = default;
};

/// Sets the devices to iota(sizes) transposed by `order`, in canonical form: dims of size 1
/// dropped, neighbours that stay neighbours joined.
void set_iota(HloSharding& sharding, const std::vector<std::int64_t>& sizes,
              const std::vector<std::size_t>& order);

HloSharding hlo_sharding(const Mesh& mesh, const Sharding& sharding);

/// `{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}`, as XLA prints it today (V2).
std::string to_string(const HloSharding& sharding);
/// The older form with the device list written out (V1).
std::string to_string_v1(const HloSharding& sharding);

/// Positions in the mesh's device list, row-major over `dims`.
std::vector<std::int64_t> device_list(const HloSharding& sharding);

/// Reads both forms; nothing when the text has another, and then `why` (if given) is a clause that
/// says what is wrong.
std::optional<HloSharding> read_hlo_sharding(std::string_view text, std::string* why = nullptr);

/// JAX's `is_equivalent_to`: the same tiles on the same devices in the same order; names of axes
/// play no part, so the meshes may differ. Both arrays have the same rank.
bool is_equivalent(const Mesh& mesh_a, const Sharding& a, const Mesh& mesh_b, const Sharding& b);

}  // namespace shard
