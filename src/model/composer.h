#pragma once
// Small compositions of ops that several layers and the losses are made of. Values and shapes must
// fit: what a file can get wrong is checked before. Labels follow the ops' rules.

#include <array>

#include "model/graph_builder.h"

namespace shard {

class Composer {
 public:
  explicit Composer(GraphBuilder& builder) : builder_(builder) {}

  const TensorType& type(ValueId x) const { return builder_.type(x); }
  std::int64_t size(ValueId x, int dim) const;
  int last_dim(ValueId x) const { return type(x).rank() - 1; }

  ValueId one(Op op, ValueId x) { return builder_.emit(op, {x}); }
  ValueId two(Op op, ValueId x, ValueId y) { return builder_.emit(op, {x, y}); }
  /// For operands that are made on the spot: in braces they are made in this order.
  ValueId two(Op op, std::array<ValueId, 2> operands) { return builder_.emit(op, operands, {}); }
  ValueId times(ValueId x, double factor);
  ValueId plus(ValueId x, double term);
  ValueId number(double value, DType dtype);
  ValueId converted(ValueId x, DType dtype);
  /// on_true where `mask`, else the number.
  ValueId where(ValueId mask, ValueId on_true, double otherwise);

  ValueId reduced(Op op, ValueId x, const std::vector<std::int64_t>& dims);
  /// `x`, which lacks the dims `dims` of `shape`, repeated along them.
  ValueId spread(ValueId x, const Shape& shape, const std::vector<std::int64_t>& dims);
  /// `x` as the dims `at` of an array of this shape, repeated along the others.
  ValueId placed(ValueId x, const Shape& shape, std::vector<std::int64_t> at);
  ValueId mean(ValueId x, const std::vector<std::int64_t>& dims);

  ValueId reshaped(ValueId x, Shape shape);
  ValueId transposed(ValueId x, std::vector<std::int64_t> order);
  /// [start, limit) of one dim.
  ValueId sliced(ValueId x, int dim, std::int64_t start, std::int64_t limit);
  /// With `value` before and behind; negative counts cut off.
  ValueId padded(ValueId x, double value, std::vector<std::int64_t> low,
                 std::vector<std::int64_t> high);
  ValueId concatenated(const std::vector<ValueId>& parts, int dim);
  ValueId iota(const Shape& shape, int dim, DType dtype);
  /// The same value; no gradient flows through it.
  ValueId stopped(ValueId x) { return one(Op::stop_gradient, x); }

  /// x minus its largest over the dims, whose choice is left out of the gradient.
  ValueId shifted_down(ValueId x, const std::vector<std::int64_t>& dims);
  ValueId softmax(ValueId x, const std::vector<std::int64_t>& dims);
  ValueId log_softmax(ValueId x, const std::vector<std::int64_t>& dims);

  std::vector<std::string> labels(ValueId x) const { return builder_.graph().value(x).labels; }
  void set_labels(ValueId x, std::vector<std::string> labels);

 private:
  GraphBuilder& builder_;
};

}  // namespace shard
