#include "base/dtype.h"

#include <array>

#include "base/check.h"

namespace shard {
namespace {

constexpr std::array<DTypeInfo, 8> table = {{
    {DType::f32, "f32", "float32", "F32", 4, true},
    {DType::bf16, "bf16", "bfloat16", "BF16", 2, true},
    {DType::f16, "f16", "float16", "F16", 2, true},
    {DType::f64, "f64", "float64", "F64", 8, true},
    {DType::i32, "i32", "int32", "I32", 4, false},
    {DType::i64, "i64", "int64", "I64", 8, false},
    {DType::u32, "u32", "uint32", "U32", 4, false},
    {DType::boolean, "bool", "bool", "BOOL", 1, false},
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
