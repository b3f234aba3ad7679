// Shape rules of elementwise ops whose operands or results are truth values or bits.

#include "ops/shape_mistakes.h"
#include "ops/shape_rules.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;

/// The shape that all operands have, scalars excepted; or what does not fit.
std::variant<Shape, std::string> common_shape(Types operands) {
  const TensorType* result = &operands[0];
  for (const TensorType& type : operands) {
    if (type.rank() == 0) continue;
    if (result->rank() == 0) result = &type;
    if (type.shape != result->shape) {
      return "shapes differ: " + to_string(*result) + " and " + to_string(type);
    }
  }
  return result->shape;
}

std::string dtypes_mistake(Types operands) {
  for (const TensorType& type : operands) {
    if (type.dtype == operands[0].dtype) continue;
    return "dtypes differ: " + dtype_word(operands[0].dtype) + " and " + dtype_word(type.dtype);
  }
  return "";
}

/// Results of `dtype` in the operands' shape.
ShapeResult in_common_shape(Types operands, DType dtype) {
  std::variant<Shape, std::string> shape = common_shape(operands);
  if (auto* mistake = std::get_if<std::string>(&shape)) return std::move(*mistake);
  return one_result({dtype, std::get<Shape>(std::move(shape))});
}

ShapeResult bits_of_numbers(Types operands, bool takes_bool) {
  for (const TensorType& type : operands) {
    const bool is_refused = is_inexact(type.dtype) || (type.dtype == DType::boolean && !takes_bool);
    if (!is_refused) continue;
    return std::string(takes_bool ? "needs integers or bool" : "needs integers") + ", not " +
           dtype_word(type.dtype);
  }
  std::string mistake = dtypes_mistake(operands);
  if (!mistake.empty()) return mistake;
  return in_common_shape(operands, operands[0].dtype);
}

}  // namespace

ShapeResult compare_shape(Types operands, const Attributes&) {
  std::string mistake = dtypes_mistake(operands);
  if (!mistake.empty()) return mistake;
  return in_common_shape(operands, DType::boolean);
}

ShapeResult order_shape(Types operands, const Attributes& attributes) {
  if (std::string mistake = complex_mistake(operands); !mistake.empty()) return mistake;
  return compare_shape(operands, attributes);
}

ShapeResult is_finite_shape(Types operands, const Attributes&) {
  if (!info(operands[0].dtype).is_float) {
    return "needs floating point, not " + dtype_word(operands[0].dtype);
  }
  return one_result({DType::boolean, operands[0].shape});
}

ShapeResult logical_shape(Types operands, const Attributes&) {
  return bits_of_numbers(operands, true);
}

ShapeResult bits_shape(Types operands, const Attributes&) {
  return bits_of_numbers(operands, false);
}

ShapeResult select_shape(Types operands, const Attributes&) {
  if (operands[0].dtype != DType::boolean) {
    return "the condition is " + to_string(operands[0]) + ", not bool";
  }
  std::string mistake = dtypes_mistake(operands.subspan(1));
  if (!mistake.empty()) return mistake;
  return in_common_shape(operands, operands[1].dtype);
}

namespace {

std::string seed_mistake(const TensorType& seed) {
  if (seed.rank() == 0 && is_whole(seed.dtype)) return "";
  return "the seed is " + to_string(seed) + ", not an integer scalar";
}

}  // namespace

ShapeResult dropout_shape(Types operands, const Attributes& attributes) {
  if (std::string mistake = seed_mistake(operands[1]); !mistake.empty()) return mistake;
  if (!info(operands[0].dtype).is_float) {
    return "needs floating point, not " + dtype_word(operands[0].dtype);
  }
  std::string mistake = length_mistake(attributes.integers("counts"), operands[0].rank(), "counts");
  if (!mistake.empty()) return mistake;
  return one_result(operands[0]);
}

ShapeResult random_bits_shape(Types operands, const Attributes& attributes) {
  if (std::string mistake = seed_mistake(operands[0]); !mistake.empty()) return mistake;
  const Shape& shape = attributes.integers("shape");
  std::string mistake =
      length_mistake(attributes.integers("counts"), static_cast<int>(shape.size()), "counts");
  if (!mistake.empty()) return mistake;
  return one_result({DType::u32, shape});
}

ShapeResult bitcast_shape(Types operands, const Attributes& attributes) {
  const std::optional<DType> dtype = dtype_named(attributes.text("dtype"));
  if (!dtype) return "there is no dtype '" + attributes.text("dtype") + "'";
  const auto has_bits_of_its_own = [](DType one) {
    return one != DType::boolean && !info(one).is_complex;
  };
  if (!has_bits_of_its_own(operands[0].dtype) || !has_bits_of_its_own(*dtype) ||
      info(*dtype).bytes != info(operands[0].dtype).bytes) {
    return dtype_word(operands[0].dtype) + " is not read as " + dtype_word(*dtype);
  }
  return one_result({*dtype, operands[0].shape});
}

ShapeResult reduce_precision_shape(Types operands, const Attributes& attributes) {
  const std::int64_t exponent = attributes.integer("exponent_bits");
  const std::int64_t mantissa = attributes.integer("mantissa_bits");
  if (exponent < 1 || exponent > 11 || mantissa < 0 || mantissa > 52) {
    return "there is no float of " + std::to_string(exponent) + " and " + std::to_string(mantissa) +
           " bits";
  }
  return float_elementwise_shape(operands, attributes);
}

ShapeResult polygamma_shape(Types operands, const Attributes& attributes) {
  if (attributes.integer("order") < 0) {
    return "there is no order " + std::to_string(attributes.integer("order"));
  }
  return float_elementwise_shape(operands, attributes);
}

}  // namespace shard
