#include "exec/reference_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "exec/element.h"
#include "exec/reference_rows.h"
#include "ops/custom_call.h"

namespace shard {
namespace {

using Call = ReferenceCall;
using Dims = std::vector<std::int64_t>;

// Elementwise: `f(a, b)` on every element; scalars go with anything.

template <class F>
void each(const Call& call, F f) {
  std::vector<double>& out = call.results[0].values;
  const std::vector<double>& a = call.values(0);
  const std::vector<double>& b = call.values(call.operands.size() - 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = f(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  }
}

template <class F>
void map(const Call& call, F f) {
  each(call, [&](double x, double) { return f(x); });
}

void relu(const Call& c) {
  map(c, [](double x) { return x <= 0 ? 0 : x; });
}
void negate(const Call& c) {
  map(c, [](double x) { return -x; });
}
void absolute(const Call& c) {
  map(c, [](double x) { return std::fabs(x); });
}
void square(const Call& c) {
  map(c, [](double x) { return x * x; });
}
void square_root(const Call& c) {
  map(c, [](double x) { return std::sqrt(x); });
}
void rsqrt(const Call& c) {
  map(c, [](double x) { return 1 / std::sqrt(x); });
}
void exponential(const Call& c) {
  map(c, [](double x) { return std::exp(x); });
}
void logarithm(const Call& c) {
  map(c, [](double x) { return std::log(x); });
}
void hyperbolic_tangent(const Call& c) {
  map(c, [](double x) { return std::tanh(x); });
}
void sigmoid(const Call& c) {
  map(c, [](double x) { return 1 / (1 + std::exp(-x)); });
}
void silu(const Call& c) {
  map(c, [](double x) { return x / (1 + std::exp(-x)); });
}
void gelu(const Call& c) {  // by tanh; 0.797884... is sqrt(2 / pi)
  map(c, [](double x) {
    return x / 2 * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * std::pow(x, 3))));
  });
}
void sine(const Call& c) {
  map(c, [](double x) { return std::sin(x); });
}
void cosine(const Call& c) {
  map(c, [](double x) { return std::cos(x); });
}
void sign(const Call& c) {
  map(c, [](double x) { return x > 0 ? 1 : x < 0 ? -1 : x; });
}
void convert(const Call& c) {  // rounds: that is what the op means
  const DType to = c.results[0].type.dtype;
  const bool is_whole = !info(c.operands[0]->type.dtype).is_float && !info(to).is_float;
  if (is_whole && to != DType::boolean) {  // integers wrap, which `evaluate` does
    c.results[0].values = c.values(0);
    return;
  }
  const DType from = c.operands[0]->type.dtype;
  if (to == DType::boolean && computes_in_f32(from)) {  // a subnormal float32 is false
    const double smallest = 0x1p-126;
    for (std::size_t i = 0; i < c.values(0).size(); ++i) {
      c.results[0].values[i] = std::fabs(c.values(0)[i]) < smallest ? 0 : 1;
    }
    return;
  }
  std::vector<std::byte> rounded(static_cast<std::size_t>(bytes_of(c.results[0].type).count()));
  from_doubles(c.values(0).data(), to, rounded.data(), c.values(0).size());
  to_doubles(to, rounded.data(), c.results[0].values.data(), c.values(0).size());
}
void add(const Call& c) {
  each(c, [](double a, double b) { return a + b; });
}
void subtract(const Call& c) {
  each(c, [](double a, double b) { return a - b; });
}
void multiply(const Call& c) {
  each(c, [](double a, double b) { return a * b; });
}
void divide(const Call& c) {
  if (info(c.results[0].type.dtype).is_float) {
    return each(c, [](double a, double b) { return a / b; });
  }
  each(c, [](double a, double b) { return b == 0 ? -1 : std::trunc(a / b); });
}
void maximum(const Call& c) {
  each(c, [](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::nan("");
    return a == b && std::signbit(a) ? b : std::max(a, b);  // of 0 and -0 the 0
  });
}
void minimum(const Call& c) {
  each(c, [](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::nan("");
    return a == b && std::signbit(b) ? b : std::min(a, b);
  });
}
void power(const Call& c) {
  each(c, [](double a, double b) { return std::pow(a, b); });
}
void relu_grad(const Call& c) {
  each(c, [](double y, double g) { return y > 0 ? g : 0; });
}
void equal_mask(const Call& c) {
  each(c, [](double a, double b) { return a == b ? 1 : 0; });
}
void scale(const Call& c) {
  const double value = c.attributes.number("value");
  map(c, [&](double x) { return x * value; });
}
void shift(const Call& c) {
  const double value = c.attributes.number("value");
  map(c, [&](double x) { return x + value; });
}

