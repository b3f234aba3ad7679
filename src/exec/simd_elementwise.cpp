#include "exec/simd.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/simd_elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exec/processor.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace shard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<float>;
using OneLane = hn::CappedTag<float, 1>;

// Each struct is one function of lanes, used for whole vectors and, with one lane, for the tail:
// so both give the same bits.

struct Relu {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x, V) {
    // As maximum(x, 0): NaN stays NaN, and -0 gets 0.
    return hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Zero(d), x);
  }
};
struct Negate {
  template <class D, class V>
  static HWY_INLINE V of(D, V x, V) {
    return hn::Neg(x);
  }
};
struct Abs {
  template <class D, class V>
  static HWY_INLINE V of(D, V x, V) {
    return hn::Abs(x);
  }
};
struct Square {
  template <class D, class V>
  static HWY_INLINE V of(D, V x, V) {
    return hn::Mul(x, x);
  }
};
struct Sqrt {
  template <class D, class V>
  static HWY_INLINE V of(D, V x, V) {
    return hn::Sqrt(x);
  }
};
struct Rsqrt {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x, V) {
    return hn::Div(hn::Set(d, 1.0F), hn::Sqrt(x));
  }
};
struct Multiply {
  template <class D, class V>
  static HWY_INLINE V of(D, V a, V b) {
    return hn::Mul(a, b);
  }
};
struct Add {
  template <class D, class V>
  static HWY_INLINE V of(D, V a, V b) {
    return hn::Add(a, b);
  }
};
struct Subtract {
  template <class D, class V>
  static HWY_INLINE V of(D, V a, V b) {
    return hn::Sub(a, b);
  }
};
struct Divide {
  template <class D, class V>
  static HWY_INLINE V of(D, V a, V b) {
    return hn::Div(a, b);
  }
};
struct Maximum {
  template <class D, class V>
  static HWY_INLINE V of(D, V a, V b) {
    const V larger = hn::IfThenElse(hn::Lt(a, b), b, a);
    const V either = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), larger);  // of 0 and -0 the 0
    return hn::IfThenElse(hn::Eq(b, b), either, b);  // a NaN on either side wins
  }
};
struct Minimum {
  template <class D, class V>
  static HWY_INLINE V of(D, V a, V b) {
    const V smaller = hn::IfThenElse(hn::Lt(b, a), b, a);
    const V either = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), smaller);
    return hn::IfThenElse(hn::Eq(b, b), either, b);
  }
};
struct ReluGrad {
  template <class D, class V>
  static HWY_INLINE V of(D d, V y, V g) {
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), g);
  }
};
struct EqualMask {
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    return hn::IfThenElseZero(hn::Eq(a, b), hn::Set(d, 1.0F));
  }
};

template <class F>
void unary(const float* x, float* out, std::size_t count, float value) {
  const Lanes d;
  const OneLane one;
  const std::size_t lanes = hn::Lanes(d);
  const auto v = hn::Set(d, value);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(F::of(d, hn::LoadU(d, x + i), v), d, out + i);
  for (; i < count; ++i) {
    hn::StoreU(F::of(one, hn::LoadU(one, x + i), hn::Set(one, value)), one, out + i);
  }
}

template <class F>
void binary(const float* a, const float* b, float* out, std::size_t count) {
  const Lanes d;
  const OneLane one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(F::of(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  }
  for (; i < count; ++i) {
    hn::StoreU(F::of(one, hn::LoadU(one, a + i), hn::LoadU(one, b + i)), one, out + i);
  }
}

const ElementwiseLoops* make_elementwise_loops() {
  static constexpr ElementwiseLoops loops = {
      unary<Relu>,     unary<Negate>,    unary<Abs>,       unary<Square>,
      unary<Sqrt>,     unary<Rsqrt>,     unary<Multiply>,  unary<Add>,
      binary<Add>,     binary<Subtract>, binary<Multiply>, binary<Divide>,
      binary<Maximum>, binary<Minimum>,  binary<ReluGrad>, binary<EqualMask>,
  };
  return &loops;
}

}  // namespace shard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shard {

SHARD_FORMS(make_elementwise_loops);

const ElementwiseLoops& elementwise_loops() {
  static const ElementwiseLoops* const loops =
      best_form(make_elementwise_loops_forms, instruction_sets())();
  return *loops;
}

}  // namespace shard
#endif
