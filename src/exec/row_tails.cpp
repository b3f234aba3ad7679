#include "exec/row_tails.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "exec/element.h"

namespace shard {
namespace {

/// 2^15 products of two such numbers stay below 2^95, and four steps that make them 2^8 times as
/// large below 2^127.
constexpr float largest_tame = 0x1p40F;
constexpr float largest_addend = 0x1p95F;
constexpr float largest_factor = 0x1p8F;
constexpr int most_growth = 4;

/// What a value of the loop is at the points of a row's tail.
struct Tail {
  enum class Kind {
    none,   ///< nothing: it has no points
    alike,  ///< the same number
    open    ///< numbers of its own, all finite
  };
  Kind kind = Kind::none;
  bool is_scalar = false;
  bool is_fixed = false;  ///< alike, and in no row and tile anything else
  int growth = 0;         ///< open: steps that may have made it larger
};

class TailFinder {
 public:
  TailFinder(const Instruction& instruction, const FusedForm& form)
      : instruction_(instruction), form_(form), tails_(form.values.size()) {}

  std::optional<RowTails> find() {
    const auto is_points = [&](int value) { return form_.values[at(value)].shape == form_.shape; };
    if (form_.group_dims < 0) return std::nullopt;
    if (std::any_of(instruction_.outputs.begin(), instruction_.outputs.end(), is_points))
      return std::nullopt;
    for (std::size_t i = 0; i < instruction_.operands.size(); ++i)
      tails_[i].is_scalar = form_.values[i].shape.empty();
    found_.checks.resize(instruction_.steps.size());
    for (step_ = 0; step_ < instruction_.steps.size(); ++step_) {
      if (!add_step(instruction_.steps[step_])) return std::nullopt;
    }
    if (found_.masks.empty()) return std::nullopt;
    return std::move(found_);
  }

 private:
  using Kind = Tail::Kind;

  static std::size_t at(int value) { return static_cast<std::size_t>(value); }
  bool is_outside(int value) const { return at(value) < instruction_.operands.size(); }
  const Tail& tail(int value) const { return tails_[at(value)]; }
  const TensorType& type(int value) const { return form_.values[at(value)]; }
  bool is_open(int value) const { return tail(value).kind == Kind::open; }
  int result() const { return form_.first_value[step_]; }

  void check(TailCheck::Kind kind, int value) {
    found_.checks[step_].push_back({kind, value, tail(value).is_scalar});
  }
  bool set(Tail tail) {
    const DType dtype = type(result()).dtype;
    tails_[at(result())] = tail;
    return computes_in_f32(dtype) || dtype == DType::boolean;
  }
  bool set_open(int growth) {
    const DType dtype = type(result()).dtype;
    if (growth > most_growth || (dtype != DType::f32 && dtype != DType::bf16)) return false;
    return set({Kind::open, false, false, growth});
  }
  /// Sums of it get nothing of the tail.
  bool is_zero(int value) {
    check(TailCheck::Kind::zero, value);
    return tail(value).kind == Kind::alike;
  }

  bool add_step(const FusedStep& step) {
    const int last = step_ + 1 < form_.first_value.size() ? form_.first_value[step_ + 1]
                                                          : static_cast<int>(form_.values.size());
    if (last != result() + 1) return false;
    switch (fusion_role(step.op)) {
      case FusionRole::product:
        return add_product(step);
      case FusionRole::spread:
        return add_spread(step);
      case FusionRole::fill:
        return set({Kind::alike, false, true, 0});
      case FusionRole::by_row:
        return add_reduction(step);
      case FusionRole::pointwise:
        return add_pointwise(step);
      case FusionRole::position:
      case FusionRole::none:
        return false;
    }
    return false;
  }

  bool add_product(const FusedStep& step) {
    const LoopProduct product = product_of_step(instruction_, form_, step_);
    if (product.kind == LoopProductKind::points) return set_open(0);
    return is_zero(step.operands[at(product.points_operand)]);
  }

  bool add_spread(const FusedStep& step) {
    const int operand = step.operands.front();
    if (type(result()).shape != form_.shape) return set({});
    if (!is_outside(operand)) return set({Kind::alike, false, false, 0});
    const std::vector<std::int64_t>& dims = step.attributes.integers("dims");
    const bool is_by_row = std::all_of(dims.begin(), dims.end(),
                                       [&](std::int64_t dim) { return dim < form_.row_dims; });
    if (is_by_row) return set({Kind::alike, false, dims.empty(), 0});
    if (type(operand).dtype != DType::boolean) return false;
    found_.masks.push_back({static_cast<int>(step_), false});
    return set({Kind::alike, false, false, 0});
  }

