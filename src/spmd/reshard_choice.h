#pragma once
// The reshards of one program, each kind planned once.

#include <map>
#include <optional>
#include <string>

#include "spmd/cheapest_reshard.h"

namespace shard::spmd {

class ReshardChoice {
 public:
  explicit ReshardChoice(const Mesh& mesh) : mesh_(mesh) {}

  /// The cheapest way without axes that neither side has; of equal ones Shardy's. nullptr where
  /// there is none: a value that is no sum cannot become one. Valid as long as this lives.
  const ReshardPlan* way(const TensorType& type, const Sharding& from, const Sharding& to);

 private:
  std::optional<ReshardPlan> plan(const TensorType& type, const Sharding& from,
                                  const Sharding& to) const;

  const Mesh& mesh_;
  std::map<std::string, std::optional<ReshardPlan>> plans_;
};

}  // namespace shard::spmd
