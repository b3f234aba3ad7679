// Our own pictures, whole.

#include <doctest/doctest.h>

#include "report/picture.h"

using namespace shard;

namespace {

const Mesh mesh_2x4({{MeshAxis("data"), 2}, {MeshAxis("model"), 4}});

/// A sharding from the numbers of the mesh axes of each dim.
Sharding split(const Mesh& mesh, const std::vector<std::vector<int>>& dims) {
  Sharding sharding;
  for (const std::vector<int>& axes : dims) {
    DimSharding& dim = sharding.dims.emplace_back();
    for (const int axis : axes) dim.axes.push_back(mesh.full(axis));
  }
  return sharding;
}

std::string picture(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                    const Page& page = {}) {
  return plain_picture(mesh, sharding, shape, {}, page);
}

}  // namespace

TEST_CASE("our picture has mesh axes and index ranges at its edges") {
  CHECK(picture(mesh_2x4, split(mesh_2x4, {{0}, {1}}), {8, 1024}) ==
        R"(dim 0 down: 2 x 4 over data   dim 1 across: 4 x 256 over model
              model 0   model 1   model 2   model 3
               0:256    256:512   512:768   768:1024
            ┌─────────┬─────────┬─────────┬──────────┐
data 0  0:4 │    0    │    1    │    2    │    3     │
            ├─────────┼─────────┼─────────┼──────────┤
data 1  4:8 │    4    │    5    │    6    │    7     │
            └─────────┴─────────┴─────────┴──────────┘
)");
}

TEST_CASE("whole dims have no labels and copies are counted") {
  CHECK(picture(mesh_2x4, split(mesh_2x4, {{0}, {}}), {8, 1024}) ==
        R"(dim 0 down: 2 x 4 over data   dim 1 whole: 1024
            ┌─────┐
data 0  0:4 │ 0-3 │
            ├─────┤
data 1  4:8 │ 4-7 │
            └─────┘
4 copies of each piece, over model
)");
}

TEST_CASE("a scalar is one cell with all devices") {
  CHECK(picture(mesh_2x4, split(mesh_2x4, {}), {}) == R"(┌─────┐
│ 0-7 │
└─────┘
8 copies, over data, model
)");
}

TEST_CASE("a flat array is one row whatever the spec") {
  const Mesh four({{MeshAxis("d"), 4}});
  const Mesh square({{MeshAxis("a"), 2}, {MeshAxis("b"), 2}});
  CHECK(picture(four, split(four, {{0}}), {8}) == R"(dim 0 across: 4 x 2 over d
  d 0   d 1   d 2   d 3
  0:2   2:4   4:6   6:8
┌─────┬─────┬─────┬─────┐
│  0  │  1  │  2  │  3  │
└─────┴─────┴─────┴─────┘
)");
  CHECK(picture(square, split(square, {{0, 1}}), {8}) == R"(dim 0 across: 4 x 2 over a, b
 ─── a 0 ─── ─── a 1 ───
  b 0   b 1   b 0   b 1
  0:2   2:4   4:6   6:8
┌─────┬─────┬─────┬─────┐
│  0  │  1  │  2  │  3  │
└─────┴─────┴─────┴─────┘
)");
  CHECK(picture(square, split(square, {{0}}), {8}) == R"(dim 0 across: 2 x 4 over a
  a 0   a 1
  0:4   4:8
┌─────┬─────┐
│ 0,1 │ 2,3 │
└─────┴─────┘
2 copies of each piece, over b
)");
  CHECK(picture(square, split(square, {{}}), {8}) == R"(dim 0 whole: 8
┌─────┐
│ 0-3 │
└─────┘
4 copies, over a, b
)");
}

TEST_CASE("an array of rank 3 with two split dims is one grid") {
  const Mesh square({{MeshAxis("x"), 2}, {MeshAxis("y"), 2}});
  CHECK(picture(square, split(square, {{0}, {}, {1}}), {4, 2, 8}) ==
        R"(dim 0 down: 2 x 2 over x   dim 1 whole: 2   dim 2 across: 2 x 4 over y
           y 0   y 1
           0:4   4:8
         ┌─────┬─────┐
x 0  0:2 │  0  │  1  │
         ├─────┼─────┤
x 1  2:4 │  2  │  3  │
         └─────┴─────┘
)");
}

