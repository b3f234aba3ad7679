#pragma once
// One array's way from a sharding to another: what `reshard` answers.

#include <optional>
#include <string>
#include <vector>

#include "exec/reshard_run.h"
#include "report/plan.h"
#include "spmd/cheapest_reshard.h"

namespace shard {

/// Another way to the same sharding, for comparison.
struct ReshardAlternative {
  std::string name;
  ReshardPlan plan;
};

struct ReshardReport {
  Mesh mesh;
  TensorType type;
  Sharding from, to;
  ReshardPlan plan;
  Bytes memory;  ///< the limit it keeps; 0: none
  std::vector<ReshardAlternative> alternatives;
  std::optional<ReshardRun> run;
};

std::string reshard_text(const ReshardReport& report, const Layout& layout);
std::string reshard_json(const ReshardReport& report);

}  // namespace shard
