// Derivatives of ops that look elements up, order them or run along a dim.

#include <numeric>

#include "ops/composed.h"
#include "ops/derivatives.h"
#include "ops/index_dims.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

/// Attributes of a scatter that puts slices where a gather with `attributes` reads them.
Attributes scatter_like(const Attributes& attributes) {
  Attributes made = IndexDims(attributes).attributes();
  made.set("mode", attributes.text("mode"));
  return made;
}

/// Reads, where a scatter of `updates` puts its slices; what it drops reads 0.
ValueId gathered_like(const DerivativeInput& input, ValueId from) {
  Builder& b = input.builder;
  const IndexDims dims(input.attributes);
  Attributes attributes = dims.attributes();
  attributes.set("slice_sizes",
                 window_sizes(dims, b.type(from).rank(), b.type(input.operands[2]).shape));
  attributes.set("mode", input.attributes.text("mode"));
  attributes.set("fill", 0.0);
  return b.emit(Op::gather, {from, input.operands[1]}, std::move(attributes));
}

ValueId scattered(const DerivativeInput& input, Op op, ValueId array, ValueId updates) {
  return input.builder.emit(op, {array, input.operands[1], updates}, input.attributes);
}

/// 0, 1, 2, ... in row-major order.
ValueId numbered(Builder& b, const Shape& shape) {
  const std::int64_t count = element_count(shape);
  return reshaped(b, iota(b, {count}, 0, DType::i32), shape);
}

/// True where an update is the one that stayed: the last of those that went to one place.
ValueId stays_in_place(const DerivativeInput& input) {
  Builder& b = input.builder;
  const TensorType array = b.type(input.operands[0]), updates = b.type(input.operands[2]);
  const ValueId numbers =
      b.emit(Op::shift, {numbered(b, updates.shape)}, Attributes{{"value", 1.0}});
  const ValueId places =
      scattered(input, Op::scatter_set, filled(b, 0, {DType::i32, array.shape}), numbers);
  return b.emit(Op::eq, {numbers, gathered_like(input, places)});
}

ValueId where_else_zero(Builder& b, ValueId condition, ValueId g) {
  return selected(b, condition, g, scalar(b, 0, b.type(g).dtype));
}

Attributes along(const Attributes& attributes, bool is_turned) {
  const bool was_reverse = attributes.integer("reverse") != 0;
  return Attributes{{"dim", attributes.integer("dim")},
                    {"reverse", static_cast<std::int64_t>(was_reverse != is_turned)}};
}

/// The element before along the running direction; `first` for the first.
ValueId element_before(Builder& b, ValueId x, const Attributes& attributes, double first,
                       bool is_turned = false) {
  const TensorType type = b.type(x);
  const auto dim = static_cast<std::size_t>(attributes.integer("dim"));
  const bool is_reverse = (attributes.integer("reverse") != 0) != is_turned;
  Dims low(type.shape.size(), 0), high = low;
  low[dim] = is_reverse ? -1 : 1;
  high[dim] = -low[dim];
  const Dims none(type.shape.size(), 0);
  return b.emit(Op::pad, {x, scalar(b, first, type.dtype)},
                Attributes{{"low", low}, {"high", high}, {"interior", none}});
}

}  // namespace

std::vector<ValueId> gather_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId zeros = filled(b, 0, b.type(input.operands[0]));
  return {b.emit(Op::scatter_add, {zeros, input.operands[1], input.cotangents[0]},
                 scatter_like(input.attributes)),
          ValueId::none};
}

std::vector<ValueId> scatter_add_derivative(const DerivativeInput& input) {
  const ValueId g = input.cotangents[0];
  return {g, ValueId::none, input.wants(2) ? gathered_like(input, g) : ValueId::none};
}

std::vector<ValueId> scatter_set_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId g = input.cotangents[0];
  std::vector<ValueId> out(3, ValueId::none);
  if (input.wants(0)) {
    out[0] = scattered(input, Op::scatter_set, g, filled(b, 0, b.type(input.operands[2])));
  }
  if (input.wants(2)) {
    out[2] = where_else_zero(b, stays_in_place(input), gathered_like(input, g));
  }
  return out;
}

std::vector<ValueId> scatter_mul_derivative(const DerivativeInput& input) {
  // y = x times the updates that come to it. An update u gets x times the others: y / u where u is
  // not 0; where it is, the product with u replaced by 1, if no other that comes there is 0.
  Builder& b = input.builder;
  const ValueId g = input.cotangents[0], x = input.operands[0], u = input.operands[2];
  std::vector<ValueId> out(3, ValueId::none);
  if (input.wants(0)) out[0] = scattered(input, Op::scatter_mul, g, u);
  if (!input.wants(2)) return out;
  const TensorType array = b.type(x), updates = b.type(u);
  const ValueId is_zero = b.emit(Op::equal_mask, {u, scalar(b, 0, updates.dtype)});
  const ValueId nonzero = b.emit(Op::add, {u, is_zero});
  const ValueId zeros =
      gathered_like(input, scattered(input, Op::scatter_add, filled(b, 0, array), is_zero));
  const ValueId product = gathered_like(
      input, b.emit(Op::multiply, {g, scattered(input, Op::scatter_mul, x, nonzero)}));
  const ValueId counts = b.emit(Op::eq, {zeros, is_zero});
  out[2] = where_else_zero(b, counts, b.emit(Op::divide, {product, nonzero}));
  return out;
}

