#pragma once
// Arrays in expressions, so that a recorded expression reads like the one that was recorded.

#include <initializer_list>
#include <vector>

#include "ops/builder.h"

namespace shard::test {

using Dims = std::vector<std::int64_t>;

/// A value of a graph being built. Operators spread arrays that are smaller, as NumPy does.
class X {
 public:
  X(Builder& builder, ValueId id) : builder_(&builder), id_(id) {}

  Builder& builder() const { return *builder_; }
  ValueId id() const { return id_; }
  const TensorType& type() const { return builder_->type(id_); }
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  std::int64_t size(std::int64_t dim) const { return shape()[static_cast<std::size_t>(dim)]; }
  int rank() const { return type().rank(); }

  /// A scalar of the same dtype.
  X number(double value) const;
  /// An op of one operand, with attributes.
  X op(Op op, Attributes attributes = {}) const;
  /// Over `dims`, which are gone, or stay with size 1.
  X reduced(Op op, Dims dims, bool keeps_dims = false) const;
  X reshaped(Shape shape) const;
  X spread(Shape shape) const;  ///< aligned at the right
  X expanded(std::int64_t dim) const;
  X as(DType dtype) const;
  X part(std::int64_t dim, std::int64_t start, std::int64_t limit) const;

 private:
  Builder* builder_;
  ValueId id_;
};

using Xs = std::vector<X>;

/// An op of two or three operands, spread over one another.
X apply(Op op, Xs operands, Attributes attributes = {});
X operator+(const X& a, const X& b);
X operator-(const X& a, const X& b);
X operator*(const X& a, const X& b);
X operator/(const X& a, const X& b);
X operator+(const X& a, double b);
X operator-(const X& a, double b);
X operator*(const X& a, double b);
X operator/(const X& a, double b);
X operator-(const X& a);

/// The sum over `dims` divided by how many they are.
X mean(const X& x, Dims dims, bool keeps_dims = false);
X variance(const X& x, Dims dims, bool keeps_dims = false);
/// log(sum(exp(x))) over dim 1, which stays; finite however large x is.
X logsumexp(const X& x);
X softmax(const X& x);
X log_softmax(const X& x);
/// log(exp(a) + exp(b)).
X logaddexp(const X& a, const X& b);
/// a - floor(a / b) * b, with the sign of b.
X floored_remainder(const X& a, const X& b);

}  // namespace shard::test
