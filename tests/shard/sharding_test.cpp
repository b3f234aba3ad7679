#include "shard/sharding.h"

#include <doctest/doctest.h>

#include "base/check.h"
#include "shard/axes.h"
#include "shard/boundary.h"
#include "split.h"

using namespace shard;
using namespace shard::tests;

namespace {

const Mesh mesh({{MeshAxis("data"), 2, {}}, {MeshAxis("model"), 4, {}}, {MeshAxis("one"), 1, {}}});
const AxisRef data = mesh.full(0);
const AxisRef model = mesh.full(1);
const AxisRef one = mesh.full(2);
const AxisRef major{1, 1, 2};  // model:(1)2
const AxisRef minor{1, 2, 2};  // model:(2)2

}  // namespace

TEST_CASE("sub-axes overlap contain and continue each other as intervals do") {
  CHECK(overlaps(model, major));
  CHECK_FALSE(overlaps(major, minor));
  CHECK_FALSE(overlaps(data, model));
  CHECK(contains(model, minor));
  CHECK_FALSE(contains(major, model));
  CHECK(is_prefix(major, model));
  CHECK_FALSE(is_prefix(minor, model));
  CHECK(joins(major, minor));
  CHECK_FALSE(joins(minor, major));
}

TEST_CASE("a list is cut where it first overlaps others") {
  Axes axes = {data, model, one};
  cut_overlapping(axes, Axes{minor});
  CHECK(axes == Axes{data, major});
  cut_overlapping(axes, Axes{data});
  CHECK(axes.empty());
}

TEST_CASE("what a longer list adds is what follows its prefix") {
  CHECK(is_strict_prefix(Axes{major}, Axes{model, data}));
  CHECK(beyond({major}, {model, data}) == Axes{minor, data});
  CHECK(beyond({}, {data}) == Axes{data});
  CHECK_FALSE(is_strict_prefix(Axes{data}, Axes{data}));
  CHECK_FALSE(is_prefix(Axes{major, data}, Axes{model, data}));
}

TEST_CASE("the dividing prefix is of whole axes") {
  CHECK(dividing_prefix({data, model}, 8) == Axes{data, model});
  CHECK(dividing_prefix({data, model}, 4) == Axes{data});
  CHECK(dividing_prefix({data, model}, 3).empty());
}

TEST_CASE("local shapes divide each dim by its parts") {
  CHECK(local_shape({8, 1024}, split({{data}, {model}})) == Shape{4, 256});
  CHECK(local_shape({8}, split({{data, model}})) == Shape{1});
  CHECK(local_shape({}, split({})) == Shape{});
  CHECK(divides_evenly({0, 4}, split({{data}, {model}})));
  CHECK_FALSE(divides_evenly({6}, split({{model}})));
  CHECK(local_shape({6}, split({{model}})) == Shape{2});  // rounded up
}

TEST_CASE("effective specs print as Python prints them") {
  CHECK(spec_text(mesh, split({{data}, {}})) == "P('data', None)");
  CHECK(spec_text(mesh, split({{}, {model}})) == "P(None, 'model')");
  CHECK(spec_text(mesh, split({{data, model}, {}})) == "P(('data', 'model'), None)");
  CHECK(spec_text(mesh, split({{data}})) == "P('data',)");
  CHECK(spec_text(mesh, split({{}, {}})) == "P()");
  CHECK(spec_text(mesh, split({})) == "P()");
  CHECK(spec_text(mesh, split({{one}, {}})) == "P()");
  CHECK(spec_text(mesh, split({{major}, {minor}})) == "P('model:(1)2', 'model:(2)2')");
  CHECK(to_string(effective_spec(mesh, split({{data}, {}}))) == "P('data',)");
}

TEST_CASE("shardings print in Shardy's form") {
  Sharding sharding = split({{data}, {}, {major}});
  sharding.dims[0].is_open = true;
  sharding.dims[1].is_open = true;
  CHECK(to_string(mesh, sharding) == R"([{"data", ?}, {?}, {"model":(1)2}])");
  sharding = split({{}});
  sharding.replicated = {model};
  sharding.unreduced = {data};
  CHECK(to_string(mesh, sharding) == R"([{}], replicated={"model"}, unreduced={"data"})");
}

TEST_CASE("equivalence ignores open flags and axes of size one and joins sub-axes") {
  Sharding open = split({{data, one}, {major, minor}});
  open.dims[0].is_open = true;
  CHECK(is_equivalent(mesh, open, split({{data}, {model}})));
  CHECK_FALSE(is_equivalent(mesh, split({{data, model}}), split({{model, data}})));
  Sharding partial = split({{}});
  partial.unreduced = {data};
  CHECK_FALSE(is_equivalent(mesh, partial, split({{}})));
}

TEST_CASE("copies are the devices over the used axes") {
  CHECK(copy_count(mesh, split({{}, {model}})) == 2);
  CHECK(copy_count(mesh, split({{data}, {model}})) == 1);
  CHECK(copy_count(mesh, split({{}, {}})) == 8);
}

TEST_CASE("at the boundary open dims lose sub-axes and all dims become even") {
  Sharding sharding = split({{major}, {data, model}, {model}});
  sharding.dims[0].is_open = true;
  CHECK(at_boundary(mesh, sharding, {8, 4, 6}) == split({{}, {data, major}, {major}}));
}
