#include "report/mesh_drawing.h"

#include "mesh/device_place.h"
#include "report/split_grid.h"

namespace shard {
namespace {

/// One dim per axis of more than one device.
std::vector<PieceDim> axis_dims(const Mesh& mesh) {
  std::vector<PieceDim> dims;
  for (int axis = 0; axis < static_cast<int>(mesh.axes().size()); ++axis) {
    if (mesh.size(axis) == 1) continue;
    dims.push_back({.size = -1, .parts = mesh.size(axis), .axes = {mesh.full(axis)}});
  }
  return dims;
}

/// ` (1,2)` on a torus, ` s1 (1,2)` with several slices, ` n1` for a GPU of node 1.
std::string place_text(const Topology& topology, const DevicePlace& place) {
  std::string text;
  if (topology.slices > 1) {
    text = " " + slice_word(topology).substr(0, 1) + std::to_string(place.slice);
  }
  if (topology.platform != "tpu") return text;
  text += " (";
  for (int k = 0; k < topology.torus_rank; ++k) {
    text += (k == 0 ? "" : ",") + std::to_string(place.chip[static_cast<std::size_t>(k)]);
  }
  return text + (topology.cores > 1 ? " core " + std::to_string(place.core) : "") + ")";
}

/// What the cells say, in words.
std::string cell_note(const Topology& topology) {
  const std::string word = slice_word(topology);
  std::string text = "device";
  if (topology.slices > 1) text += ", " + word + " as " + word.substr(0, 1) + "0";
  if (topology.platform != "tpu") return text;
  return text + (topology.torus_rank == 2 ? ", (x,y) of its chip" : ", (x,y,z) of its chip");
}

int tone_of(const Topology& topology, const DevicePlace& place) {
  return static_cast<int>((topology.slices > 1 ? place.slice : place.host) % tone_count);
}

}  // namespace

Drawing mesh_drawing(const Mesh& mesh, const DrawingLimits& limits, const Strokes& strokes) {
  const std::vector<PieceDim> dims = axis_dims(mesh);
  const MeshHardware* const hardware = mesh.hardware();
  GridWords words;
  words.cell = [&](std::int64_t position, int /*tone*/) {
    const std::int64_t id = mesh.device_id(position);
    if (hardware == nullptr) return DrawingCell{std::to_string(id)};
    const DevicePlace place = place_of(hardware->topology, id);
    return DrawingCell{std::to_string(id) + place_text(hardware->topology, place),
                       tone_of(hardware->topology, place)};
  };
  words.title = [&](std::size_t dim, std::int64_t part) {
    return dims[dim].labels(mesh, part).front();
  };
  Drawing drawing = grid_drawing(mesh, dims, limits, strokes, words);
  for (int axis = 0; axis < static_cast<int>(mesh.axes().size()); ++axis) {
    if (mesh.size(axis) > 1) drawing.head.push_back(axis_claim(mesh, axis));
  }
  if (hardware != nullptr && hardware->topology.platform != "cpu") {
    drawing.notes.push_back("cells: " + cell_note(hardware->topology));
  }
  return drawing;
}

}  // namespace shard
