// The transformations of optimizers. Source: google-deepmind/optax, optax/_src/transform.py,
// factorized.py, transforms/_clipping.py, _accumulation.py.

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "model/factored_rms.h"
#include "model/multi_steps.h"
#include "model/transformation.h"

namespace shard {
namespace {

using Walk = UpdateWalk;
using Use = TransformationUse;

/// Every update by a function of it and its parameter's number.
template <class Function>
void for_each(Walk& walk, Function function) {
  for (std::size_t i = 0; i < walk.count(); ++i) {
    walk.at_parameter(i);
    walk.updates[i] = function(walk.updates[i], i);
  }
}

/// Parameters in the order of the repeats they stand in, so that a sum over all of them goes from
/// one iteration to the next.
std::vector<std::size_t> in_iteration_order(const Walk& walk) {
  std::vector<std::size_t> order(walk.count());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto& parameters = walk.request().parameters;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Iteration& x = parameters[a].iteration;
    const Iteration& y = parameters[b].iteration;
    return std::pair(x.repeat, x.first) < std::pair(y.repeat, y.first);
  });
  return order;
}

void apply_nothing(Walk&, const Use&) {}

/// g * limit / max(norm, limit): the whole tree's norm.
void clip_by_global_norm(Walk& walk, const Use& use) {
  const double limit = argument_of(use, {"value"}, 1);
  ValueId total = ValueId::none;
  for (const std::size_t i : in_iteration_order(walk)) {
    walk.at_parameter(i);
    const ValueId square = walk.converted(walk.sum(walk.size_squared(walk.updates[i])), DType::f32);
    total = total == ValueId::none ? square : walk.two(Op::add, total, square);
  }
  if (total == ValueId::none) return;
  walk.at_whole("clip_by_global_norm");
  const ValueId norm = walk.one(Op::sqrt, total);
  walk.builder().graph().values[index_of(norm)].name = "grad_norm";
  const ValueId bound = walk.number(limit, DType::f32);
  const ValueId factor = walk.two(Op::divide, bound, walk.two(Op::maximum, norm, bound));
  for_each(walk, [&](ValueId g, std::size_t) {
    return walk.two(Op::multiply, g, walk.converted(factor, walk.builder().type(g).dtype));
  });
}

void clip_elements(Walk& walk, const Use& use) {
  const double limit = argument_of(use, {"value"}, 1);
  for_each(walk, [&](ValueId g, std::size_t) {
    const DType dtype = walk.builder().type(g).dtype;
    const ValueId low = walk.two(Op::maximum, g, walk.number(-limit, dtype));
    return walk.two(Op::minimum, low, walk.number(limit, dtype));
  });
}

/// Each update divided by max(1, its root mean square / limit).
void clip_by_block_rms(Walk& walk, const Use& use) {
  const double limit = argument_of(use, {"value", "clipping_threshold"}, 1);
  for_each(walk, [&](ValueId g, std::size_t) {
    const ValueId rms = walk.one(Op::sqrt, walk.mean(walk.size_squared(g)));
    const DType real = walk.builder().type(rms).dtype;
    const ValueId excess =
        walk.two(Op::maximum, {walk.times(rms, 1 / limit), walk.number(1, real)});
    return walk.two(Op::divide, g, walk.converted(excess, walk.builder().type(g).dtype));
  });
}

double standard_decay(const Use& use) {
  if (use.optimizer->kind == "adamw") return 1e-4;
  return use.optimizer->kind == "lion" ? 1e-3 : 0;
}

void add_decayed_weights(Walk& walk, const Use& use) {
  const double decay =
      argument_of(use, {"weight_decay", "weight_decay_rate", "value"}, standard_decay(use));
  for_each(walk, [&](ValueId g, std::size_t i) {
    if (decay == 0 || !is_masked_in(use, walk.request().parameters[i])) return g;
    return walk.two(Op::add, g, walk.times(walk.request().values[i], decay));
  });
}

/// The last transformation of adafactor turns the sign; written in a chain it takes a factor.
void scale_all(Walk& walk, const Use& use) {
  const double factor = use.optimizer->kind == "adafactor" ? -1 : argument_of(use, {"value"}, 1);
  for_each(walk, [&](ValueId g, std::size_t) { return walk.times(g, factor); });
}

