#include "exec/element.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/check.h"

namespace shard {
namespace {

/// Truncates towards zero and saturates; NaN gives 0.
template <class Integer>
Integer saturate(double x) {
  if (std::isnan(x)) return 0;
  const double low = static_cast<double>(std::numeric_limits<Integer>::min());
  const double high = static_cast<double>(std::numeric_limits<Integer>::max());
  if (x <= low) return std::numeric_limits<Integer>::min();
  if (x >= high) return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(x);
}

/// Rounds to odd on the way to float32, so that the second rounding to fewer bits is a single one.
float narrow_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  if (!std::isfinite(nearest) || static_cast<double>(nearest) == x) return nearest;
  const bool too_far = std::fabs(static_cast<double>(nearest)) > std::fabs(x);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (too_far) --bits;
  return std::bit_cast<float>(bits | 1U);
}

template <class T>
T from_double(double x) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(narrow_to_odd(x));
  } else if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(narrow_to_odd(x));
  } else if constexpr (std::is_same_v<T, Float8E4M3>) {
    return to_float8_e4m3(narrow_to_odd(x));
  } else if constexpr (std::is_same_v<T, Float8E5M2>) {
    return to_float8_e5m2(narrow_to_odd(x));
  } else if constexpr (std::is_same_v<T, bool>) {
    return x != 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(x);
  } else {
    return saturate<T>(x);
  }
}

template <class T>
double to_double(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(x);
  } else {
    return static_cast<double>(widen(x));
  }
}

template <class T>
void read_all(const std::byte* from, double* to, std::size_t count) {
  const T* data = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) to[i] = to_double(data[i]);
}

template <class T>
void write_all(const double* from, std::byte* to, std::size_t count) {
  T* data = reinterpret_cast<T*>(to);
  for (std::size_t i = 0; i < count; ++i) data[i] = from_double<T>(from[i]);
}

struct ElementRow {
  DType dtype;
  void (*read)(const std::byte*, double*, std::size_t);
  void (*write)(const double*, std::byte*, std::size_t);
};

template <class T>
constexpr ElementRow row(DType dtype) {
  return {dtype, read_all<T>, write_all<T>};
}

constexpr std::array<ElementRow, 16> rows = {{
    row<float>(DType::f32),
    row<BFloat16>(DType::bf16),
    row<Float16>(DType::f16),
    row<double>(DType::f64),
    row<std::int32_t>(DType::i32),
    row<std::int64_t>(DType::i64),
    row<std::uint32_t>(DType::u32),
    row<bool>(DType::boolean),
    row<std::int8_t>(DType::i8),
    row<std::int16_t>(DType::i16),
    row<std::uint8_t>(DType::u8),
    row<std::uint16_t>(DType::u16),
    row<std::uint64_t>(DType::u64),
    row<Float8E4M3>(DType::f8_e4m3fn),
    row<Float8E5M2>(DType::f8_e5m2),
    row<float>(DType::c64),
}};

constexpr bool rows_in_enum_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].dtype != static_cast<DType>(i)) return false;
  }
  return true;
}
static_assert(rows_in_enum_order(), "one row per DType, in enum order");

/// How an 8-bit float is laid out. `largest` is the code of the largest number, `beyond` the code
/// of what lies above it, `nan` the code of NaN, all without sign.
struct Float8Layout {
  int mantissa_bits;
  int bias;
  std::uint32_t largest, beyond, nan;
};
constexpr Float8Layout e4m3 = {3, 7, 0x7e, 0x7f, 0x7f};
constexpr Float8Layout e5m2 = {2, 15, 0x7b, 0x7c, 0x7e};

std::uint8_t encode_float8(float x, const Float8Layout& layout) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 24) & 0x80U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint8_t>(sign | layout.nan);
  const int smallest_exponent = 1 - layout.bias;  // of the normal numbers
  const float absolute = std::bit_cast<float>(magnitude);
  if (absolute < std::ldexp(1.0F, smallest_exponent)) {  // a whole number of the smallest steps
    const float steps =
        std::nearbyint(std::ldexp(absolute, layout.mantissa_bits - smallest_exponent));
    return static_cast<std::uint8_t>(sign | static_cast<std::uint32_t>(steps));
  }
  const int dropped = 23 - layout.mantissa_bits;
  const std::uint32_t half = (1U << (dropped - 1)) - 1U + ((magnitude >> dropped) & 1U);
  const std::uint32_t code =
      ((magnitude + half) >> dropped) -
      (static_cast<std::uint32_t>(127 - layout.bias) << layout.mantissa_bits);
  return static_cast<std::uint8_t>(sign | (code > layout.largest ? layout.beyond : code));
}

