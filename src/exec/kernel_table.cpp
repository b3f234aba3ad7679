#include <array>

#include "exec/kernel.h"

namespace shard {
namespace {

constexpr std::array<KernelRow, static_cast<std::size_t>(Op::count_)> table = {{
    {Op::dot, make_dot},
    {Op::ragged_dot, make_ragged_dot},
    {Op::ragged_outer, make_ragged_outer},
    {Op::relu, make_elementwise},
    {Op::negate, make_elementwise},
    {Op::abs, make_elementwise},
    {Op::square, make_elementwise},
    {Op::sqrt, make_elementwise, true},
    {Op::rsqrt, make_elementwise, true},
    {Op::exp, make_elementwise, true},
    {Op::log, make_elementwise, true},
    {Op::tanh, make_elementwise, true},
    {Op::sigmoid, make_elementwise, true},
    {Op::silu, make_elementwise, true},
    {Op::gelu, make_elementwise, true},
    {Op::sin, make_elementwise, true},
    {Op::cos, make_elementwise, true},
    {Op::sign, make_elementwise},
    {Op::convert, make_convert},
    {Op::add, make_elementwise},
    {Op::subtract, make_elementwise},
    {Op::multiply, make_elementwise},
    {Op::divide, make_elementwise, true},
    {Op::maximum, make_elementwise},
    {Op::minimum, make_elementwise},
    {Op::power, make_elementwise, true},
    {Op::relu_grad, make_elementwise},
    {Op::equal_mask, make_elementwise},
    {Op::scale, make_elementwise},
    {Op::shift, make_elementwise},
    {Op::expm1, make_elementwise, true},
    {Op::log1p, make_elementwise, true},
    {Op::exp2, make_elementwise, true},
    {Op::erf, make_elementwise, true},
    {Op::erfc, make_elementwise, true},
    {Op::erf_inv, make_elementwise, true},
    {Op::lgamma, make_elementwise, true},
    {Op::polygamma, make_elementwise, true},
    {Op::cbrt, make_elementwise, true},
    {Op::tan, make_elementwise, true},
    {Op::asin, make_elementwise, true},
    {Op::acos, make_elementwise, true},
    {Op::atan, make_elementwise, true},
    {Op::sinh, make_elementwise, true},
    {Op::cosh, make_elementwise, true},
    {Op::asinh, make_elementwise, true},
    {Op::acosh, make_elementwise, true},
    {Op::atanh, make_elementwise, true},
    {Op::floor, make_elementwise},
    {Op::ceil, make_elementwise},
    {Op::round, make_elementwise},
    {Op::round_away, make_elementwise},
    {Op::remainder, make_elementwise, true},
    {Op::atan2, make_elementwise, true},
    {Op::eq, make_predicate},
    {Op::ne, make_predicate},
    {Op::lt, make_predicate},
    {Op::le, make_predicate},
    {Op::gt, make_predicate},
    {Op::ge, make_predicate},
    {Op::is_finite, make_predicate},
    {Op::bitwise_and, make_bits},
    {Op::bitwise_or, make_bits},
    {Op::bitwise_xor, make_bits},
    {Op::bitwise_not, make_bits},
    {Op::shift_left, make_bits},
    {Op::shift_right_arithmetic, make_bits},
    {Op::shift_right_logical, make_bits},
    {Op::population_count, make_bits},
    {Op::count_leading_zeros, make_bits},
    {Op::select, make_select},
    {Op::clamp, make_clamp},
    {Op::reduce_precision, make_reduce_precision},
    {Op::bitcast, make_bitcast},
    {Op::optimization_barrier, make_constrain},
    {Op::dropout, make_dropout, true},
    {Op::make_complex, make_complex_elementwise},
    {Op::real, make_complex_elementwise},
    {Op::imag, make_complex_elementwise},
    {Op::conjugate, make_complex_elementwise},
    {Op::reduce_sum, make_reduction},
    {Op::reduce_max, make_reduction},
    {Op::reduce_min, make_reduction},
    {Op::reduce_prod, make_reduction},
    {Op::reduce_and, make_truth_reduction},
    {Op::reduce_or, make_truth_reduction},
    {Op::argmax, make_arg_extremum},
    {Op::argmin, make_arg_extremum},
    {Op::cumsum, make_cumulative},
    {Op::cumprod, make_cumulative},
    {Op::cummax, make_cumulative},
    {Op::cummin, make_cumulative},
    {Op::cumlogsumexp, make_cumulative},
    {Op::linear_recurrence, make_linear_recurrence},
    {Op::sort, make_sort},
    {Op::top_k, make_top_k},
    {Op::convolution, make_convolution},
    {Op::reduce_window_sum, make_reduce_window},
    {Op::reduce_window_max, make_reduce_window},
    {Op::reduce_window_min, make_reduce_window},
    {Op::select_and_scatter_add, make_select_and_scatter_add},
    {Op::fft, make_fft},
    {Op::constrain, make_constrain},
    {Op::stop_gradient, make_constrain},
    {Op::transpose, make_transpose},
    {Op::broadcast, make_broadcast},
    {Op::constant, make_constant},
    {Op::iota, make_iota},
    {Op::random_bits, make_random_bits},
    {Op::reshape, make_reshape},
    {Op::slice, make_slice},
    {Op::concatenate, make_concatenate},
    {Op::pad, make_pad},
    {Op::reverse, make_reverse},
    {Op::ppermute, make_ppermute},
    {Op::ragged_all_to_all, make_ragged_all_to_all},
    {Op::dynamic_slice, make_dynamic_slice},
    {Op::dynamic_update_slice, make_dynamic_update_slice},
    {Op::gather, make_gather},
    {Op::scatter_add, make_scatter},
    {Op::scatter_set, make_scatter},
    {Op::scatter_max, make_scatter},
    {Op::scatter_min, make_scatter},
    {Op::scatter_mul, make_scatter},
    {Op::sgd_update, make_update},
    {Op::momentum_update, make_update},
    {Op::adam_update, make_update},
    {Op::custom_call, make_custom_call},
    {Op::repeat, nullptr},
}};

constexpr bool kernels_in_enum_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].op != static_cast<Op>(i)) return false;
  }
  return true;
}
static_assert(kernels_in_enum_order(), "every Op has a kernel row, in enum order");

}  // namespace

std::span<const KernelRow> kernel_table() { return table; }

std::string describe(const KernelSite& site) {
  std::string text = std::string(def(site.op).name);
  const char* joint = " of ";
  for (const TensorType& type : site.operands) {
    text += joint + to_string(type);
    joint = " and ";
  }
  return text;
}

}  // namespace shard
