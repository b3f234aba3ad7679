#pragma once
// One transformation of an optimizer at work.

#include <array>
#include <string_view>

#include "model/updates.h"

namespace shard {

/// What a transformation is given: the updates so far, one per parameter, which it replaces; the
/// state, whose next values it sets.
class UpdateWalk {
 public:
  UpdateWalk(GraphBuilder& builder, const UpdateRequest& request);

  GraphBuilder& builder() { return builder_; }
  std::size_t count() const { return request_.parameters.size(); }
  const UpdateRequest& request() const { return request_; }

  /// Nodes are stamped as the parameter's from now on, or as the transformation's own.
  void at_parameter(std::size_t parameter);
  void at_whole(std::string_view word);

  // Arithmetic, elementwise; scalars go with anything.
  ValueId one(Op op, ValueId x) { return builder_.emit(op, {x}); }
  ValueId two(Op op, ValueId x, ValueId y) { return builder_.emit(op, {x, y}); }
  /// For operands that are made on the spot: in braces they are made in this order.
  ValueId two(Op op, std::array<ValueId, 2> operands) { return builder_.emit(op, operands, {}); }
  ValueId times(ValueId x, double factor);
  ValueId plus(ValueId x, double term);
  ValueId converted(ValueId x, DType dtype);
  ValueId number(double value, DType dtype);
  /// x * a + y * b.
  ValueId mixed(ValueId x, double a, ValueId y, double b);
  /// x times its conjugate, a real number: of real numbers the square.
  ValueId size_squared(ValueId x);
  /// The same in x's dtype, as what is kept of it beside x.
  ValueId kept_square(ValueId x);
  /// 1 / sqrt(x) of numbers that are real, in x's dtype: of complex ones the real part counts.
  ValueId inverse_root(ValueId x);
  /// x / |x|, and zero where x is zero.
  ValueId sign(ValueId x);
  /// Over all dims, a scalar.
  ValueId sum(ValueId x);
  ValueId mean(ValueId x);

  /// The slot's value now, in the parameter's dtype, and its next value, in the slot's own.
  ValueId slot(const TransformationUse& use, std::string_view name, std::size_t parameter);
  void set_slot(const TransformationUse& use, std::string_view name, std::size_t parameter,
                ValueId next);
  /// The slot's next value before it is rounded: decay * slot + (1 - decay) * x.
  ValueId moved_on(const TransformationUse& use, std::string_view name, std::size_t parameter,
                   ValueId x, double decay);
  /// It stays as it is.
  void keep_slot(const TransformationUse& use, std::string_view name, std::size_t parameter);
  /// A count now and, set by this call, one higher.
  ValueId count_of(const TransformationUse& use, std::string_view name);
  ValueId counted_up(const TransformationUse& use, std::string_view name);

  std::vector<ValueId> updates;
  std::vector<ValueId> next_slots;

 private:
  std::size_t leaf_of(const TransformationUse& use, std::string_view name,
                      std::size_t parameter) const;

  GraphBuilder& builder_;
  const UpdateRequest& request_;
};

/// An argument under the first of these names that is given, or the standard.
double argument_of(const TransformationUse& use, std::initializer_list<std::string_view> names,
                   double standard);

/// Whether the mask of the optimizer has the parameter; without a mask all are in it.
bool is_masked_in(const TransformationUse& use, const StateLeaf& parameter);

/// The rate at which the parameters move: a number, or the value of a schedule.
struct Rate {
  double number = 1;
  ValueId value = ValueId::none;  ///< an f32 scalar, times `number`
};
Rate rate_of(UpdateWalk& walk, const TransformationUse& use);

/// Applies one transformation; the words are those of `optimizer_state`.
void apply_transformation(UpdateWalk& walk, const TransformationUse& use);

}  // namespace shard