std::vector<ValueId> scatter_extremum_derivative(const DerivativeInput& input) {
  // Evenly over all that are equal to what came out: the array's own element and the updates.
  Builder& b = input.builder;
  const ValueId g = input.cotangents[0], y = input.results[0], u = input.operands[2];
  const ValueId own = b.emit(Op::equal_mask, {input.operands[0], y});
  const ValueId theirs = b.emit(Op::equal_mask, {u, gathered_like(input, y)});
  const ValueId ties = scattered(input, Op::scatter_add, own, theirs);
  const ValueId share = b.emit(Op::divide, {g, ties});
  std::vector<ValueId> out(3, ValueId::none);
  if (input.wants(0)) {
    out[0] = where_else_zero(b, b.emit(Op::eq, {input.operands[0], y}), share);
  }
  if (input.wants(2)) out[2] = b.emit(Op::multiply, {gathered_like(input, share), theirs});
  return out;
}

std::vector<ValueId> cumsum_derivative(const DerivativeInput& input) {
  return {input.builder.emit(Op::cumsum, {input.cotangents[0]}, along(input.attributes, true))};
}

std::vector<ValueId> linear_recurrence_derivative(const DerivativeInput& input) {
  // h_t = a_t h_(t-1) + b_t. Backwards s_t = g_t + a_(t+1) s_(t+1), so db = s, da_t = s_t h_(t-1).
  Builder& b = input.builder;
  const ValueId next = element_before(b, input.operands[0], input.attributes, 0, true);
  const ValueId s =
      b.emit(Op::linear_recurrence, {next, input.cotangents[0]}, along(input.attributes, true));
  std::vector<ValueId> out = {ValueId::none, s};
  if (input.wants(0)) {
    const ValueId before = element_before(b, input.results[0], input.attributes, 0);
    out[0] = b.emit(Op::multiply, {s, before});
  }
  return out;
}

std::vector<ValueId> cumprod_derivative(const DerivativeInput& input) {
  // y_t = x_t y_(t-1) with y before the first 1: the recurrence above with no b, right at zeros
  // too.
  Builder& b = input.builder;
  const ValueId next = element_before(b, input.operands[0], input.attributes, 0, true);
  const ValueId s =
      b.emit(Op::linear_recurrence, {next, input.cotangents[0]}, along(input.attributes, true));
  return {b.emit(Op::multiply, {s, element_before(b, input.results[0], input.attributes, 1)})};
}

std::vector<ValueId> cumulative_extremum_derivative(const DerivativeInput& input) {
  // Each result passes its cotangent to the last element so far that equals it.
  Builder& b = input.builder;
  const ValueId x = input.operands[0], y = input.results[0];
  const TensorType type = b.type(x);
  const bool is_reverse = input.attributes.integer("reverse") != 0;
  const std::int64_t dim = input.attributes.integer("dim");
  const ValueId numbers = iota(b, type.shape, dim, DType::i32);
  const double none =
      is_reverse ? static_cast<double>(type.shape[static_cast<std::size_t>(dim)]) : -1;
  const ValueId marks = selected(b, b.emit(Op::eq, {x, y}), numbers, scalar(b, none, DType::i32));
  const ValueId holders =
      b.emit(is_reverse ? Op::cummin : Op::cummax, {marks}, along(input.attributes, false));
  return {added_along(b, holders, input.cotangents[0], type, dim)};
}

std::vector<ValueId> cumlogsumexp_derivative(const DerivativeInput& input) {
  // dx_i = exp(x_i - y_i) r_i with r_i = sum over j >= i of g_j exp(y_i - y_j), which grows from
  // the end: r_i = g_i + exp(y_i - y_(i+1)) r_(i+1). No exponent is positive.
  Builder& b = input.builder;
  const ValueId x = input.operands[0], y = input.results[0];
  const ValueId next = element_before(b, y, input.attributes, 0, true);
  const ValueId step = b.emit(Op::exp, {b.emit(Op::subtract, {y, next})});
  const ValueId r =
      b.emit(Op::linear_recurrence, {step, input.cotangents[0]}, along(input.attributes, true));
  return {b.emit(Op::multiply, {r, b.emit(Op::exp, {b.emit(Op::subtract, {x, y})})})};
}

std::vector<ValueId> sort_derivative(const DerivativeInput& input) {
  // The positions that the elements came from say where the cotangents go.
  Builder& b = input.builder;
  const TensorType first = b.type(input.operands[0]);
  const std::int64_t dim = input.attributes.integer("dim");
  std::vector<ValueId> operands(input.operands.begin(), input.operands.end());
  operands.push_back(iota(b, first.shape, dim, DType::i32));
  const ValueId order = b.emit_all(Op::sort, operands, input.attributes).back();
  std::vector<ValueId> out(input.operands.size(), ValueId::none);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!input.wants(i) || input.cotangents[i] == ValueId::none) continue;
    out[i] = added_along(b, order, input.cotangents[i], b.type(input.operands[i]), dim);
  }
  return out;
}

std::vector<ValueId> top_k_derivative(const DerivativeInput& input) {
  if (input.cotangents[0] == ValueId::none) return no_gradient(input);
  const TensorType type = input.builder.type(input.operands[0]);
  return {added_along(input.builder, input.results[1], input.cotangents[0], type, type.rank() - 1)};
}

}  // namespace shard