// Structure: walk one array's index space and compute positions in the other.

Dims strides_of(const Shape& shape) {
  Dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Position of every element of `shape`, in order, in an array whose stride along dim i is
/// `strides[i]`.
std::vector<std::int64_t> positions(const Shape& shape, const Dims& strides) {
  std::vector<std::int64_t> all = {0};
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<std::int64_t> next;
    next.reserve(all.size() * static_cast<std::size_t>(shape[dim]));
    for (const std::int64_t base : all) {
      for (std::int64_t i = 0; i < shape[dim]; ++i) next.push_back(base + i * strides[dim]);
    }
    all = std::move(next);
  }
  return all;
}

bool contains(const Dims& dims, std::size_t dim) {
  return std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(dim)) != dims.end();
}

/// Offsets of all index combinations of the chosen dims of an array.
std::vector<std::int64_t> offsets(const Shape& shape, const Dims& dims) {
  const Dims all = strides_of(shape);
  Shape sizes;
  Dims strides;
  for (const std::int64_t dim : dims) {
    sizes.push_back(shape[static_cast<std::size_t>(dim)]);
    strides.push_back(all[static_cast<std::size_t>(dim)]);
  }
  return positions(sizes, strides);
}

Dims other_dims(const Shape& shape, const Dims& a, const Dims& b) {
  Dims others;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (!contains(a, dim) && !contains(b, dim)) others.push_back(static_cast<std::int64_t>(dim));
  }
  return others;
}

/// out[batch, i, j] = sum over k of lhs[batch, i, k] * rhs[batch, k, j].
void dot(const Call& c) {
  const Dims& lhs_batch = c.attributes.integers("lhs_batch");
  const Dims& rhs_batch = c.attributes.integers("rhs_batch");
  const Dims& lhs_contract = c.attributes.integers("lhs_contract");
  const Dims& rhs_contract = c.attributes.integers("rhs_contract");
  const auto lb = offsets(c.shape(0), lhs_batch), rb = offsets(c.shape(1), rhs_batch);
  const auto lk = offsets(c.shape(0), lhs_contract), rk = offsets(c.shape(1), rhs_contract);
  const auto li = offsets(c.shape(0), other_dims(c.shape(0), lhs_batch, lhs_contract));
  const auto rj = offsets(c.shape(1), other_dims(c.shape(1), rhs_batch, rhs_contract));
  const std::vector<double>&lhs = c.values(0), &rhs = c.values(1);
  std::vector<double> row(rj.size());
  for (std::size_t batch = 0; batch < lb.size(); ++batch) {
    double* const out = c.results[0].values.data() + batch * li.size() * rj.size();
    for (std::size_t k = 0; k < lk.size(); ++k) {
      const double* from = rhs.data() + rb[batch] + rk[k];
      for (std::size_t j = 0; j < rj.size(); ++j) row[j] = from[rj[j]];
      for (std::size_t i = 0; i < li.size(); ++i) {
        const double x = lhs[static_cast<std::size_t>(lb[batch] + li[i] + lk[k])];
        double* const sums = out + i * rj.size();
        for (std::size_t j = 0; j < row.size(); ++j) sums[j] += x * row[j];
      }
    }
  }
}

template <class F>
void reduce(const Call& c, double start, F combine) {
  const Dims& dims = c.attributes.integers("dims");
  const auto kept = offsets(c.shape(0), other_dims(c.shape(0), dims, {}));
  const auto gone = offsets(c.shape(0), dims);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    double all = start;
    for (const std::int64_t offset : gone) {
      all = combine(all, c.values(0)[static_cast<std::size_t>(kept[i] + offset)]);
    }
    c.results[0].values[i] = all;
  }
}

constexpr double infinity = std::numeric_limits<double>::infinity();

void reduce_sum(const Call& c) {
  reduce(c, 0, [](double a, double b) { return a + b; });
}
void reduce_max(const Call& c) {
  reduce(c, -infinity, [](double a, double b) {
    return std::isnan(b) || b > a || (a == b && std::signbit(a)) ? b : a;
  });
}
void reduce_min(const Call& c) {
  reduce(c, infinity, [](double a, double b) {
    return std::isnan(b) || b < a || (a == b && std::signbit(b)) ? b : a;
  });
}
void reduce_prod(const Call& c) {
  reduce(c, 1, [](double a, double b) { return a * b; });
}

