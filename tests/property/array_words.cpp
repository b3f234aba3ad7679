#include "property/array_words.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/composed.h"

namespace shard::test {
namespace {

X made(const X& like, ValueId id) { return {like.builder(), id}; }

/// The shape that all of these spread to.
Shape common_shape(const Xs& operands) {
  Shape shape;
  for (const X& x : operands) {
    Shape own = x.shape();
    if (own.size() > shape.size()) shape.insert(shape.begin(), own.size() - shape.size(), 1);
    own.insert(own.begin(), shape.size() - own.size(), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = std::max(shape[i], own[i]);
  }
  return shape;
}

}  // namespace

X X::number(double value) const { return made(*this, scalar(builder(), value, dtype())); }

X X::op(Op op, Attributes attributes) const {
  return made(*this, builder().emit(op, {id_}, std::move(attributes)));
}

X X::reduced(Op op, Dims dims, bool keeps_dims) const {
  Shape kept = shape();
  for (const std::int64_t dim : dims) kept[static_cast<std::size_t>(dim)] = 1;
  const X less = made(*this, shard::reduced(builder(), op, id_, std::move(dims)));
  return keeps_dims ? less.reshaped(std::move(kept)) : less;
}

X X::reshaped(Shape shape) const {
  return made(*this, shard::reshaped(builder(), id_, std::move(shape)));
}

X X::spread(Shape shape) const {
  if (shape == this->shape()) return *this;
  Dims dims(this->shape().size());
  std::iota(dims.begin(), dims.end(), static_cast<std::int64_t>(shape.size() - dims.size()));
  return made(*this, broadcast_to(builder(), id_, std::move(shape), std::move(dims)));
}

X X::expanded(std::int64_t dim) const {
  Shape shape = this->shape();
  shape.insert(shape.begin() + dim, 1);
  return reshaped(std::move(shape));
}

X X::as(DType dtype) const { return made(*this, as_dtype(builder(), id_, dtype)); }

X X::part(std::int64_t dim, std::int64_t start, std::int64_t limit) const {
  return made(*this, sliced(builder(), id_, dim, start, limit));
}

X apply(Op op, Xs operands, Attributes attributes) {
  const Shape shape = common_shape(operands);
  std::vector<ValueId> ids;
  for (const X& x : operands) ids.push_back((x.rank() == 0 ? x : x.spread(shape)).id());
  return made(operands[0], operands[0].builder().emit(op, ids, std::move(attributes)));
}

X operator+(const X& a, const X& b) { return apply(Op::add, {a, b}); }
X operator-(const X& a, const X& b) { return apply(Op::subtract, {a, b}); }
X operator*(const X& a, const X& b) { return apply(Op::multiply, {a, b}); }
X operator/(const X& a, const X& b) { return apply(Op::divide, {a, b}); }
X operator+(const X& a, double b) { return a + a.number(b); }
X operator-(const X& a, double b) { return a - a.number(b); }
X operator*(const X& a, double b) { return a * a.number(b); }
X operator/(const X& a, double b) { return a / a.number(b); }
X operator-(const X& a) { return a.op(Op::negate); }

X mean(const X& x, Dims dims, bool keeps_dims) {
  // 16-bit floats are summed as float32, as jax.numpy does.
  double count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<double>(x.size(dim));
  const X wide = x.as(DType::f32);
  return (wide.reduced(Op::reduce_sum, std::move(dims), keeps_dims) / count).as(x.dtype());
}

X variance(const X& x, Dims dims, bool keeps_dims) {
  const X wide = x.as(DType::f32);
  const X centered = wide - mean(wide, dims, true);
  return mean(centered.op(Op::square), std::move(dims), keeps_dims).as(x.dtype());
}

X logsumexp(const X& x) {
  const X top = x.reduced(Op::reduce_max, {1}, true);
  const X finite = apply(Op::select, {top.op(Op::is_finite), top, top.number(0)});
  const X still = made(x, finite.id());
  return (x - still).op(Op::exp).reduced(Op::reduce_sum, {1}, true).op(Op::log) + still;
}

X softmax(const X& x) {
  // XLA keeps float32 inside of a fused softmax.
  const X wide = x.as(DType::f32);
  const X e = (wide - wide.reduced(Op::reduce_max, {1}, true)).op(Op::exp);
  return (e / e.reduced(Op::reduce_sum, {1}, true)).as(x.dtype());
}

X log_softmax(const X& x) {
  const X shifted = x - x.reduced(Op::reduce_max, {1}, true);
  return shifted - shifted.op(Op::exp).reduced(Op::reduce_sum, {1}, true).op(Op::log);
}

X logaddexp(const X& a, const X& b) {
  // Where both are the same infinity their difference is none: the sum stands for all.
  const X top = apply(Op::maximum, {a, b}), apart = a - b;
  const X sum = top + (-apart.op(Op::abs)).op(Op::exp).op(Op::log1p);
  return apply(Op::select, {apply(Op::ne, {apart, apart}), a + b, sum});
}

X floored_remainder(const X& a, const X& b) {
  const X rest = apply(Op::remainder, {a, b}), zero = rest.number(0);
  const X turns = apply(Op::ne, {apply(Op::lt, {rest, zero}), apply(Op::lt, {b, zero})});
  const X moves = apply(Op::bitwise_and, {turns, apply(Op::ne, {rest, zero})});
  return apply(Op::select, {moves, rest + b, rest});
}

}  // namespace shard::test
