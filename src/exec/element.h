#pragma once
// Elements of every dtype as plain numbers. 16-bit floats are a storage format: they are widened to
// float32, computed with, and rounded back once (to nearest, ties to even; NaN stays NaN).

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "base/tensor_type.h"

namespace shard {

struct BFloat16 {
  std::uint16_t bits = 0;
};
struct Float16 {
  std::uint16_t bits = 0;
};

inline float widen(BFloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

inline BFloat16 to_bfloat16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};  // a quiet NaN
  }
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

float widen(Float16 x);
Float16 to_float16(float x);

/// The 8-bit floats of the OCP standard: 4 exponent bits without infinities, 5 with them.
struct Float8E4M3 {
  std::uint8_t bits = 0;
};
struct Float8E5M2 {
  std::uint8_t bits = 0;
};

float widen(Float8E4M3 x);
float widen(Float8E5M2 x);
/// Beyond the largest number: NaN for e4m3, infinity for e5m2.
Float8E4M3 to_float8_e4m3(float x);
Float8E5M2 to_float8_e5m2(float x);

/// Widens `count` elements of a float of 32 bits or fewer to float32. Other dtypes are a bug.
void widen_floats(DType dtype, const std::byte* from, float* to, std::size_t count);
/// Rounds `count` float32 numbers to such a float.
void round_floats(const float* from, DType dtype, std::byte* to, std::size_t count);

/// True of the dtypes that kernels compute with in float32.
inline bool computes_in_f32(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16;
}

/// Real numbers in an array: two for each complex element, else one.
inline std::size_t number_count(DType dtype, std::int64_t elements) {
  return static_cast<std::size_t>(elements) * (info(dtype).is_complex ? 2 : 1);
}
inline std::size_t number_count(const TensorType& type) {
  return number_count(type.dtype, element_count(type.shape));
}

/// Any dtype to double: exact but for integers beyond 2^53. Of complex elements `count` counts the
/// real numbers, two for each.
void to_doubles(DType dtype, const std::byte* from, double* to, std::size_t count);
/// Double to any dtype, rounded once. To integers: truncated, saturated, NaN to 0; to bool: 1 for
/// everything but 0.
void from_doubles(const double* from, DType dtype, std::byte* to, std::size_t count);

/// One element as a double.
double element_as_double(DType dtype, const std::byte* data, std::size_t index);

}  // namespace shard
