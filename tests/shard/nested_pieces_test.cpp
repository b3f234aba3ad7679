#include "shard/nested_pieces.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

Mesh mesh_of_sizes(std::int64_t a, std::int64_t b) {
  return Mesh({{MeshAxis("a"), a}, {MeshAxis("b"), b}});
}

Sharding rows_over(const Mesh& mesh, const std::vector<int>& axes) {
  Sharding sharding = replicated_sharding(2);
  for (const int axis : axes) sharding.dims[0].axes.push_back(mesh.full(axis));
  return sharding;
}

/// `0-2 2-3 3-4 4-5`: the rows of each device.
std::string rows(const Mesh& mesh, const Sharding& sharding, const Shape& shape) {
  std::string text;
  for (std::int64_t at = 0; at < mesh.device_count(); ++at) {
    const PieceRange range = nested_piece_at(mesh, sharding, shape, at).front();
    text +=
        (text.empty() ? "" : " ") + std::to_string(range.start) + "-" + std::to_string(range.stop);
  }
  return text;
}

}  // namespace

TEST_CASE("a dim is cut again within each of its pieces") {
  const Mesh mesh = mesh_of_sizes(2, 2);
  CHECK(rows(mesh, rows_over(mesh, {0, 1}), {5, 3}) == "0-2 2-3 3-4 4-5");
  CHECK(rows(mesh, rows_over(mesh, {1, 0}), {5, 3}) == "0-2 3-4 2-3 4-5");
  CHECK(rows(mesh, rows_over(mesh, {0, 1}), {1, 3}) == "0-1 1-1 1-1 1-1");
  CHECK(rows(mesh, rows_over(mesh, {0}), {5, 3}) == "0-3 0-3 3-5 3-5");
  CHECK(nested_local_shape({5, 3}, rows_over(mesh, {0, 1})) == Shape{2, 3});
  CHECK(nested_local_shape({10, 3}, rows_over(mesh_of_sizes(4, 3), {0, 1})) == Shape{1, 3});
  CHECK(nested_local_shape({9, 3}, rows_over(mesh_of_sizes(2, 2), {0, 1})) == Shape{3, 3});
}

TEST_CASE("nested pieces cover every row once and in order") {
  for (std::int64_t a = 1; a <= 4; ++a) {
    for (std::int64_t b = 1; b <= 4; ++b) {
      const Mesh mesh = mesh_of_sizes(a, b);
      const Sharding sharding = rows_over(mesh, {0, 1});
      for (std::int64_t size = 0; size <= 20; ++size) {
        CAPTURE(a);
        CAPTURE(b);
        CAPTURE(size);
        std::int64_t next = 0;
        for (std::int64_t at = 0; at < mesh.device_count(); ++at) {
          const PieceRange range = nested_piece_at(mesh, sharding, {size, 1}, at).front();
          CHECK(range.start == next);
          CHECK(range.stop >= range.start);
          CHECK(range.stop - range.start <= nested_local_shape({size, 1}, sharding).front());
          next = range.stop;
        }
        CHECK(next == size);
      }
    }
  }
}

TEST_CASE("where every dim divides nested pieces are the flat ones") {
  const Mesh mesh = mesh_of_sizes(2, 4);
  const Sharding sharding = rows_over(mesh, {1, 0});
  for (std::int64_t at = 0; at < mesh.device_count(); ++at) {
    CHECK(nested_piece_at(mesh, sharding, {16, 3}, at) == piece_at(mesh, sharding, {16, 3}, at));
  }
}
