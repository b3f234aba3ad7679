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

}  // namespace shard