float decode_float8(std::uint8_t bits, const Float8Layout& layout) {
  const std::uint32_t code = bits & 0x7fU;
  const float sign = (bits & 0x80U) != 0 ? -1.0F : 1.0F;
  if (code > layout.largest) {
    const bool is_infinite = code == layout.beyond && layout.beyond != layout.nan;
    return is_infinite ? sign * std::numeric_limits<float>::infinity()
                       : std::numeric_limits<float>::quiet_NaN();
  }
  const int exponent = static_cast<int>(code >> layout.mantissa_bits);
  const int fraction = static_cast<int>(code & ((1U << layout.mantissa_bits) - 1U));
  const int leading = exponent == 0 ? 0 : 1 << layout.mantissa_bits;
  const int power = std::max(exponent, 1) - layout.bias - layout.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(leading + fraction), power);
}

const ElementRow& row_of(DType dtype) { return rows[static_cast<std::size_t>(dtype)]; }

}  // namespace

float widen(Float16 x) {
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (x.bits >> 10) & 0x1fU;
  const std::uint32_t fraction = x.bits & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (fraction << 13));
  }
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;  // zero and subnormals
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

Float16 to_float16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return {static_cast<std::uint16_t>(sign | 0x7e00U)};
  if (magnitude >= 0x477ff000U) return {static_cast<std::uint16_t>(sign | 0x7c00U)};  // >= 65520
  if (magnitude < 0x38800000U) {  // below 2^-14: units of 2^-24; adding 0.5 makes the FPU round
    const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) & 0x7ffU))};
  }
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13))};
}

float widen(Float8E4M3 x) { return decode_float8(x.bits, e4m3); }
float widen(Float8E5M2 x) { return decode_float8(x.bits, e5m2); }
Float8E4M3 to_float8_e4m3(float x) { return {encode_float8(x, e4m3)}; }
Float8E5M2 to_float8_e5m2(float x) { return {encode_float8(x, e5m2)}; }

namespace {

template <class Narrow>
void widen_all(const std::byte* from, float* to, std::size_t count) {
  const Narrow* data = reinterpret_cast<const Narrow*>(from);
  for (std::size_t i = 0; i < count; ++i) to[i] = widen(data[i]);
}

template <class Narrow, Narrow (*round)(float)>
void round_all(const float* from, std::byte* to, std::size_t count) {
  Narrow* data = reinterpret_cast<Narrow*>(to);
  for (std::size_t i = 0; i < count; ++i) data[i] = round(from[i]);
}

void widen_same(const std::byte* from, float* to, std::size_t count) {
  std::memcpy(to, from, count * sizeof(float));
}

void round_same(const float* from, std::byte* to, std::size_t count) {
  std::memcpy(to, from, count * sizeof(float));
}

struct WideningRow {
  DType dtype;
  void (*widen)(const std::byte*, float*, std::size_t);
  void (*round)(const float*, std::byte*, std::size_t);
};

constexpr std::array<WideningRow, 5> widenings = {{
    {DType::f32, widen_same, round_same},
    {DType::bf16, widen_all<BFloat16>, round_all<BFloat16, to_bfloat16>},
    {DType::f16, widen_all<Float16>, round_all<Float16, to_float16>},
    {DType::f8_e4m3fn, widen_all<Float8E4M3>, round_all<Float8E4M3, to_float8_e4m3>},
    {DType::f8_e5m2, widen_all<Float8E5M2>, round_all<Float8E5M2, to_float8_e5m2>},
}};

const WideningRow& widening_of(DType dtype) {
  const auto row = std::find_if(widenings.begin(), widenings.end(),
                                [&](const WideningRow& r) { return r.dtype == dtype; });
  SHARD_CHECK(row != widenings.end(),
              "only floats of 32 bits and fewer are widened and rounded to");
  return *row;
}

}  // namespace

void widen_floats(DType dtype, const std::byte* from, float* to, std::size_t count) {
  widening_of(dtype).widen(from, to, count);
}

void round_floats(const float* from, DType dtype, std::byte* to, std::size_t count) {
  widening_of(dtype).round(from, to, count);
}

void to_doubles(DType dtype, const std::byte* from, double* to, std::size_t count) {
  row_of(dtype).read(from, to, count);
}

void from_doubles(const double* from, DType dtype, std::byte* to, std::size_t count) {
  row_of(dtype).write(from, to, count);
}

double element_as_double(DType dtype, const std::byte* data, std::size_t index) {
  double value = 0;
  row_of(dtype).read(data + index * static_cast<std::size_t>(info(dtype).bytes), &value, 1);
  return value;
}

}  // namespace shard
