#include <doctest/doctest.h>

#include "base/check.h"
#include "rule_texts.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Dims = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("elementwise ops want equal shapes and dtypes but take scalars") {
  CHECK(shape(Op::relu, {f32({8, 4})}) == "f32[8,4]");
  CHECK(shape(Op::add, {f32({8, 4}), f32({8, 4})}) == "f32[8,4]");
  CHECK(shape(Op::add, {f32({}), f32({8, 4})}) == "f32[8,4]");
  CHECK(shape(Op::add, {f32({8, 4}), f32({})}) == "f32[8,4]");
  CHECK(shape(Op::add, {f32({8, 4}), f32({4})}) == "shapes differ: f32[8,4] and f32[4]");
  CHECK(shape(Op::add, {f32({8}), i32({8})}) == "dtypes differ: f32 and i32");
  CHECK(shape(Op::add, {{DType::boolean, {8}}, {DType::boolean, {8}}}) ==
        "needs numbers, not bool");
}

TEST_CASE("functions of real numbers refuse integers") {
  for (const Op op : {Op::sqrt, Op::rsqrt, Op::exp, Op::log, Op::tanh, Op::sigmoid, Op::silu,
                      Op::gelu, Op::sin, Op::cos}) {
    CAPTURE(def(op).name);
    CHECK(shape(op, {f32({8})}) == "f32[8]");
    CHECK(shape(op, {i32({8})}) == "needs floating point, not i32");
  }
  CHECK(shape(Op::power, {i32({8}), i32({8})}) == "needs floating point, not i32");
  CHECK(shape(Op::negate, {i32({8})}) == "i32[8]");
}

TEST_CASE("scale and shift keep the dtype and want whole numbers for integers") {
  CHECK(shape(Op::shift, {i32({})}, {{"value", 1.0}}) == "i32[]");
  CHECK(shape(Op::scale, {f32({2})}, {{"value", 0.5}}) == "f32[2]");
  CHECK(shape(Op::scale, {i32({2})}, {{"value", 0.5}}) ==
        "i32 needs a whole number, not {value=0.5}");
}

TEST_CASE("convert changes the dtype alone") {
  CHECK(shape(Op::convert, {f32({8})}, {{"dtype", std::string("bf16")}}) == "bf16[8]");
  CHECK(shape(Op::convert, {f32({8})}, {{"dtype", std::string("f8")}}) == "there is no dtype 'f8'");
}

TEST_CASE("a dot has batch dims then the free dims of both sides") {
  CHECK(shape(Op::dot, {f32({8, 32}), f32({32, 16})}, dot_attributes({}, {}, {1}, {0})) ==
        "f32[8,16]");
  CHECK(shape(Op::dot, {f32({5, 2, 8}), f32({8, 2, 7})}, dot_attributes({1}, {1}, {2}, {0})) ==
        "f32[2,5,7]");
  CHECK(shape(Op::dot, {f32({8}), f32({8})}, dot_attributes({}, {}, {0}, {0})) == "f32[]");
}

TEST_CASE("grouped products pair rows with matrices and say what does not fit") {
  CHECK(shape(Op::ragged_dot, {f32({16, 8}), f32({4, 8, 3}), i32({4})}) == "f32[16,3]");
  CHECK(shape(Op::ragged_outer, {f32({16, 8}), f32({16, 3}), i32({4})},
              {{"groups", std::int64_t{4}}}) == "f32[4,8,3]");
  CHECK(shape(Op::ragged_dot, {f32({16, 8}), f32({4, 7, 3}), i32({4})}) ==
        "contracted sizes differ: 8 and 7");
  CHECK(shape(Op::ragged_dot, {f32({16, 8}), f32({8, 3}), i32({4})}) ==
        "the matrices are f32[8,3], not of rank 3");
  CHECK(shape(Op::ragged_dot, {f32({16, 8}), f32({4, 8, 3}), f32({4})}) ==
        "the counts are f32[4], not a list of integers");
  CHECK(shape(Op::ragged_outer, {f32({16, 8}), f32({12, 3}), i32({4})},
              {{"groups", std::int64_t{4}}}) == "contracted sizes differ: 16 and 12");
}