TEST_CASE("more than two split dims are panels side by side") {
  const Mesh cube({{MeshAxis("a"), 2}, {MeshAxis("b"), 2}, {MeshAxis("c"), 2}, {MeshAxis("d"), 2}});
  CHECK(picture(cube, split(cube, {{0}, {1}, {2}, {}}), {4, 4, 6, 8}) ==
        R"(dim 0 by panel: 2 x 2 over a   dim 1 down: 2 x 2 over b
dim 2 across: 2 x 3 over c   dim 3 whole: 8
         a 0, dim 0 at 0:2   a 1, dim 0 at 2:4
            c 0     c 1         c 0     c 1
            0:3     3:6         0:3     3:6
         ┌───────┬───────┐   ┌───────┬───────┐
b 0  0:2 │  0,1  │  2,3  │   │  8,9  │ 10,11 │
         ├───────┼───────┤   ├───────┼───────┤
b 1  2:4 │  4,5  │  6,7  │   │ 12,13 │ 14,15 │
         └───────┴───────┘   └───────┴───────┘
2 copies of each piece, over d
)");
  CHECK(picture(cube, split(cube, {{0}, {1}, {2}, {3}}), {4, 4, 6, 8}, {.width = 40}) ==
        R"(dim 0 by panel: 2 x 2 over a
dim 1 by panel: 2 x 2 over b
dim 2 down: 2 x 3 over c
dim 3 across: 2 x 4 over d
         a 0, dim 0 at 0:2
         b 0, dim 1 at 0:2
           d 0   d 1
           0:4   4:8
         ┌─────┬─────┐
c 0  0:3 │  0  │  1  │
         ├─────┼─────┤
c 1  3:6 │  2  │  3  │
         └─────┴─────┘
         a 0, dim 0 at 0:2
         b 1, dim 1 at 2:4
           d 0   d 1
           0:4   4:8
         ┌─────┬─────┐
c 0  0:3 │  4  │  5  │
         ├─────┼─────┤
c 1  3:6 │  6  │  7  │
         └─────┴─────┘
         a 1, dim 0 at 2:4
         b 0, dim 1 at 0:2
           d 0   d 1
           0:4   4:8
         ┌─────┬─────┐
c 0  0:3 │  8  │  9  │
         ├─────┼─────┤
c 1  3:6 │ 10  │ 11  │
         └─────┴─────┘
         a 1, dim 0 at 2:4
         b 1, dim 1 at 2:4
           d 0   d 1
           0:4   4:8
         ┌─────┬─────┐
c 0  0:3 │ 12  │ 13  │
         ├─────┼─────┤
c 1  3:6 │ 14  │ 15  │
         └─────┴─────┘
)");
}

TEST_CASE("a dim over two axes has nested labels") {
  CHECK(picture(mesh_2x4, split(mesh_2x4, {{0, 1}, {}}), {16, 4}) ==
        R"(dim 0 down: 8 x 2 over data, model   dim 1 whole: 4
                      ┌───┐
data 0 model 0    0:2 │ 0 │
                      ├───┤
       model 1    2:4 │ 1 │
                      ├───┤
       model 2    4:6 │ 2 │
                      ├───┤
       model 3    6:8 │ 3 │
                      ├───┤
data 1 model 0   8:10 │ 4 │
                      ├───┤
       model 1  10:12 │ 5 │
                      ├───┤
       model 2  12:14 │ 6 │
                      ├───┤
       model 3  14:16 │ 7 │
                      └───┘
)");
  CHECK(picture(mesh_2x4, split(mesh_2x4, {{}, {1, 0}}), {4, 8}, {.width = 60}) ==
        R"(dim 0 whole: 4   dim 1 across: 8 x 1 over model, data
model  ── 0 ── ── 1 ── ── 2 ── ── 3 ──
 data   0   1   0   1   0   1   0   1
      ┌───┬───┬───┬───┬───┬───┬───┬───┐
      │ 0 │ 4 │ 1 │ 5 │ 2 │ 6 │ 3 │ 7 │
      └───┴───┴───┴───┴───┴───┴───┴───┘
)");
}

