// Shape and factor rules of convolutions, windows and bits.
#include "ops/window_dims.h"

#include <doctest/doctest.h>

#include "rule_texts.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Dims = std::vector<std::int64_t>;

Attributes convolution(std::int64_t feature_groups, std::int64_t batch_groups,
                       Dims strides = {1, 1}) {
  const ConvolutionDims dims{
      {0, 3, 1, 2}, {3, 2, 0, 1}, {0, 3, 1, 2}, feature_groups, batch_groups};
  return convolution_attributes(dims, {{}, std::move(strides), {1, 1}, {1, 1}, {1, 1}, {1, 1}});
}

Attributes window(Dims sizes, Dims strides, Dims low) {
  const Dims ones(sizes.size(), 1), none(sizes.size(), 0);
  return {{"window", std::move(sizes)}, {"strides", std::move(strides)},
          {"low", std::move(low)},      {"high", none},
          {"dilation", ones},           {"base_dilation", ones}};
}

}  // namespace

TEST_CASE("a convolution has windows and their elements on the dims of the array") {
  const std::vector<TensorType> operands = {f32({4, 8, 8, 4}), f32({3, 3, 4, 16})};
  CHECK(shape(Op::convolution, operands, convolution(1, 1)) == "f32[4,8,8,16]");
  CHECK(rule(Op::convolution, operands, convolution(1, 1)) ==
        "([i, j, k, l],[n, o, l, m]) -> ([i, j, k, m]) red={l} perm={j,k}");
  CHECK(rule(Op::convolution, operands, convolution(1, 1, {4, 4})) ==
        "([i, jk, lm, n],[j, l, n, o]) -> ([i, k, m, o]) red={j,l,n} perm={k,m}");
}

TEST_CASE("groups of a convolution split three dims alike") {
  CHECK(shape(Op::convolution, {f32({4, 8, 8, 6}), f32({3, 3, 2, 9})}, convolution(3, 1)) ==
        "f32[4,8,8,9]");
  CHECK(rule(Op::convolution, {f32({4, 8, 8, 6}), f32({3, 3, 2, 9})}, convolution(3, 1)) ==
        "([i, j, k, lm],[o, p, m, ln]) -> ([i, j, k, ln]) red={m} perm={j,k}");
  CHECK(rule(Op::convolution, {f32({4, 8, 8, 6}), f32({3, 3, 6, 8})}, convolution(1, 2)) ==
        "([ij, k, l, m],[o, p, m, in]) -> ([j, k, l, in]) red={m} perm={k,l}");
}

TEST_CASE("a convolution says what does not fit") {
  CHECK(shape(Op::convolution, {f32({4, 8, 8, 6}), f32({3, 3, 4, 8})}, convolution(1, 1)) ==
        "6 features are not 1 groups of 4");
  CHECK(shape(Op::convolution, {f32({3, 8, 8, 4}), f32({3, 3, 4, 8})}, convolution(1, 2)) ==
        "3 examples are not 2 groups");
  CHECK(shape(Op::convolution, {f32({4, 8, 8, 6}), f32({3, 3, 2, 8})}, convolution(3, 1)) ==
        "8 output features are not 3 groups");
  CHECK(shape(Op::convolution, {f32({4, 8, 8, 4}), f32({4, 8})}, convolution(1, 1)) ==
        "f32[4,8,8,4] is not convolved with f32[4,8]");
  CHECK(shape(Op::convolution, {f32({4, 8, 8, 4}), f32({3, 3, 4, 8})}, convolution(1, 1, {0, 1})) ==
        "strides has 0, which is not positive");
}

TEST_CASE("windows make permutation factors") {
  CHECK(shape(Op::reduce_window_max, {f32({4, 9})}, window({1, 3}, {1, 2}, {0, 1})) == "f32[4,4]");
  CHECK(rule(Op::reduce_window_max, {f32({4, 9})}, window({1, 3}, {1, 2}, {0, 1})) ==
        "([i, j]) -> ([i, j]) perm={j}");
  CHECK(shape(Op::reduce_window_sum, {f32({4, 9})}, window({1}, {1}, {0})) ==
        "window has 1 entries for 2 dims");
  CHECK(shape(Op::reduce_window_sum, {{DType::boolean, {4}}}, window({1}, {1}, {0})) ==
        "needs numbers, not bool");
  Attributes scatter = window({1, 3}, {1, 2}, {0, 1});
  CHECK(shape(Op::select_and_scatter_add, {f32({4, 9}), f32({4, 4})}, scatter) == "f32[4,9]");
  CHECK(rule(Op::select_and_scatter_add, {f32({4, 9}), f32({4, 4})}, scatter) ==
        "([i, j],[i, j]) -> ([i, j]) perm={j}");
  CHECK(shape(Op::select_and_scatter_add, {f32({4, 9}), f32({4, 5})}, scatter) ==
        "the source is f32[4,5], the windows are f32[4,4]");
}

TEST_CASE("elements of a window lie strides and dilations apart") {
  const Windows windows{{3}, {2}, {1}, {0}, {2}, {1}};
  CHECK(windows.count(0, 8) == 3);
  CHECK(windows.at(0, 0, 0, 8) == -1);
  CHECK(windows.at(0, 0, 1, 8) == 1);
  CHECK(windows.at(0, 2, 2, 8) == 7);
  const Windows apart{{1}, {1}, {0}, {0}, {1}, {2}};
  CHECK(apart.count(0, 3) == 5);
  CHECK(apart.at(0, 1, 0, 3) == -1);
  CHECK(apart.at(0, 4, 0, 3) == 2);
}

TEST_CASE("bits have a shape of their own or that of the operand") {
  const TensorType seed{DType::i32, {}};
  const Attributes attributes{
      {"shape", Shape{4, 2}}, {"counts", Shape{4, 2}}, {"stream", std::int64_t{0}}};
  CHECK(shape(Op::random_bits, {seed}, attributes) == "u32[4,2]");
  CHECK(rule(Op::random_bits, {seed}, attributes) == "([]) -> ([i, j])");
  CHECK(shape(Op::random_bits, {seed},
              {{"shape", Shape{4, 2}}, {"counts", Shape{4}}, {"stream", std::int64_t{0}}}) ==
        "counts has 1 entries for 2 dims");
  CHECK(shape(Op::random_bits, {f32({})}, attributes) ==
        "the seed is f32[], not an integer scalar");
  const Attributes dropped{{"rate", 0.5}, {"stream", std::int64_t{0}}, {"counts", Shape{4, 1}}};
  CHECK(shape(Op::dropout, {f32({4, 2}), seed}, dropped) == "f32[4,2]");
  CHECK(rule(Op::dropout, {f32({4, 2}), seed}, dropped) == "([i, j],[]) -> ([i, j])");
  CHECK(shape(Op::dropout, {seed, seed}, dropped) == "needs floating point, not i32");
  CHECK(shape(Op::dropout, {f32({4, 2}), f32({})}, dropped) ==
        "the seed is f32[], not an integer scalar");
  CHECK(shape(Op::dropout, {f32({4}), seed}, dropped) == "counts has 2 entries for 1 dims");
  CHECK(shape(Op::bitcast, {f32({4})}, {{"dtype", std::string("u32")}}) == "u32[4]");
  CHECK(shape(Op::bitcast, {f32({4})}, {{"dtype", std::string("i16")}}) ==
        "f32 is not read as i16");
  CHECK(shape(Op::reduce_precision, {f32({4})},
              {{"exponent_bits", std::int64_t{0}}, {"mantissa_bits", std::int64_t{7}}}) ==
        "there is no float of 0 and 7 bits");
}
