#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/extrema.h"
#include "exec/kernel.h"
#include "exec/simd.h"
#include "exec/special_functions.h"
#include "exec/whole_numbers.h"

namespace shard {
namespace {

using Number = double (*)(double, double);
using Integer = std::int64_t (*)(std::int64_t, std::int64_t);

/// What an elementwise op computes from its operands; the second is the attribute `value` for ops
/// that have one, unused for other one-operand ops. float32 takes the vector loop where there is
/// one, else the double function rounded once.
struct ElementwiseRow {
  Op op;
  UnaryLoop ElementwiseLoops::*unary;
  BinaryLoop ElementwiseLoops::*binary;
  Number number;
  Integer integer;  ///< nullptr: not for integers; may overflow into the bits cut off
};

std::int64_t wrapping(std::uint64_t x) { return static_cast<std::int64_t>(x); }
std::uint64_t bits_of(std::int64_t x) { return static_cast<std::uint64_t>(x); }

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double gelu(double x) {  // the tanh form (Hendrycks and Gimpel, 2016)
  const double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return 0.5 * x * (1.0 + std::tanh(c * (x + 0.044715 * x * x * x)));
}

std::int64_t divide_integers(std::int64_t a, std::int64_t b) {
  if (b == 0) return -1;  // as XLA defines it
  return b == -1 ? wrapping(0U - bits_of(a)) : a / b;
}

std::int64_t remainder_of_integers(std::int64_t a, std::int64_t b) {
  if (b == 0) return a;  // as XLA defines it
  return b == -1 ? 0 : a % b;
}

/// A function of one real number.
constexpr ElementwiseRow real_row(Op op, Number number) {
  return {op, nullptr, nullptr, number, nullptr};
}

using L = ElementwiseLoops;

constexpr std::array<ElementwiseRow, 50> rows = {{
    {Op::relu, &L::relu, nullptr, [](double x, double) { return x <= 0 ? 0.0 : x; },
     [](std::int64_t x, std::int64_t) { return std::max<std::int64_t>(x, 0); }},
    {Op::negate, &L::negate, nullptr, [](double x, double) { return -x; },
     [](std::int64_t x, std::int64_t) { return wrapping(0U - bits_of(x)); }},
    {Op::abs, &L::abs, nullptr, [](double x, double) { return std::fabs(x); },
     [](std::int64_t x, std::int64_t) { return x < 0 ? wrapping(0U - bits_of(x)) : x; }},
    {Op::square, &L::square, nullptr, [](double x, double) { return x * x; },
     [](std::int64_t x, std::int64_t) { return wrapping(bits_of(x) * bits_of(x)); }},
    {Op::sqrt, &L::sqrt, nullptr, [](double x, double) { return std::sqrt(x); }, nullptr},
    {Op::rsqrt, &L::rsqrt, nullptr, [](double x, double) { return 1.0 / std::sqrt(x); }, nullptr},
    {Op::exp, &L::exp, nullptr, [](double x, double) { return std::exp(x); }, nullptr},
    {Op::log, nullptr, nullptr, [](double x, double) { return std::log(x); }, nullptr},
    {Op::tanh, &L::tanh, nullptr, [](double x, double) { return std::tanh(x); }, nullptr},
    {Op::sigmoid, &L::sigmoid, nullptr, [](double x, double) { return sigmoid(x); }, nullptr},
    {Op::silu, &L::silu, nullptr, [](double x, double) { return x * sigmoid(x); }, nullptr},
    {Op::gelu, &L::gelu, nullptr, [](double x, double) { return gelu(x); }, nullptr},
    {Op::sin, nullptr, nullptr, [](double x, double) { return std::sin(x); }, nullptr},
    {Op::cos, nullptr, nullptr, [](double x, double) { return std::cos(x); }, nullptr},
    {Op::sign, nullptr, nullptr, [](double x, double) { return x > 0 ? 1.0 : (x < 0 ? -1.0 : x); },
     [](std::int64_t x, std::int64_t) { return std::int64_t{x > 0} - std::int64_t{x < 0}; }},
    {Op::add, nullptr, &L::add, [](double a, double b) { return a + b; },
     [](std::int64_t a, std::int64_t b) { return wrapping(bits_of(a) + bits_of(b)); }},
    {Op::subtract, nullptr, &L::subtract, [](double a, double b) { return a - b; },
     [](std::int64_t a, std::int64_t b) { return wrapping(bits_of(a) - bits_of(b)); }},
    {Op::multiply, nullptr, &L::multiply, [](double a, double b) { return a * b; },
     [](std::int64_t a, std::int64_t b) { return wrapping(bits_of(a) * bits_of(b)); }},
    {Op::divide, nullptr, &L::divide, [](double a, double b) { return a / b; }, divide_integers},
    {Op::maximum, nullptr, &L::maximum, larger_of<double>,
     [](std::int64_t a, std::int64_t b) { return std::max(a, b); }},
    {Op::minimum, nullptr, &L::minimum, smaller_of<double>,
     [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
    {Op::power, nullptr, nullptr, [](double a, double b) { return std::pow(a, b); }, nullptr},
    {Op::relu_grad, nullptr, &L::relu_grad, [](double y, double g) { return y > 0 ? g : 0.0; },
     [](std::int64_t y, std::int64_t g) { return y > 0 ? g : 0; }},
    {Op::equal_mask, nullptr, &L::equal_mask, [](double a, double b) { return a == b ? 1.0 : 0.0; },
     [](std::int64_t a, std::int64_t b) { return std::int64_t{a == b}; }},
    {Op::scale, &L::scale, nullptr, [](double x, double value) { return x * value; },
     [](std::int64_t x, std::int64_t value) { return wrapping(bits_of(x) * bits_of(value)); }},
    {Op::shift, &L::shift, nullptr, [](double x, double value) { return x + value; },
     [](std::int64_t x, std::int64_t value) { return wrapping(bits_of(x) + bits_of(value)); }},
    real_row(Op::expm1, [](double x, double) { return std::expm1(x); }),
    real_row(Op::log1p, [](double x, double) { return std::log1p(x); }),
    real_row(Op::exp2, [](double x, double) { return std::exp2(x); }),
    real_row(Op::erf, [](double x, double) { return std::erf(x); }),
    real_row(Op::erfc, [](double x, double) { return std::erfc(x); }),
    real_row(Op::erf_inv, [](double x, double) { return erf_inverse(x); }),
    real_row(Op::lgamma, [](double x, double) { return log_gamma(x); }),
    real_row(Op::polygamma,
             [](double x, double order) { return polygamma(static_cast<std::int64_t>(order), x); }),
    real_row(Op::cbrt, [](double x, double) { return std::cbrt(x); }),
    real_row(Op::tan, [](double x, double) { return std::tan(x); }),
    real_row(Op::asin, [](double x, double) { return std::asin(x); }),
    real_row(Op::acos, [](double x, double) { return std::acos(x); }),
    real_row(Op::atan, [](double x, double) { return std::atan(x); }),
    real_row(Op::sinh, [](double x, double) { return std::sinh(x); }),
    real_row(Op::cosh, [](double x, double) { return std::cosh(x); }),
    real_row(Op::asinh, [](double x, double) { return std::asinh(x); }),
    real_row(Op::acosh, [](double x, double) { return std::acosh(x); }),
    real_row(Op::atanh, [](double x, double) { return std::atanh(x); }),
    real_row(Op::floor, [](double x, double) { return std::floor(x); }),
    real_row(Op::ceil, [](double x, double) { return std::ceil(x); }),
    real_row(Op::round, [](double x, double) { return std::nearbyint(x); }),
    real_row(Op::round_away, [](double x, double) { return std::round(x); }),
    {Op::remainder, nullptr, nullptr, [](double x, double y) { return std::fmod(x, y); },
     remainder_of_integers},
    real_row(Op::atan2, [](double y, double x) { return std::atan2(y, x); }),
}};

const ElementwiseRow* row_of(Op op) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const ElementwiseRow& candidate) {
    return candidate.op == op;
  });
  return row == rows.end() ? nullptr : &*row;
}

struct ElementwisePlan {
  const ElementwiseRow* row = nullptr;
  DType dtype = DType::f32;
  std::size_t count = 0;
  std::array<bool, 2> is_scalar = {};
  std::size_t operands = 1;
  double value = 0;
};

constexpr std::size_t tile = 1024;
using Tile = std::array<float, tile>;

/// `count` elements from `start` of one operand as float32: in place where they are that already.
const float* load(const ElementwisePlan& plan, const KernelCall& call, std::size_t operand,
                  std::size_t start, std::size_t count, Tile& space) {
  const std::byte* data = call.operands[operand];
  if (plan.is_scalar[operand]) {
    float value = 0;
    widen_floats(plan.dtype, data, &value, 1);
    std::fill_n(space.begin(), count, value);
    return space.data();
  }
  if (plan.dtype == DType::f32) return reinterpret_cast<const float*>(data) + start;
  widen_floats(plan.dtype, data + start * 2, space.data(), count);
  return space.data();
}

void run_row(const ElementwisePlan& plan, const float* a, const float* b, float* out,
             std::size_t count) {
  if (plan.row->unary != nullptr) {
    (elementwise_loops().*plan.row->unary)(a, out, count, static_cast<float>(plan.value));
  } else if (plan.row->binary != nullptr) {
    (elementwise_loops().*plan.row->binary)(a, b, out, count);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const double second = plan.operands == 2 ? static_cast<double>(b[i]) : plan.value;
      out[i] = static_cast<float>(plan.row->number(static_cast<double>(a[i]), second));
    }
  }
}

