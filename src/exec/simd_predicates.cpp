#include "exec/simd.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/simd_predicates.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exec/processor.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace shard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct Equal {
  template <class V>
  static HWY_INLINE auto of(V a, V b) {
    return hn::Eq(a, b);
  }
};
struct Unequal {
  template <class V>
  static HWY_INLINE auto of(V a, V b) {
    return hn::Not(hn::Eq(a, b));  // a NaN is unequal to everything
  }
};
struct Less {
  template <class V>
  static HWY_INLINE auto of(V a, V b) {
    return hn::Lt(a, b);
  }
};
struct LessOrEqual {
  template <class V>
  static HWY_INLINE auto of(V a, V b) {
    return hn::Le(a, b);
  }
};
/// Of integers, for which Highway has no other.
struct NotGreater {
  template <class V>
  static HWY_INLINE auto of(V a, V b) {
    return hn::Not(hn::Lt(b, a));
  }
};

template <class Compare, class D, class T>
HWY_INLINE void compare_step(D d, const T* a, const T* b, bool* out) {
  const hn::Rebind<std::int32_t, D> whole;
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto holds = hn::RebindMask(whole, Compare::of(hn::LoadU(d, a), hn::LoadU(d, b)));
  const auto ones = hn::IfThenElseZero(holds, hn::Set(whole, 1));
  hn::StoreU(hn::DemoteTo(bytes, ones), bytes, reinterpret_cast<std::uint8_t*>(out));
}

template <class Compare, class T>
void compare(const T* a, const T* b, bool* out, std::size_t count) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) compare_step<Compare>(d, a + i, b + i, out + i);
  for (; i < count; ++i) compare_step<Compare>(one, a + i, b + i, out + i);
}

/// `IsOneTrue`, `IsOneFalse`: there is but one element to choose.
template <bool IsOneTrue, bool IsOneFalse, class D>
HWY_INLINE void select_step(D d, const std::uint8_t* condition, const std::uint32_t* on_true,
                            const std::uint32_t* on_false, std::uint32_t* out) {
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto chosen = hn::Eq(hn::PromoteTo(d, hn::LoadU(bytes, condition)), hn::Zero(d));
  const auto yes = IsOneTrue ? hn::Set(d, *on_true) : hn::LoadU(d, on_true);
  const auto no = IsOneFalse ? hn::Set(d, *on_false) : hn::LoadU(d, on_false);
  hn::StoreU(hn::IfThenElse(chosen, no, yes), d, out);
}

template <bool IsOneTrue, bool IsOneFalse>
void select(const std::uint8_t* condition, const std::uint32_t* on_true,
            const std::uint32_t* on_false, std::uint32_t* out, std::size_t count) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::CappedTag<std::uint32_t, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  // Read before anything is written: the result may lie over an operand.
  const std::uint32_t first_true = *on_true, first_false = *on_false;
  const auto step = [&](auto tag, std::size_t i) HWY_ATTR {
    select_step<IsOneTrue, IsOneFalse>(tag, condition + i, IsOneTrue ? &first_true : on_true + i,
                                       IsOneFalse ? &first_false : on_false + i, out + i);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) step(d, i);
  for (; i < count; ++i) step(one, i);
}

const PredicateLoops* make_predicate_loops() {
  static constexpr PredicateLoops loops = {
      {compare<Equal, float>, compare<Unequal, float>, compare<Less, float>,
       compare<LessOrEqual, float>},
      {compare<Equal, std::int32_t>, compare<Unequal, std::int32_t>, compare<Less, std::int32_t>,
       compare<NotGreater, std::int32_t>},
      {select<false, false>, select<false, true>, select<true, false>, select<true, true>},
  };
  return &loops;
}

}  // namespace shard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shard {

SHARD_FORMS(make_predicate_loops);

const PredicateLoops& predicate_loops() {
  static const PredicateLoops* const loops =
      best_form(make_predicate_loops_forms, instruction_sets())();
  return *loops;
}

}  // namespace shard
#endif
