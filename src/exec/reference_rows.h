#pragma once
// The rows of the reference by the file they live in; `evaluate` picks one.

#include "exec/reference_ops.h"

namespace shard::reference {

// reference_functions.cpp: elementwise
void expm1(const ReferenceCall& call);
void log1p(const ReferenceCall& call);
void exp2(const ReferenceCall& call);
void erf(const ReferenceCall& call);
void erfc(const ReferenceCall& call);
void erf_inv(const ReferenceCall& call);
void lgamma(const ReferenceCall& call);
void polygamma(const ReferenceCall& call);
void cbrt(const ReferenceCall& call);
void tan(const ReferenceCall& call);
void asin(const ReferenceCall& call);
void acos(const ReferenceCall& call);
void atan(const ReferenceCall& call);
void sinh(const ReferenceCall& call);
void cosh(const ReferenceCall& call);
void asinh(const ReferenceCall& call);
void acosh(const ReferenceCall& call);
void atanh(const ReferenceCall& call);
void floor(const ReferenceCall& call);
void ceil(const ReferenceCall& call);
void round_even(const ReferenceCall& call);
void round_away(const ReferenceCall& call);
void is_finite(const ReferenceCall& call);
void remainder(const ReferenceCall& call);
void atan2(const ReferenceCall& call);
void eq(const ReferenceCall& call);
void ne(const ReferenceCall& call);
void lt(const ReferenceCall& call);
void le(const ReferenceCall& call);
void gt(const ReferenceCall& call);
void ge(const ReferenceCall& call);
void bitwise_and(const ReferenceCall& call);
void bitwise_or(const ReferenceCall& call);
void bitwise_xor(const ReferenceCall& call);
void bitwise_not(const ReferenceCall& call);
void shift_left(const ReferenceCall& call);
void shift_right_arithmetic(const ReferenceCall& call);
void shift_right_logical(const ReferenceCall& call);
void population_count(const ReferenceCall& call);
void count_leading_zeros(const ReferenceCall& call);
void select(const ReferenceCall& call);
void clamp(const ReferenceCall& call);

// reference_complex.cpp: everything with complex operands or results
void evaluate_complex(Op op, const ReferenceCall& call);

// reference_slices.cpp: elements moved
void reshape(const ReferenceCall& call);
void slice(const ReferenceCall& call);
void concatenate(const ReferenceCall& call);
void pad(const ReferenceCall& call);
void reverse(const ReferenceCall& call);
void ppermute(const ReferenceCall& call);
void iota(const ReferenceCall& call);
void dynamic_slice(const ReferenceCall& call);
void dynamic_update_slice(const ReferenceCall& call);

// reference_index.cpp: elements looked up
void gather(const ReferenceCall& call);
void scatter_add(const ReferenceCall& call);
void scatter_set(const ReferenceCall& call);
void scatter_max(const ReferenceCall& call);
void scatter_min(const ReferenceCall& call);
void scatter_mul(const ReferenceCall& call);

// reference_lines.cpp: along a dim
void reduce_and(const ReferenceCall& call);
void reduce_or(const ReferenceCall& call);
void argmax(const ReferenceCall& call);
void argmin(const ReferenceCall& call);
void cumsum(const ReferenceCall& call);
void cumprod(const ReferenceCall& call);
void cummax(const ReferenceCall& call);
void cummin(const ReferenceCall& call);
void cumlogsumexp(const ReferenceCall& call);
void linear_recurrence(const ReferenceCall& call);
void sort(const ReferenceCall& call);
void top_k(const ReferenceCall& call);

// reference_ragged.cpp: grouped products, rows sent as the data say
void ragged_dot(const ReferenceCall& call);
void ragged_outer(const ReferenceCall& call);
/// `RunFailure` (`ragged-range`) for a row that is in no array.
void ragged_all_to_all(const ReferenceCall& call);

// reference_windows.cpp: windows and bits
void convolution(const ReferenceCall& call);
void reduce_window_sum(const ReferenceCall& call);
void reduce_window_max(const ReferenceCall& call);
void reduce_window_min(const ReferenceCall& call);
void select_and_scatter_add(const ReferenceCall& call);
void optimization_barrier(const ReferenceCall& call);
void dropout(const ReferenceCall& call);
void reduce_precision(const ReferenceCall& call);
void bitcast(const ReferenceCall& call);
void random_bits(const ReferenceCall& call);

// reference_updates.cpp: optimizers
void sgd_update(const ReferenceCall& call);
void momentum_update(const ReferenceCall& call);
void adam_update(const ReferenceCall& call);

}  // namespace shard::reference
