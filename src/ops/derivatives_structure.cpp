#include <algorithm>
#include <numeric>

#include "ops/builder.h"
#include "ops/derivatives.h"
#include "ops/dims.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

Dims range(std::int64_t from, std::size_t count) {
  Dims dims(count);
  std::iota(dims.begin(), dims.end(), from);
  return dims;
}

/// One side of a dot: its dims by what they do. `free` is ascending.
struct Side {
  ValueId value;
  const Dims& batch;
  const Dims& contract;
  Dims free;

  Side(const Builder& builder, ValueId operand, const Dims& batch_dims, const Dims& contract_dims)
      : value(operand), batch(batch_dims), contract(contract_dims) {
    for (int dim = 0; dim < builder.type(operand).rank(); ++dim) {
      if (!contains(batch, dim) && !contains(contract, dim)) free.push_back(dim);
    }
  }
};

/// Transposes `value`, whose dim i is dim `dims[i]` of the wanted array.
ValueId arranged(Builder& builder, ValueId value, const Dims& dims) {
  if (std::is_sorted(dims.begin(), dims.end())) return value;
  Dims order(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i)
    order[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
  return builder.emit(Op::transpose, {value}, Attributes{{"order", std::move(order)}});
}

/// a, b and c one after the other.
Dims joined(const Dims& a, const Dims& b, const Dims& c) {
  Dims all;
  all.reserve(a.size() + b.size() + c.size());
  for (const Dims* part : {&a, &b, &c}) all.insert(all.end(), part->begin(), part->end());
  return all;
}

/// The dims of `mine` that it contracts, in the order in which `other` has their partners.
Dims contracted_as_in(const Side& other, const Side& mine) {
  if (std::is_sorted(other.contract.begin(), other.contract.end())) return mine.contract;
  Dims by_other = range(0, mine.contract.size());
  std::sort(by_other.begin(), by_other.end(), [&](std::int64_t a, std::int64_t b) {
    return other.contract[static_cast<std::size_t>(a)] <
           other.contract[static_cast<std::size_t>(b)];
  });
  for (std::int64_t& i : by_other) i = mine.contract[static_cast<std::size_t>(i)];
  return by_other;
}

/// The cotangent of `mine`: the result's cotangent, over its batch dims and the dims it has from
/// `other`, times `other` over its free dims.
ValueId dot_cotangent(Builder& builder, ValueId cotangent, const Dims& batch,
                      const Dims& from_other, const Side& mine, const Side& other) {
  const Dims contracted = contracted_as_in(other, mine);
  const Dims other_first = joined(mine.batch, contracted, mine.free);
  if (std::is_sorted(other_first.begin(), other_first.end())) {
    return builder.emit(Op::dot, {other.value, cotangent},
                        dot_attributes(other.batch, batch, other.free, from_other));
  }
  const ValueId product = builder.emit(Op::dot, {cotangent, other.value},
                                       dot_attributes(batch, other.batch, from_other, other.free));
  return arranged(builder, product, joined(mine.batch, mine.free, contracted));
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
  const Attributes& attributes = input.attributes;
  const Side lhs(b, input.operands[0], attributes.integers("lhs_batch"),
                 attributes.integers("lhs_contract"));
  const Side rhs(b, input.operands[1], attributes.integers("rhs_batch"),
                 attributes.integers("rhs_contract"));
  // The result's dims are batch, lhs free, rhs free.
  const Dims batch = range(0, lhs.batch.size());
  const auto lhs_at = static_cast<std::int64_t>(batch.size());
  const auto rhs_at = lhs_at + static_cast<std::int64_t>(lhs.free.size());
  const ValueId g = input.cotangents[0];
  std::vector<ValueId> out(2, ValueId::none);
  if (input.wants(0)) {
    out[0] = dot_cotangent(b, g, batch, range(rhs_at, rhs.free.size()), lhs, rhs);
  }
  if (input.wants(1)) {
    out[1] = dot_cotangent(b, g, batch, range(lhs_at, lhs.free.size()), rhs, lhs);
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
