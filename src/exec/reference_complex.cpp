// Complex numbers in the reference: real and imaginary part of each element stand side by side.
// What only moves or adds elements is done with all real parts, then with all imaginary parts.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "exec/reference_rows.h"
#include "ops/complex_ops.h"

namespace shard::reference {
namespace {

using Call = ReferenceCall;
using Complex = std::complex<double>;

bool is_complex(const DoubleArray& array) { return info(array.type.dtype).is_complex; }

std::vector<Complex> complex_values(const DoubleArray& array) {
  std::vector<Complex> values;
  const std::size_t step = is_complex(array) ? 2 : 1;
  for (std::size_t i = 0; i < array.values.size(); i += step) {
    values.emplace_back(array.values[i], step == 2 ? array.values[i + 1] : 0.0);
  }
  return values;
}

/// Into an array of any dtype; of real numbers the real part.
void set_values(DoubleArray& array, const std::vector<Complex>& values) {
  const std::size_t step = is_complex(array) ? 2 : 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    array.values[i * step] = values[i].real();
    if (step == 2) array.values[i * step + 1] = values[i].imag();
  }
}

template <class F>
void each_complex(const Call& call, F of) {
  const std::vector<Complex> a = complex_values(*call.operands.front());
  const std::vector<Complex> b = complex_values(*call.operands.back());
  const std::size_t step = is_complex(call.results[0]) ? 2 : 1;
  std::vector<Complex> out(call.results[0].values.size() / step);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = of(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  }
  set_values(call.results[0], out);
}

template <class F>
void map_complex(const Call& call, F of) {
  each_complex(call, [&](Complex x, Complex) { return of(x); });
}

void complex_multiply(const Call& c) {
  each_complex(c, [](Complex x, Complex y) { return x * y; });
}
void complex_divide(const Call& c) {
  each_complex(c, [](Complex x, Complex y) { return x / y; });
}
void complex_square(const Call& c) {
  map_complex(c, [](Complex x) { return x * x; });
}
void complex_sqrt(const Call& c) {
  map_complex(c, [](Complex x) { return std::sqrt(x); });
}
void complex_exp(const Call& c) {
  map_complex(c, [](Complex x) { return std::exp(x); });
}
void complex_log(const Call& c) {
  map_complex(c, [](Complex x) { return std::log(x); });
}
void complex_tanh(const Call& c) {
  map_complex(c, [](Complex x) { return std::tanh(x); });
}
void complex_sin(const Call& c) {
  map_complex(c, [](Complex x) { return std::sin(x); });
}
void complex_cos(const Call& c) {
  map_complex(c, [](Complex x) { return std::cos(x); });
}
void magnitude(const Call& c) {
  map_complex(c, [](Complex x) { return Complex(std::abs(x)); });
}
void complex_equal(const Call& c) {
  each_complex(c, [](Complex x, Complex y) { return Complex(x == y ? 1 : 0); });
}
void complex_differ(const Call& c) {
  each_complex(c, [](Complex x, Complex y) { return Complex(x == y ? 0 : 1); });
}
void complex_shift(const Call& c) {
  const double value = c.attributes.number("value");
  map_complex(c, [&](Complex x) { return x + value; });
}
void complex_convert(const Call& c) {  // to real numbers: the real part, rounded as those are
  DoubleArray part{{DType::f32, c.operands[0]->type.shape}, {}};
  for (const Complex& x : complex_values(*c.operands[0])) part.values.push_back(x.real());
  if (is_complex(c.results[0])) {
    return map_complex(c, [](Complex x) {
      return Complex(static_cast<float>(x.real()), static_cast<float>(x.imag()));
    });
  }
  evaluate(Op::convert, {c.attributes, {std::make_shared<const DoubleArray>(part)}, c.results});
}
void complex_constant(const Call& c) {
  const std::vector<Complex> values(c.results[0].values.size() / 2, c.attributes.number("value"));
  set_values(c.results[0], values);
}
void complex_product(const Call& c) {
  const std::vector<std::int64_t>& dims = c.attributes.integers("dims");
  const Shape& shape = c.shape(0);
  const std::vector<Complex> in = complex_values(*c.operands[0]);
  std::vector<Complex> out(c.results[0].values.size() / 2, 1.0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::size_t rest = i, at = 0, stride = 1;
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      const auto size = static_cast<std::size_t>(shape[dim]);
      const bool is_kept =
          std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(dim)) == dims.end();
      if (is_kept) {
        at += rest % size * stride;
        stride *= size;
      }
      rest /= size;
    }
    out[at] *= in[i];
  }
  set_values(c.results[0], out);
}

