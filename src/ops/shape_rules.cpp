#include "ops/shape_rules.h"

#include <cmath>

#include "ops/dims.h"
#include "ops/shape_mistakes.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;

/// The paired dims of a dot must have equal sizes.
std::string pair_mistake(Types operands, const Dims& lhs, const Dims& rhs, const char* what) {
  if (lhs.size() != rhs.size()) {
    return std::string("both sides need as many ") + what + " dims: " + std::to_string(lhs.size()) +
           " and " + std::to_string(rhs.size());
  }
  for (std::size_t i = 0; i < lhs.size(); ++i) {
    const std::int64_t left = operands[0].shape[static_cast<std::size_t>(lhs[i])];
    const std::int64_t right = operands[1].shape[static_cast<std::size_t>(rhs[i])];
    if (left == right) continue;
    return std::string(what) + " sizes differ: " + std::to_string(left) + " and " +
           std::to_string(right);
  }
  return "";
}

std::string dot_mistake(Types operands, const Attributes& attributes) {
  if (operands[0].dtype != operands[1].dtype) {
    return "dtypes differ: " + dtype_word(operands[0].dtype) + " and " +
           dtype_word(operands[1].dtype);
  }
  for (const std::size_t side : {0U, 1U}) {
    const Dims& batch = attributes.integers(side == 0 ? "lhs_batch" : "rhs_batch");
    const Dims& contract = attributes.integers(side == 0 ? "lhs_contract" : "rhs_contract");
    std::string mistake = position_mistake(batch, operands[side].rank());
    if (mistake.empty()) mistake = position_mistake(contract, operands[side].rank(), batch);
    if (!mistake.empty()) return mistake;
  }
  std::string batch = pair_mistake(operands, attributes.integers("lhs_batch"),
                                   attributes.integers("rhs_batch"), "batch");
  if (!batch.empty()) return batch;
  return pair_mistake(operands, attributes.integers("lhs_contract"),
                      attributes.integers("rhs_contract"), "contracted");
}

void append_free_dims(Shape& shape, const TensorType& type, const Dims& batch,
                      const Dims& contract) {
  for (int dim = 0; dim < type.rank(); ++dim) {
    if (contains(batch, dim) || contains(contract, dim)) continue;
    shape.push_back(type.shape[static_cast<std::size_t>(dim)]);
  }
}

/// Optimizer updates: the first `slots` operands and the gradient are shaped like the parameter.
/// The parameter and its slots, then the gradient, a scalar count where the op has one, and where
/// the learning rate is a value, that: a scalar f32.
ShapeResult update_shape(Types operands, std::size_t slots, bool counts) {
  const std::size_t least = slots + (counts ? 2 : 1);
  if (operands.size() != least && operands.size() != least + 1) {
    return "takes " + std::to_string(least) + " or " + std::to_string(least + 1) +
           " operands, found " + std::to_string(operands.size());
  }
  for (std::size_t i = 0; i <= slots; ++i) {
    if (operands[i].shape != operands[0].shape) {
      return "operand " + std::to_string(i) + " is " + to_string(operands[i]) +
             ", the parameter is " + to_string(operands[0]);
    }
    if (!info(operands[i].dtype).is_float) {
      return "needs floating point, not " + dtype_word(operands[i].dtype);
    }
  }
  if (counts && operands[least - 1] != TensorType{DType::i32, {}}) {
    return "the count is " + to_string(operands[least - 1]) + ", not i32[]";
  }
  if (operands.size() > least && operands[least] != TensorType{DType::f32, {}}) {
    return "the learning rate is " + to_string(operands[least]) + ", not f32[]";
  }
  return std::vector<TensorType>(operands.begin(),
                                 operands.begin() + static_cast<std::ptrdiff_t>(slots));
}

}  // namespace

std::string position_mistake(const Dims& dims, int rank, const Dims& before) {
  for (auto dim = dims.begin(); dim != dims.end(); ++dim) {
    if (*dim < 0 || *dim >= rank) {
      return "there is no dim " + std::to_string(*dim) + " in rank " + std::to_string(rank);
    }
    if (std::find(dims.begin(), dim, *dim) != dim ||
        std::find(before.begin(), before.end(), *dim) != before.end()) {
      return "dim " + std::to_string(*dim) + " is named twice";
    }
  }
  return "";
}

ShapeResult elementwise_shape(Types operands, const Attributes& attributes) {
  if (std::string mistake = complex_mistake(operands); !mistake.empty()) return mistake;
  return number_elementwise_shape(operands, attributes);
}

ShapeResult number_elementwise_shape(Types operands, const Attributes&) {
  const TensorType* result = &operands[0];
  for (const TensorType& type : operands) {
    if (type.dtype == DType::boolean) return "needs numbers, not bool";
    if (type.dtype != operands[0].dtype) {
      return "dtypes differ: " + dtype_word(operands[0].dtype) + " and " + dtype_word(type.dtype);
    }
    if (type.rank() == 0) continue;
    if (result->rank() == 0) result = &type;
    if (type.shape != result->shape) {
      return "shapes differ: " + to_string(*result) + " and " + to_string(type);
    }
  }
  return one_result(*result);
}

