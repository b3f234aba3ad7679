#pragma once
// What the offsets of a program add up to.

#include <span>

#include "spmd/liveness.h"
#include "spmd/packing.h"
#include "spmd/program.h"

namespace shard::spmd {

/// The plan's figures for the offsets as they are: highest byte, where most bytes are live, what is
/// live there. A place counts once, for the buffer that has it at that moment; views are part of
/// what they view.
MemoryPlan measure_memory(const Program& program, const Liveness& liveness);

/// The life of each place by its root buffer (`roots_of`): from the first to the last moment of all
/// buffers that have it. Views have no place of their own.
std::vector<Life> place_lives(const Liveness& liveness, std::span<const BufferId> roots);

/// By buffer: the moments at which it is the one that has its place. Empty (last before first) for
/// views and for what is written over at once.
std::vector<Life> tenancies(const Program& program, const Liveness& liveness,
                            std::span<const BufferId> roots, const std::vector<Life>& places);

/// The first moment at which most bytes are live.
int busiest_moment(std::span<const Block> places, int end);

/// A slice of a stacked array: it has no place of its own.
bool is_view(const Buffer& buffer);

/// By buffer: the one, of those that share memory with it, at whose offset that memory begins.
/// `roots` are those of `roots_of`.
std::vector<BufferId> place_owners(const Program& program, std::span<const BufferId> roots);

/// What an array takes up in the arena.
std::int64_t aligned_bytes(Bytes bytes);

/// Sums bytes by category.
class BytesByCategory {
 public:
  BytesByCategory();
  void add(Category category, Bytes bytes);
  /// Without the categories that have none.
  std::vector<CategoryBytes> list() const;

 private:
  std::vector<Bytes> bytes_;
};

}  // namespace shard::spmd