void scale_by_learning_rate(Walk& walk, const Use& use) {
  const Rate rate = rate_of(walk, use);
  const double sign = use.optimizer->kind == "adafactor" ? 1 : -1;
  for_each(walk, [&](ValueId g, std::size_t) {
    const ValueId scaled = walk.times(g, sign * rate.number);
    if (rate.value == ValueId::none) return scaled;
    return walk.two(Op::multiply, scaled, walk.converted(rate.value, walk.builder().type(g).dtype));
  });
}

/// 1 - decay^steps, an f32 scalar.
ValueId bias_of(Walk& walk, double decay, ValueId steps) {
  const ValueId power =
      walk.two(Op::power, {walk.number(decay, DType::f32), walk.converted(steps, DType::f32)});
  return walk.plus(walk.one(Op::negate, power), 1);
}

void scale_by_adam(Walk& walk, const Use& use) {
  const bool is_lamb = use.optimizer->kind == "lamb";
  const double b1 = argument_of(use, {"b1"}, 0.9), b2 = argument_of(use, {"b2"}, 0.999);
  const double eps = argument_of(use, {"eps"}, is_lamb ? 1e-6 : 1e-8);
  const double eps_root = argument_of(use, {"eps_root"}, 0);
  const bool looks_ahead = argument_of(use, {"nesterov"}, 0) != 0;
  const ValueId steps = walk.counted_up(use, "count");
  walk.at_whole(use.word);
  const ValueId mu_bias = bias_of(walk, b1, steps), nu_bias = bias_of(walk, b2, steps);
  const ValueId next_bias = looks_ahead ? bias_of(walk, b1, walk.plus(steps, 1)) : mu_bias;
  for_each(walk, [&](ValueId g, std::size_t i) {
    const DType dtype = walk.builder().type(g).dtype;
    const ValueId mu = walk.moved_on(use, "mu", i, g, b1);
    const ValueId nu = walk.moved_on(use, "nu", i, walk.kept_square(g), b2);
    walk.set_slot(use, "mu", i, mu);
    walk.set_slot(use, "nu", i, nu);
    ValueId mean = walk.two(Op::divide, mu, walk.converted(next_bias, dtype));
    if (looks_ahead) {
      const ValueId now = walk.two(Op::divide, g, walk.converted(mu_bias, dtype));
      mean = walk.mixed(mean, b1, now, 1 - b1);
    }
    ValueId square = walk.two(Op::divide, nu, walk.converted(nu_bias, dtype));
    if (eps_root != 0) square = walk.plus(square, eps_root);
    return walk.two(Op::divide, mean, walk.plus(walk.one(Op::sqrt, square), eps));
  });
}

void scale_by_lion(Walk& walk, const Use& use) {
  const double b1 = argument_of(use, {"b1"}, 0.9), b2 = argument_of(use, {"b2"}, 0.99);
  walk.counted_up(use, "count");
  for_each(walk, [&](ValueId g, std::size_t i) {
    const ValueId mu = walk.slot(use, "mu", i);
    walk.set_slot(use, "mu", i, walk.mixed(mu, b2, g, 1 - b2));
    return walk.sign(walk.mixed(mu, b1, g, 1 - b1));
  });
}

void scale_by_rms(Walk& walk, const Use& use) {
  const double decay = argument_of(use, {"decay"}, 0.9), eps = argument_of(use, {"eps"}, 1e-8);
  for_each(walk, [&](ValueId g, std::size_t i) {
    const ValueId nu = walk.moved_on(use, "nu", i, walk.kept_square(g), decay);
    walk.set_slot(use, "nu", i, nu);
    return walk.two(Op::multiply, g, walk.inverse_root(walk.plus(nu, eps)));
  });
}

/// Squares are never negative, and where they are zero so is the update.
void scale_by_rss(Walk& walk, const Use& use) {
  const double eps = argument_of(use, {"eps"}, 1e-7);
  for_each(walk, [&](ValueId g, std::size_t i) {
    const ValueId squares =
        walk.two(Op::add, {walk.slot(use, "sum_of_squares", i), walk.kept_square(g)});
    walk.set_slot(use, "sum_of_squares", i, squares);
    return walk.two(Op::multiply, g, walk.inverse_root(walk.plus(squares, eps)));
  });
}

