#pragma once
// The reshards of one program, each kind planned once.

#include <map>
#include <optional>
#include <string>

#include "spmd/cheapest_reshard.h"

namespace shard::spmd {

class ReshardChoice {
 public:
  ReshardChoice(const Mesh& mesh, ReshardMode mode) : mesh_(mesh), mode_(mode) {}

  /// nullptr where there is none: a value that is no sum cannot become one. Valid as long as this
  /// lives.
  const ReshardPlan* way(const TensorType& type, const Sharding& from, const Sharding& to);

 private:
  std::optional<ReshardPlan> plan(const TensorType& type, const Sharding& from,
                                  const Sharding& to) const;

  const Mesh& mesh_;
  ReshardMode mode_;
  std::map<std::string, std::optional<ReshardPlan>> plans_;
};

}  // namespace shard::spmd
