#include "mesh/mesh_sizes.h"

#include <doctest/doctest.h>

#include "mesh/topology.h"
#include "refusal.h"

using namespace shard;
using namespace shard::test;

namespace {

const MeshOrigin named_axes{{"r.yaml", 3, 1, 1}, {"data", "fsdp", "tensor"}};

}  // namespace

TEST_CASE("-1 becomes the size that uses every device") {
  CHECK(filled_sizes({1, -1, 2}, 8, {}, {}) == Shape{1, 4, 2});
  CHECK(filled_sizes({2, 4}, 8, {}, {}) == Shape{2, 4});
  CHECK(filled_sizes({-1}, 1, {}, {}) == Shape{1});
}

TEST_CASE("sizes within and across slices are filled in one by one") {
  const Topology topology = topology_named("2xv4-8", {});
  CHECK(filled_sizes({-1, 1, 1}, topology.slices, {"dcn", "slices"}, {}) == Shape{2, 1, 1});
  CHECK(filled_sizes({1, -1, 2}, topology.devices_per_slice(), {"ici", "devices per slice"}, {}) ==
        Shape{1, 2, 2});
}

TEST_CASE("sizes that do not multiply to the count are refused") {
  CHECK(refusal([] {
          filled_sizes({2, 8}, 8, {}, named_axes);
        }) ==
        "r.yaml:3:1: error: the number of devices (8) must equal the product of the mesh sizes "
        "(2, 8) = 16 [mesh-size]\n"
        "  hint: change a size, or write -1 for one of them to have it filled in");
  CHECK(refusal([] {
          filled_sizes({1, -1, 3}, 8, {"ici", "devices per slice"}, named_axes);
        }) ==
        "r.yaml:3:1: error: -1 in the ici sizes (1, -1, 3) cannot be filled in: 8 devices per "
        "slice are not a multiple of the others, (1, 1, 3) = 3 [mesh-size]\n"
        "  hint: the other sizes have to divide 8");
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(refusal([&] {
          filled_sizes({huge, huge, -1}, 8, {}, named_axes);
        }) ==
        "r.yaml:3:1: error: -1 in the mesh sizes (1099511627776, 1099511627776, -1) cannot be "
        "filled in: 8 devices are not a multiple of the others, (1099511627776, 1099511627776, 1) "
        "= more than 2^63 [mesh-size]\n  hint: the other sizes have to divide 8");
}

TEST_CASE("two -1 and sizes below 1 are refused with their axes") {
  CHECK(refusal([] {
          filled_sizes({-1, -1}, 8, {"dcn", "slices"}, named_axes);
        }) ==
        "r.yaml:3:1: error: the dcn sizes (-1, -1) hold more than one -1: axis 'data' and axis "
        "'fsdp' [bad-mesh-size]\n"
        "  hint: at most one size of a group can be left to fill in");
  CHECK(refusal([] {
          filled_sizes({0, -1}, 8, {}, {});
        }) ==
        "error: the mesh size of axis 0 is 0, expected 1 or more, or -1 to fill in "
        "[bad-mesh-size]");
  CHECK(refusal([] { filled_sizes({-2}, 8, {}, {}); }) ==
        "error: the mesh size of axis 0 is -2, expected 1 or more, or -1 to fill in "
        "[bad-mesh-size]");
}

TEST_CASE("sizes are read as Python reads whole numbers") {
  CHECK(whole_sizes({2.9, std::string(" +1_0 "), true, std::int64_t{-1}, std::string("-3")}, {}) ==
        Shape{2, 10, 1, -1, -3});
}

TEST_CASE("what has no whole number is refused as a size") {
  const Location at{"r.yaml", 3, 1, 1};
  const std::string stem =
      "r.yaml:3:1: error: the sizes of a mesh should be a sequence of ints, but one of them is ";
  CHECK(refusal([&] { whole_sizes({std::string("x")}, at); }) == stem + "'x' [bad-mesh-size]");
  CHECK(refusal([&] { whole_sizes({std::string("1__0")}, at); }) ==
        stem + "'1__0' [bad-mesh-size]");
  CHECK(refusal([&] { whole_sizes({std::string("")}, at); }) == stem + "'' [bad-mesh-size]");
  CHECK(refusal([&] { whole_sizes({std::string("-")}, at); }) == stem + "'-' [bad-mesh-size]");
  CHECK(refusal([&] { whole_sizes({std::string("99999999999999999999")}, at); }) ==
        stem + "'99999999999999999999' [bad-mesh-size]");
  CHECK(refusal([&] { whole_sizes({std::monostate{}}, at); }) == stem + "None [bad-mesh-size]");
  CHECK(refusal([&] { whole_sizes({1e300}, at); }) == stem + "1e+300 [bad-mesh-size]");
}

TEST_CASE("sizes print as Python tuples") {
  CHECK(tuple_text({}) == "()");
  CHECK(tuple_text({8}) == "(8,)");
  CHECK(product_text({2, -1}) == "(2, -1) = -2");
  CHECK(product_text({}) == "() = 1");
}
