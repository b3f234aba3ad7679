#include "exec/shard_layout.h"

#include <doctest/doctest.h>

#include <vector>

#include "exec/program_maker.h"

using namespace shard;
using namespace shard::test;

TEST_CASE("the runs of all pieces cover a split array exactly once") {
  const Mesh mesh = make_mesh_of({{"x", 2}, {"y", 4}});
  const AxisRef x = mesh.full(0), y = mesh.full(1);
  for (const std::vector<std::vector<AxisRef>>& dims :
       {std::vector<std::vector<AxisRef>>{{}, {}, {}},
        {{x}, {}, {}},
        {{}, {y}, {}},
        {{}, {}, {y}},
        {{x}, {}, {y}},
        {{y, x}, {}, {}},
        {{}, {x, y}, {}}}) {
    const Shape shape = {8, 8, 4};
    const ShardLayout layout(mesh, sharding_of(dims), shape, shape);
    std::vector<int> seen(8 * 8 * 4, 0);
    std::int64_t devices = 0;
    for (std::int64_t piece = 0; piece < layout.piece_count(); ++piece) {
      devices += static_cast<std::int64_t>(layout.holders(piece).size());
      std::int64_t next = 0;
      layout.for_each_run(piece, 0, layout.piece_size(), [&](const ShardLayout::Run& run) {
        CHECK(run.local == next);
        next += run.count;
        for (std::int64_t i = 0; i < run.count; ++i) {
          ++seen[static_cast<std::size_t>(run.global + i)];
        }
      });
      CHECK(next == layout.piece_size());
    }
    CHECK(devices == 8);
    CHECK(seen == std::vector<int>(8 * 8 * 4, 1));
  }
}

TEST_CASE("devices hold the pieces that their coordinates name") {
  const Mesh mesh = make_mesh_of({{"x", 2}, {"y", 2}});
  const ShardLayout layout(mesh, sharding_of({{mesh.full(1)}}), {4}, {4});
  CHECK(layout.holders(0) == std::vector<int>{0, 2});
  CHECK(layout.holders(1) == std::vector<int>{1, 3});
}

TEST_CASE("the runs of padded pieces cover the whole array exactly once and no padding") {
  const Mesh mesh = make_mesh_of({{"x", 2}, {"y", 4}});
  const AxisRef x = mesh.full(0), y = mesh.full(1);
  const Shape whole = {5, 7, 3}, stored = {8, 8, 4};
  for (const std::vector<std::vector<AxisRef>>& dims :
       {std::vector<std::vector<AxisRef>>{{}, {}, {}},
        {{x}, {}, {}},
        {{}, {y}, {}},
        {{}, {}, {y}},
        {{x}, {}, {y}},
        {{y, x}, {}, {}}}) {
    const ShardLayout layout(mesh, sharding_of(dims), stored, whole);
    std::vector<int> seen(5 * 7 * 3, 0);
    for (std::int64_t piece = 0; piece < layout.piece_count(); ++piece) {
      const std::int64_t half = layout.piece_size() / 2 + 1;  // a cut amid a run
      for (const auto& [begin, end] :
           {std::pair{std::int64_t{0}, half}, {half, layout.piece_size()}}) {
        layout.for_each_run(piece, begin, end, [&](const ShardLayout::Run& run) {
          CHECK(run.local >= begin);
          CHECK(run.local + run.count <= end);
          for (std::int64_t i = 0; i < run.count; ++i) {
            ++seen[static_cast<std::size_t>(run.global + i)];
          }
        });
      }
    }
    CHECK(seen == std::vector<int>(5 * 7 * 3, 1));
  }
}
