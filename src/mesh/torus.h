#pragma once
// Which axes of a chip torus carry which axes of a mesh.
//
// A mesh axis wants chips that are neighbours on the torus. Mesh axes are served from the last (the
// one that communicates most) to the first. Without splitting, each takes a set of whole torus axes
// whose sizes multiply to its size. With splitting, a torus axis may be shared: a matrix with a row
// per torus axis and a column per mesh axis holds the factor each mesh axis takes of each torus
// axis, and every row multiplies to the torus axis.
//
// Example: a torus 2x2 and a mesh (1, 4): axis 1 takes both torus axes, axis 0 takes none, the
// matrix is [[1, 2], [1, 2]] and the chips come in the order 0 1 2 3.

#include <cstdint>
#include <vector>

#include "mesh/device.h"

namespace shard {

struct TorusPlacement {
  /// Row per torus axis, column per mesh axis. With whole axes: the torus axis' size or 1.
  std::vector<Shape> assignment;
  /// For every row-major position of the mesh, the row-major position on the torus.
  std::vector<std::int64_t> positions;
};

/// Places a mesh of `sizes` on a torus of edges `torus`. Throws `Error` `topology-unassignable`
/// when a mesh axis finds no torus axes, `mesh-size` when the products differ, `bad-mesh-size` for
/// a size below 1.
TorusPlacement place_on_torus(const Shape& torus, const Shape& sizes, bool allow_split,
                              const MeshOrigin& origin);

/// The checks of `place_on_torus` alone, whatever the number of chips.
void check_on_torus(const Shape& torus, const Shape& sizes, bool allow_split,
                    const MeshOrigin& origin);

/// Row-major positions of an array of `shape` after its axes were reordered: axis k of the result
/// is axis `order[k]`.
std::vector<std::int64_t> transposed_positions(const Shape& shape,
                                               const std::vector<std::size_t>& order);

/// `16x16`.
std::string torus_text(const Shape& torus);

}  // namespace shard
