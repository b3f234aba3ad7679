#pragma once
// How a partitioner chooses collectives.

namespace shard {

/// - `compatible`: every op by its common factor axes; results are summed and brought to their
///   value's own sharding at once, constraints are reshards, and reshards are those of Shardy's
///   pass.
/// - `cheapest`: every op the way that sends least. A value is brought from the cheapest of all
///   forms in which it exists to the one that is wanted; a constraint only says how its result is
///   split when somebody wants it so. Partial results stay sums until somebody needs more, pass
///   through ops that are linear in them, are added up by the carries of loops, and are reduced on
///   the way to what is needed, right behind what made them. What no iteration of a loop changes is
///   resharded before it.
enum class PartitionMode { compatible, cheapest };

}  // namespace shard
