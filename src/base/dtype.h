#pragma once
// Element types, by the names the field prints: f32, bf16, i32 ...

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shard {

enum class DType : std::uint8_t {
  f32,
  bf16,
  f16,
  f64,
  i32,
  i64,
  u32,
  boolean,
  i8,
  i16,
  u8,
  u16,
  u64,
  f8_e4m3fn,  ///< no infinities, one NaN: what lies beyond 448 is NaN
  f8_e5m2,
  c64,  ///< a complex number: real part and imaginary part, float32 each
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;         ///< our spelling: `f32`
  std::string_view numpy_name;   ///< JAX's and NumPy's: `float32`
  std::string_view safetensors;  ///< `F32`
  int bytes;                     ///< of one element
  bool is_float;
  bool is_signed;
  bool is_complex = false;
};

/// All element types, in enum order.
std::span<const DTypeInfo> dtype_table();

const DTypeInfo& info(DType dtype);

/// Rounded numbers: floats, and complex numbers made of them.
inline bool is_inexact(DType dtype) { return info(dtype).is_float || info(dtype).is_complex; }
/// Whole numbers; truth values are none.
inline bool is_whole(DType dtype) { return !is_inexact(dtype) && dtype != DType::boolean; }

/// Reads `f32` or `float32`; nothing for an unknown word.
std::optional<DType> dtype_named(std::string_view word);

}  // namespace shard
