// Kernels of ops on the bits of integers; truth values are one bit.

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "exec/kernel.h"

namespace shard {
namespace {

// Each op for one unsigned integer type T, whose bits are those of the element.

struct And {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static T of(T a, T) {
    return static_cast<T>(~a);
  }
};
template <class T>
bool is_too_far(T by) {
  return by >= static_cast<T>(std::numeric_limits<T>::digits);
}
struct Left {
  template <class T>
  static T of(T a, T by) {
    return is_too_far(by) ? T{0} : static_cast<T>(a << by);
  }
};
struct RightLogical {
  template <class T>
  static T of(T a, T by) {
    return is_too_far(by) ? T{0} : static_cast<T>(a >> by);
  }
};
/// The sign comes in from the left, also for unsigned integers (as XLA shifts them).
struct RightArithmetic {
  template <class T>
  static T of(T a, T by) {
    using Signed = std::make_signed_t<T>;
    const T most = static_cast<T>(std::numeric_limits<T>::digits - 1);
    return static_cast<T>(static_cast<Signed>(a) >> (by > most ? most : by));
  }
};
struct Ones {
  template <class T>
  static T of(T a, T) {
    return static_cast<T>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <class T>
  static T of(T a, T) {
    return static_cast<T>(std::countl_zero(a));
  }
};

using BitLoop = void (*)(const KernelCall& call, std::size_t count,
                         const std::array<bool, 2>& once);

template <class T, class F>
void run_bits(const KernelCall& call, std::size_t count, const std::array<bool, 2>& once) {
  const T* a = reinterpret_cast<const T*>(call.operands[0]);
  const T* b = call.operands.size() > 1 ? reinterpret_cast<const T*>(call.operands[1]) : a;
  T* out = reinterpret_cast<T*>(call.results[0]);
  const T a0 = a[0], b0 = b[0];
  for (std::size_t i = 0; i < count; ++i) out[i] = F::of(once[0] ? a0 : a[i], once[1] ? b0 : b[i]);
}

/// Truth values are bytes of 0 or 1: only the lowest bit of the answer counts.
template <class F>
void run_truth(const KernelCall& call, std::size_t count, const std::array<bool, 2>& once) {
  const std::uint8_t* a = reinterpret_cast<const std::uint8_t*>(call.operands[0]);
  const std::uint8_t* b =
      call.operands.size() > 1 ? reinterpret_cast<const std::uint8_t*>(call.operands[1]) : a;
  std::uint8_t* out = reinterpret_cast<std::uint8_t*>(call.results[0]);
  const std::uint8_t a0 = a[0], b0 = b[0];
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t bits = F::of(once[0] ? a0 : a[i], once[1] ? b0 : b[i]);
    out[i] = static_cast<std::uint8_t>(bits & 1U);
  }
}

struct BitRow {
  Op op;
  BitLoop w8, w16, w32, w64;
  BitLoop truth;  ///< nullptr: the shape rule refuses bool
};

template <class F>
constexpr BitRow bit_row(Op op, BitLoop truth = nullptr) {
  return {op,
          run_bits<std::uint8_t, F>,
          run_bits<std::uint16_t, F>,
          run_bits<std::uint32_t, F>,
          run_bits<std::uint64_t, F>,
          truth};
}

constexpr std::array<BitRow, 9> bit_rows = {{
    bit_row<And>(Op::bitwise_and, run_truth<And>),
    bit_row<Or>(Op::bitwise_or, run_truth<Or>),
    bit_row<Xor>(Op::bitwise_xor, run_truth<Xor>),
    bit_row<Not>(Op::bitwise_not, run_truth<Not>),
    bit_row<Left>(Op::shift_left),
    bit_row<RightArithmetic>(Op::shift_right_arithmetic),
    bit_row<RightLogical>(Op::shift_right_logical),
    bit_row<Ones>(Op::population_count),
    bit_row<LeadingZeros>(Op::count_leading_zeros),
}};

BitLoop loop_of(const BitRow& row, const DTypeInfo& dtype) {
  if (dtype.dtype == DType::boolean) return row.truth;
  if (dtype.bytes == 1) return row.w8;
  if (dtype.bytes == 2) return row.w16;
  return dtype.bytes == 4 ? row.w32 : row.w64;
}

}  // namespace

KernelResult make_bits(const KernelSite& site) {
  const auto row = std::find_if(bit_rows.begin(), bit_rows.end(),
                                [&](const BitRow& r) { return r.op == site.op; });
  SHARD_CHECK(row != bit_rows.end(), "every op on bits has a row");
  const DTypeInfo& dtype = info(site.results[0].dtype);
  const BitLoop loop = dtype.is_float ? nullptr : loop_of(*row, dtype);
  if (loop == nullptr) return describe(site);
  const auto count = static_cast<std::size_t>(element_count(site.results[0].shape));
  const auto is_once = [&](const TensorType& type) { return count > 1 && type.rank() == 0; };
  const std::array<bool, 2> once = {is_once(site.operands.front()), is_once(site.operands.back())};
  return [loop, count, once](const KernelCall& call) {
    if (count > 0) loop(call, count, once);
  };
}

}  // namespace shard
