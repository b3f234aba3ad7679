#pragma once
// A model of thousands of arrays as one of a few: an array for all that no rule tells apart.

#include <vector>

#include "check/array_names.h"
#include "model/model.h"

namespace shard {

/// Planning `model`, one leaf of which stands for all of `names`, says everything about the model
/// that it was made of as long as nothing is placed by its path.
struct ClassModel {
  Model model;
  std::vector<SharedNames> names;  ///< by leaf; those of a slot in order of its parameters
};

/// Of a model without a program. What follows a parameter is in a class of its own, apart for every
/// slot, so that the leaf follows the parameters' leaf.
ClassModel one_leaf_per_class(const Model& model);

}  // namespace shard