TEST_CASE("a dot says which paired dims do not fit") {
  CHECK(shape(Op::dot, {f32({8, 32}), f32({16, 4})}, dot_attributes({}, {}, {1}, {0})) ==
        "contracted sizes differ: 32 and 16");
  CHECK(shape(Op::dot, {f32({2, 8}), f32({3, 8})}, dot_attributes({0}, {0}, {1}, {1})) ==
        "batch sizes differ: 2 and 3");
  CHECK(shape(Op::dot, {f32({8}), f32({8})}, dot_attributes({}, {}, {1}, {0})) ==
        "there is no dim 1 in rank 1");
  CHECK(shape(Op::dot, {f32({8, 8}), f32({8, 8})}, dot_attributes({0}, {0}, {0}, {1})) ==
        "dim 0 is named twice");
  CHECK(shape(Op::dot, {f32({8, 8}), f32({8})}, dot_attributes({}, {}, {0, 1}, {0})) ==
        "both sides need as many contracted dims: 2 and 1");
  CHECK(shape(Op::dot, {f32({8}), {DType::bf16, {8}}}, dot_attributes({}, {}, {0}, {0})) ==
        "dtypes differ: f32 and bf16");
}

TEST_CASE("reductions drop their dims") {
  for (const Op op : {Op::reduce_sum, Op::reduce_max, Op::reduce_min, Op::reduce_prod}) {
    CAPTURE(def(op).name);
    CHECK(shape(op, {f32({8, 4, 2})}, {{"dims", Dims{0, 2}}}) == "f32[4]");
    CHECK(shape(op, {f32({8, 4})}, {{"dims", Dims{2}}}) == "there is no dim 2 in rank 2");
    CHECK(shape(op, {f32({8, 4})}, {{"dims", Dims{1, 1}}}) == "dim 1 is named twice");
    CHECK(shape(op, {{DType::boolean, {8}}}, {{"dims", Dims{0}}}) == "needs numbers, not bool");
  }
}

TEST_CASE("transpose wants every dim once") {
  CHECK(shape(Op::transpose, {f32({2, 3, 4})}, {{"order", Dims{2, 0, 1}}}) == "f32[4,2,3]");
  CHECK(shape(Op::transpose, {f32({2, 3})}, {{"order", Dims{0}}}) == "the order names 1 of 2 dims");
  CHECK(shape(Op::transpose, {f32({2, 3})}, {{"order", Dims{0, 0}}}) == "dim 0 is named twice");
}

TEST_CASE("broadcast expands new dims and dims of size one") {
  CHECK(shape(Op::broadcast, {f32({1, 4})}, {{"shape", Shape{8, 3, 4}}, {"dims", Dims{1, 2}}}) ==
        "f32[8,3,4]");
  CHECK(shape(Op::broadcast, {f32({2})}, {{"shape", Shape{8, 4}}, {"dims", Dims{1}}}) ==
        "size 2 does not broadcast to 4");
  CHECK(shape(Op::broadcast, {f32({4})}, {{"shape", Shape{8, 4}}, {"dims", Dims{}}}) ==
        "dims names 0 dims, the operand has 1");
  CHECK(shape(Op::broadcast, {f32({4, 8})}, {{"shape", Shape{8, 4}}, {"dims", Dims{1, 0}}}) ==
        "dims are not ascending");
  CHECK(shape(Op::broadcast, {f32({4})}, {{"shape", Shape{8, 4}}, {"dims", Dims{2}}}) ==
        "there is no dim 2 in rank 2");
}

TEST_CASE("a constant has the type its attributes say") {
  CHECK(shape(Op::constant, {},
              {{"shape", Shape{8, 4}}, {"value", 1.0}, {"dtype", std::string("bf16")}}) ==
        "bf16[8,4]");
  CHECK(
      shape(Op::constant, {}, {{"shape", Shape{}}, {"value", 1.0}, {"dtype", std::string("x")}}) ==
      "there is no dtype 'x'");
}

TEST_CASE("optimizer updates keep the types of the parameter and its slots") {
  const TensorType p{DType::bf16, {8, 4}};
  const TensorType slot = f32({8, 4});
  CHECK(shape(Op::sgd_update, {p, p}) == "bf16[8,4]");
  CHECK(shape(Op::momentum_update, {p, slot, p}) == "bf16[8,4] f32[8,4]");
  CHECK(shape(Op::adam_update, {p, slot, slot, p, i32({})}) == "bf16[8,4] f32[8,4] f32[8,4]");
  CHECK(shape(Op::adam_update, {p, slot, slot, p, f32({})}) == "the count is f32[], not i32[]");
  CHECK(shape(Op::adam_update, {p, f32({8}), slot, p, i32({})}) ==
        "operand 1 is f32[8], the parameter is bf16[8,4]");
  CHECK(shape(Op::sgd_update, {p, i32({8, 4})}) == "needs floating point, not i32");
}

TEST_CASE("types that a rule refuses are a bug when nobody asked the rule first") {
  CHECK_THROWS_AS(result_types(Op::add, std::vector{f32({8}), f32({4})}, {}), InternalError);
  CHECK_THROWS_AS(result_types(Op::add, std::vector{f32({8})}, {}), InternalError);
  CHECK_THROWS_AS(result_types(Op::repeat, {}, {}), InternalError);
}