void run_f32(const ElementwisePlan& plan, const KernelCall& call) {
  const bool is_direct = plan.dtype == DType::f32 && !plan.is_scalar[0] && !plan.is_scalar[1];
  const std::size_t step = is_direct ? plan.count : tile;
  Tile a_space, b_space, out_space;
  for (std::size_t start = 0; start < plan.count; start += step) {
    const std::size_t count = std::min(step, plan.count - start);
    const float* a = load(plan, call, 0, start, count, a_space);
    const float* b = plan.operands == 2 ? load(plan, call, 1, start, count, b_space) : a;
    if (plan.dtype == DType::f32) {
      run_row(plan, a, b, reinterpret_cast<float*>(call.results[0]) + start, count);
    } else {
      run_row(plan, a, b, out_space.data(), count);
      round_floats(out_space.data(), plan.dtype, call.results[0] + start * 2, count);
    }
  }
}

/// One element at a time: double for f64, 64-bit integers for the others.
template <class T, class Wide, class Function>
void run_plain(const ElementwisePlan& plan, Function function, const KernelCall& call) {
  const T* a = reinterpret_cast<const T*>(call.operands[0]);
  const T* b = plan.operands == 2 ? reinterpret_cast<const T*>(call.operands[1]) : nullptr;
  T* out = reinterpret_cast<T*>(call.results[0]);
  const T a0 = a[0];
  const Wide b0 = b != nullptr ? static_cast<Wide>(b[0]) : static_cast<Wide>(plan.value);
  for (std::size_t i = 0; i < plan.count; ++i) {
    const Wide x = static_cast<Wide>(plan.is_scalar[0] ? a0 : a[i]);
    const Wide y = b == nullptr || plan.is_scalar[1] ? b0 : static_cast<Wide>(b[i]);
    out[i] = static_cast<T>(function(x, y));
  }
}

