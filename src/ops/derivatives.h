#pragma once
// Derivatives of the op table: from the cotangents of an op's results to those of its operands,
// with the formulas JAX uses (jax/_src/lax/lax.py, the `defjvp` and transpose rules). A scalar
// operand of an elementwise op gets the sum over the dims it was spread over.

#include "ops/op.h"

namespace shard {

/// No operand gets a gradient: the op is flat almost everywhere (sign, equal_mask).
std::vector<ValueId> no_gradient(const DerivativeInput& input);

// elementwise, one operand (derivatives_unary.cpp)
std::vector<ValueId> relu_derivative(const DerivativeInput& input);
std::vector<ValueId> negate_derivative(const DerivativeInput& input);
std::vector<ValueId> abs_derivative(const DerivativeInput& input);
std::vector<ValueId> square_derivative(const DerivativeInput& input);
std::vector<ValueId> sqrt_derivative(const DerivativeInput& input);
std::vector<ValueId> rsqrt_derivative(const DerivativeInput& input);
std::vector<ValueId> exp_derivative(const DerivativeInput& input);
std::vector<ValueId> log_derivative(const DerivativeInput& input);
std::vector<ValueId> tanh_derivative(const DerivativeInput& input);
std::vector<ValueId> sigmoid_derivative(const DerivativeInput& input);
std::vector<ValueId> silu_derivative(const DerivativeInput& input);
std::vector<ValueId> gelu_derivative(const DerivativeInput& input);
std::vector<ValueId> sin_derivative(const DerivativeInput& input);
std::vector<ValueId> cos_derivative(const DerivativeInput& input);
std::vector<ValueId> convert_derivative(const DerivativeInput& input);
std::vector<ValueId> scale_derivative(const DerivativeInput& input);
std::vector<ValueId> shift_derivative(const DerivativeInput& input);

// elementwise, two operands (derivatives_binary.cpp)
std::vector<ValueId> add_derivative(const DerivativeInput& input);
std::vector<ValueId> subtract_derivative(const DerivativeInput& input);
std::vector<ValueId> multiply_derivative(const DerivativeInput& input);
std::vector<ValueId> divide_derivative(const DerivativeInput& input);
/// Of maximum and minimum: a tie gives each side half.
std::vector<ValueId> extremum_derivative(const DerivativeInput& input);
std::vector<ValueId> power_derivative(const DerivativeInput& input);
std::vector<ValueId> relu_grad_derivative(const DerivativeInput& input);

// contraction, reductions, structure (derivatives_structure.cpp)
/// Two dots, in whichever operand order needs no transpose afterwards, if one does not.
std::vector<ValueId> dot_derivative(const DerivativeInput& input);
std::vector<ValueId> reduce_sum_derivative(const DerivativeInput& input);
/// Of reduce_max and reduce_min: evenly over the ties.
std::vector<ValueId> reduce_extremum_derivative(const DerivativeInput& input);
/// Right also where an element is zero.
std::vector<ValueId> reduce_prod_derivative(const DerivativeInput& input);
std::vector<ValueId> constrain_derivative(const DerivativeInput& input);
std::vector<ValueId> transpose_derivative(const DerivativeInput& input);
std::vector<ValueId> broadcast_derivative(const DerivativeInput& input);

// elementwise, further functions (derivatives_functions.cpp)
std::vector<ValueId> expm1_derivative(const DerivativeInput& input);
std::vector<ValueId> log1p_derivative(const DerivativeInput& input);
std::vector<ValueId> exp2_derivative(const DerivativeInput& input);
std::vector<ValueId> erf_derivative(const DerivativeInput& input);
std::vector<ValueId> erfc_derivative(const DerivativeInput& input);
std::vector<ValueId> erf_inv_derivative(const DerivativeInput& input);
std::vector<ValueId> lgamma_derivative(const DerivativeInput& input);
std::vector<ValueId> polygamma_derivative(const DerivativeInput& input);
std::vector<ValueId> cbrt_derivative(const DerivativeInput& input);
std::vector<ValueId> tan_derivative(const DerivativeInput& input);
std::vector<ValueId> asin_derivative(const DerivativeInput& input);
std::vector<ValueId> acos_derivative(const DerivativeInput& input);
std::vector<ValueId> atan_derivative(const DerivativeInput& input);
std::vector<ValueId> sinh_derivative(const DerivativeInput& input);
std::vector<ValueId> cosh_derivative(const DerivativeInput& input);
std::vector<ValueId> asinh_derivative(const DerivativeInput& input);
std::vector<ValueId> acosh_derivative(const DerivativeInput& input);
std::vector<ValueId> atanh_derivative(const DerivativeInput& input);
std::vector<ValueId> atan2_derivative(const DerivativeInput& input);
std::vector<ValueId> remainder_derivative(const DerivativeInput& input);
std::vector<ValueId> select_derivative(const DerivativeInput& input);
std::vector<ValueId> clamp_derivative(const DerivativeInput& input);

// elements moved (derivatives_slices.cpp)
std::vector<ValueId> reshape_derivative(const DerivativeInput& input);
std::vector<ValueId> slice_derivative(const DerivativeInput& input);
std::vector<ValueId> concatenate_derivative(const DerivativeInput& input);
std::vector<ValueId> pad_derivative(const DerivativeInput& input);
std::vector<ValueId> reverse_derivative(const DerivativeInput& input);
std::vector<ValueId> ppermute_derivative(const DerivativeInput& input);
std::vector<ValueId> dynamic_slice_derivative(const DerivativeInput& input);
std::vector<ValueId> dynamic_update_slice_derivative(const DerivativeInput& input);

// elements looked up, ordered, run along (derivatives_index.cpp)
std::vector<ValueId> gather_derivative(const DerivativeInput& input);
std::vector<ValueId> scatter_add_derivative(const DerivativeInput& input);
std::vector<ValueId> scatter_set_derivative(const DerivativeInput& input);
std::vector<ValueId> scatter_mul_derivative(const DerivativeInput& input);
/// Of scatter_max and scatter_min: evenly over the ties.
std::vector<ValueId> scatter_extremum_derivative(const DerivativeInput& input);
std::vector<ValueId> cumsum_derivative(const DerivativeInput& input);
/// Right also where an element is zero.
std::vector<ValueId> cumprod_derivative(const DerivativeInput& input);
/// Of cummax and cummin: to the last of the ties.
std::vector<ValueId> cumulative_extremum_derivative(const DerivativeInput& input);
std::vector<ValueId> cumlogsumexp_derivative(const DerivativeInput& input);
std::vector<ValueId> linear_recurrence_derivative(const DerivativeInput& input);
std::vector<ValueId> sort_derivative(const DerivativeInput& input);
std::vector<ValueId> top_k_derivative(const DerivativeInput& input);

// complex numbers and their transforms (complex_ops.cpp); a cotangent is paired with a change of
// its value by the real part of their product, neither conjugated
std::vector<ValueId> complex_magnitude_derivative(const DerivativeInput& input);
std::vector<ValueId> make_complex_derivative(const DerivativeInput& input);
std::vector<ValueId> real_derivative(const DerivativeInput& input);
std::vector<ValueId> imag_derivative(const DerivativeInput& input);
std::vector<ValueId> conjugate_derivative(const DerivativeInput& input);
std::vector<ValueId> fft_derivative(const DerivativeInput& input);

// windows, and values that stay (derivatives_window.cpp)
std::vector<ValueId> convolution_derivative(const DerivativeInput& input);
std::vector<ValueId> reduce_window_sum_derivative(const DerivativeInput& input);
std::vector<ValueId> reduce_window_max_derivative(const DerivativeInput& input);
std::vector<ValueId> reduce_window_min_derivative(const DerivativeInput& input);
std::vector<ValueId> reduce_precision_derivative(const DerivativeInput& input);
std::vector<ValueId> optimization_barrier_derivative(const DerivativeInput& input);
/// The same elements of the cotangent are dropped: by the seed again, so nothing is kept for it.
std::vector<ValueId> dropout_derivative(const DerivativeInput& input);

}  // namespace shard