/// A part of each complex array, as real numbers.
std::shared_ptr<const DoubleArray> plane_of(const std::shared_ptr<const DoubleArray>& array,
                                            std::size_t plane) {
  if (!is_complex(*array)) return array;
  auto part = std::make_shared<DoubleArray>(DoubleArray{{DType::f32, array->type.shape}, {}});
  for (std::size_t i = plane; i < array->values.size(); i += 2) {
    part->values.push_back(array->values[i]);
  }
  return part;
}

/// The op on one part of every operand.
std::vector<DoubleArray> evaluated_plane(Op op, const Attributes& attributes, const Call& call,
                                         const std::vector<std::size_t>& planes) {
  std::vector<std::shared_ptr<const DoubleArray>> operands;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    operands.push_back(plane_of(call.operands[i], planes[std::min(i, planes.size() - 1)]));
  }
  std::vector<DoubleArray> results;
  for (const DoubleArray& result : call.results) {
    const std::size_t count = result.values.size() / (is_complex(result) ? 2 : 1);
    results.push_back({{is_complex(result) ? DType::f32 : result.type.dtype, result.type.shape},
                       std::vector<double>(count, 0.0)});
  }
  evaluate(op, {attributes, operands, results});
  return results;
}

void each_plane(Op op, const Call& call) {
  for (std::size_t plane : {0U, 1U}) {
    Attributes attributes = call.attributes;
    if (plane == 1 && op == Op::gather) attributes.set("fill", 0.0);  // what is nowhere is real
    const std::vector<DoubleArray> parts = evaluated_plane(op, attributes, call, {plane});
    for (std::size_t r = 0; r < parts.size(); ++r) {
      DoubleArray& result = call.results[r];
      if (!is_complex(result)) {
        result.values = parts[r].values;
        continue;
      }
      for (std::size_t i = 0; i < parts[r].values.size(); ++i) {
        result.values[2 * i + plane] = parts[r].values[i];
      }
    }
  }
}

/// Four real products.
void complex_dot(const Call& call) {
  const auto part = [&](std::size_t left, std::size_t right) {
    return evaluated_plane(Op::dot, call.attributes, call, {left, right})[0].values;
  };
  const std::vector<double> rr = part(0, 0), ii = part(1, 1), ri = part(0, 1), ir = part(1, 0);
  for (std::size_t i = 0; i < rr.size(); ++i) {
    call.results[0].values[2 * i] = rr[i] - ii[i];
    call.results[0].values[2 * i + 1] = ri[i] + ir[i];
  }
}

void interleave(const Call& c) {
  each_complex(c, [](Complex x, Complex y) { return Complex(x.real(), y.real()); });
}
void real_part(const Call& c) {
  map_complex(c, [](Complex x) { return Complex(x.real()); });
}
void imaginary_part(const Call& c) {
  map_complex(c, [](Complex x) { return Complex(x.imag()); });
}
void conjugate(const Call& c) {
  map_complex(c, [](Complex x) { return std::conj(x); });
}

/// Numbers of a shape, transformed along one dim after the other by the sum that defines it.
struct PlainTransform {
  std::vector<Complex> values;
  Shape shape;