template <class T>
Kernel integer_kernel(ElementwisePlan plan) {
  return
      [plan](const KernelCall& call) { run_plain<T, std::int64_t>(plan, plan.row->integer, call); };
}

/// Integers whose values 64 signed bits hold.
struct IntegerRow {
  DType dtype;
  Kernel (*make)(ElementwisePlan plan);
};
constexpr std::array<IntegerRow, 7> integer_rows = {{
    {DType::i32, integer_kernel<std::int32_t>},
    {DType::i64, integer_kernel<std::int64_t>},
    {DType::u32, integer_kernel<std::uint32_t>},
    {DType::i8, integer_kernel<std::int8_t>},
    {DType::i16, integer_kernel<std::int16_t>},
    {DType::u8, integer_kernel<std::uint8_t>},
    {DType::u16, integer_kernel<std::uint16_t>},
}};

/// Floats without a loop of their own: computed as doubles, rounded once.
Kernel small_float_kernel(ElementwisePlan plan) {
  return [plan](const KernelCall& call) {
    double* in[2] = {};
    for (std::size_t i = 0; i < plan.operands; ++i) {
      const std::size_t count = plan.is_scalar[i] ? 1 : plan.count;
      in[i] = call.scratch.take_array<double>(count);
      to_doubles(plan.dtype, call.operands[i], in[i], count);
    }
    double* out = call.scratch.take_array<double>(plan.count);
    for (std::size_t i = 0; i < plan.count; ++i) {
      const double second = plan.operands == 2 ? in[1][plan.is_scalar[1] ? 0 : i] : plan.value;
      out[i] = plan.row->number(in[0][plan.is_scalar[0] ? 0 : i], second);
    }
    from_doubles(out, plan.dtype, call.results[0], plan.count);
  };
}

