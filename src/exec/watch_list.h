#pragma once
// Which buffers of a program hold values of the unsharded reference, and when.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/host_tensor.h"
#include "model/graph.h"
#include "spmd/program.h"

namespace shard {

/// Where a value is made: which one, and the iteration of each loop around it,
/// outermost first.
using Making = std::pair<ValueId, std::vector<std::int64_t>>;

/// A buffer that holds a value of the reference as it is declared, in one
/// iteration of the loops around it.
struct Watched {
  BufferId buffer = BufferId::none;
  int body = 0;         ///< of the program
  int instruction = 0;  ///< in the body
  Making made;
  std::size_t layout = 0;  ///< its layout's place
  std::size_t output = 0;  ///< its place among the reference's values
};

/// In the order in which they are written; a loop's body comes once for each
/// iteration. Partial sums, copies in another sharding than the declared one
/// and floating results of updates are left out. `shardings` are by ValueId,
/// `graph`'s values are the first of those of `stored`.
std::vector<Watched> watched_buffers(const Program& program, const Graph& graph,
                                     const Graph& stored, const std::vector<Sharding>& shardings);

/// The reference's values of what is watched; sets their `output`, and leaves
/// out what the reference does not make.
std::vector<HostTensor> watched_values(const Graph& graph, const std::vector<HostTensor>& inputs,
                                       std::vector<Watched>& watched);

}  // namespace shard