  std::size_t stride(std::size_t dim) const {
    return static_cast<std::size_t>(element_count(std::span(shape).subspan(dim + 1)));
  }

  void run(std::size_t dim, bool is_inverse) {
    const auto count = static_cast<std::size_t>(shape[dim]);
    std::vector<Complex> roots;
    for (std::size_t k = 0; k < count; ++k) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(count);
      roots.push_back(std::polar(1.0, is_inverse ? angle : -angle));
    }
    const std::vector<Complex> in = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t k = i / stride(dim) % count, first = i - k * stride(dim);
      Complex sum = 0;
      for (std::size_t j = 0; j < count; ++j)
        sum += in[first + j * stride(dim)] * roots[j * k % count];
      values[i] = is_inverse ? sum / static_cast<double>(count) : sum;
    }
  }

  /// The last dim with `count` numbers: cut, or with the conjugates of the first half behind it.
  PlainTransform with_last(std::int64_t count) const {
    PlainTransform made{{}, shape};
    made.shape.back() = count;
    const std::int64_t own = shape.back();
    for (std::int64_t i = 0; i < element_count(made.shape); ++i) {
      const std::int64_t line = i / count * own, at = i % count;
      const auto from = static_cast<std::size_t>(line + (at < own ? at : count - at));
      made.values.push_back(at < own ? values[from] : std::conj(values[from]));
    }
    return made;
  }
};

void plain_fft(const Call& call) {
  const FftKind kind = *fft_kind(call.attributes.text("kind"));
  const std::vector<std::int64_t>& lengths = call.attributes.integers("lengths");
  PlainTransform all{complex_values(*call.operands[0]), call.shape(0)};
  const std::size_t rank = all.shape.size(), first = rank - lengths.size();
  if (kind.gives_real) {
    for (std::size_t dim = first; dim + 1 < rank; ++dim) all.run(dim, true);
    const std::int64_t half = all.shape.back();
    for (std::size_t i = 0; i < all.values.size(); ++i) {  // these are their own mirror images
      const auto at = static_cast<std::int64_t>(i) % half;
      if (at == 0 || 2 * at == lengths.back()) all.values[i] = all.values[i].real();
    }
    all = all.with_last(lengths.back());
    all.run(rank - 1, true);
    return set_values(call.results[0], all.values);
  }
  for (std::size_t dim = first; dim < rank; ++dim) all.run(dim, kind.is_inverse);
  set_values(call.results[0], all.with_last(call.results[0].type.shape.back()).values);
}

struct ComplexReferenceRow {
  Op op;
  void (*evaluate)(const Call&);
};

constexpr std::array<ComplexReferenceRow, 23> complex_reference_rows = {{
    {Op::dot, complex_dot},
    {Op::abs, magnitude},
    {Op::square, complex_square},
    {Op::sqrt, complex_sqrt},
    {Op::exp, complex_exp},
    {Op::log, complex_log},
    {Op::tanh, complex_tanh},
    {Op::sin, complex_sin},
    {Op::cos, complex_cos},
    {Op::convert, complex_convert},
    {Op::multiply, complex_multiply},
    {Op::divide, complex_divide},
    {Op::equal_mask, complex_equal},
    {Op::shift, complex_shift},
    {Op::eq, complex_equal},
    {Op::ne, complex_differ},
    {Op::reduce_prod, complex_product},
    {Op::constant, complex_constant},
    {Op::make_complex, interleave},
    {Op::real, real_part},
    {Op::imag, imaginary_part},
    {Op::conjugate, conjugate},
    {Op::fft, plain_fft},
}};

}  // namespace

void evaluate_complex(Op op, const ReferenceCall& call) {
  const auto row = std::find_if(complex_reference_rows.begin(), complex_reference_rows.end(),
                                [&](const ComplexReferenceRow& r) { return r.op == op; });
  if (row == complex_reference_rows.end()) return each_plane(op, call);
  row->evaluate(call);
}

}  // namespace shard::reference