void constrain(const Call& c) { c.results[0].values = c.values(0); }

void transpose(const Call& c) {
  const auto from = offsets(c.shape(0), c.attributes.integers("order"));
  for (std::size_t i = 0; i < from.size(); ++i) {
    c.results[0].values[i] = c.values(0)[static_cast<std::size_t>(from[i])];
  }
}

void broadcast(const Call& c) {
  const Dims& dims = c.attributes.integers("dims");
  const Dims own = strides_of(c.shape(0));
  Dims strides(c.results[0].type.shape.size(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (c.shape(0)[i] != 1) strides[static_cast<std::size_t>(dims[i])] = own[i];
  }
  const auto from = positions(c.results[0].type.shape, strides);
  for (std::size_t i = 0; i < from.size(); ++i) {
    c.results[0].values[i] = c.values(0)[static_cast<std::size_t>(from[i])];
  }
}

void constant(const Call& c) {
  std::fill(c.results[0].values.begin(), c.results[0].values.end(), c.attributes.number("value"));
}

void custom_call(const Call& c) {
  const std::vector<TensorType> results = {c.results[0].type};
  const std::optional<CallMeaning> meaning = meaning_of_call(c.attributes, results);
  SHARD_CHECK(meaning.has_value(), "a call that is run stands for an op");
  evaluate(meaning->op, {meaning->attributes, c.operands, c.results});
}

struct ReferenceRow {
  Op op;
  void (*evaluate)(const Call&);
};

constexpr std::array<ReferenceRow, static_cast<std::size_t>(Op::count_)> rows = {{
    {Op::dot, dot},
    {Op::ragged_dot, reference::ragged_dot},
    {Op::ragged_outer, reference::ragged_outer},
    {Op::relu, relu},
    {Op::negate, negate},
    {Op::abs, absolute},
    {Op::square, square},
    {Op::sqrt, square_root},
    {Op::rsqrt, rsqrt},
    {Op::exp, exponential},
    {Op::log, logarithm},
    {Op::tanh, hyperbolic_tangent},
    {Op::sigmoid, sigmoid},
    {Op::silu, silu},
    {Op::gelu, gelu},
    {Op::sin, sine},
    {Op::cos, cosine},
    {Op::sign, sign},
    {Op::convert, convert},
    {Op::add, add},
    {Op::subtract, subtract},
    {Op::multiply, multiply},
    {Op::divide, divide},
    {Op::maximum, maximum},
    {Op::minimum, minimum},
    {Op::power, power},
    {Op::relu_grad, relu_grad},
    {Op::equal_mask, equal_mask},
    {Op::scale, scale},
    {Op::shift, shift},
    {Op::expm1, reference::expm1},
    {Op::log1p, reference::log1p},
    {Op::exp2, reference::exp2},
    {Op::erf, reference::erf},
    {Op::erfc, reference::erfc},
    {Op::erf_inv, reference::erf_inv},
    {Op::lgamma, reference::lgamma},
    {Op::polygamma, reference::polygamma},
    {Op::cbrt, reference::cbrt},
    {Op::tan, reference::tan},
    {Op::asin, reference::asin},
    {Op::acos, reference::acos},
    {Op::atan, reference::atan},
    {Op::sinh, reference::sinh},
    {Op::cosh, reference::cosh},
    {Op::asinh, reference::asinh},
    {Op::acosh, reference::acosh},
    {Op::atanh, reference::atanh},
    {Op::floor, reference::floor},
    {Op::ceil, reference::ceil},
    {Op::round, reference::round_even},
    {Op::round_away, reference::round_away},
    {Op::remainder, reference::remainder},
    {Op::atan2, reference::atan2},
    {Op::eq, reference::eq},
    {Op::ne, reference::ne},
    {Op::lt, reference::lt},
    {Op::le, reference::le},
    {Op::gt, reference::gt},
    {Op::ge, reference::ge},
    {Op::is_finite, reference::is_finite},
    {Op::bitwise_and, reference::bitwise_and},
    {Op::bitwise_or, reference::bitwise_or},
    {Op::bitwise_xor, reference::bitwise_xor},
    {Op::bitwise_not, reference::bitwise_not},
    {Op::shift_left, reference::shift_left},
    {Op::shift_right_arithmetic, reference::shift_right_arithmetic},
    {Op::shift_right_logical, reference::shift_right_logical},
    {Op::population_count, reference::population_count},
    {Op::count_leading_zeros, reference::count_leading_zeros},
    {Op::select, reference::select},
    {Op::clamp, reference::clamp},
    {Op::reduce_precision, reference::reduce_precision},
    {Op::bitcast, reference::bitcast},
    {Op::optimization_barrier, reference::optimization_barrier},
    {Op::dropout, reference::dropout},
    {Op::make_complex, nullptr},
    {Op::real, nullptr},
    {Op::imag, nullptr},
    {Op::conjugate, nullptr},
    {Op::reduce_sum, reduce_sum},
    {Op::reduce_max, reduce_max},
    {Op::reduce_min, reduce_min},
    {Op::reduce_prod, reduce_prod},
    {Op::reduce_and, reference::reduce_and},
    {Op::reduce_or, reference::reduce_or},
    {Op::argmax, reference::argmax},
    {Op::argmin, reference::argmin},
    {Op::cumsum, reference::cumsum},
    {Op::cumprod, reference::cumprod},
    {Op::cummax, reference::cummax},
    {Op::cummin, reference::cummin},
    {Op::cumlogsumexp, reference::cumlogsumexp},
    {Op::linear_recurrence, reference::linear_recurrence},
    {Op::sort, reference::sort},
    {Op::top_k, reference::top_k},
    {Op::convolution, reference::convolution},
    {Op::reduce_window_sum, reference::reduce_window_sum},
    {Op::reduce_window_max, reference::reduce_window_max},
    {Op::reduce_window_min, reference::reduce_window_min},
    {Op::select_and_scatter_add, reference::select_and_scatter_add},
    {Op::fft, nullptr},
    {Op::constrain, constrain},
    {Op::stop_gradient, constrain},
    {Op::transpose, transpose},
    {Op::broadcast, broadcast},
    {Op::constant, constant},
    {Op::iota, reference::iota},
    {Op::random_bits, reference::random_bits},
    {Op::reshape, reference::reshape},
    {Op::slice, reference::slice},
    {Op::concatenate, reference::concatenate},
    {Op::pad, reference::pad},
    {Op::reverse, reference::reverse},
    {Op::ppermute, reference::ppermute},
    {Op::ragged_all_to_all, reference::ragged_all_to_all},
    {Op::dynamic_slice, reference::dynamic_slice},
    {Op::dynamic_update_slice, reference::dynamic_update_slice},
    {Op::gather, reference::gather},
    {Op::scatter_add, reference::scatter_add},
    {Op::scatter_set, reference::scatter_set},
    {Op::scatter_max, reference::scatter_max},
    {Op::scatter_min, reference::scatter_min},
    {Op::scatter_mul, reference::scatter_mul},
    {Op::sgd_update, reference::sgd_update},
    {Op::momentum_update, reference::momentum_update},
    {Op::adam_update, reference::adam_update},
    {Op::custom_call, custom_call},
    {Op::repeat, nullptr},
}};

constexpr bool rows_in_enum_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].op != static_cast<Op>(i)) return false;
  }
  return true;
}
static_assert(rows_in_enum_order(), "every Op has a reference row, in enum order");

