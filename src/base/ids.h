#pragma once
// Strong indices: positions in a known vector of a Graph, a Program or a Mesh.

#include <cstddef>
#include <cstdint>

namespace shard {

enum class DeviceId : std::int32_t {};
enum class ValueId : std::int32_t { none = -1 };
enum class NodeId : std::int32_t { none = -1 };
enum class RegionId : std::int32_t { none = -1 };
enum class BufferId : std::int32_t { none = -1 };

template <class Id>
constexpr std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

template <class Id>
constexpr Id id_at(std::size_t position) {
  return static_cast<Id>(static_cast<std::int32_t>(position));
}

}  // namespace shard
