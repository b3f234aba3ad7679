#pragma once
// A plan taken into the user's own program: the rules, the mesh and how each array is sharded, as
// code or as a configuration.
//
//   python    a module for JAX alone: `make_mesh()`, `partition_specs`, `shardings(mesh)`
//   flax      the same with logical axes: Flax's own resolver works the specs out from the rules
//   maxtext   the keys of a MaxText configuration: `mesh_axes`, `logical_axis_rules`, `ici_*`,
//   `dcn_*`

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor_type.h"
#include "config/rules_config.h"
#include "mesh/mesh.h"

namespace shard {

struct ExportedArray {
  std::string path;
  TensorType type;
  Part part = Part::params;
  std::string spec;                  ///< as Python prints it
  std::optional<LogicalSpec> names;  ///< where the rules alone decided
};

struct ExportedPlan {
  std::string model;  ///< its name
  std::string rules_name;
  const RulesConfig& rules;
  const Mesh& mesh;
  std::vector<ExportedArray> arrays;
};

/// Where the exported module comes from and how it is used stands in its first lines.
std::string export_python(const ExportedPlan& plan);

/// As above; arrays whose spec the rules alone do not give keep it as it is.
std::string export_flax(const ExportedPlan& plan);

/// The specs follow as comments. Warns (`not-exported`) of what such a configuration cannot say:
/// rules of parts, placements by path, NNX' reading, sizes MaxText has no key for.
std::string export_maxtext(const ExportedPlan& plan, Diagnostics& diagnostics);

}  // namespace shard