/// Brings a result of integer arithmetic into the range of `bits` bits.
double wrapped(double x, int bits, bool is_signed) {
  const double range = std::ldexp(1.0, bits), lowest = is_signed ? -range / 2 : 0;
  return x - range * std::floor((x - lowest) / range);
}

bool touches_complex(const ReferenceCall& call) {
  const auto is_complex = [](const DoubleArray& array) {
    return info(array.type.dtype).is_complex;
  };
  return std::any_of(call.results.begin(), call.results.end(), is_complex) ||
         std::any_of(call.operands.begin(), call.operands.end(),
                     [&](const auto& operand) { return is_complex(*operand); });
}

}  // namespace

void evaluate(Op op, const ReferenceCall& call) {
  if (touches_complex(call)) return reference::evaluate_complex(op, call);
  const ReferenceRow& row = rows[static_cast<std::size_t>(op)];
  SHARD_CHECK(row.evaluate != nullptr, "an op that is evaluated has a meaning of its own");
  row.evaluate(call);
  for (DoubleArray& result : call.results) {
    const DTypeInfo& dtype = info(result.type.dtype);
    const bool is_narrow_integer = is_whole(dtype.dtype) && dtype.bytes < 8;
    if (!is_narrow_integer) continue;
    for (double& x : result.values) x = wrapped(x, 8 * dtype.bytes, dtype.is_signed);
  }
}

}  // namespace shard