TEST_CASE("pieces that are not equal show their ranges") {
  CHECK(picture(mesh_2x4, split(mesh_2x4, {{}, {1}}), {3, 5}) ==
        R"(dim 0 whole: 3   dim 1 across: 4 x 2 (2 whole, 1 of 1, 1 empty) over model
  model 0   model 1   model 2   model 3
    0:2       2:4       4:5      empty
┌─────────┬─────────┬─────────┬─────────┐
│   0,4   │   1,5   │   2,6   │   3,7   │
└─────────┴─────────┴─────────┴─────────┘
2 copies of each piece, over data
not even: JAX refuses this for arguments and results of jit and pads it inside
)");
}

TEST_CASE("devices of an unreduced value are no copies") {
  Sharding sharding = split(mesh_2x4, {{0}, {}});
  sharding.unreduced = {mesh_2x4.full(1)};
  CHECK(picture(mesh_2x4, sharding, {8, 4}) == R"(dim 0 down: 2 x 4 over data   dim 1 whole: 4
            ┌─────┐
data 0  0:4 │ 0-3 │
            ├─────┤
data 1  4:8 │ 4-7 │
            └─────┘
unreduced over model: the devices of a cell hold 4 terms of a sum, not copies
)");
}

TEST_CASE("an empty array and axes of size 1 are drawn too") {
  const Mesh mesh({{MeshAxis("data"), 2}, {MeshAxis("fsdp"), 1}});
  CHECK(picture(mesh, split(mesh, {{0}, {1}}), {0, 4}) ==
        R"(dim 0 down: 2 x 0 over data   dim 1 whole: 4
              ┌───┐
data 0  empty │ 0 │
              ├───┤
data 1  empty │ 1 │
              └───┘
the array has no elements
)");
}

TEST_CASE("sub-axes are named with their place in the axis") {
  const Mesh eight({{MeshAxis("x"), 8}});
  Sharding sharding;
  sharding.dims = {{{{0, 2, 2}}}};
  CHECK(picture(eight, sharding, {4}) == R"(dim 0 across: 2 x 2 over x:(2)2
  x:(2)2 0   x:(2)2 1
    0:2        2:4
┌──────────┬──────────┐
│ 0,1,4,5  │ 2,3,6,7  │
└──────────┴──────────┘
4 copies of each piece, over x:(1)2, x:(4)2
)");
}

TEST_CASE("a mesh with an order of its own shows its devices where they are") {
  const Mesh ring({{MeshAxis("d"), 8}}, {0, 1, 3, 2, 6, 7, 5, 4});
  CHECK(picture(ring, split(ring, {{0}}), {8}) == R"(dim 0 across: 8 x 1 over d
  d 0   d 1   d 2   d 3   d 4   d 5   d 6   d 7
  0:1   1:2   2:3   3:4   4:5   5:6   6:7   7:8
┌─────┬─────┬─────┬─────┬─────┬─────┬─────┬─────┐
│  0  │  1  │  3  │  2  │  6  │  7  │  5  │  4  │
└─────┴─────┴─────┴─────┴─────┴─────┴─────┴─────┘
)");
}

