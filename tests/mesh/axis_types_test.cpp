#include "mesh/axis_types.h"

#include <doctest/doctest.h>

#include "refusal.h"

using namespace shard;
using namespace shard::test;

namespace {

const Location types_place{"r.yaml", 3, 1, 1};

MeshArguments arguments(bool is_abstract, Shape sizes, std::vector<AxisLabel> names) {
  return {is_abstract, std::move(sizes), std::move(names), {}};
}

}  // namespace

TEST_CASE("a mesh prints its sizes and types as JAX prints them") {
  const MeshHeader mesh = construct_mesh(arguments(false, {2, 4}, {"data", "model"}),
                                         AxisType::explicit_types, types_place);
  CHECK(mesh.str() == "Mesh('data': 2, 'model': 4, axis_types=(Explicit, Explicit))");
  CHECK(mesh.repr() ==
        "Mesh(axis_sizes=(2, 4), axis_names=('data', 'model'), axis_types=(Explicit, Explicit))");
  CHECK(mesh.size() == 8);
}

TEST_CASE("a name with a quote is printed in the other quotes") {
  const MeshHeader mesh = construct_mesh(arguments(false, {2, 2, 2}, {"a'b", "a'\"b", "a\\"}),
                                         AxisType::automatic, types_place);
  CHECK(mesh.repr() ==
        "Mesh(axis_sizes=(2, 2, 2), axis_names=(\"a'b\", 'a\\'\"b', 'a\\\\'), axis_types=(Auto, "
        "Auto, Auto))");
}

TEST_CASE("a text of names is a letter per axis of an abstract mesh") {
  const MeshHeader mesh =
      construct_mesh({true, {2, 4}, "xé", {}}, AxisType::automatic, types_place);
  CHECK(mesh.str() == "AbstractMesh('x': 2, 'é': 4, axis_types=(Auto, Auto))");
}

TEST_CASE("axis types are read in both spellings") {
  CHECK(axis_type_named("Auto") == AxisType::automatic);
  CHECK(axis_type_named("explicit") == AxisType::explicit_types);
  CHECK(axis_type_named("manual") == AxisType::manual);
  CHECK(axis_type_named("automatic") == std::nullopt);
}

TEST_CASE("names and types that do not fit the sizes are refused") {
  CHECK(refusal([] {
          construct_mesh(arguments(false, {2, 4}, {"data"}), AxisType::automatic, types_place);
        }) ==
        "r.yaml:3:1: error: Mesh requires the ndim of its first argument to be the number of axis "
        "names, but the sizes are (2, 4) and the names ('data',) [mesh-rank]\n"
        "  hint: write one name per size");
  CHECK(refusal([] {
          construct_mesh(arguments(false, {2, 4}, {"data", std::monostate{}}), AxisType::automatic,
                         types_place);
        }) ==
        "r.yaml:3:1: error: Mesh axis names cannot be None: the names are ('data', None) "
        "[bad-mesh-axis]\n  hint: give each axis of the mesh a name");
  CHECK(refusal([] {
          construct_mesh({true, {2, 4}, "xy", std::vector{AxisType::manual}}, AxisType::automatic,
                         types_place);
        }) ==
        "r.yaml:3:1: error: the number of axis names should match the number of axis_types, but "
        "the names are ('x', 'y') and the types (Manual,) [axis-types]\n"
        "  hint: write one type per axis");
}
