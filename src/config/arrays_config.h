#pragma once
// A list of arrays as plain structs: a model for people who have a parameter tree and no program.

#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/tensor_type.h"
#include "config/model_config.h"
#include "config/rules_config.h"
#include "config/spec.h"

namespace shard {

/// One array. Dumps leave things out: without a shape only its axes can be resolved.
struct ArrayConfig {
  std::string name;
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  SpecConfig axes;  ///< logical axes, or mesh axes where the file holds placements
  Location at;
};

struct ArraysConfig {
  std::string name;  ///< the file's stem, if it does not say another
  std::string file;
  std::vector<ArrayConfig> arrays;
  std::vector<MeshAxisConfig> mesh;  ///< of a file of placements; empty otherwise
  bool holds_activations = false;    ///< a dump of a program's values, no state

  std::string from;  ///< another file whose arrays come first; empty: none
  Location from_at;
  std::vector<PathRuleConfig> axes;          ///< by glob; the first that matches wins
  std::optional<DType> dtype;                ///< of arrays that do not say theirs
  std::optional<OptimizerConfig> optimizer;  ///< whose state is derived
  Naming naming = Naming::linen;             ///< whose train state it is
  PathStyle paths = PathStyle::as_given;
  std::vector<Diagnostic> remarks;  ///< warnings and notes of reading them
};

}  // namespace shard
