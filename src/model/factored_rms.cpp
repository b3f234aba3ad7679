#include "model/factored_rms.h"

namespace shard {
namespace {

constexpr double square_epsilon = 1e-30;

ValueId mean_over(UpdateWalk& walk, ValueId x, std::int64_t dim) {
  const auto size =
      static_cast<double>(walk.builder().type(x).shape[static_cast<std::size_t>(dim)]);
  const ValueId sum =
      walk.builder().emit(Op::reduce_sum, {x}, Attributes{{"dims", std::vector{dim}}});
  return walk.times(sum, 1 / size);
}

/// `x`, which has all dims of `shape` but `dim`, repeated along it.
ValueId spread_over(UpdateWalk& walk, ValueId x, const Shape& shape, std::int64_t dim) {
  std::vector<std::int64_t> dims;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i) {
    if (i != dim) dims.push_back(i);
  }
  return walk.builder().emit(Op::broadcast, {x},
                             Attributes{{"shape", shape}, {"dims", std::move(dims)}});
}

/// Away from zero, in the dtype of `g`.
ValueId squared(UpdateWalk& walk, ValueId g) {
  const ValueId size = walk.plus(walk.size_squared(g), square_epsilon);
  return walk.converted(size, walk.builder().type(g).dtype);
}

/// A kept square after this step: decay * old + (1 - decay) * square, with `decay` a scalar.
ValueId next_square(UpdateWalk& walk, ValueId old, ValueId square, ValueId decay) {
  const ValueId rest = walk.plus(walk.one(Op::negate, decay), 1);
  return walk.two(Op::add,
                  {walk.two(Op::multiply, old, decay), walk.two(Op::multiply, square, rest)});
}

ValueId factored_update(UpdateWalk& walk, const TransformationUse& use, std::size_t i, ValueId g,
                        ValueId decay, const FactoredDims& dims) {
  const Shape shape = walk.builder().type(g).shape;
  const auto largest = static_cast<std::int64_t>(dims.largest);
  const auto second = static_cast<std::int64_t>(dims.second);
  const ValueId square = squared(walk, g);
  const ValueId row =
      next_square(walk, walk.slot(use, "v_row", i), mean_over(walk, square, largest), decay);
  const ValueId column =
      next_square(walk, walk.slot(use, "v_col", i), mean_over(walk, square, second), decay);
  walk.set_slot(use, "v_row", i, row);
  walk.set_slot(use, "v_col", i, column);
  // The rows relative to their mean along the second largest dim.
  const std::int64_t in_row = second > largest ? second - 1 : second;
  const ValueId mean = mean_over(walk, row, in_row);
  const ValueId whole = spread_over(walk, mean, walk.builder().type(row).shape, in_row);
  const ValueId row_factor = walk.inverse_root(walk.two(Op::divide, row, whole));
  const ValueId column_factor = walk.inverse_root(column);
  const ValueId by_row = walk.two(Op::multiply, g, spread_over(walk, row_factor, shape, largest));
  return walk.two(Op::multiply, by_row, spread_over(walk, column_factor, shape, second));
}

/// Placeholders of the form that a parameter does not have stay zero.
void keep_placeholders(UpdateWalk& walk, const TransformationUse& use, std::size_t i,
                       std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) walk.keep_slot(use, name, i);
}

}  // namespace

void scale_by_factored_rms(UpdateWalk& walk, const TransformationUse& use) {
  const double exponent = argument_of(use, {"decay_rate"}, 0.8);
  const ValueId before = walk.count_of(use, "count");
  walk.counted_up(use, "count");
  walk.at_whole(use.word);
  // 1 - (steps)^-exponent, with the steps counted from one.
  const ValueId steps = walk.plus(walk.converted(before, DType::f32), 1);
  const ValueId power = walk.two(Op::power, steps, walk.number(-exponent, DType::f32));
  const ValueId decay_f32 = walk.plus(walk.one(Op::negate, power), 1);
  for (std::size_t i = 0; i < walk.count(); ++i) {
    walk.at_parameter(i);
    ValueId& g = walk.updates[i];
    const ValueId decay = walk.converted(decay_f32, walk.builder().type(g).dtype);
    const auto dims = factored_dims(walk.request().parameters[i].type.shape, *use.optimizer);
    if (dims) {
      g = factored_update(walk, use, i, g, decay, *dims);
      keep_placeholders(walk, use, i, {"v"});
      continue;
    }
    const ValueId square = squared(walk, g);
    const ValueId next = next_square(walk, walk.slot(use, "v", i), square, decay);
    walk.set_slot(use, "v", i, next);
    keep_placeholders(walk, use, i, {"v_row", "v_col"});
    g = walk.two(Op::multiply, g, walk.inverse_root(next));
  }
}

}  // namespace shard
