#pragma once
// What to tell somebody whose array does not divide.

#include <string>

#include "mesh/mesh.h"
#include "shard/axes.h"

namespace shard {

/// `data 2 x model 4`: the axes with their sizes.
std::string factors_text(const Mesh& mesh, const Axes& axes);

/// The multiples of `parts` around `size`: `8 or 16`; only the upper one below `parts`.
std::string nearest_sizes(std::int64_t size, std::int64_t parts);

}  // namespace shard
