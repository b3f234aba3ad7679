#include <cmath>
#include <limits>

#include "exec/rows.h"
#include "exec/special_functions.h"

using namespace shard;
using namespace shard::test;

namespace {

const std::vector<Op> comparisons = {Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge};

HostTensor truth(const Shape& shape, std::uint64_t seed) {
  return random_tensor({DType::boolean, shape}, seed);
}

}  // namespace

TEST_CASE("comparisons agree with the reference on every dtype and with scalars") {
  for (const Op op : comparisons) {
    for (const DTypeInfo& dtype : dtype_table()) {
      if (dtype.is_complex && op != Op::eq && op != Op::ne) continue;
      const HostTensor x = random_tensor({dtype.dtype, {3, 500}}, 1);
      const HostTensor y = random_tensor({dtype.dtype, {3, 500}}, 2);
      const HostTensor scalar = random_tensor({dtype.dtype, {}}, 3);
      check_row(op, {x, y});
      check_row(op, {x, scalar});
      check_row(op, {scalar, y});
    }
  }
}

TEST_CASE("NaN is not equal to anything and not below or above it") {
  // In whole vectors and in what is left over.
  const auto repeated = [](const std::vector<double>& numbers) {
    std::vector<double> all;
    for (std::size_t i = 0; i < 51; ++i) all.push_back(numbers[i % numbers.size()]);
    return all;
  };
  const auto holds = [&](Op op, const std::vector<double>& expected) {
    const HostTensor x = tensor({DType::f32, {51}}, repeated({nan_value, 0.0, inf}));
    const HostTensor y = tensor({DType::f32, {51}}, repeated({nan_value, -0.0, inf}));
    CHECK(numbers_of(run_kernel(op, {x, y})[0]) == repeated(expected));
  };
  holds(Op::eq, {0, 1, 1});
  holds(Op::ne, {1, 0, 0});
  holds(Op::lt, {0, 0, 0});
  holds(Op::le, {0, 1, 1});
  holds(Op::gt, {0, 0, 0});
  holds(Op::ge, {0, 1, 1});
  const HostTensor x = tensor({DType::f32, {3}}, {nan_value, 0.0, inf});
  CHECK(numbers_of(run_kernel(Op::is_finite, {x})[0]) == std::vector<double>{0, 1, 0});
}

TEST_CASE("the outermost integers are compared as they are") {
  const std::vector<double> ends = {-2147483648.0, -1, 0, 1, 2147483647.0};
  std::vector<double> first, second;
  for (std::size_t i = 0; i < 75; ++i) {
    first.push_back(ends[i % 5]);
    second.push_back(ends[i / 5 % 5]);
  }
  for (const Op op : comparisons)
    check_row(op, {tensor({DType::i32, {75}}, first), tensor({DType::i32, {75}}, second)});
}

TEST_CASE("select takes elements of every width by an array or a scalar") {
  // 1,030: more than the kernel takes at a time.
  for (const DTypeInfo& dtype : dtype_table()) {
    const HostTensor x = random_tensor({dtype.dtype, {1030}}, 1);
    const HostTensor y = random_tensor({dtype.dtype, {1030}}, 2);
    const HostTensor scalar = random_tensor({dtype.dtype, {}}, 3);
    check_row(Op::select, {truth({1030}, 4), x, y});
    check_row(Op::select, {truth({1030}, 4), scalar, y});
    check_row(Op::select, {truth({1030}, 4), x, scalar});
    check_row(Op::select, {truth({}, 5), x, y});
    check_row(Op::select, {truth({}, 6), scalar, y});
    check_row(Op::select, {truth({1030}, 7), scalar, scalar});
  }
}

TEST_CASE("clamp keeps between its bounds and hands on NaN") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32, DType::u32}) {
    const HostTensor low = random_tensor({dtype, {50}}, 1), x = random_tensor({dtype, {50}}, 2),
                     high = random_tensor({dtype, {50}}, 3), scalar = random_tensor({dtype, {}}, 4);
    check_row(Op::clamp, {low, x, high});
    check_row(Op::clamp, {scalar, x, high});
    check_row(Op::clamp, {low, x, scalar});
  }
  const HostTensor x = tensor({DType::f32, {3}}, {nan_value, inf, -inf});
  const auto out = numbers_of(
      run_kernel(Op::clamp, {tensor({DType::f32, {}}, {-1}), x, tensor({DType::f32, {}}, {2})})[0]);
  CHECK(std::isnan(out[0]));
  CHECK(out[1] == 2);
  CHECK(out[2] == -1);
}