ShapeResult float_elementwise_shape(Types operands, const Attributes& attributes) {
  for (const TensorType& type : operands) {
    if (!info(type.dtype).is_float) return "needs floating point, not " + dtype_word(type.dtype);
  }
  return elementwise_shape(operands, attributes);
}

ShapeResult inexact_elementwise_shape(Types operands, const Attributes& attributes) {
  for (const TensorType& type : operands) {
    if (!is_inexact(type.dtype)) return "needs floating point, not " + dtype_word(type.dtype);
  }
  return number_elementwise_shape(operands, attributes);
}

ShapeResult value_shape(Types operands, const Attributes& attributes) {
  const double value = attributes.number("value");
  if (is_whole(operands[0].dtype) && value != std::floor(value)) {
    return dtype_word(operands[0].dtype) + " needs a whole number, not " + to_string(attributes);
  }
  return number_elementwise_shape(operands, attributes);
}

ShapeResult convert_shape(Types operands, const Attributes& attributes) {
  const std::optional<DType> dtype = dtype_named(attributes.text("dtype"));
  if (!dtype) return "there is no dtype '" + attributes.text("dtype") + "'";
  return one_result({*dtype, operands[0].shape});
}

ShapeResult same_shape(Types operands, const Attributes&) { return one_result(operands[0]); }

ShapeResult dot_shape(Types operands, const Attributes& attributes) {
  std::string mistake = dot_mistake(operands, attributes);
  if (!mistake.empty()) return mistake;
  const Dims& batch = attributes.integers("lhs_batch");
  TensorType result{operands[0].dtype, {}};
  result.shape.reserve(operands[0].shape.size() + operands[1].shape.size());
  for (const std::int64_t dim : batch) {
    result.shape.push_back(operands[0].shape[static_cast<std::size_t>(dim)]);
  }
  append_free_dims(result.shape, operands[0], batch, attributes.integers("lhs_contract"));
  append_free_dims(result.shape, operands[1], attributes.integers("rhs_batch"),
                   attributes.integers("rhs_contract"));
  return one_result(std::move(result));
}

ShapeResult reduce_shape(Types operands, const Attributes& attributes) {
  const Dims& dims = attributes.integers("dims");
  std::string mistake = position_mistake(dims, operands[0].rank());
  if (!mistake.empty()) return mistake;
  if (operands[0].dtype == DType::boolean) return "needs numbers, not bool";
  TensorType result{operands[0].dtype, {}};
  append_free_dims(result.shape, operands[0], dims, {});
  return one_result(std::move(result));
}

ShapeResult transpose_shape(Types operands, const Attributes& attributes) {
  const Dims& order = attributes.integers("order");
  std::string mistake = position_mistake(order, operands[0].rank());
  if (!mistake.empty()) return mistake;
  if (static_cast<int>(order.size()) != operands[0].rank()) {
    return "the order names " + std::to_string(order.size()) + " of " +
           std::to_string(operands[0].rank()) + " dims";
  }
  TensorType result{operands[0].dtype, {}};
  for (const std::int64_t dim : order) {
    result.shape.push_back(operands[0].shape[static_cast<std::size_t>(dim)]);
  }
  return one_result(std::move(result));
}

ShapeResult broadcast_shape(Types operands, const Attributes& attributes) {
  const Dims& shape = attributes.integers("shape");
  const Dims& dims = attributes.integers("dims");
  if (static_cast<int>(dims.size()) != operands[0].rank()) {
    return "dims names " + std::to_string(dims.size()) + " dims, the operand has " +
           std::to_string(operands[0].rank());
  }
  std::string mistake = position_mistake(dims, static_cast<int>(shape.size()));
  if (!mistake.empty()) return mistake;
  if (!std::is_sorted(dims.begin(), dims.end())) return "dims are not ascending";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t from = operands[0].shape[i];
    const std::int64_t to = shape[static_cast<std::size_t>(dims[i])];
    if (from != to && from != 1) {
      return "size " + std::to_string(from) + " does not broadcast to " + std::to_string(to);
    }
  }
  return one_result({operands[0].dtype, shape});
}

ShapeResult real_reduce_shape(Types operands, const Attributes& attributes) {
  if (std::string mistake = complex_mistake(operands); !mistake.empty()) return mistake;
  return reduce_shape(operands, attributes);
}

ShapeResult constant_shape(Types, const Attributes& attributes) {
  const std::optional<DType> dtype = dtype_named(attributes.text("dtype"));
  if (!dtype) return "there is no dtype '" + attributes.text("dtype") + "'";
  return one_result({*dtype, attributes.integers("shape")});
}

ShapeResult sgd_shape(Types operands, const Attributes&) {
  return update_shape(operands, 1, false);
}

ShapeResult momentum_shape(Types operands, const Attributes&) {
  return update_shape(operands, 2, false);
}

ShapeResult adam_shape(Types operands, const Attributes&) {
  return update_shape(operands, 3, true);
}

}  // namespace shard
