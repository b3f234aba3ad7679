#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "exec/element.h"
#include "exec/fourier.h"
#include "exec/initial.h"
#include "exec/numbers.h"
#include "exec/reduce_streams.h"

using namespace shard;
using namespace shard::test;

namespace {

using Dims = std::vector<std::int64_t>;

HostTensor pairs(const Shape& shape, const std::vector<double>& numbers) {
  return tensor({DType::c64, shape}, numbers);
}

Attributes transform(const char* kind, Dims lengths) {
  return {{"kind", std::string(kind)}, {"lengths", std::move(lengths)}};
}

void check_complex(Op op, const std::vector<HostTensor>& operands,
                   const Attributes& attributes = {}, double tolerance = 4 * 0x1p-23) {
  CAPTURE(def(op).name);
  CAPTURE(to_string(attributes));
  CHECK(distance(run_kernel(op, operands, attributes)[0],
                 run_reference_op(op, operands, attributes)[0]) <= tolerance);
}

/// The sum that defines the transform.
std::vector<std::complex<double>> plain_transform(const std::vector<std::complex<double>>& line) {
  std::vector<std::complex<double>> all;
  const auto count = static_cast<double>(line.size());
  for (std::size_t k = 0; k < line.size(); ++k) {
    std::complex<double> sum = 0;
    for (std::size_t j = 0; j < line.size(); ++j) {
      const auto turn = static_cast<double>(j * k % line.size()) / count;
      sum += line[j] * std::polar(1.0, -2 * std::numbers::pi * turn);
    }
    all.push_back(sum);
  }
  return all;
}

}  // namespace

TEST_CASE("complex numbers are taken apart and put together") {
  const HostTensor x = pairs({2}, {3, -4, 0, 2});
  CHECK(numbers_of(run_kernel(Op::real, {x})[0]) == std::vector<double>{3, 0});
  CHECK(numbers_of(run_kernel(Op::imag, {x})[0]) == std::vector<double>{-4, 2});
  CHECK(numbers_of(run_kernel(Op::abs, {x})[0]) == std::vector<double>{5, 2});
  CHECK(run_kernel(Op::conjugate, {x})[0] == pairs({2}, {3, 4, 0, -2}));
  const HostTensor re = tensor({DType::f32, {2}}, {3, 0}), im = tensor({DType::f32, {}}, {2});
  CHECK(run_kernel(Op::make_complex, {re, im})[0] == pairs({2}, {3, 2, 0, 2}));
}

TEST_CASE("complex numbers are multiplied and divided as such") {
  const HostTensor x = pairs({1}, {3, -4}), y = pairs({1}, {1, 2});
  CHECK(run_kernel(Op::multiply, {x, y})[0] == pairs({1}, {11, 2}));
  CHECK(run_kernel(Op::divide, {x, y})[0] == pairs({1}, {-1, -2}));
  CHECK(run_kernel(Op::shift, {x}, {{"value", 2.0}})[0] == pairs({1}, {5, -4}));
  CHECK(run_kernel(Op::scale, {x}, {{"value", 2.0}})[0] == pairs({1}, {6, -8}));
}

TEST_CASE("products of complex matrices agree with the reference in every form") {
  for (const auto& [m, k, n] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {3, 40, 5}, {40, 3, 50}, {64, 70, 48}, {2, 5, 300}}) {
    const HostTensor x = random_tensor({DType::c64, {m, k}}, 1);
    const HostTensor y = random_tensor({DType::c64, {k, n}}, 2);
    const HostTensor turned = random_tensor({DType::c64, {n, k}}, 3);
    check_complex(Op::dot, {x, y}, dot_attributes({}, {}, {1}, {0}), 1e-5);
    check_complex(Op::dot, {x, turned}, dot_attributes({}, {}, {1}, {1}), 1e-5);
  }
  const HostTensor x = random_tensor({DType::c64, {3, 4, 5}}, 1);
  const HostTensor y = random_tensor({DType::c64, {5, 3, 2}}, 2);
  check_complex(Op::dot, {x, y}, dot_attributes({0}, {1}, {2}, {0}), 1e-5);
}

TEST_CASE("what has an order is refused on complex numbers") {
  const std::vector<TensorType> one = {{DType::c64, {4}}},
                                two = {{DType::c64, {4}}, {DType::c64, {4}}};
  const auto mistake = [](Op op, const std::vector<TensorType>& types,
                          const Attributes& attributes) {
    return std::get<std::string>(def(op).shape_rule(types, attributes));
  };
  for (const Op op : {Op::maximum, Op::lt, Op::remainder}) {
    CHECK(mistake(op, two, {}) == "needs real numbers, not c64");
  }
  CHECK(mistake(Op::relu, one, {}) == "needs real numbers, not c64");
  CHECK(mistake(Op::reduce_max, one, {{"dims", Dims{0}}}) == "needs real numbers, not c64");
  CHECK(mistake(Op::argmax, one, {{"dim", std::int64_t{0}}}) == "needs real numbers, not c64");
  CHECK(mistake(Op::real, {{DType::f32, {4}}}, {}) == "needs c64, not f32");
  CHECK(mistake(Op::make_complex, two, {}) == "needs f32, not c64");
}