ElementwisePlan plan_elementwise(const KernelSite& site) {
  ElementwisePlan plan;
  plan.row = row_of(site.op);
  SHARD_CHECK(plan.row != nullptr, "every elementwise op has a row");
  plan.dtype = site.results[0].dtype;
  plan.count = static_cast<std::size_t>(element_count(site.results[0].shape));
  plan.operands = site.operands.size();
  for (std::size_t i = 0; i < plan.operands; ++i) {
    plan.is_scalar[i] = plan.count > 1 && element_count(site.operands[i].shape) == 1;
  }
  if (site.attributes.has("value")) plan.value = site.attributes.number("value");
  if (site.attributes.has("order")) {
    plan.value = static_cast<double>(site.attributes.integer("order"));
  }
  return plan;
}

/// Tiles of `Wide` numbers between two dtypes.
template <class Wide, class Read, class Write>
Kernel convert_kernel(DType from, DType to, std::size_t count, Read read, Write write) {
  const std::size_t from_bytes = static_cast<std::size_t>(info(from).bytes);
  const std::size_t to_bytes = static_cast<std::size_t>(info(to).bytes);
  return [=](const KernelCall& call) {
    std::array<Wide, tile> space;
    for (std::size_t start = 0; start < count; start += tile) {
      const std::size_t n = std::min(tile, count - start);
      read(call.operands[0] + start * from_bytes, space.data(), n);
      write(space.data(), call.results[0] + start * to_bytes, n);
    }
  };
}

}  // namespace

KernelResult make_elementwise(const KernelSite& site) {
  if (has_complex(site)) return make_complex_elementwise(site);
  const ElementwisePlan plan = plan_elementwise(site);
  if (computes_in_f32(plan.dtype)) {
    return [plan](const KernelCall& call) { run_f32(plan, call); };
  }
  if (plan.dtype == DType::f64) {
    return
        [plan](const KernelCall& call) { run_plain<double, double>(plan, plan.row->number, call); };
  }
  if (info(plan.dtype).is_float) return small_float_kernel(plan);
  const auto integer = std::find_if(integer_rows.begin(), integer_rows.end(),
                                    [&](const IntegerRow& r) { return r.dtype == plan.dtype; });
  if (plan.row->integer == nullptr || integer == integer_rows.end()) return describe(site);
  return integer->make(plan);
}

KernelResult make_convert(const KernelSite& site) {
  const DType from = site.operands[0].dtype, to = site.results[0].dtype;
  const std::size_t count = static_cast<std::size_t>(element_count(site.results[0].shape));
  if (from == to) return copy_kernel(count * static_cast<std::size_t>(info(from).bytes));
  if (has_complex(site)) return make_complex_elementwise(site);
  if (computes_in_f32(from) && to == DType::boolean) {
    return [from, count](const KernelCall& call) {
      std::array<float, tile> space;
      bool* out = reinterpret_cast<bool*>(call.results[0]);
      const std::size_t width = static_cast<std::size_t>(info(from).bytes);
      for (std::size_t start = 0; start < count; start += tile) {
        const std::size_t n = std::min(tile, count - start);
        widen_floats(from, call.operands[0] + start * width, space.data(), n);
        // Subnormal numbers are false, as XLA has it on processors that flush them to zero.
        for (std::size_t i = 0; i < n; ++i) {
          out[start + i] = !(std::fabs(space[i]) < std::numeric_limits<float>::min());
        }
      }
    };
  }
  if (computes_in_f32(from) && computes_in_f32(to)) {
    return convert_kernel<float>(
        from, to, count,
        [from](const std::byte* data, float* wide, std::size_t n) {
          widen_floats(from, data, wide, n);
        },
        [to](const float* wide, std::byte* data, std::size_t n) {
          round_floats(wide, to, data, n);
        });
  }
  if (!info(from).is_float && !info(to).is_float) {  // integers wrap among themselves
    return convert_kernel<std::int64_t>(
        from, to, count,
        [from](const std::byte* data, std::int64_t* wide, std::size_t n) {
          to_integers(from, data, wide, n);
        },
        [to](const std::int64_t* wide, std::byte* data, std::size_t n) {
          from_integers(wide, to, data, n);
        });
  }
  return convert_kernel<double>(
      from, to, count,
      [from](const std::byte* data, double* wide, std::size_t n) {
        to_doubles(from, data, wide, n);
      },
      [to](const double* wide, std::byte* data, std::size_t n) {
        from_doubles(wide, to, data, n);
      });
}

}  // namespace shard
