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

// The exponential family computes in double lanes and rounds once, as the scalar functions do.

constexpr double log2_of_e = 1.44269504088896338700;
constexpr double ln2 = 0.69314718055994530942;
constexpr double whole_shift = 6755399441055744.0;  // 1.5 * 2^52: a sum with it ends in whole bits

/// e^x within 2e-12 of itself for -700 <= x <= 700, NaN of NaN: 2^n times e to the rest, which is
/// at most ln(2) / 2, by the polynomial that agrees with it at the 9 Chebyshev points.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_in_range(D d, V x) {
  const hn::RebindToSigned<D> whole;
  const V shifted = hn::MulAdd(x, hn::Set(d, log2_of_e), hn::Set(d, whole_shift));
  const V n = hn::Sub(shifted, hn::Set(d, whole_shift));
  const V r = hn::NegMulAdd(n, hn::Set(d, ln2), x);
  constexpr double terms[] = {
      1.9915866926782682e-04, 1.3888821677630362e-03, 8.333266097949614e-03, 4.1666666890957e-02,
      1.6666666891045775e-01, 0.49999999997979934,    0.9999999999797852,    1.0};
  V sum = hn::Set(d, 2.4876164022625967e-05);
  for (const double term : terms) sum = hn::MulAdd(sum, r, hn::Set(d, term));
  const auto power = hn::ShiftLeft<52>(hn::BitCast(whole, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(whole, sum), power));
}

/// The number between the bounds that is nearest to x, NaN of NaN.
template <class D, class V>
HWY_INLINE V bounded(D d, V x, double low, double high) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  const V raised = hn::IfThenElse(hn::Lt(x, hn::Set(d, low)), hn::Set(d, low), x);
  return hn::IfThenElse(hn::Gt(raised, hn::Set(d, high)), hn::Set(d, high), raised);
#else
  // Of a NaN and a number Highway's emulation takes the number, processors the second operand.
  return hn::Min(hn::Set(d, high), hn::Max(hn::Set(d, low), x));
#endif
}

/// e^x of any x that was a float32, where it is rounded to one: beyond the bounds float32 has only
/// 0 and infinity.
struct Exp {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return exp_in_range(d, bounded(d, x, -690.0, 690.0));
  }
};
struct Sigmoid {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    const V one = hn::Set(d, 1.0);
    return hn::Div(one, hn::Add(one, Exp::of(d, hn::Neg(x))));
  }
};
/// The same, exactly 0 of what is so far below 0 that float32 has only that.
struct Gate {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, -690.0)), Sigmoid::of(d, x));
  }
};
struct Silu {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return hn::Mul(x, Gate::of(d, x));
  }
};
/// 1 - 2 / (e^2x + 1), which loses digits near 0: there the series x (1 - x^2 / 3), which keeps the
/// sign of 0.
struct Tanh {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    const V one = hn::Set(d, 1.0), two = hn::Set(d, 2.0);
    const V far = hn::Sub(one, hn::Div(two, hn::Add(Exp::of(d, hn::Add(x, x)), one)));
    const V near = hn::Mul(x, hn::NegMulAdd(hn::Mul(x, x), hn::Set(d, 1.0 / 3), one));
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-3)), near, far);
  }
};
/// The tanh form (Hendrycks and Gimpel, 2016): 0.5 x (1 + tanh(u)) is x sigmoid(2u).
struct Gelu {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    const V twice_c = hn::Set(d, 2 * 0.79788456080286535588);  // 2 sqrt(2 / pi)
    const V cube = hn::Mul(hn::Mul(x, x), x);
    const V u = hn::Mul(twice_c, hn::MulAdd(hn::Set(d, 0.044715), cube, x));
    return hn::Mul(x, Gate::of(d, u));
  }
};

template <class D, class V>
HWY_INLINE void store_rounded(D d, V wide, float* out) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  // Highway's emulation makes the largest float of an infinity.
  HWY_ALIGN double lanes[hn::MaxLanes(D())];
  hn::Store(wide, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) out[i] = static_cast<float>(lanes[i]);
#else
  const hn::Rebind<float, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, wide), narrow, out);
#endif
}

template <class F, class D>
HWY_INLINE void wide_step(D d, const float* x, float* out) {
  const hn::Rebind<float, D> narrow;
  store_rounded(d, F::of(d, hn::PromoteTo(d, hn::LoadU(narrow, x))), out);
}

template <class F>
void wide_unary(const float* x, float* out, std::size_t count, float) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) wide_step<F>(d, x + i, out + i);
  for (; i < count; ++i) wide_step<F>(one, x + i, out + i);
}

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

void fill(std::uint32_t bits, std::uint32_t* out, std::size_t count) {
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto v = hn::Set(d, bits);
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (std::size_t j = 0; j < 4; ++j) hn::StoreU(v, d, out + i + j * lanes);
  }
  for (; i + lanes <= count; i += lanes) hn::StoreU(v, d, out + i);
  for (; i < count; ++i) out[i] = bits;
}

const ElementwiseLoops* make_elementwise_loops() {
  static constexpr ElementwiseLoops loops = {unary<Relu>,       unary<Negate>,
                                             unary<Abs>,        unary<Square>,
                                             unary<Sqrt>,       unary<Rsqrt>,
                                             unary<Multiply>,   unary<Add>,
                                             wide_unary<Exp>,   wide_unary<Sigmoid>,
                                             wide_unary<Silu>,  wide_unary<Tanh>,
                                             wide_unary<Gelu>,  binary<Add>,
                                             binary<Subtract>,  binary<Multiply>,
                                             binary<Divide>,    binary<Maximum>,
                                             binary<Minimum>,   binary<ReluGrad>,
                                             binary<EqualMask>, fill};
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
