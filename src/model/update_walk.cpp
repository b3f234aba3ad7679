#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/glob.h"
#include "model/schedule.h"
#include "model/transformation.h"

namespace shard {

UpdateWalk::UpdateWalk(GraphBuilder& builder, const UpdateRequest& request)
    : updates(request.gradients),
      next_slots(request.slots.size(), ValueId::none),
      builder_(builder),
      request_(request) {}

void UpdateWalk::at_parameter(std::size_t parameter) {
  const StateLeaf& leaf = request_.parameters[parameter];
  builder_.origin = {leaf.path, request_.at, Phase::update, leaf.iteration};
}

void UpdateWalk::at_whole(std::string_view word) {
  builder_.origin = {std::string(word), request_.at, Phase::update, {}};
}

ValueId UpdateWalk::times(ValueId x, double factor) {
  return builder_.emit(Op::scale, {x}, Attributes{{"value", factor}});
}

ValueId UpdateWalk::plus(ValueId x, double term) {
  return builder_.emit(Op::shift, {x}, Attributes{{"value", term}});
}

ValueId UpdateWalk::converted(ValueId x, DType dtype) {
  if (builder_.type(x).dtype == dtype) return x;
  return builder_.emit(Op::convert, {x}, Attributes{{"dtype", std::string(info(dtype).name)}});
}

ValueId UpdateWalk::number(double value, DType dtype) {
  return builder_.emit(
      Op::constant, {},
      Attributes{{"shape", Shape{}}, {"value", value}, {"dtype", std::string(info(dtype).name)}});
}

ValueId UpdateWalk::mixed(ValueId x, double a, ValueId y, double b) {
  return two(Op::add, {times(x, a), times(y, b)});
}

ValueId UpdateWalk::size_squared(ValueId x) {
  if (!info(builder_.type(x).dtype).is_complex) return one(Op::square, x);
  const ValueId real = one(Op::square, one(Op::real, x));
  return two(Op::add, real, one(Op::square, one(Op::imag, x)));
}

ValueId UpdateWalk::kept_square(ValueId x) {
  return converted(size_squared(x), builder_.type(x).dtype);
}

ValueId UpdateWalk::inverse_root(ValueId x) {
  const DType dtype = builder_.type(x).dtype;
  if (!info(dtype).is_complex) return one(Op::rsqrt, x);
  return converted(one(Op::rsqrt, one(Op::real, x)), dtype);
}

ValueId UpdateWalk::sign(ValueId x) {
  const DType dtype = builder_.type(x).dtype;
  if (!info(dtype).is_complex) return one(Op::sign, x);
  const ValueId size = one(Op::abs, x);
  const ValueId is_zero = two(Op::equal_mask, size, number(0, builder_.type(size).dtype));
  return two(Op::divide, x, converted(two(Op::add, size, is_zero), dtype));
}

ValueId UpdateWalk::sum(ValueId x) {
  std::vector<std::int64_t> dims(builder_.type(x).shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  if (dims.empty()) return x;
  return builder_.emit(Op::reduce_sum, {x}, Attributes{{"dims", std::move(dims)}});
}

ValueId UpdateWalk::mean(ValueId x) {
  const auto elements = static_cast<double>(element_count(builder_.type(x).shape));
  return times(sum(x), 1.0 / elements);
}

std::size_t UpdateWalk::leaf_of(const TransformationUse& use, std::string_view name,
                                std::size_t parameter) const {
  const SlotPlace* place = use.slot(name);
  SHARD_CHECK(place != nullptr, "a transformation asks for what it keeps");
  return place->first + (place->is_tree ? parameter : 0);
}

ValueId UpdateWalk::slot(const TransformationUse& use, std::string_view name,
                         std::size_t parameter) {
  return converted(request_.slots[leaf_of(use, name, parameter)],
                   request_.parameters[parameter].type.dtype);
}

void UpdateWalk::set_slot(const TransformationUse& use, std::string_view name,
                          std::size_t parameter, ValueId next) {
  const std::size_t leaf = leaf_of(use, name, parameter);
  next_slots[leaf] = converted(next, builder_.type(request_.slots[leaf]).dtype);
}

ValueId UpdateWalk::moved_on(const TransformationUse& use, std::string_view name,
                             std::size_t parameter, ValueId x, double decay) {
  const ValueId before = slot(use, name, parameter);
  return mixed(before, decay, x, 1 - decay);
}

void UpdateWalk::keep_slot(const TransformationUse& use, std::string_view name,
                           std::size_t parameter) {
  const std::size_t leaf = leaf_of(use, name, parameter);
  next_slots[leaf] = request_.slots[leaf];
}

ValueId UpdateWalk::count_of(const TransformationUse& use, std::string_view name) {
  return request_.slots[leaf_of(use, name, 0)];
}

ValueId UpdateWalk::counted_up(const TransformationUse& use, std::string_view name) {
  const std::size_t leaf = leaf_of(use, name, 0);
  if (next_slots[leaf] == ValueId::none) {
    at_whole(request_.state.leaves[leaf].path);
    next_slots[leaf] = plus(request_.slots[leaf], 1.0);
  }
  return next_slots[leaf];
}

double argument_of(const TransformationUse& use, std::initializer_list<std::string_view> names,
                   double standard) {
  for (const std::string_view name : names) {
    for (const auto& [key, value] : use.optimizer->arguments) {
      if (key == name) return value;
    }
  }
  return standard;
}

bool is_masked_in(const TransformationUse& use, const StateLeaf& parameter) {
  const auto& mask = use.optimizer->mask;
  if (!mask) return true;
  return std::any_of(mask->begin(), mask->end(), [&](const std::string& pattern) {
    return matches_glob(pattern, parameter.path);
  });
}

Rate rate_of(UpdateWalk& walk, const TransformationUse& use) {
  if (!use.optimizer->schedule) return {argument_of(use, {"learning_rate"}, 1), ValueId::none};
  const ValueId count = walk.count_of(use, "count");
  walk.at_whole("learning_rate");
  const ValueId rate = schedule_value(walk.builder(), *use.optimizer->schedule, count);
  walk.builder().graph().values[index_of(rate)].name = "learning_rate";
  walk.counted_up(use, "count");
  return {1, rate};
}

}  // namespace shard
