#pragma once
// Shape rules of the op table: operand types and attributes to result types, or a sentence that
// says what does not fit. Attributes that the rule needs must be there (a missing one is a bug);
// their *values* are checked here.

#include "ops/op.h"

namespace shard {

/// Elementwise over numbers: equal dtypes; equal shapes, except that scalars go with anything.
ShapeResult number_elementwise_shape(std::span<const TensorType> operands,
                                     const Attributes& attributes);
/// The same over real numbers.
ShapeResult elementwise_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// The same, for ops that only floating-point numbers have.
ShapeResult float_elementwise_shape(std::span<const TensorType> operands,
                                    const Attributes& attributes);
/// The same, for ops that only floating-point and complex numbers have.
ShapeResult inexact_elementwise_shape(std::span<const TensorType> operands,
                                      const Attributes& attributes);
/// Elementwise with a number in attribute `value`, which must be whole for integers.
ShapeResult value_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// The operand's shape in the dtype that attribute `dtype` names.
ShapeResult convert_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// The operand's type, any dtype.
ShapeResult same_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// `[batch..., lhs free..., rhs free...]`.
ShapeResult dot_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// The operand's dims without those of attribute `dims`.
ShapeResult reduce_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// The same, of real numbers.
ShapeResult real_reduce_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult transpose_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult broadcast_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult constant_shape(std::span<const TensorType> operands, const Attributes& attributes);
// Optimizer updates; each may have the learning rate as a further operand, a scalar f32.
/// (param, gradient) to (param).
ShapeResult sgd_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// (param, trace, gradient) to (param, trace).
ShapeResult momentum_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// (param, mu, nu, gradient, count) to (param, mu, nu); count is a scalar i32.
ShapeResult adam_shape(std::span<const TensorType> operands, const Attributes& attributes);

// Truth values and bits (shape_rules_elementwise.cpp).
/// Equal dtypes, to bool.
ShapeResult compare_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult is_finite_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// Integers or bool.
ShapeResult logical_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// Integers.
ShapeResult bits_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// (bool, x, x) to x.
ShapeResult select_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult polygamma_shape(std::span<const TensorType> operands, const Attributes& attributes);

// Complex numbers and their transforms (complex_ops.cpp).
/// Numbers to their sizes: of complex ones f32.
ShapeResult magnitude_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// (f32, f32) to c64.
ShapeResult make_complex_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// c64 to f32.
ShapeResult complex_part_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult conjugate_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// Attributes `kind` and `lengths`, of the trailing dims.
ShapeResult fft_shape(std::span<const TensorType> operands, const Attributes& attributes);

// Elements moved (shape_rules_structure.cpp).
ShapeResult reshape_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult slice_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult concatenate_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult pad_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult reverse_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult ppermute_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult iota_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult dynamic_slice_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult dynamic_update_slice_shape(std::span<const TensorType> operands,
                                       const Attributes& attributes);

// Elements looked up, ordered, run along (shape_rules_index.cpp).
ShapeResult gather_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult scatter_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// Without dim `dim`, in i32.
ShapeResult arg_extremum_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// bool without the dims `dims`.
ShapeResult truth_reduce_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// All operands have the type of the first.
ShapeResult cumulative_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult float_cumulative_shape(std::span<const TensorType> operands,
                                   const Attributes& attributes);
/// Of real numbers.
ShapeResult real_cumulative_shape(std::span<const TensorType> operands,
                                  const Attributes& attributes);
/// Elements compared with each other: of real numbers.
ShapeResult ordered_scatter_shape(std::span<const TensorType> operands,
                                  const Attributes& attributes);
ShapeResult order_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult sort_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult top_k_shape(std::span<const TensorType> operands, const Attributes& attributes);

// Bits.
/// u32 of attribute `shape`, from an integer scalar.
ShapeResult dropout_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult random_bits_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// The operand's shape in the dtype that attribute `dtype` names, which must be as wide.
ShapeResult bitcast_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult reduce_precision_shape(std::span<const TensorType> operands,
                                   const Attributes& attributes);

// Windows (shape_rules_window.cpp).
ShapeResult convolution_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult reduce_window_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult select_and_scatter_add_shape(std::span<const TensorType> operands,
                                         const Attributes& attributes);

}  // namespace shard
