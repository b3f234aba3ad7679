#pragma once
// The parts of XLA's combiner that know a program.

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "spmd/combiner.h"
#include "spmd/partition.h"

namespace shard::spmd {

/// Numbers the kinds of collectives of one program in order of appearance.
class MergeKeys {
 public:
  explicit MergeKeys(const Program& program) : program_(program) {}

  /// Nothing for what is no collective there, among them the all_slice.
  std::optional<Combiner::Collective> of(const Instruction& instruction);

 private:
  using Key = std::tuple<CollectiveKind, std::vector<AxisRef>, Reduction, int, DType>;

  const Program& program_;
  std::map<Key, int> numbers_;
};

/// Appends the merged collectives of the loops of a body that runs `times` times. A loop of an
/// iteration that stands for several counts for all of them.
void merge_loops(const Program& program, int body, std::int64_t times,
                 std::vector<MergedCollective>& all);

}  // namespace shard::spmd
