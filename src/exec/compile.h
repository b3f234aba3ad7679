#pragma once
// A Program made executable: one stream of instructions with places, the collectives' groups, and
// the kinds that are counted.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/rendezvous.h"
#include "exec/route.h"
#include "exec/stream.h"
#include "exec/test_seam.h"
#include "spmd/program.h"

namespace shard {

struct CountedKind {
  std::string name;  ///< `dot`, `all_reduce model`, `copy`
  bool is_collective = false;
};

struct CompiledProgram {
  Stream stream;  ///< all devices run it
  std::vector<CollectiveSite> sites;
  std::vector<CountedKind> kinds;
  bool has_many_row_product = false;  ///< some `dot` goes to the many-row GEMM
  std::int64_t end_tag = 0;           ///< one past the last tag; with a part
};

/// With a `part`, what its host does: the tags it may use begin there. Throws `Error` with every
/// instruction that has no kernel for its dtypes
/// (`not-yet`), and `bad-program` for a buffer that reaches beyond the planned peak.
CompiledProgram compile(const Program& program, const TestSeam& seam,
                        const CollectiveChoice& collectives = {},
                        const std::optional<SitePart>& part = {});

}  // namespace shard
