#include "report/index_map.h"

#include "report/drawing.h"
#include "report/piece_dim.h"
#include "report/table.h"
#include "report/words.h"
#include "shard/pieces.h"

namespace shard {
namespace {

IndexRow index_row(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                   const std::vector<PieceDim>& dims, std::int64_t position) {
  IndexRow row;
  row.device = mesh.device_id(position);
  row.copy = replica_id(mesh, sharding, shape, position);
  for (const PieceDim& dim : dims) {
    const std::int64_t part = mesh.linear_coordinate(position, dim.axes);
    const bool is_whole = dim.parts == 1;
    row.ranges.push_back(is_whole ? ":" : dim.size < 0 ? "?" : dim.range_text(part));
  }
  return row;
}

}  // namespace

std::vector<IndexRow> index_rows(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                                 std::int64_t most, UnevenCut cut) {
  const std::vector<PieceDim> dims = piece_dims(sharding, shape, cut);
  const std::int64_t count = mesh.device_count();
  std::vector<IndexRow> rows;
  for (std::int64_t position = 0; position < count; ++position) {
    const bool is_left_out = most > 0 && position >= most && position + 1 < count;
    if (is_left_out) position = count - 1;
    rows.push_back(index_row(mesh, sharding, shape, dims, position));
  }
  return rows;
}

std::string index_text(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                       std::int64_t most, UnevenCut cut) {
  Table table({{"device", true}, {"copy", true}, {"indices"}});
  const std::vector<IndexRow> rows = index_rows(mesh, sharding, shape, most, cut);
  const bool has_left_out = static_cast<std::int64_t>(rows.size()) < mesh.device_count();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (has_left_out && i + 1 == rows.size()) table.add({"...", "...", "..."});
    table.add({std::to_string(rows[i].device), std::to_string(rows[i].copy),
               '[' + joined(rows[i].ranges, ", ") + ']'});
  }
  return table.render(0, false);
}

}  // namespace shard
