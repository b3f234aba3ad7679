#include "exec/element.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace shard;

TEST_CASE("every 16-bit float survives widening and rounding back") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    const BFloat16 brain{static_cast<std::uint16_t>(bits)};
    if (!std::isnan(widen(half))) CHECK(to_float16(widen(half)).bits == bits);
    if (!std::isnan(widen(brain))) CHECK(to_bfloat16(widen(brain)).bits == bits);
  }
}

TEST_CASE("float16 rounds to nearest with ties to even and overflows to infinity") {
  CHECK(widen(to_float16(1.0F + 0x1p-11F)) == 1.0F);                // tie, even is below
  CHECK(widen(to_float16(1.0F + 3 * 0x1p-11F)) == 1.0F + 0x1p-9F);  // tie, even is above
  CHECK(widen(to_float16(65519.0F)) == 65504.0F);
  CHECK(std::isinf(widen(to_float16(65520.0F))));
  CHECK(widen(to_float16(0x1p-24F)) == 0x1p-24F);  // the smallest subnormal
  CHECK(widen(to_float16(0x1p-25F)) == 0.0F);      // tie with zero
  CHECK(widen(to_float16(-0x1.8p-25F)) == -0x1p-24F);
  CHECK(std::signbit(widen(to_float16(-0.0F))));
  CHECK(std::isnan(widen(to_float16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("bfloat16 rounds to nearest with ties to even and keeps NaN") {
  CHECK(widen(to_bfloat16(1.0F + 0x1p-8F)) == 1.0F);
  CHECK(widen(to_bfloat16(1.0F + 3 * 0x1p-8F)) == 1.0F + 0x1p-6F);
  CHECK(std::isinf(widen(to_bfloat16(std::numeric_limits<float>::max()))));
  CHECK(std::isnan(widen(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("a double is rounded to 16 bits once and not by way of float32") {
  const double above_tie = 1.0 + 0x1p-8 + 0x1p-40;  // float32 would make a tie of it
  std::vector<std::byte> bytes(2);
  from_doubles(&above_tie, DType::bf16, bytes.data(), 1);
  CHECK(element_as_double(DType::bf16, bytes.data(), 0) == 1.0 + 0x1p-7);
  const double half_above = 1.0 + 0x1p-11 + 0x1p-40;
  from_doubles(&half_above, DType::f16, bytes.data(), 1);
  CHECK(element_as_double(DType::f16, bytes.data(), 0) == 1.0 + 0x1p-10);
}

TEST_CASE("numbers become integers by truncation with saturation and NaN becomes zero") {
  const std::vector<double> numbers = {2.9, -2.9, 1e20, -1e20, std::nan("")};
  std::vector<std::int32_t> integers(5);
  from_doubles(numbers.data(), DType::i32, reinterpret_cast<std::byte*>(integers.data()), 5);
  CHECK(integers == std::vector<std::int32_t>{2, -2, std::numeric_limits<std::int32_t>::max(),
                                              std::numeric_limits<std::int32_t>::min(), 0});
  std::vector<std::uint32_t> counts(5);
  from_doubles(numbers.data(), DType::u32, reinterpret_cast<std::byte*>(counts.data()), 5);
  CHECK(counts ==
        std::vector<std::uint32_t>{2, 0, std::numeric_limits<std::uint32_t>::max(), 0, 0});
}

TEST_CASE("every dtype reads back what was written") {
  for (const DTypeInfo& dtype : dtype_table()) {
    CAPTURE(dtype.name);
    const std::vector<double> numbers = {0, 1, 1, 0};
    std::vector<std::byte> bytes(4 * static_cast<std::size_t>(dtype.bytes));
    from_doubles(numbers.data(), dtype.dtype, bytes.data(), 4);
    std::vector<double> back(4);
    to_doubles(dtype.dtype, bytes.data(), back.data(), 4);
    CHECK(back == numbers);
  }
}

TEST_CASE("8-bit floats round to nearest with ties to even and know their own ends") {
  CHECK(widen(to_float8_e4m3(464.0F)) == 448.0F);  // a tie, to the even one
  CHECK(std::isnan(widen(to_float8_e4m3(465.0F))));
  CHECK(std::isnan(widen(to_float8_e4m3(std::numeric_limits<float>::infinity()))));
  CHECK(widen(to_float8_e5m2(57344.0F)) == 57344.0F);
  CHECK(widen(to_float8_e5m2(-65536.0F)) == -std::numeric_limits<float>::infinity());
  CHECK(widen(to_float8_e4m3(0x1p-10F)) == 0.0F);  // half of the smallest step
  CHECK(widen(to_float8_e4m3(0x1.8p-10F)) == 0x1p-9F);
  CHECK(widen(to_float8_e5m2(0x1.cp-15F)) == 0x1p-14F);  // a subnormal rounds up to a normal
}

TEST_CASE("every code of an 8-bit float comes back from its number") {
  for (int code = 0; code < 256; ++code) {
    CAPTURE(code);
    const Float8E4M3 e4m3 = {static_cast<std::uint8_t>(code)};
    const Float8E5M2 e5m2 = {static_cast<std::uint8_t>(code)};
    if (!std::isnan(widen(e4m3))) CHECK(to_float8_e4m3(widen(e4m3)).bits == code);
    if (!std::isnan(widen(e5m2))) CHECK(to_float8_e5m2(widen(e5m2)).bits == code);
  }
}
