#include "exec/simd.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/simd_updates.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exec/processor.h"
// clang-format on

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace shard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Asks for what comes a little later, once for each line and not beyond the arrays' end: the
/// prefetchers lose a stream at the end of each page, and divisions leave no room to wait.
HWY_INLINE void fetch_later(const AdamArrays& arrays, std::size_t i, std::size_t count) {
  constexpr std::size_t ahead = 512, line = 16;  // elements: 2 KiB
  if (i % line != 0 || i + ahead >= count) return;
  hwy::Prefetch(arrays.param + i + ahead);
  hwy::Prefetch(arrays.mu + i + ahead);
  hwy::Prefetch(arrays.nu + i + ahead);
}

/// Adam's update of one vector (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015,
/// algorithm 1; `eps_root` inside the root as Optax has it). Of the three divisions the one by the
/// correction of nu is a product, and that of mu is in the divisor: a processor has one divider,
/// and it would be busy for longer than memory is.
template <class D>
HWY_INLINE void adam_lanes(D d, const AdamArrays& arrays, const AdamNumbers& numbers,
                           std::size_t i) {
  const auto g = hn::LoadU(d, arrays.gradient + i);
  const auto p = hn::LoadU(d, arrays.param + i);
  const auto b1 = hn::Set(d, numbers.b1);
  const auto b2 = hn::Set(d, numbers.b2);
  const auto mu =
      hn::Add(hn::Mul(hn::Set(d, numbers.rest_of_b1), g), hn::Mul(b1, hn::LoadU(d, arrays.mu + i)));
  const auto nu = hn::Add(hn::Mul(hn::Set(d, numbers.rest_of_b2), hn::Mul(g, g)),
                          hn::Mul(b2, hn::LoadU(d, arrays.nu + i)));
  const auto nu_hat = hn::Mul(nu, hn::Set(d, numbers.inverse_nu_correction));
  const auto root = hn::Sqrt(hn::Add(nu_hat, hn::Set(d, numbers.eps_root)));
  const auto divisor =
      hn::Mul(hn::Set(d, numbers.mu_correction), hn::Add(root, hn::Set(d, numbers.eps)));
  auto update = hn::Div(mu, divisor);
  update = hn::Add(update, hn::Mul(hn::Set(d, numbers.weight_decay), p));
  hn::StoreU(mu, d, arrays.new_mu + i);
  hn::StoreU(nu, d, arrays.new_nu + i);
  hn::StoreU(hn::Sub(p, hn::Mul(hn::Set(d, numbers.learning_rate), update)), d,
             arrays.new_param + i);
}

void adam(const AdamArrays& arrays, const AdamNumbers& numbers, std::size_t count) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  const AdamArrays local = arrays;  // copies: stores to floats cannot change them
  const AdamNumbers fixed = numbers;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    fetch_later(local, i, count);
    adam_lanes(d, local, fixed, i);
  }
  for (; i < count; ++i) adam_lanes(one, local, fixed, i);
}

template <class D>
HWY_INLINE void momentum_lanes(D d, const MomentumArrays& arrays, const MomentumNumbers& numbers,
                               std::size_t i) {
  const auto g = hn::LoadU(d, arrays.gradient + i);
  const auto decay = hn::Set(d, numbers.decay);
  const auto trace = hn::Add(g, hn::Mul(decay, hn::LoadU(d, arrays.trace + i)));
  const auto update = numbers.is_nesterov ? hn::Add(g, hn::Mul(decay, trace)) : trace;
  const auto p = hn::LoadU(d, arrays.param + i);
  hn::StoreU(trace, d, arrays.new_trace + i);
  hn::StoreU(hn::Sub(p, hn::Mul(hn::Set(d, numbers.learning_rate), update)), d,
             arrays.new_param + i);
}

void momentum(const MomentumArrays& arrays, const MomentumNumbers& numbers, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const MomentumArrays local = arrays;
  const MomentumNumbers fixed = numbers;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) momentum_lanes(d, local, fixed, i);
  for (; i < count; ++i) momentum_lanes(hn::CappedTag<float, 1>(), local, fixed, i);
}

template <class D>
HWY_INLINE void sgd_lanes(D d, const float* param, const float* gradient, float* new_param,
                          float learning_rate) {
  const auto step = hn::Mul(hn::Set(d, learning_rate), hn::LoadU(d, gradient));
  hn::StoreU(hn::Sub(hn::LoadU(d, param), step), d, new_param);
}

void sgd(const float* param, const float* gradient, float* new_param, float learning_rate,
         std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    sgd_lanes(d, param + i, gradient + i, new_param + i, learning_rate);
  }
  for (; i < count; ++i) {
    sgd_lanes(hn::CappedTag<float, 1>(), param + i, gradient + i, new_param + i, learning_rate);
  }
}

const UpdateLoops* make_update_loops() {
  static constexpr UpdateLoops loops = {sgd, momentum, adam};
  return &loops;
}

}  // namespace shard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shard {

SHARD_FORMS(make_update_loops);

const UpdateLoops& update_loops() {
  static const UpdateLoops* const loops = best_form(make_update_loops_forms, instruction_sets())();
  return *loops;
}

}  // namespace shard
#endif
