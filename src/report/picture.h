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
  std::string platform = "CPU";
  bool color = false;  ///< JAX's colour mode: no frame, coloured cells
};

/// The picture with its final newline. Rank 0 and ranks over 2 have no JAX form: `has_jax_picture`
/// says so.
std::string jax_picture(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                        const PictureOptions& options);
bool has_jax_picture(const Shape& shape);

/// Ours, for any rank: one cell per distinct piece with the devices that hold it, dims beyond the
/// last two as pages, mesh axes named on the edges. Used by default and wherever JAX has no
/// picture.
std::string picture(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                    const PictureOptions& options);

}  // namespace shard
