#pragma once
// Shape rules of the op table: operand types and attributes to result types, or a sentence that
// says what does not fit. Attributes that the rule needs must be there (a missing one is a bug);
// their *values* are checked here.

#include "ops/op.h"

namespace shard {

/// Elementwise over numbers: equal dtypes; equal shapes, except that scalars go with anything.
ShapeResult elementwise_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// The same, for ops that only floating-point numbers have.
ShapeResult float_elementwise_shape(std::span<const TensorType> operands,
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
ShapeResult transpose_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult broadcast_shape(std::span<const TensorType> operands, const Attributes& attributes);
ShapeResult constant_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// (param, gradient) to (param).
ShapeResult sgd_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// (param, trace, gradient) to (param, trace).
ShapeResult momentum_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// (param, mu, nu, gradient, count) to (param, mu, nu); count is a scalar i32.
ShapeResult adam_shape(std::span<const TensorType> operands, const Attributes& attributes);

}  // namespace shard
