#include "base/dtype.h"

#include <array>

#include "base/check.h"

namespace shard {
namespace {

constexpr std::array<DTypeInfo, 16> table = {{
    {DType::f32, "f32", "float32", "F32", 4, true, true},
    {DType::bf16, "bf16", "bfloat16", "BF16", 2, true, true},
    {DType::f16, "f16", "float16", "F16", 2, true, true},
    {DType::f64, "f64", "float64", "F64", 8, true, true},
    {DType::i32, "i32", "int32", "I32", 4, false, true},
    {DType::i64, "i64", "int64", "I64", 8, false, true},
    {DType::u32, "u32", "uint32", "U32", 4, false, false},
    {DType::boolean, "bool", "bool", "BOOL", 1, false, false},
    {DType::i8, "i8", "int8", "I8", 1, false, true},
    {DType::i16, "i16", "int16", "I16", 2, false, true},
    {DType::u8, "u8", "uint8", "U8", 1, false, false},
    {DType::u16, "u16", "uint16", "U16", 2, false, false},
    {DType::u64, "u64", "uint64", "U64", 8, false, false},
    {DType::f8_e4m3fn, "f8_e4m3fn", "float8_e4m3fn", "F8_E4M3", 1, true, true},
    {DType::f8_e5m2, "f8_e5m2", "float8_e5m2", "F8_E5M2", 1, true, true},
    {DType::c64, "c64", "complex64", "C64", 8, false, true, true},
}};

constexpr bool rows_in_enum_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].dtype != static_cast<DType>(i)) return false;
  }
  return true;
}
static_assert(rows_in_enum_order(), "the table lists every DType once, in enum order");

}  // namespace

std::span<const DTypeInfo> dtype_table() { return table; }

const DTypeInfo& info(DType dtype) {
  SHARD_CHECK(static_cast<std::size_t>(dtype) < table.size(), "a DType is a row of the table");
  return table[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtype_named(std::string_view word) {
  for (const DTypeInfo& row : table) {
    if (word == row.name || word == row.numpy_name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace shard
