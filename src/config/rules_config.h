#pragma once
// A rules file as plain structs: the mesh, the logical axis rules, how to treat what does not
// match.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/spec.h"

namespace shard {

/// One axis of `mesh`, major to minor in file order.
struct MeshAxisConfig {
  MeshAxis name;
  std::int64_t size = 0;
  Location at;
};

/// One rule: `[logical, mesh axes]`. `target` without axes and not unconstrained is None.
struct RuleConfig {
  LogicalAxis logical;
  PartitionEntry target;
  Location at;
};

enum class Part { inputs, params, activations, gradients, optimizer, outputs };

/// Rules asked before the general ones, for the arrays of one part only.
struct PartRulesConfig {
  Part part = Part::params;
  std::vector<RuleConfig> rules;
};

enum class Unmatched { unsharded, error, no_constraint };

struct RulesConfig {
  std::string name;  ///< the file's stem
  std::string file;
  std::vector<MeshAxisConfig> mesh;
  std::vector<RuleConfig> rules;
  std::vector<PartRulesConfig> rules_for;
  Unmatched unmatched = Unmatched::unsharded;
  std::string devices;  ///< empty: as many virtual cpu devices as the mesh needs; or `cpu-8`
  Location devices_at;
};

}  // namespace shard
