// Kernels of complex numbers. They are pairs of float32, computed with in double and rounded once.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "base/check.h"
#include "exec/element.h"
#include "exec/kernel.h"

namespace shard {
namespace {

using Complex = std::complex<double>;

/// The second is the other operand, or the attribute `value`.
struct ComplexRow {
  Op op;
  Complex (*of)(Complex, Complex);
};

Complex product_of_complex(Complex x, Complex y) {  // no second look at infinities and NaN
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

Complex quotient_of_complex(Complex x, Complex y) {  // squares of float32 fit in a double
  const double size = y.real() * y.real() + y.imag() * y.imag();
  const Complex top = product_of_complex(x, std::conj(y));
  return {top.real() / size, top.imag() / size};
}

constexpr std::array<ComplexRow, 23> complex_rows = {{
    {Op::negate, [](Complex x, Complex) { return -x; }},
    {Op::abs, [](Complex x, Complex) { return Complex(std::hypot(x.real(), x.imag())); }},
    {Op::square, [](Complex x, Complex) { return product_of_complex(x, x); }},
    {Op::sqrt, [](Complex x, Complex) { return std::sqrt(x); }},
    {Op::exp, [](Complex x, Complex) { return std::exp(x); }},
    {Op::log, [](Complex x, Complex) { return std::log(x); }},
    {Op::tanh, [](Complex x, Complex) { return std::tanh(x); }},
    {Op::sin, [](Complex x, Complex) { return std::sin(x); }},
    {Op::cos, [](Complex x, Complex) { return std::cos(x); }},
    {Op::convert, [](Complex x, Complex) { return x; }},
    {Op::add, [](Complex x, Complex y) { return x + y; }},
    {Op::subtract, [](Complex x, Complex y) { return x - y; }},
    {Op::multiply, product_of_complex},
    {Op::divide, quotient_of_complex},
    {Op::equal_mask, [](Complex x, Complex y) { return Complex(x == y ? 1 : 0); }},
    {Op::scale,
     [](Complex x, Complex y) { return Complex(x.real() * y.real(), x.imag() * y.real()); }},
    {Op::shift, [](Complex x, Complex y) { return x + y.real(); }},
    {Op::eq, [](Complex x, Complex y) { return Complex(x == y ? 1 : 0); }},
    {Op::ne, [](Complex x, Complex y) { return Complex(x != y ? 1 : 0); }},
    {Op::make_complex, [](Complex x, Complex y) { return Complex(x.real(), y.real()); }},
    {Op::real, [](Complex x, Complex) { return Complex(x.real()); }},
    {Op::imag, [](Complex x, Complex) { return Complex(x.imag()); }},
    {Op::conjugate, [](Complex x, Complex) { return std::conj(x); }},
}};

constexpr std::size_t complex_tile = 256;
using ComplexTile = std::array<Complex, complex_tile>;

/// Elements of any dtype as complex numbers; of complex ones as others the real part.
void load_complex(DType dtype, const std::byte* from, std::size_t start, std::size_t count,
                  ComplexTile& to) {
  const std::byte* data = from + start * static_cast<std::size_t>(info(dtype).bytes);
  if (info(dtype).is_complex)
    return to_doubles(dtype, data, reinterpret_cast<double*>(to.data()), 2 * count);
  std::array<double, complex_tile> numbers;
  to_doubles(dtype, data, numbers.data(), count);
  for (std::size_t i = 0; i < count; ++i) to[i] = numbers[i];
}

void store_complex(const ComplexTile& from, DType dtype, std::byte* to, std::size_t start,
                   std::size_t count) {
  std::byte* data = to + start * static_cast<std::size_t>(info(dtype).bytes);
  if (info(dtype).is_complex) {
    return from_doubles(reinterpret_cast<const double*>(from.data()), dtype, data, 2 * count);
  }
  std::array<double, complex_tile> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers[i] = from[i].real();
  from_doubles(numbers.data(), dtype, data, count);
}

struct ComplexOperand {
  DType dtype = DType::c64;
  bool is_scalar = false;

  void load(const std::byte* from, std::size_t start, std::size_t count, ComplexTile& to) const {
    load_complex(dtype, from, is_scalar ? 0 : start, is_scalar ? 1 : count, to);
    if (is_scalar) std::fill_n(to.begin() + 1, count - 1, to[0]);
  }
};

std::vector<ComplexOperand> complex_operands(const KernelSite& site) {
  const std::int64_t count = element_count(site.results[0].shape);
  std::vector<ComplexOperand> operands;
  for (const TensorType& type : site.operands) {
    operands.push_back({type.dtype, count > 1 && type.rank() == 0});
  }
  return operands;
}

}  // namespace

bool has_complex(const KernelSite& site) {
  const auto is_complex = [](const TensorType& type) { return info(type.dtype).is_complex; };
  return std::any_of(site.operands.begin(), site.operands.end(), is_complex) ||
         std::any_of(site.results.begin(), site.results.end(), is_complex);
}

KernelResult make_complex_elementwise(const KernelSite& site) {
  const auto row = std::find_if(complex_rows.begin(), complex_rows.end(),
                                [&](const ComplexRow& r) { return r.op == site.op; });
  if (row == complex_rows.end()) return describe(site);
  const double value = site.attributes.has("value") ? site.attributes.number("value") : 0;
  const auto total = static_cast<std::size_t>(element_count(site.results[0].shape));
  return [of = row->of, value, total, operands = complex_operands(site),
          dtype = site.results[0].dtype](const KernelCall& call) {
    ComplexTile x, y;
    y.fill(value);
    for (std::size_t start = 0; start < total; start += complex_tile) {
      const std::size_t count = std::min(complex_tile, total - start);
      operands[0].load(call.operands[0], start, count, x);
      if (operands.size() > 1) operands[1].load(call.operands[1], start, count, y);
      for (std::size_t i = 0; i < count; ++i) x[i] = of(x[i], y[i]);
      store_complex(x, dtype, call.results[0], start, count);
    }
  };
}

KernelSite in_pairs(KernelSite site) {
  SHARD_CHECK(has_complex(site), "complex numbers are pairs");
  if (site.attributes.has("window_dims")) {
    std::vector<std::int64_t> window = site.attributes.integers("window_dims");
    window.push_back(site.operands.back().rank());
    site.attributes.set("window_dims", std::move(window));
  }
  for (std::vector<TensorType>* side : {&site.operands, &site.results}) {
    for (TensorType& type : *side) {
      if (!info(type.dtype).is_complex) continue;
      type.dtype = DType::f32;
      type.shape.push_back(2);
    }
  }
  return site;
}

}  // namespace shard
