#include "exec/whole_numbers.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace shard {
namespace {

template <class T>
void widen_whole(const std::byte* from, std::int64_t* to, std::size_t count) {
  const T* data = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::int64_t>(data[i]);
}

template <class T>
void cut_whole(const std::int64_t* from, std::byte* to, std::size_t count) {
  T* data = reinterpret_cast<T*>(to);
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<T>(from[i]);
}

struct WholeRow {
  DType dtype;
  void (*widen)(const std::byte*, std::int64_t*, std::size_t);
  void (*cut)(const std::int64_t*, std::byte*, std::size_t);
};

template <class T>
constexpr WholeRow whole_row(DType dtype) {
  return {dtype, widen_whole<T>, cut_whole<T>};
}

constexpr std::array<WholeRow, 9> whole_rows = {{
    whole_row<std::int32_t>(DType::i32),
    whole_row<std::int64_t>(DType::i64),
    whole_row<std::uint32_t>(DType::u32),
    whole_row<bool>(DType::boolean),
    whole_row<std::int8_t>(DType::i8),
    whole_row<std::int16_t>(DType::i16),
    whole_row<std::uint8_t>(DType::u8),
    whole_row<std::uint16_t>(DType::u16),
    whole_row<std::uint64_t>(DType::u64),
}};

const WholeRow& whole_row_of(DType dtype) {
  const auto row = std::find_if(whole_rows.begin(), whole_rows.end(),
                                [&](const WholeRow& r) { return r.dtype == dtype; });
  SHARD_CHECK(row != whole_rows.end(), "integers and truth values are whole numbers");
  return *row;
}

}  // namespace

void to_integers(DType dtype, const std::byte* from, std::int64_t* to, std::size_t count) {
  whole_row_of(dtype).widen(from, to, count);
}

void from_integers(const std::int64_t* from, DType dtype, std::byte* to, std::size_t count) {
  whole_row_of(dtype).cut(from, to, count);
}

}  // namespace shard
