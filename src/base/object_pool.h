#pragma once
// Memory for objects that live as long as a step of planning: some hundred thousand strings and
// short vectors. The general allocator would take a third of the time, because it looks for
// neighbours to join whenever something is dropped. Here a block is of one of few sizes, what is
// dropped is the next of its size that is taken, and the system is asked for large pages.

#include <cstddef>

namespace shard {

/// From here on `new` takes up to `largest_pooled` bytes from a pool when the calling thread calls
/// it; other threads may drop such objects, and keep to the general allocator for their own. For
/// one thread of a process, that of `main`. What is dropped stays with the process. False, and
/// everything stays as it was, on another thread than that of the first call, with a sanitizer,
/// which has an allocator of its own, where the process's memory is limited (`ulimit -v`, `-d`),
/// and where the system refuses.
bool pool_objects();

inline constexpr std::size_t largest_pooled = std::size_t{1} << 20;

/// Whether an object lies in the pool.
bool is_pooled(const void* object);

}  // namespace shard
