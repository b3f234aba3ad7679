#pragma once
// A mesh as drawings: its devices by mesh axes, and its chips where they are on the wires.

#include <string>
#include <vector>

#include "mesh/mesh.h"
#include "report/drawing.h"
#include "report/strokes.h"

namespace shard {

/// A cell per device at its mesh coordinates; on named hardware with its place there. The head says
/// what each axis runs along. Axes of size 1 leave no trace.
Drawing mesh_drawing(const Mesh& mesh, const DrawingLimits& limits, const Strokes& strokes);

/// A cell per chip with the ids of its devices, boxes around the chips of one host; layers of a
/// torus and slices are panels, nodes of a switched network are rows.
Drawing chips_drawing(const Topology& topology, const DrawingLimits& limits,
                      const Strokes& strokes);

/// `data 4 along y: one link a step, closed to a ring`: what a step along the axis is on the
/// hardware of the mesh. Looks at every device.
std::string axis_claim(const Mesh& mesh, int axis);

}  // namespace shard