ValueId norm_of(Walk& walk, ValueId x) {
  return walk.one(Op::sqrt, walk.sum(walk.size_squared(x)));
}

/// Times the parameter's norm over the update's; times one where either is zero.
void scale_by_trust_ratio(Walk& walk, const Use&) {
  for_each(walk, [&](ValueId g, std::size_t i) {
    const ValueId parameter = norm_of(walk, walk.request().values[i]);
    const ValueId update = norm_of(walk, g);
    const ValueId zero = walk.number(0, walk.builder().type(update).dtype);
    const ValueId none = walk.two(Op::maximum, {walk.two(Op::equal_mask, parameter, zero),
                                                walk.two(Op::equal_mask, update, zero)});
    // Both sides are moved away from zero where the ratio would not be a number.
    const ValueId some = walk.plus(walk.one(Op::negate, none), 1);
    const ValueId above = walk.two(Op::add, walk.two(Op::multiply, parameter, some), none);
    const ValueId below = walk.two(Op::add, walk.two(Op::multiply, update, some), none);
    const ValueId ratio = walk.two(Op::divide, above, below);
    return walk.two(Op::multiply, g, walk.converted(ratio, walk.builder().type(g).dtype));
  });
}

void scale_by_param_block_rms(Walk& walk, const Use&) {
  constexpr double least = 1e-3;
  for_each(walk, [&](ValueId g, std::size_t i) {
    const ValueId rms = walk.one(Op::sqrt, walk.mean(walk.size_squared(walk.request().values[i])));
    const ValueId bound = walk.number(least, walk.builder().type(rms).dtype);
    const ValueId factor = walk.two(Op::maximum, rms, bound);
    return walk.two(Op::multiply, g, walk.converted(factor, walk.builder().type(g).dtype));
  });
}

void apply_trace(Walk& walk, const Use& use) {
  const double decay = argument_of(use, {"decay", "momentum"}, 0.9);
  const bool looks_ahead = argument_of(use, {"nesterov"}, 0) != 0;
  for_each(walk, [&](ValueId g, std::size_t i) {
    const ValueId trace = walk.two(Op::add, g, walk.times(walk.slot(use, "trace", i), decay));
    walk.set_slot(use, "trace", i, trace);
    return looks_ahead ? walk.two(Op::add, g, walk.times(trace, decay)) : trace;
  });
}

/// Of adafactor: without correction for the first steps.
void apply_ema(Walk& walk, const Use& use) {
  const double decay = argument_of(use, {"momentum"}, 0.9);
  walk.counted_up(use, "count");
  for_each(walk, [&](ValueId g, std::size_t i) {
    const ValueId average = walk.moved_on(use, "ema", i, g, decay);
    walk.set_slot(use, "ema", i, average);
    return average;
  });
}

struct TransformationRow {
  std::string_view word;
  void (*apply)(Walk& walk, const Use& use);
};

constexpr std::array<TransformationRow, 17> transformation_rows = {{
    {"identity", apply_nothing},
    {"clip", clip_elements},
    {"clip_by_global_norm", clip_by_global_norm},
    {"clip_by_block_rms", clip_by_block_rms},
    {"add_decayed_weights", add_decayed_weights},
    {"scale", scale_all},
    {"scale_by_learning_rate", scale_by_learning_rate},
    {"scale_by_adam", scale_by_adam},
    {"scale_by_lion", scale_by_lion},
    {"scale_by_rms", scale_by_rms},
    {"scale_by_rss", scale_by_rss},
    {"scale_by_trust_ratio", scale_by_trust_ratio},
    {"scale_by_param_block_rms", scale_by_param_block_rms},
    {"scale_by_factored_rms", scale_by_factored_rms},
    {"trace", apply_trace},
    {"ema", apply_ema},
    {"multi_steps", apply_multi_steps},
}};

}  // namespace

void apply_transformation(UpdateWalk& walk, const TransformationUse& use) {
  const auto row = std::find_if(transformation_rows.begin(), transformation_rows.end(),
                                [&](const auto& one) { return one.word == use.word; });
  SHARD_CHECK(row != transformation_rows.end(), "every transformation has a function");
  row->apply(walk, use);
}

}  // namespace shard
