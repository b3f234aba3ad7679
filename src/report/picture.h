#pragma once
// Pictures of shardings, byte for byte as JAX's `visualize_sharding` draws them (spec section 4).

#include <string>

#include "mesh/mesh.h"
#include "shard/sharding.h"

namespace shard {

struct PictureOptions {
  double scale = 1.0;
  int min_width = 9;
  int max_width = 80;
  std::string platform = "CPU";  ///< upper case, in front of the ids
  bool color = false;            ///< JAX's colour mode: no frame, coloured cells
};

/// The picture with its final newline. Rank 0, ranks over 2 and empty arrays have no JAX form:
/// `has_jax_picture` says so. The sharding must divide evenly.
std::string jax_picture(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                        const PictureOptions& options);
bool has_jax_picture(const Shape& shape);

/// Ours, for any rank: a line with what happens to each dim, then one cell per distinct piece with
/// the ids of the devices that hold it (`0-3,8-11`), mesh coordinates at the edges, dims beyond the
/// last two as pages. Large grids are cut. Used by default and wherever JAX has no picture; takes
/// `max_width` from the options. The sharding must divide evenly.
std::string picture(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                    const PictureOptions& options);

}  // namespace shard
