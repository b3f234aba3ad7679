#pragma once
// Which compiled form of a loop this processor can run. Highway's own dispatch lives in libhwy.so,
// whose start-up code takes a quarter of the time of a small plan; asked here, its headers are
// enough.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <hwy/detect_targets.h>
#include <hwy/targets.h>

namespace shard {

/// Highway's bits (`HWY_AVX2`, ...) of the instruction sets beyond the baseline that processor and
/// operating system offer. None but on x86-64: elsewhere the baseline (NEON) is what runs.
std::int64_t instruction_sets();

/// The best of `forms` for `sets`: place b of `forms` is for bit b of Highway's, the lowest bit the
/// best, null where it was not compiled; the last place is the baseline.
template <class Function, std::size_t places>
Function best_form(const std::array<Function, places>& forms, std::int64_t sets) {
  for (std::uint64_t left = static_cast<std::uint64_t>(sets); left != 0; left &= left - 1) {
    const auto place = static_cast<std::size_t>(std::countr_zero(left));
    if (place + 1 < places && forms[place] != nullptr) return forms[place];
  }
  return forms[places - 1];
}

}  // namespace shard

/// Stands where `HWY_EXPORT` would: in the namespace around `HWY_NAMESPACE`.
#define SHARD_FORMS(function)                                                                 \
  constexpr std::array<decltype(&HWY_STATIC_DISPATCH(function)), HWY_MAX_DYNAMIC_TARGETS + 1> \
      function##_forms {                                                                      \
    HWY_CHOOSE_TARGET_LIST(function), HWY_CHOOSE_FALLBACK(function)                           \
  }
