#pragma once
// Whether buffers get their places in the arena.

namespace shard {

/// - `planned`: buffers have offsets and the program its memory plan (`plan_memory`).
/// - `left_out`: neither, which is quicker; for programs that are only looked at for how they go
///   on.
enum class Offsets { planned, left_out };

}  // namespace shard
