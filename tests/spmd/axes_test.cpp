// Axis lists cut, joined and extended.

#include <doctest/doctest.h>

#include "spmd/axes.h"

using namespace shard;
using namespace shard::spmd;

namespace {

// Mesh x 8, y 2; an axis is {position, pre size, size}.
const AxisRef x{0, 1, 8}, x_first{0, 1, 2}, x_middle{0, 2, 2}, x_last{0, 4, 2}, y{1, 1, 2};

}  // namespace

TEST_CASE("consecutive parts of an axis are one") {
  CHECK(merged(Axes{x_first, x_middle, x_last, y}) == Axes{x, y});
  CHECK(merged(Axes{x_middle, x_first}) == Axes{x_middle, x_first});
  CHECK(in_mesh_order({y, x_last, x_first}) == Axes{x_first, x_last, y});
}

TEST_CASE("lists are cut where they overlap others") {
  CHECK(cut({y, x}, Axes{x_middle}) == Axes{y, x_first});
  CHECK(cut({y, x}, Axes{x_first}) == Axes{y});
  CHECK(cut({y, x}, Axes{}) == Axes{y, x});
}

TEST_CASE("both sides of a reshard are cut into common pieces") {
  CHECK(aligned({{x}, {y}}, {{x_first}, {}}) == AxesPerDim{{x_first, AxisRef{0, 2, 4}}, {y}});
  CHECK(aligned({{x}}, {{x_middle}}) == AxesPerDim{{x_first, x_middle, x_last}});
}

TEST_CASE("what a list has beyond its leading part") {
  CHECK(appended({y}, {y, x}) == Axes{x});
  CHECK(appended({y, x_first}, {y, x}) == Axes{AxisRef{0, 2, 4}});
}

TEST_CASE("a canonical sharding is closed and says nothing twice") {
  Sharding sharding;
  sharding.dims = {{{x_first, AxisRef{2, 1, 1}, x_middle}, true}, {{}, false}};
  sharding.replicated = {x_last};
  sharding.unreduced = {y, AxisRef{2, 1, 1}};
  Sharding expected;
  expected.dims = {{{AxisRef{0, 1, 4}}, false}, {{}, false}};
  expected.unreduced = {y};
  CHECK(canonical(sharding) == expected);
}

TEST_CASE("the axes a permute runs over span both sides with what lies between") {
  CHECK(spanned(Axes{x_first, x}) == Axes{x});
  CHECK(spanned(Axes{y, x_last, x_first, y}) == Axes{x, y});
  CHECK(spanned(Axes{x_middle, y}) == Axes{x_middle, y});
}