TEST_CASE("16384 devices are drawn by what repeats") {
  const Mesh mesh({{MeshAxis("replica"), 4}, {MeshAxis("data"), 64}, {MeshAxis("model"), 64}});
  CHECK(picture(mesh, split(mesh, {{0, 1}, {2}}), {8192, 16384}) ==
        R"(dim 0 down: 256 x 32 over replica, data   dim 1 across: 64 x 256 over model
                               model 0   model 1   model 2   …    model 63
                                0:256    256:512   512:768       16128:16384
                             ┌─────────┬─────────┬─────────┬───┬─────────────┐
replica 0 data 0        0:32 │    0    │    1    │    2    │ … │     63      │
                             ├─────────┼─────────┼─────────┼───┼─────────────┤
          data 1       32:64 │   64    │   65    │   66    │ … │     127     │
                             ├─────────┼─────────┼─────────┼───┼─────────────┤
          data 2       64:96 │   128   │   129   │   130   │ … │     191     │
                             ├─────────┼─────────┼─────────┼───┼─────────────┤
          data 3      96:128 │   192   │   193   │   194   │ … │     255     │
                             ├─────────┼─────────┼─────────┼───┼─────────────┤
⋮         ⋮                  │    ⋮    │    ⋮    │    ⋮    │ ⋮ │      ⋮      │
                             ├─────────┼─────────┼─────────┼───┼─────────────┤
replica 3 data 63  8160:8192 │  16320  │  16321  │  16322  │ … │    16383    │
                             └─────────┴─────────┴─────────┴───┴─────────────┘
… goes on in the same way; --all --width 0 leaves nothing out
)");
  CHECK(picture(mesh, split(mesh, {{}, {1}}), {8192, 16384}) ==
        R"(dim 0 whole: 8192   dim 1 across: 64 x 256 over data
     data 0          data 1           data 2        …        data 63
     0:256          256:512           512:768              16128:16384
┌──────────────┬────────────────┬─────────────────┬───┬───────────────────┐
│ 0-63,… (256) │ 64-127,… (256) │ 128-191,… (256) │ … │ 4032-4095,… (256) │
└──────────────┴────────────────┴─────────────────┴───┴───────────────────┘
256 copies of each piece, over replica, model
… goes on in the same way; --all --width 0 leaves nothing out
)");
}

TEST_CASE("two billion devices cost no more than eight") {
  const Mesh mesh({{MeshAxis("x"), 2}, {MeshAxis("y"), std::int64_t{1} << 30}});
  CHECK(picture(mesh, split(mesh, {{0}}), {8}) == R"(dim 0 across: 2 x 4 over x
      x 0                 x 1
      0:4                 4:8
┌──────────────┬───────────────────────┐
│ 0-1073741823 │ 1073741824-2147483647 │
└──────────────┴───────────────────────┘
1073741824 copies of each piece, over y
)");
}

TEST_CASE("a terminal without box drawing gets ASCII alone") {
  const Mesh mesh({{MeshAxis("d"), 64}});
  CHECK(picture(mesh, split(mesh, {{0}}), {64}, {.width = 40, .strokes = &ascii_strokes}) ==
        R"(dim 0 across: 64 x 1 over d
  d 0   d 1   d 2   d 3   ...   d 63
  0:1   1:2   2:3   3:4         63:64
+-----+-----+-----+-----+-----+-------+
|  0  |  1  |  2  |  3  | ... |  63   |
+-----+-----+-----+-----+-----+-------+
... goes on in the same way; --all --width 0 leaves nothing out
)");
}

TEST_CASE("with colour neighbours have different backgrounds and nothing else changes") {
  CHECK(picture(mesh_2x4, split(mesh_2x4, {{0}, {}}), {8, 1024}, {.color = true}) ==
        "dim 0 down: 2 x 4 over data   dim 1 whole: 1024\n"
        "            ┌─────┐\n"
        "data 0  0:4 │\x1b[30;48;5;153m 0-3 \x1b[0m│\n"
        "            ├─────┤\n"
        "data 1  4:8 │\x1b[30;48;5;217m 4-7 \x1b[0m│\n"
        "            └─────┘\n"
        "4 copies of each piece, over model\n");
}

TEST_CASE("the narrowest picture keeps its first and its last column") {
  const Mesh mesh({{MeshAxis("model"), 64}});
  CHECK(picture(mesh, split(mesh, {{}, {0}}), {8, 6400}, {.width = 10}) ==
        R"(dim 0 whole: 8
dim 1 across: 64 x 100 over model
model  0 … 63
      ┌─┬─┬──┐
      │0│…│63│
      └─┴─┴──┘
… goes on in the same way; --all --width 0 leaves nothing out
)");
}
