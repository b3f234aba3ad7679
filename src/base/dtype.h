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
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;         ///< our spelling: `f32`
  std::string_view numpy_name;   ///< JAX's and NumPy's: `float32`
  std::string_view safetensors;  ///< `F32`
  int bytes;                     ///< of one element
  bool is_float;
  bool is_signed;
};

/// All element types, in enum order.
std::span<const DTypeInfo> dtype_table();

const DTypeInfo& info(DType dtype);

/// Reads `f32` or `float32`; nothing for an unknown word.
std::optional<DType> dtype_named(std::string_view word);

}  // namespace shard