TEST_CASE("lines of every length are transformed as the defining sum says") {
  for (const std::size_t length :
       {1U, 2U, 3U, 4U, 5U, 6U, 8U, 12U, 13U, 16U, 17U, 30U, 34U, 60U, 97U, 128U, 210U, 289U}) {
    CAPTURE(length);
    std::vector<std::complex<double>> line;
    for (std::size_t i = 0; i < length; ++i) {
      line.emplace_back(std::cos(static_cast<double>(3 * i + 1)),
                        std::sin(static_cast<double>(i * i)));
    }
    const auto expected = plain_transform(line);
    const FourierLine fourier(length);
    std::vector<std::complex<double>> space(fourier.space()), out = line;
    fourier.run(out.data(), space.data(), false);
    double largest = 0;
    for (std::size_t i = 0; i < length; ++i)
      largest = std::max(largest, std::abs(out[i] - expected[i]));
    CHECK(largest < 1e-12 * static_cast<double>(length));
    fourier.run(out.data(), space.data(), true);
    largest = 0;
    for (std::size_t i = 0; i < length; ++i)
      largest = std::max(largest, std::abs(out[i] - line[i]));
    CHECK(largest < 1e-13 * static_cast<double>(length));
  }
}

TEST_CASE("a transform of four numbers by hand") {
  const HostTensor x = tensor({DType::f32, {4}}, {1, 2, 3, 4});
  CHECK(distance(run_kernel(Op::fft, {x}, transform("rfft", {4}))[0],
                 pairs({3}, {10, 0, -2, 2, -2, 0})) < 1e-7);
  CHECK(distance(
            run_kernel(Op::fft, {pairs({4}, {1, 0, 2, 0, 3, 0, 4, 0})}, transform("fft", {4}))[0],
            pairs({4}, {10, 0, -2, 2, -2, 0, -2, -2})) < 1e-7);
  CHECK(
      distance(run_kernel(Op::fft, {pairs({3}, {10, 0, -2, 2, -2, 0})}, transform("irfft", {4}))[0],
               x) < 1e-7);
}

TEST_CASE("transforms over some dims agree with the reference") {
  for (const auto& [shape, lengths] : {std::pair<Shape, Dims>{{3, 12}, {12}},
                                       {{2, 6, 10}, {6, 10}},
                                       {{3, 4, 7}, {3, 4, 7}},
                                       {{5, 17}, {17}},
                                       {{2, 1}, {1}}}) {
    check_complex(Op::fft, {random_tensor({DType::c64, shape}, 1)}, transform("fft", lengths),
                  1e-6);
    check_complex(Op::fft, {random_tensor({DType::c64, shape}, 2)}, transform("ifft", lengths),
                  1e-6);
    check_complex(Op::fft, {random_tensor({DType::f32, shape}, 3)}, transform("rfft", lengths),
                  1e-6);
    Shape half = shape;
    half.back() = shape.back() / 2 + 1;
    check_complex(Op::fft, {random_tensor({DType::c64, half}, 4)}, transform("irfft", lengths),
                  1e-6);
  }
}

TEST_CASE("transforms of other sizes than those of the array are refused") {
  const auto mistake = [](const TensorType& type, const Attributes& attributes) {
    return std::get<std::string>(def(Op::fft).shape_rule(std::vector{type}, attributes));
  };
  CHECK(mistake({DType::c64, {2, 5}}, transform("irfft", {7})) ==
        "dim 1 has 5 elements, a transform of length 7 takes 4");
  CHECK(mistake({DType::c64, {5}}, transform("fft", {5, 5})) ==
        "there is no transform over 2 of 1 dims");
  CHECK(mistake({DType::f32, {5}}, transform("fft", {5})) == "needs c64, not f32");
  CHECK(mistake({DType::c64, {5}}, transform("dct", {5})) == "there is no transform 'dct'");
  CHECK(mistake({DType::c64, {0}}, transform("fft", {0})) == "there is no transform of length 0");
}

TEST_CASE("sums and products over devices are of complex numbers") {
  const HostTensor x = pairs({2}, {1, 2, 3, 4}), y = pairs({2}, {0, 1, 1, -1});
  const auto reduced = [&](Reduction reduction) {
    HostTensor out = zeros(x.type);
    std::vector<const std::byte*> in = {x.bytes.data(), y.bytes.data()};
    std::vector<std::byte*> to = {out.bytes.data()};
    stream_reduction(reduction, DType::c64)({in, to}, 2);
    return numbers_of(out);
  };
  CHECK(reduced(Reduction::sum) == std::vector<double>{1, 3, 4, 3});
  CHECK(reduced(Reduction::prod) == std::vector<double>{-2, 1, 7, 1});
}

TEST_CASE("initial complex numbers share their deviation between both parts") {
  const HostTensor drawn = initial_tensor({"normal", 2.0}, {DType::c64, {20000}}, 3, "a");
  double real = 0, imag = 0;
  const std::vector<double> numbers = numbers_of(drawn);
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    real += numbers[i] * numbers[i];
    imag += numbers[i + 1] * numbers[i + 1];
  }
  CHECK(real / 20000 == doctest::Approx(2).epsilon(0.05));
  CHECK(imag / 20000 == doctest::Approx(2).epsilon(0.05));
  CHECK(numbers_of(initial_tensor({"ones", 0}, {DType::c64, {2}}, 3, "a")) ==
        std::vector<double>{1, 0, 1, 0});
}
