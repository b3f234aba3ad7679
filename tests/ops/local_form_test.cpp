#include "ops/local_form.h"

#include <doctest/doctest.h>

#include "ops/index_dims.h"
#include "rule_texts.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Dims = std::vector<std::int64_t>;

const DimPart whole;
const DimPart over_model{{1}, {4}};       ///< of a mesh data 2 x model 4
const DimPart over_both{{1, 4}, {4, 2}};  ///< model, then data

}  // namespace

TEST_CASE("positions count from the part that a device has") {
  const Attributes attributes{
      {"shape", Shape{8, 16}}, {"dim", std::int64_t{0}}, {"dtype", std::string("i32")}};
  const std::vector<TensorType> results = {f32({1, 16})};
  const Attributes local = iota_form({attributes, {}, results, {}, {{over_both, whole}}, {}});
  CHECK(to_string(local) ==
        "{shape=[1,16], dim=0, dtype=\"i32\", part_dims=[0,0], part_strides=[1,4], "
        "part_sizes=[4,2]}");
  const LocalParts parts(local);
  CHECK(parts.count(0) == 8);
  CHECK(parts.count(1) == 1);
  CHECK(parts.part(0, 0) == 0);
  CHECK(parts.part(0, 6) == 5);  // model 2, data 1
}

TEST_CASE("positions along a whole dim count from zero") {
  const Attributes attributes{
      {"shape", Shape{8, 16}}, {"dim", std::int64_t{1}}, {"dtype", std::string("i32")}};
  const std::vector<TensorType> results = {f32({2, 16})};
  const Attributes local = iota_form({attributes, {}, results, {}, {{over_model, whole}}, {}});
  CHECK(to_string(local) == "{shape=[2,16], dim=1, dtype=\"i32\"}");
}

TEST_CASE("slices take split dims whole") {
  const Attributes attributes{
      {"start", Dims{0, 2}}, {"limit", Dims{16, 5}}, {"stride", Dims{1, 1}}};
  const std::vector<TensorType> operands = {f32({4, 8})};
  CHECK(to_string(slice_form({attributes, operands, {}, {{over_model, whole}}, {}, {}})) ==
        "{start=[0,2], limit=[4,5], stride=[1,1]}");
  CHECK(to_string(dynamic_slice_form(
            {{{"sizes", Dims{16, 3}}}, operands, {}, {{over_model, whole}}, {}, {}})) ==
        "{sizes=[4,3]}");
}

TEST_CASE("a lookup knows the part of the table and the local windows") {
  IndexDims dims;
  dims.window = {1};
  dims.collapsed = {0};
  dims.start = {0};
  dims.vector = 1;
  Attributes attributes = dims.attributes();
  attributes.set("slice_sizes", Dims{1, 16});
  const std::vector<TensorType> operands = {f32({8, 8}), {DType::i32, {4}}};
  const Attributes local =
      gather_form({attributes, operands, {}, {{over_model, DimPart{{4}, {2}}}, {whole}}, {}, {}});
  CHECK(local.integers("slice_sizes") == Dims{1, 8});
  CHECK(local.integers("part_dims") == Dims{0});
  CHECK(local.integers("part_strides") == Dims{1});
  CHECK(local.integers("part_sizes") == Dims{4});
}

TEST_CASE("summed updates count the array once") {
  IndexDims dims;
  dims.window = {1};
  dims.collapsed = {0};
  dims.start = {0};
  dims.vector = 1;
  const Attributes attributes = dims.attributes();
  const std::vector<TensorType> operands = {f32({32, 16}), {DType::i32, {2}}, f32({2, 16})};
  const Attributes local = scatter_form({attributes,
                                         operands,
                                         {},
                                         {{whole, whole}, {over_model}, {over_model, whole}},
                                         {},
                                         over_model});
  CHECK_FALSE(local.has("part_dims"));
  const LocalParts parts(local);
  CHECK(parts.is_first_share(0));
  CHECK_FALSE(parts.is_first_share(3));
  CHECK(parts.is_first_share(4));
}

TEST_CASE("an update knows the part of the array where it lies in part of a dim") {
  const std::vector<TensorType> operands = {
      f32({4, 4}), f32({3, 4}), {DType::i32, {}}, {DType::i32, {}}};
  const Attributes local = dynamic_update_slice_form(
      {{},
       operands,
       {},
       {{over_model, DimPart{{4}, {2}}}, {whole, DimPart{{4}, {2}}}, {}, {}},
       {},
       {}});
  CHECK(to_string(local) == "{part_dims=[0], part_strides=[1], part_sizes=[4]}");
}

TEST_CASE("a grouped product knows where its rows begin and which groups it has") {
  const Attributes none;
  const std::vector<TensorType> operands = {f32({2, 8}), f32({1, 8, 3}), {DType::i32, {4}}};
  const std::vector<TensorType> results = {f32({2, 3})};
  const LocalSite site{none,
                       operands,
                       results,
                       {{over_both, whole}, {over_model, whole, whole}, {whole}},
                       {{over_both, whole}},
                       {}};
  const Attributes local = def(Op::ragged_dot).local_form(site);
  CHECK(to_string(local) == "{part_dims=[0,0,1], part_strides=[1,4,1], part_sizes=[4,2,4]}");
  CHECK(flops_of(Op::ragged_dot, operands, results, local) == 2 * 2 * 8 * 3 / 4.0);
}
