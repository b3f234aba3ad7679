#pragma once
// Planning makes and drops several hundred thousand small objects, which took a third of its time
// with the C library's allocator. mimalloc stands in its place, but for sanitizers, which have one
// of their own.

namespace shard {

/// From here on memory for small objects comes in pages of 2 MiB, where the system has them. To be
/// called once, before much is allocated.
void allocate_in_large_pages();

}  // namespace shard
