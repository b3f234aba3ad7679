#pragma once
// A rules file as plain structs: the mesh and its devices, the logical axis rules, placement by
// path, how to treat what does not match or does not fit.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "config/finding_levels.h"
#include "config/spec.h"

namespace shard {

/// One axis of `mesh`, major to minor in file order.
struct MeshAxisConfig {
  MeshAxis name;
  std::int64_t size = 0;  ///< -1: filled in once the number of devices is known
  Location at;
};

/// `auto`, `explicit` or `manual` for one axis, or for all of them.
struct AxisTypeConfig {
  std::optional<MeshAxis> axis;  ///< nothing: every axis
  std::string word;
  Location at;
};

/// Which device stands where in the mesh.
enum class DeviceOrder {
  automatic,   ///< as JAX arranges the devices it finds
  split,       ///< the same, where several mesh axes may share an axis of the torus
  contiguous,  ///< the same, where each process owns a box of the mesh
  ids,         ///< by growing id, row-major
  listed,      ///< `device_ids`, row-major
};

/// One rule: `[logical, mesh axes]`. `target` without axes and not unconstrained is None.
struct RuleConfig {
  LogicalAxis logical;
  PartitionEntry target;
  Location at;
};

enum class Part { inputs, params, activations, gradients, optimizer, outputs };
/// As a rules file has it: `params`.
std::string_view word_of(Part part);

/// Rules asked before the general ones, for the arrays of one part only.
struct PartRulesConfig {
  Part part = Part::params;
  std::vector<RuleConfig> rules;
};

/// Placement of arrays by their path, asked before the rules. Globs: `*` and `?`, also across `/`.
struct PathRuleConfig {
  std::string glob;
  SpecConfig spec;
  Location at;
};

/// Whose reading of the rules is in force.
enum class RuleResolver { linen, nnx };

enum class Unmatched { unsharded, error, no_constraint };

/// What happens to a dim that its mesh axes do not divide.
enum class Misfit {
  error,
  drop_axes,  ///< axes that do not divide what is left of the dim are dropped, and said to be
  pad,        ///< the pieces are rounded up, the last ones are padding
};

struct RulesConfig {
  std::string name;  ///< the file's stem
  std::string file;
  std::vector<MeshAxisConfig> mesh;
  std::vector<RuleConfig> rules;
  std::vector<PartRulesConfig> rules_for;
  Unmatched unmatched = Unmatched::unsharded;
  /// Hardware by name (`v5e-256`, `4x8xh100`, `cpu-8`); empty: as many virtual cpu devices as the
  /// mesh needs.
  std::string devices;
  Location devices_at;

  std::vector<PathRuleConfig> paths;
  RuleResolver resolver = RuleResolver::linen;
  Misfit misfit = Misfit::error;
  /// Most bytes of operand and result of one step of a reshard together; 0: any.
  Bytes reshard_memory;
  /// How much of an axis' size crosses slices; axes that are not named stay inside one.
  std::vector<MeshAxisConfig> dcn;
  std::vector<AxisTypeConfig> axis_types;
  DeviceOrder device_order = DeviceOrder::automatic;
  std::vector<std::int64_t> device_ids;
  Location device_order_at;
  /// Names of the rule sets of the file, in order.
  std::vector<std::string> rule_sets;
  /// What a file says itself; what it does not say it takes from the file it is laid over.
  struct Given {
    bool mesh = false;
    bool resolver = false;
    bool unmatched = false;
    bool misfit = false;
  };
  Given given;
  std::vector<FindingLevelConfig> findings;  ///< how loud findings are; the last word counts
  std::vector<Diagnostic> remarks;           ///< warnings of its reader
};

}  // namespace shard
