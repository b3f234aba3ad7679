#pragma once
// A list of arrays as plain structs: a model for people who have a parameter tree and no program.

#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/tensor_type.h"
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
  std::string name;  ///< the file's stem
  std::string file;
  std::vector<ArrayConfig> arrays;
  std::vector<MeshAxisConfig> mesh;  ///< of a file of placements; empty otherwise
};

}  // namespace shard
