#pragma once
// The larger and the smaller of two numbers as XLA has them: NaN wins, and 0 is larger than -0.

#include <cmath>
#include <type_traits>

namespace shard {

template <class T>
T larger_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b && a == T{0}) return std::signbit(a) ? b : a;
  }
  return b != b || a < b ? b : a;
}

template <class T>
T smaller_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b && a == T{0}) return std::signbit(a) ? a : b;
  }
  return b != b || b < a ? b : a;
}

}  // namespace shard
