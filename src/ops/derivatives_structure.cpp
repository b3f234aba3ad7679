#include <algorithm>
#include <numeric>

#include "ops/builder.h"
#include "ops/derivatives.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

bool contains(const Dims& dims, std::int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

Dims range(std::int64_t from, std::size_t count) {
  Dims dims(count);
  std::iota(dims.begin(), dims.end(), from);
  return dims;
}

/// One side of a dot: its dims by what they do. `free` is ascending.
struct Side {
  ValueId value;
  Dims batch, contract, free;

  Side(const Builder& builder, ValueId operand, const Attributes& attributes,
       const std::string& prefix)
      : value(operand),
        batch(attributes.integers(prefix + "batch")),
        contract(attributes.integers(prefix + "contract")) {
    for (int dim = 0; dim < builder.type(operand).rank(); ++dim) {
      if (!contains(batch, dim) && !contains(contract, dim)) free.push_back(dim);
    }
  }
};

ValueId emit_dot(Builder& builder, const Side& lhs, const Side& rhs) {
  return builder.emit(Op::dot, {lhs.value, rhs.value},
                      dot_attributes(lhs.batch, rhs.batch, lhs.contract, rhs.contract));
}

/// Transposes `value`, whose dim i is dim `dims[i]` of the wanted array.
ValueId arranged(Builder& builder, ValueId value, const Dims& dims) {
  if (std::is_sorted(dims.begin(), dims.end())) return value;
  Dims order(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i)
    order[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
  return builder.emit(Op::transpose, {value}, Attributes{{"order", std::move(order)}});
}

Dims joined(Dims a, const Dims& b, const Dims& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

/// The cotangent of `mine`: the result's cotangent contracted with `other` over other's free dims.
ValueId dot_cotangent(Builder& builder, Side cotangent, const Side& mine, Side other) {
  // The contracted dims come out in the order that the other side has them.
  Dims by_other(mine.contract.size());
  std::iota(by_other.begin(), by_other.end(), 0);
  std::sort(by_other.begin(), by_other.end(), [&](std::int64_t a, std::int64_t b) {
    return other.contract[static_cast<std::size_t>(a)] <
           other.contract[static_cast<std::size_t>(b)];
  });
  Dims contracted;
  for (const std::int64_t i : by_other) {
    contracted.push_back(mine.contract[static_cast<std::size_t>(i)]);
  }
  other.contract = other.free;
  const Dims cotangent_first = joined(mine.batch, mine.free, contracted);
  const Dims other_first = joined(mine.batch, contracted, mine.free);
  if (std::is_sorted(other_first.begin(), other_first.end())) {
    return emit_dot(builder, other, cotangent);
  }
  return arranged(builder, emit_dot(builder, cotangent, other), cotangent_first);
}

/// `value` without the dims `dims`, spread over the operand's shape again.
ValueId spread(Builder& builder, ValueId value, const TensorType& like, const Dims& dims) {
  Dims kept;
  for (int dim = 0; dim < like.rank(); ++dim) {
    if (!contains(dims, dim)) kept.push_back(dim);
  }
  return builder.emit(Op::broadcast, {value}, Attributes{{"shape", like.shape}, {"dims", kept}});
}

ValueId zero_scalar(Builder& builder, DType dtype) {
  return builder.emit(
      Op::constant, {},
      Attributes{{"shape", Dims{}}, {"value", 0.0}, {"dtype", std::string(info(dtype).name)}});
}

}  // namespace

std::vector<ValueId> dot_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const Side lhs(b, input.operands[0], input.attributes, "lhs_");
  const Side rhs(b, input.operands[1], input.attributes, "rhs_");
  // The result's dims are batch, lhs free, rhs free.
  const Dims batch = range(0, lhs.batch.size());
  const auto lhs_free_at = static_cast<std::int64_t>(batch.size());
  const Dims lhs_free = range(lhs_free_at, lhs.free.size());
  const Dims rhs_free =
      range(lhs_free_at + static_cast<std::int64_t>(lhs.free.size()), rhs.free.size());
  Side cotangent(lhs);
  cotangent.value = input.cotangents[0];
  cotangent.batch = batch;

  std::vector<ValueId> out(2, ValueId::none);
  if (input.wants(0)) {
    cotangent.contract = rhs_free;
    out[0] = dot_cotangent(b, cotangent, lhs, rhs);
  }
  if (input.wants(1)) {
    cotangent.contract = lhs_free;
    out[1] = dot_cotangent(b, cotangent, rhs, lhs);
  }
  return out;
}

std::vector<ValueId> reduce_sum_derivative(const DerivativeInput& input) {
  const TensorType type = input.builder.type(input.operands[0]);
  return {spread(input.builder, input.cotangents[0], type, input.attributes.integers("dims"))};
}

std::vector<ValueId> reduce_extremum_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const TensorType type = b.type(input.operands[0]);
  const Dims& dims = input.attributes.integers("dims");
  const ValueId mask =
      b.emit(Op::equal_mask, {input.operands[0], spread(b, input.results[0], type, dims)});
  const ValueId ties = b.emit(Op::reduce_sum, {mask}, Attributes{{"dims", dims}});
  const ValueId share = b.emit(Op::divide, {input.cotangents[0], ties});
  return {b.emit(Op::multiply, {spread(b, share, type, dims), mask})};
}

