#pragma once
// Pictures of arrays: byte for byte as JAX's `visualize_sharding` draws them, and ours.

#include <string>

#include "mesh/mesh.h"
#include "report/drawing.h"
#include "report/fitted_text.h"
#include "shard/pieces.h"
#include "shard/sharding.h"

namespace shard {

/// Of JAX's pictures.
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

/// Why JAX has no picture of this: `JAX draws ranks 1 and 2 only`; empty when it has one.
std::string jax_refusal(const Sharding& sharding, const Shape& shape);

/// Ours, for any array on any mesh: never empty, never refused (see array_drawing.h).
std::string plain_picture(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                          const DrawingLimits& limits, const Page& page,
                          UnevenCut cut = UnevenCut::flat);

}  // namespace shard
