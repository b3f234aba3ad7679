#include "exec/simd.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/simd_reductions.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exec/processor.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace shard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<float>;
using OneLane = hn::CappedTag<float, 1>;

struct Sum {
  static constexpr float start = 0.0F;
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Add(a, b);
  }
};
struct Product {
  static constexpr float start = 1.0F;
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Mul(a, b);
  }
};
struct Largest {
  static constexpr float start = -__builtin_inff();
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    const V larger = hn::IfThenElse(hn::Lt(a, b), b, a);
    const V either = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), larger);  // of 0 and -0 the 0
    return hn::IfThenElse(hn::Eq(b, b), either, b);                        // NaN wins
  }
};
struct Smallest {
  static constexpr float start = __builtin_inff();
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    const V smaller = hn::IfThenElse(hn::Lt(b, a), b, a);
    const V either = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), smaller);
    return hn::IfThenElse(hn::Eq(b, b), either, b);
  }
};

template <class F>
void fold(const float* x, float* accumulator, std::size_t count) {
  const Lanes d;
  const OneLane one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(F::of(hn::LoadU(d, accumulator + i), hn::LoadU(d, x + i)), d, accumulator + i);
  }
  for (; i < count; ++i) {
    hn::StoreU(F::of(hn::LoadU(one, accumulator + i), hn::LoadU(one, x + i)), one, accumulator + i);
  }
}

template <class F>
float combine(float a, float b) {
  const OneLane one;
  return hn::GetLane(F::of(hn::Set(one, a), hn::Set(one, b)));
}

/// Up to 1024 elements in 16 chains whatever the vector width, then the chains in order: the bits
/// do not depend on the instruction set.
template <class F>
float reduce_block(const float* x, std::size_t count) {
  constexpr std::size_t chains = 16;
  HWY_ALIGN float partial[chains];
  for (float& p : partial) p = F::start;
  const hn::CappedTag<float, chains> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + chains <= count; i += chains) {
    for (std::size_t j = 0; j < chains; j += lanes) {
      hn::Store(F::of(hn::Load(d, partial + j), hn::LoadU(d, x + i + j)), d, partial + j);
    }
  }
  for (std::size_t j = 0; i < count; ++i, ++j) partial[j] = combine<F>(partial[j], x[i]);
  float all = partial[0];
  for (std::size_t j = 1; j < chains; ++j) all = combine<F>(all, partial[j]);
  return all;
}

/// The lanes of a vector combined, halves with each other.
template <class F, class D, class V = hn::Vec<D>>
HWY_INLINE float across([[maybe_unused]] D d, V v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    return across<F>(half, F::of(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

/// In any order: the result is one of the elements.
template <class F>
float reduce_to_one(const float* x, std::size_t count) {
  const hn::CappedTag<float, 16> d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Set(d, F::start), s1 = s0, s2 = s0, s3 = s0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = F::of(s0, hn::LoadU(d, x + i));
    s1 = F::of(s1, hn::LoadU(d, x + i + lanes));
    s2 = F::of(s2, hn::LoadU(d, x + i + 2 * lanes));
    s3 = F::of(s3, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) s0 = F::of(s0, hn::LoadU(d, x + i));
  float all = across<F>(d, F::of(F::of(s0, s1), F::of(s2, s3)));
  for (; i < count; ++i) all = combine<F>(all, x[i]);
  return all;
}

/// Blocks are joined pairwise, so the error grows with the logarithm of the length.
template <class F>
float reduce(const float* x, std::size_t count) {
  constexpr std::size_t block = 1024;
  if (count <= block) return reduce_block<F>(x, count);
  const std::size_t half = (count / block + 1) / 2 * block;
  return combine<F>(reduce<F>(x, half), reduce<F>(x + half, count - half));
}

/// Four vectors of every member at a time: each element is read once and written once per member.
template <class F>
void streams(const float* const* in, float* const* out, int members, std::size_t count) {
  const Lanes d;
  const OneLane one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    auto s0 = hn::LoadU(d, in[0] + i);
    auto s1 = hn::LoadU(d, in[0] + i + lanes);
    auto s2 = hn::LoadU(d, in[0] + i + 2 * lanes);
    auto s3 = hn::LoadU(d, in[0] + i + 3 * lanes);
    for (int j = 1; j < members; ++j) {
      s0 = F::of(s0, hn::LoadU(d, in[j] + i));
      s1 = F::of(s1, hn::LoadU(d, in[j] + i + lanes));
      s2 = F::of(s2, hn::LoadU(d, in[j] + i + 2 * lanes));
      s3 = F::of(s3, hn::LoadU(d, in[j] + i + 3 * lanes));
    }
    for (int j = 0; j < members; ++j) {
      hn::StoreU(s0, d, out[j] + i);
      hn::StoreU(s1, d, out[j] + i + lanes);
      hn::StoreU(s2, d, out[j] + i + 2 * lanes);
      hn::StoreU(s3, d, out[j] + i + 3 * lanes);
    }
  }
  for (; i < count; ++i) {
    auto s = hn::Set(one, in[0][i]);
    for (int j = 1; j < members; ++j) s = F::of(s, hn::Set(one, in[j][i]));
    for (int j = 0; j < members; ++j) hn::StoreU(s, one, out[j] + i);
  }
}

const ReductionLoops* make_reduction_loops() {
  static constexpr ReductionLoops loops = {
      fold<Sum>,    fold<Largest>,          fold<Smallest>,          fold<Product>,
      reduce<Sum>,  reduce_to_one<Largest>, reduce_to_one<Smallest>, reduce<Product>,
      streams<Sum>, streams<Largest>,       streams<Smallest>,       streams<Product>,
  };
  return &loops;
}

}  // namespace shard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shard {

SHARD_FORMS(make_reduction_loops);

const ReductionLoops& reduction_loops() {
  static const ReductionLoops* const loops =
      best_form(make_reduction_loops_forms, instruction_sets())();
  return *loops;
}

}  // namespace shard
#endif
