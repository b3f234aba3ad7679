#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "exec/element.h"
#include "exec/numbers.h"
#include "exec/simd.h"

using namespace shard;
using namespace shard::test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Attributes attributes_of(Op op) {
  if (op == Op::scale || op == Op::shift) return {{"value", 3.0}};
  return {};
}

bool is_unary(Op op) { return def(op).operand_count == 1; }

bool accepts(Op op, DType dtype) {
  const std::vector<TensorType> types(static_cast<std::size_t>(def(op).operand_count),
                                      TensorType{dtype, {4}});
  return !std::holds_alternative<std::string>(def(op).shape_rule(types, attributes_of(op)));
}

/// All ops of the elementwise family but conversions and updates.
std::vector<Op> elementwise_ops() {
  std::vector<Op> ops;
  for (const OpDef& row : op_table()) {
    if (row.op >= Op::relu && row.op <= Op::shift && row.op != Op::convert) ops.push_back(row.op);
  }
  return ops;
}

/// Operands in the domain of every op: positive for roots, logarithms and powers.
HostTensor operand(Op op, const TensorType& type, std::uint64_t seed) {
  HostTensor made = random_tensor(type, seed);
  const bool needs_positive = op == Op::sqrt || op == Op::rsqrt || op == Op::log || op == Op::power;
  if (!needs_positive) return made;
  std::vector<double> numbers = numbers_of(made);
  for (double& x : numbers) x = std::fabs(x) + 0.25;
  return tensor(type, numbers);
}

}  // namespace

TEST_CASE("every elementwise op agrees with the reference on every dtype it accepts") {
  for (const Op op : elementwise_ops()) {
    CAPTURE(def(op).name);
    for (const DTypeInfo& dtype : dtype_table()) {
      if (!accepts(op, dtype.dtype) || dtype.dtype == DType::u64) continue;
      CAPTURE(dtype.name);
      for (const std::int64_t size : {1, 7, 16, 1029}) {
        const TensorType type{dtype.dtype, {size}};
        std::vector<HostTensor> operands = {operand(op, type, 1)};
        if (!is_unary(op)) operands.push_back(operand(op, type, 2));
        const auto actual = run_kernel(op, operands, attributes_of(op));
        const auto expected = run_reference_op(op, operands, attributes_of(op));
        CHECK(distance(actual[0], expected[0]) <= 2 * epsilon(dtype.dtype));
      }
    }
  }
}

TEST_CASE("a scalar operand goes with an array on either side") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32}) {
    const HostTensor array = random_tensor({dtype, {3, 500}}, 1),
                     scalar = random_tensor({dtype, {}}, 2);
    for (const Op op : {Op::add, Op::subtract, Op::multiply, Op::maximum}) {
      for (const auto& operands : {std::vector{array, scalar}, std::vector{scalar, array}}) {
        CHECK(distance(run_kernel(op, operands)[0], run_reference_op(op, operands)[0]) <=
              epsilon(dtype));
      }
    }
  }
}

TEST_CASE("NaN and infinities go through elementwise ops as through the reference") {
  const std::vector<double> edges = {not_a_number, inf, -inf, 0.0, -0.0, 1.5, -1.5, not_a_number};
  std::vector<double> turned(edges.rbegin(), edges.rend());
  for (const Op op : elementwise_ops()) {
    CAPTURE(def(op).name);
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
      std::vector<HostTensor> operands = {tensor({dtype, {8}}, edges)};
      if (!is_unary(op)) operands.push_back(tensor({dtype, {8}}, turned));
      if (op == Op::silu || op == Op::gelu || op == Op::relu_grad) continue;  // see below
      CHECK(distance(run_kernel(op, operands, attributes_of(op))[0],
                     run_reference_op(op, operands, attributes_of(op))[0]) <= 2 * epsilon(dtype));
    }
  }
}

TEST_CASE("silu and gelu of minus infinity are NaN as in JAX") {
  const HostTensor x = tensor({DType::f32, {1}}, {-inf});
  CHECK(std::isnan(numbers_of(run_kernel(Op::silu, {x})[0])[0]));
  CHECK(std::isnan(numbers_of(run_kernel(Op::gelu, {x})[0])[0]));
}