  /// The last point takes part for the whole tail.
  bool add_reduction(const FusedStep& step) {
    const int operand = step.operands.front();
    if (tail(operand).kind != Kind::alike) return false;
    const bool is_extreme = step.op == Op::reduce_max || step.op == Op::reduce_min;
    if (is_extreme) return true;
    return step.op == Op::reduce_sum && is_zero(operand);
  }

  bool add_pointwise(const FusedStep& step) {
    if (type(result()).shape != form_.shape) return true;
    bool is_alike = true, is_fixed = true;
    for (const int operand : step.operands) {
      const Tail& one = tail(operand);
      const bool is_scalar = one.is_scalar;
      if (one.kind == Kind::none && !is_scalar) return false;
      is_alike = is_alike && (is_scalar || one.kind == Kind::alike);
      is_fixed = is_fixed && (is_scalar || one.is_fixed);
    }
    if (is_alike) return set({Kind::alike, false, is_fixed, 0});
    if (step.op == Op::select) return add_select(step);
    return step.operands.size() == 1 ? add_unary(step) : add_binary(step);
  }

  bool add_select(const FusedStep& step) {
    const int chosen = step.operands[1], passed = step.operands[2];
    if (is_open(step.operands[0])) return false;
    if (is_open(chosen) && is_open(passed))
      return set_open(std::max(tail(chosen).growth, tail(passed).growth));
    check(is_open(passed) ? TailCheck::Kind::chosen : TailCheck::Kind::passed, step.operands[0]);
    for (RowMask& mask : found_.masks) {
      if (form_.first_value[at(mask.step)] == step.operands[0]) mask.hidden = is_open(passed);
    }
    return set({Kind::alike, false, false, 0});
  }

  bool add_unary(const FusedStep& step) {
    const int growth = tail(step.operands.front()).growth;
    if (step.op == Op::negate || step.op == Op::convert) return set_open(growth);
    const bool is_scaled =
        step.op == Op::scale && std::abs(step.attributes.number("value")) <= largest_factor;
    return is_scaled && set_open(growth + 1);
  }

  bool add_binary(const FusedStep& step) {
    const int first = step.operands[0], second = step.operands[1];
    const int open = is_open(first) ? first : second, other = is_open(first) ? second : first;
    const int growth = std::max(tail(first).growth, tail(second).growth) + 1;
    if (step.op == Op::add || step.op == Op::subtract) {
      if (!is_open(other)) check(TailCheck::Kind::addend, other);
      return set_open(growth);
    }
    if (is_open(other)) return false;
    const bool is_fixed = tail(other).is_scalar || tail(other).is_fixed;
    if (step.op == Op::divide && open == first) {
      check(TailCheck::Kind::divisor, other);
      return set_open(growth);
    }
    if (step.op != Op::multiply) return false;
    check(is_fixed ? TailCheck::Kind::factor : TailCheck::Kind::zero, other);
    return is_fixed ? set_open(growth) : set({Kind::alike, false, false, 0});
  }

  const Instruction& instruction_;
  const FusedForm& form_;
  std::vector<Tail> tails_;  ///< by value
  std::size_t step_ = 0;
  RowTails found_;
};

}  // namespace

bool holds(TailCheck::Kind kind, float number) {
  switch (kind) {
    case TailCheck::Kind::zero:
    case TailCheck::Kind::passed:
      return number == 0;
    case TailCheck::Kind::addend:
      return std::abs(number) <= largest_addend;
    case TailCheck::Kind::factor:
      return std::abs(number) <= largest_factor;
    case TailCheck::Kind::divisor:
      return std::abs(number) >= 1 / largest_factor;
    case TailCheck::Kind::chosen:
      return number != 0;
  }
  return false;
}

std::optional<RowTails> find_row_tails(const Instruction& instruction, const FusedForm& form) {
  return TailFinder(instruction, form).find();
}

LoopProduct product_of_step(const Instruction& instruction, const FusedForm& form,
                            std::size_t number) {
  const FusedStep& step = instruction.steps[number];
  std::vector<TensorType> operands;
  std::vector<char> inside;
  for (const int operand : step.operands) {
    const auto value = static_cast<std::size_t>(operand);
    operands.push_back(form.values[value]);
    inside.push_back(value < instruction.operands.size() ? 0 : 1);
  }
  const TensorType& result = form.values[static_cast<std::size_t>(form.first_value[number])];
  auto product = product_in_loop(step.attributes, operands, result, inside);
  SHARD_CHECK(product, "a product in a fused instruction was verified");
  return *std::move(product);
}

bool is_tame(const float* numbers, std::int64_t count) {
  // A NaN is in no order with anything.
  bool is_every = true;
  for (std::int64_t i = 0; i < count; ++i) is_every &= std::abs(numbers[i]) <= largest_tame;
  return is_every;
}

}  // namespace shard
