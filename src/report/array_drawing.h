#pragma once
// How an array lies on a mesh, as a drawing: one cell per piece with the devices that hold it.
//
// Dims that are whole, and mesh axes of size 1, leave no trace but in the head. Works for every
// rank, for pieces that are not equal and for values that are still sums; nothing depends on the
// number of devices where the mesh has them in order.

#include "mesh/mesh.h"
#include "report/drawing.h"
#include "report/strokes.h"
#include "shard/pieces.h"
#include "shard/sharding.h"

namespace shard {

Drawing array_drawing(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                      const DrawingLimits& limits, const Strokes& strokes,
                      UnevenCut cut = UnevenCut::flat);

}  // namespace shard