std::vector<ValueId> reduce_prod_derivative(const DerivativeInput& input) {
  // The product of the *others*: with zeros replaced by ones the product p is that of the nonzero
  // elements; element i gets p / x_i when no other element is zero, and nothing otherwise.
  Builder& b = input.builder;
  const TensorType type = b.type(input.operands[0]);
  const Dims& dims = input.attributes.integers("dims");
  const ValueId zero = zero_scalar(b, type.dtype);
  const ValueId is_zero = b.emit(Op::equal_mask, {input.operands[0], zero});
  const ValueId nonzero = b.emit(Op::add, {input.operands[0], is_zero});
  const ValueId zeros = b.emit(Op::reduce_sum, {is_zero}, Attributes{{"dims", dims}});
  const ValueId product = b.emit(Op::reduce_prod, {nonzero}, Attributes{{"dims", dims}});
  const ValueId other_zeros = b.emit(Op::subtract, {spread(b, zeros, type, dims), is_zero});
  const ValueId counts = b.emit(Op::equal_mask, {other_zeros, zero});
  const ValueId scaled = b.emit(Op::multiply, {input.cotangents[0], product});
  const ValueId others = b.emit(Op::divide, {spread(b, scaled, type, dims), nonzero});
  return {b.emit(Op::multiply, {others, counts})};
}

std::vector<ValueId> constrain_derivative(const DerivativeInput& input) {
  return {input.builder.emit(Op::constrain, {input.cotangents[0]}, input.attributes)};
}

std::vector<ValueId> transpose_derivative(const DerivativeInput& input) {
  return {arranged(input.builder, input.cotangents[0], input.attributes.integers("order"))};
}

std::vector<ValueId> broadcast_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const TensorType type = b.type(input.operands[0]);
  const Dims& shape = input.attributes.integers("shape");
  const Dims& dims = input.attributes.integers("dims");
  Dims summed;
  Dims kept;  // operand dims that were not expanded
  for (int dim = 0; dim < static_cast<int>(shape.size()); ++dim) {
    const auto mapped = std::find(dims.begin(), dims.end(), dim);
    const auto source = static_cast<std::size_t>(mapped - dims.begin());
    if (mapped != dims.end() && type.shape[source] == shape[static_cast<std::size_t>(dim)]) {
      kept.push_back(static_cast<std::int64_t>(source));
    } else {
      summed.push_back(dim);
    }
  }
  ValueId sum = input.cotangents[0];
  if (!summed.empty()) sum = b.emit(Op::reduce_sum, {sum}, Attributes{{"dims", summed}});
  if (static_cast<int>(kept.size()) == type.rank()) return {sum};
  return {b.emit(Op::broadcast, {sum}, Attributes{{"shape", type.shape}, {"dims", kept}})};
}

}  // namespace shard
