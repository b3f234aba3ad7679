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

  /// From here on: most bytes of operand and result of a step that reduces nothing; 0: any. Ways
  /// that are known are forgotten when it changes.
  void limit_memory(Bytes memory);
  bool is_limited() const { return memory_ > Bytes(0); }
  bool fits(const ReshardPlan& plan) const { return !is_limited() || plan.moved_peak <= memory_; }

  /// What more than any bytes sent counts against a way that needs too much memory, the less the
  /// less it needs.
  static constexpr std::int64_t beyond_memory = std::int64_t{1} << 44;
  /// Bytes sent, and that.
  std::int64_t cost(const ReshardPlan& plan) const {
    const std::int64_t sent = plan.wire.count();
    return fits(plan) ? sent : sent + beyond_memory + 16 * plan.moved_peak.count();
  }

  /// Shardy's way; where it needs too much memory the cheapest that does not, or the one that needs
  /// least. Valid as long as this lives, or the limit.
  const ReshardPlan& compatible(const TensorType& type, const Sharding& from, const Sharding& to);
  /// The cheapest way without axes that neither side has, unless the memory asks for more; of equal
  /// ones Shardy's, its steps ordered so that outer axes carry least. nullptr where there is none:
  /// a value that is no sum cannot become one. Valid as long as this lives, or the limit.
  const ReshardPlan* way(const TensorType& type, const Sharding& from, const Sharding& to);

 private:
  const std::string& key_of(const TensorType& type, const Sharding& from, const Sharding& to);
  std::optional<ReshardPlan> plan(const TensorType& type, const Sharding& from, const Sharding& to);

  ReshardPlan within_memory(const TensorType& type, const Sharding& from, const Sharding& to);

  const Mesh& mesh_;
  Bytes memory_;
  NumberKey key_;
  std::unordered_map<std::string, ReshardPlan> compatible_;
  std::unordered_map<std::string, std::optional<ReshardPlan>> cheapest_;
};

}  // namespace shard::spmd
