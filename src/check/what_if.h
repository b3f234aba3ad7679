#pragma once
// What one rule more would give: the rules asked again, for the state alone and without
// propagation, which splits no argument.

#include <string>
#include <vector>

#include "model/model.h"
#include "shard/resolve_state.h"

namespace shard {

/// An array whose spec is asked for, as the plan has it.
struct AskedArray {
  const SpecConfig& placement;
  const TensorType& type;
  Part part = Part::params;
  std::string path;
  const Sharding& sharding;
};

/// One rule that would split one dim of the array further.
struct RuleTrial {
  std::string rule;       ///< `[embed, data]`
  int instead_of = 0;     ///< the rule that has to go for it, from 1; 0: none
  std::string axis;       ///< the free mesh axis: `data`
  std::int64_t size = 1;  ///< its devices
  std::string spec;       ///< of the array then
  Bytes array;            ///< of one device then
  Bytes state;            ///< all state of one device then
  std::string refusal;    ///< what would be wrong with the state then; else empty

  friend bool operator==(const RuleTrial&, const RuleTrial&) = default;
};

/// For every axis of more than one device that the array does not use and every dim with a name: a
/// rule behind the others where no rule decides the dim; only if there is no such dim, a longer
/// rule instead of the one that does. Trials in which the array stays as it is are left out; those
/// that leave fewest bytes of state come first, refused ones last.
std::vector<RuleTrial> rule_trials(const Model& model, const RulesConfig& rules, const Mesh& mesh,
                                   const AskedArray& array, const RuleDecision& decision);

/// All state of one device.
Bytes state_bytes(std::span<const StateLeaf> state, const ResolvedState& resolved);

}  // namespace shard
