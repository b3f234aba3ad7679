// The chips of a topology where they are.

#include "mesh/device_place.h"
#include "report/mesh_drawing.h"

namespace shard {
namespace {

/// A direction of the drawing: which coordinate it is and how far it goes.
struct Way {
  std::string name;
  std::int64_t size = 1;
  std::int64_t host = 1;  ///< entries of one host
};

/// `4 x 4 x 8`.
std::string box_text(const Grid& grid, int rank) {
  std::string text;
  for (int k = 0; k < rank; ++k) {
    text += (k == 0 ? "" : " x ") + std::to_string(grid[static_cast<std::size_t>(k)]);
  }
  return text;
}

class ChipsPainter {
 public:
  ChipsPainter(const Topology& topology, const DrawingLimits& limits, const Strokes& strokes)
      : topology_(topology), limits_(limits), strokes_(strokes) {
    const std::string unit = topology.platform == "tpu" ? "x" : topology.platform;
    columns_ = {unit, topology.grid[0], topology.host[0]};
    rows_ = is_flat() ? Way{slice_word(topology), topology.slices, 1}
                      : Way{"y", topology.grid[1], topology.host[1]};
  }

  Drawing drawing() const {
    Drawing made;
    made.head = {title()};
    const auto rows = drawn_positions(rows_.size, limits_.rows);
    const auto columns = drawn_positions(columns_.size, limits_.columns);
    made.rows = marks(rows_, rows, strokes_.dots);
    made.columns = marks(columns_, columns, strokes_.ellipsis);
    const std::int64_t layers = topology_.grid[2];
    const std::int64_t count = is_flat() ? 1 : topology_.slices * layers;
    for (const std::int64_t number : drawn_positions(count, limits_.panels)) {
      Panel& panel = made.panels.emplace_back();
      if (number < 0) {
        panel.title = {"panels left out; there are " + std::to_string(count)};
        continue;
      }
      if (count > 1) panel.title = {panel_title(number / layers, number % layers)};
      add_cells(panel, number / layers, number % layers, rows, columns);
    }
    if (chips_of(topology_.host) > 1) made.notes.push_back(host_note());
    return made;
  }

 private:
  /// One row of chips per slice, node or process.
  bool is_flat() const { return topology_.grid[1] * topology_.grid[2] == 1; }
  static std::int64_t chips_of(const Grid& grid) { return grid[0] * grid[1] * grid[2]; }

  std::string title() const {
    const std::string word = slice_word(topology_);
    std::string text = topology_.name + ": ";
    if (topology_.slices > 1) {
      text += std::to_string(topology_.slices) +
              (word == "process" ? " processes of " : " " + word + "s of ");
    }
    if (topology_.platform != "tpu")
      return text + std::to_string(topology_.grid[0]) + " " + topology_.chip +
             (topology_.grid[0] == 1 ? "" : "s");
    text += box_text(topology_.grid, topology_.torus_rank) + " chips";
    if (topology_.cores > 1) text += " of " + std::to_string(topology_.cores) + " devices";
    std::string rings;
    for (std::size_t k = 0; k < 3; ++k) {
      if (topology_.wraps[k]) rings += (rings.empty() ? "" : ", ") + std::string(1, "xyz"[k]);
    }
    return text + (rings.empty() ? ", no rings" : ", rings along " + rings);
  }

  std::string host_note() const {
    const bool is_tpu = topology_.platform == "tpu";
    return std::string("boxes: hosts of ") +
           (is_tpu ? box_text(topology_.host, topology_.torus_rank) + " chips"
                   : std::to_string(topology_.host[0]) + " devices");
  }

  std::vector<EdgeMark> marks(const Way& way, const std::vector<std::int64_t>& drawn,
                              const char* gap) const {
    std::vector<EdgeMark> marks;
    if (way.size == 1 && way.name != "x") return {EdgeMark{}};
    for (const std::int64_t at : drawn) {
      EdgeMark& mark = marks.emplace_back();
      mark.is_gap = at < 0;
      mark.labels = {mark.is_gap ? gap : way.name + " " + std::to_string(at)};
      mark.has_bar =
          mark.is_gap || at % way.host == 0 || marks.size() == 1 || marks[marks.size() - 2].is_gap;
    }
    return marks;
  }

  std::string panel_title(std::int64_t slice, std::int64_t z) const {
    std::string text;
    if (topology_.slices > 1) text = slice_word(topology_) + " " + std::to_string(slice);
    if (topology_.grid[2] > 1) text += (text.empty() ? "z " : ", z ") + std::to_string(z);
    return text;
  }

  void add_cells(Panel& panel, std::int64_t slice, std::int64_t z,
                 const std::vector<std::int64_t>& rows,
                 const std::vector<std::int64_t>& columns) const {
    for (const std::int64_t row : rows) {
      std::vector<DrawingCell>& cells = panel.cells.emplace_back();
      for (const std::int64_t x : columns) {
        if (row < 0) {
          cells.push_back({strokes_.dots});
        } else if (x < 0) {
          cells.push_back({strokes_.ellipsis});
        } else {
          cells.push_back(is_flat() ? cell(row, 0, 0, x) : cell(slice, z, row, x));
        }
      }
    }
  }

  DrawingCell cell(std::int64_t slice, std::int64_t z, std::int64_t y, std::int64_t x) const {
    const Grid& grid = topology_.grid;
    const std::int64_t chip = ((slice * grid[2] + z) * grid[1] + y) * grid[0] + x;
    const std::int64_t first = chip * topology_.cores;
    std::string text = std::to_string(first);
    if (topology_.cores > 1) text += "," + std::to_string(first + topology_.cores - 1);
    const DevicePlace place = place_of(topology_, first);
    return {text, static_cast<int>(place.host % tone_count)};
  }

  const Topology& topology_;
  const DrawingLimits& limits_;
  const Strokes& strokes_;
  Way rows_;
  Way columns_;
};

}  // namespace

Drawing chips_drawing(const Topology& topology, const DrawingLimits& limits,
                      const Strokes& strokes) {
  return ChipsPainter(topology, limits, strokes).drawing();
}

}  // namespace shard