TEST_CASE("ops on bits agree with the reference on every integer dtype") {
  for (const DType dtype : {DType::i32, DType::u32, DType::i64, DType::boolean}) {
    const HostTensor x = random_tensor({dtype, {40}}, 1), y = random_tensor({dtype, {40}}, 2);
    for (const Op op : {Op::bitwise_and, Op::bitwise_or, Op::bitwise_xor}) {
      check_row(op, {x, y});
      check_row(op, {x, random_tensor({dtype, {}}, 3)});
    }
    check_row(Op::bitwise_not, {x});
    if (dtype == DType::boolean) continue;
    check_row(Op::population_count, {x});
    check_row(Op::count_leading_zeros, {x});
    check_row(Op::shift_left, {x, y});
    check_row(Op::shift_right_arithmetic, {x, y});
    // Of negative 64-bit numbers the result is beyond the reference's doubles.
    if (dtype != DType::i64) check_row(Op::shift_right_logical, {x, y});
  }
}

TEST_CASE("shifts by the width or more leave zeros or the sign") {
  const HostTensor x = tensor({DType::i32, {3}}, {-5, 7, 1}), far = indices({}, {32});
  CHECK(numbers_of(run_kernel(Op::shift_left, {x, far})[0]) == std::vector<double>{0, 0, 0});
  CHECK(numbers_of(run_kernel(Op::shift_right_logical, {x, far})[0]) ==
        std::vector<double>{0, 0, 0});
  CHECK(numbers_of(run_kernel(Op::shift_right_arithmetic, {x, far})[0]) ==
        std::vector<double>{-1, 0, 0});
}

TEST_CASE("further functions agree with the reference in their domains") {
  struct Domain {
    Op op;
    double low, high;
    Attributes attributes;
  };
  const Attributes first{{"order", std::int64_t{0}}}, second{{"order", std::int64_t{1}}},
      fourth{{"order", std::int64_t{3}}};
  const std::vector<Domain> domains = {
      {Op::expm1, -2, 2, {}},          {Op::log1p, -0.9, 3, {}},
      {Op::exp2, -3, 3, {}},           {Op::erf, -3, 3, {}},
      {Op::erfc, -3, 5, {}},           {Op::erf_inv, -0.99, 0.99, {}},
      {Op::lgamma, 0.2, 9, {}},        {Op::polygamma, 0.5, 9, first},
      {Op::polygamma, 0.5, 9, second}, {Op::polygamma, 0.5, 9, fourth},
      {Op::cbrt, -5, 5, {}},           {Op::tan, -1.2, 1.2, {}},
      {Op::asin, -1, 1, {}},           {Op::acos, -1, 1, {}},
      {Op::atan, -9, 9, {}},           {Op::sinh, -3, 3, {}},
      {Op::cosh, -3, 3, {}},           {Op::asinh, -5, 5, {}},
      {Op::acosh, 1, 5, {}},           {Op::atanh, -0.9, 0.9, {}},
      {Op::floor, -4, 4, {}},          {Op::ceil, -4, 4, {}},
      {Op::round, -4, 4, {}},          {Op::round_away, -4, 4, {}}};
  for (const Domain& domain : domains) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      std::vector<double> x = numbers_of(random_tensor({DType::f64, {200}}, 1));
      for (double& one : x) one = domain.low + (domain.high - domain.low) * (one + 1) / 2;
      check_row(domain.op, {tensor({dtype, {200}}, x)}, domain.attributes, 2);
    }
  }
}

TEST_CASE("two-operand functions agree with the reference") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    const HostTensor x = random_tensor({dtype, {60}}, 1), y = random_tensor({dtype, {60}}, 2);
    check_row(Op::atan2, {x, y}, {}, 2);
    check_row(Op::remainder, {x, y}, {}, 2);
  }
  const HostTensor a = indices({4}, {7, -7, 5, -2147483648.0}), b = indices({4}, {3, 3, 0, -1});
  CHECK(numbers_of(run_kernel(Op::remainder, {a, b})[0]) == std::vector<double>{1, -1, 5, 0});
}

TEST_CASE("special functions have their known values") {
  CHECK(erf_inverse(0.5) == doctest::Approx(0.476936276204469873381418353643).epsilon(1e-15));
  CHECK(erf_inverse(1e-12) == doctest::Approx(8.86226925452758013649e-13).epsilon(1e-15));
  CHECK(erf_inverse(-1) == -inf);
  CHECK(std::isnan(erf_inverse(1.5)));
  CHECK(polygamma(0, 1) == doctest::Approx(-0.577215664901532860606512).epsilon(1e-14));
  CHECK(polygamma(0, -0.5) == doctest::Approx(0.0364899739785765205590).epsilon(1e-13));
  CHECK(polygamma(1, 1) == doctest::Approx(1.64493406684822643647).epsilon(1e-14));
  CHECK(polygamma(1, -0.5) == doctest::Approx(8.93480220054467930942).epsilon(1e-13));
  CHECK(std::isnan(polygamma(0, -3)));
  CHECK(log_gamma(0.5) == doctest::Approx(0.572364942924700087072).epsilon(1e-15));
}
