#pragma once
// The reshards of one program, each kind planned once.

#include <optional>
#include <string>
#include <unordered_map>

#include "spmd/cheapest_reshard.h"
#include "spmd/number_key.h"

namespace shard::spmd {

class ReshardChoice {
 public:
  explicit ReshardChoice(const Mesh& mesh) : mesh_(mesh) {}

  /// Shardy's way. Valid as long as this lives.
  const ReshardPlan& compatible(const TensorType& type, const Sharding& from, const Sharding& to);
  /// The cheapest way without axes that neither side has; of equal ones Shardy's. nullptr where
  /// there is none: a value that is no sum cannot become one. Valid as long as this lives.
  const ReshardPlan* way(const TensorType& type, const Sharding& from, const Sharding& to);

 private:
  const std::string& key_of(const TensorType& type, const Sharding& from, const Sharding& to);
  std::optional<ReshardPlan> plan(const TensorType& type, const Sharding& from, const Sharding& to);

  const Mesh& mesh_;
  NumberKey key_;
  std::unordered_map<std::string, ReshardPlan> compatible_;
  std::unordered_map<std::string, std::optional<ReshardPlan>> cheapest_;
};

}  // namespace shard::spmd