TEST_CASE("the exponential family rounds once over the whole range of float32") {
  const std::vector<Op> family = {Op::exp, Op::sigmoid, Op::silu, Op::tanh, Op::gelu};
  std::vector<double> numbers = {0.0,   -0.0,   1e-30,  -1e-30, 1e-3,   -1e-3, 88.7, 88.8,
                                 -87.5, -103.9, -104.1, 700.0,  -700.0, 3e38,  inf,  not_a_number};
  for (int i = -2000; i <= 2000; ++i) numbers.push_back(static_cast<float>(i * 0.0317));
  const HostTensor x = tensor({DType::f32, {static_cast<std::int64_t>(numbers.size())}}, numbers);
  for (const Op op : family) {
    CAPTURE(def(op).name);
    const std::vector<double> actual = numbers_of(run_kernel(op, {x})[0]);
    std::size_t misses = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto v = static_cast<long double>(static_cast<float>(numbers[i]));
      const long double cube = v + 0.044715L * v * v * v;
      const long double gate = op == Op::gelu ? 1.5957691216057307118L * cube : v;
      const long double sigmoid = 1.0L / (1.0L + std::exp(-gate));
      const long double expected = op == Op::exp       ? std::exp(v)
                                   : op == Op::tanh    ? std::tanh(v)
                                   : op == Op::sigmoid ? sigmoid
                                                       : v * sigmoid;
      const float rounded = static_cast<float>(expected);
      CAPTURE(numbers[i]);
      if (std::isnan(rounded)) {
        CHECK(std::isnan(actual[i]));
        continue;
      }
      CHECK(std::signbit(actual[i]) == std::signbit(rounded));
      if (actual[i] != static_cast<double>(rounded)) {
        ++misses;
        const auto found = static_cast<float>(actual[i]);
        CHECK((found == std::nextafter(rounded, found)));  // a tie the other way
      }
    }
    CHECK(misses <= 2);
  }
}

TEST_CASE("int32 arithmetic wraps and division by zero gives minus one") {
  constexpr double most = 2147483647, least = -2147483648.0;
  const TensorType type{DType::i32, {4}};
  const HostTensor a = tensor(type, {most, least, 7, -7}), b = tensor(type, {1, -1, 0, 2});
  CHECK(numbers_of(run_kernel(Op::add, {a, b})[0]) == std::vector<double>{least, most, 7, -5});
  CHECK(numbers_of(run_kernel(Op::divide, {a, b})[0]) == std::vector<double>{most, least, -1, -3});
  CHECK(numbers_of(run_kernel(Op::multiply, {a, a})[0]) == std::vector<double>{1, 0, 49, 49});
  CHECK(numbers_of(run_kernel(Op::abs, {a})[0]) == std::vector<double>{most, least, 7, 7});
}

TEST_CASE("elementwise results may lie over an operand") {
  std::vector<float> x = random_floats(100, 1), y = random_floats(100, 2), expected(100);
  elementwise_loops().subtract(x.data(), y.data(), expected.data(), 100);
  std::vector<float> over = y;
  elementwise_loops().subtract(x.data(), over.data(), over.data(), 100);
  CHECK(over == expected);
}

TEST_CASE("every pair of dtypes converts as the reference does") {
  const std::vector<double> numbers = {0, 1, -1, 2.5, -3.75, 100.125, 65000, 0.1};
  for (const DTypeInfo& from : dtype_table()) {
    for (const DTypeInfo& to : dtype_table()) {
      CAPTURE(from.name);
      CAPTURE(to.name);
      const Attributes attributes = {{"dtype", std::string(to.name)}};
      const auto elements = static_cast<std::int64_t>(8 / number_count(from.dtype, 1));
      const std::vector<HostTensor> operands = {tensor({from.dtype, {elements}}, numbers)};
      // Wrapped to 64 bits, negative numbers are beyond the reference's doubles.
      if (to.dtype == DType::u64 && !from.is_float && from.is_signed) continue;
      CHECK(run_kernel(Op::convert, operands, attributes) ==
            run_reference_op(Op::convert, operands, attributes));
    }
  }
}

TEST_CASE("integers wrap among themselves") {
  const HostTensor x = tensor({DType::i64, {2}}, {4294967298.0, -1});
  const auto as = [&](const char* dtype) {
    return numbers_of(run_kernel(Op::convert, {x}, {{"dtype", std::string(dtype)}})[0]);
  };
  CHECK(as("i32") == std::vector<double>{2, -1});
  CHECK(as("u32") == std::vector<double>{2, 4294967295.0});
}

TEST_CASE("arithmetic of 64-bit unsigned integers is refused") {
  CHECK(refusal(Op::divide, {{DType::u64, {3}}, {DType::u64, {3}}}) ==
        "divide of u64[3] and u64[3]");
}

TEST_CASE("roots of integers are refused") {
  CHECK(refusal(Op::sqrt, {{DType::i32, {3}}}) == "sqrt of i32[3]");
  CHECK(refusal(Op::add, {{DType::boolean, {3}}, {DType::boolean, {3}}}) ==
        "add of bool[3] and bool[3]");
}
