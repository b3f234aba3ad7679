#pragma once
// Which indices of an array every device holds, and which copy of them it is.

#include <string>
#include <vector>

#include "mesh/mesh.h"
#include "shard/pieces.h"
#include "shard/sharding.h"

namespace shard {

struct IndexRow {
  std::int64_t device = 0;
  std::int64_t copy = 0;            ///< number of earlier devices with the same indices
  std::vector<std::string> ranges;  ///< per dim: `4:8`, `:` for a whole dim, `empty`
};

/// One per device in the order of the mesh, at most `most` and the last; 0: all.
std::vector<IndexRow> index_rows(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                                 std::int64_t most, UnevenCut cut = UnevenCut::flat);

/// A table: device, copy, `[4:8, :]`.
std::string index_text(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                       std::int64_t most, UnevenCut cut = UnevenCut::flat);

}  // namespace shard
