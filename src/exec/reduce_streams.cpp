#include "exec/reduce_streams.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "exec/element.h"
#include "exec/extrema.h"
#include "exec/simd.h"

namespace shard {
namespace {

constexpr std::int64_t tile = 1024;  // elements: 4 KiB per stream

/// What a tile has of all members together is still in the second-level cache when the sum is
/// written there.
std::int64_t tile_of_members(std::size_t members) {
  constexpr std::int64_t all = std::int64_t{1} << 16, smallest = 128;  // elements: 256 KiB
  return std::clamp(all / static_cast<std::int64_t>(members) / smallest * smallest, smallest, tile);
}

/// Up to this many arrays are walked side by side; more would defeat the prefetchers and are added
/// to a tile one after the other. Both add in the same order, so the bits are the same.
constexpr std::size_t most_streams = 12;

struct FloatLoops {
  FoldLoop fold;
  StreamsLoop streams;
};

void reduce_side_by_side(StreamsLoop streams, const StreamPlaces& places, std::int64_t count) {
  std::array<const float*, most_streams> in = {};
  std::array<float*, most_streams> out = {};
  for (std::size_t j = 0; j < places.in.size(); ++j) {
    in[j] = reinterpret_cast<const float*>(places.in[j]);
    // A single result is written once for every array, in the cache.
    out[j] = reinterpret_cast<float*>(places.out[places.out.size() == 1 ? 0 : j]);
  }
  streams(in.data(), out.data(), static_cast<int>(places.in.size()),
          static_cast<std::size_t>(count));
}

void reduce_f32(const FloatLoops& loops, const StreamPlaces& places, std::int64_t count) {
  if (places.in.size() == 2 && places.out.size() == 1 && places.out[0] == places.in[0]) {
    return loops.fold(reinterpret_cast<const float*>(places.in[1]),
                      reinterpret_cast<float*>(places.out[0]), static_cast<std::size_t>(count));
  }
  const bool has_loop = places.out.size() == places.in.size() || places.out.size() == 1;
  if (places.in.size() <= most_streams && has_loop) {
    return reduce_side_by_side(loops.streams, places, count);
  }
  alignas(64) std::array<float, tile> sum;
  const std::int64_t step = tile_of_members(places.in.size());
  for (std::int64_t start = 0; start < count; start += step) {
    const std::size_t n = static_cast<std::size_t>(std::min(step, count - start));
    const std::size_t offset = static_cast<std::size_t>(start) * sizeof(float);
    const std::size_t bytes = n * sizeof(float), members = places.in.size();
    std::memcpy(sum.data(), places.in[0] + offset, bytes);
    if (members > 1) ask_for(places.in[1] + offset, bytes);
    for (std::size_t j = 1; j < members; ++j) {
      if (j + 1 < members) ask_for(places.in[j + 1] + offset, bytes);
      loops.fold(reinterpret_cast<const float*>(places.in[j] + offset), sum.data(), n);
    }
    for (std::byte* out : places.out) std::memcpy(out + offset, sum.data(), bytes);
  }
}

void reduce_narrow(DType dtype, const FloatLoops& loops, const StreamPlaces& places,
                   std::int64_t count) {
  alignas(64) std::array<float, tile> sum, part;
  for (std::int64_t start = 0; start < count; start += tile) {
    const std::size_t n = static_cast<std::size_t>(std::min(tile, count - start));
    const std::size_t offset =
        static_cast<std::size_t>(start) * static_cast<std::size_t>(info(dtype).bytes);
    widen_floats(dtype, places.in[0] + offset, sum.data(), n);
    for (std::size_t j = 1; j < places.in.size(); ++j) {
      widen_floats(dtype, places.in[j] + offset, part.data(), n);
      loops.fold(part.data(), sum.data(), n);
    }
    for (std::byte* out : places.out) round_floats(sum.data(), dtype, out + offset, n);
  }
}

/// Narrow integers would be promoted to int, whose overflow is undefined.
template <class T>
using Arithmetic = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;

struct Add {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(Arithmetic<T>{a} + Arithmetic<T>{b});
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(Arithmetic<T>{a} * Arithmetic<T>{b});
  }
};
struct Largest {
  template <class T>
  static T of(T a, T b) {
    return larger_of(a, b);
  }
};
struct Smallest {
  template <class T>
  static T of(T a, T b) {
    return smaller_of(a, b);
  }
};

template <class T, class Combine>
void reduce_plain(const StreamPlaces& places, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    T all = reinterpret_cast<const T*>(places.in[0])[i];
    for (std::size_t j = 1; j < places.in.size(); ++j) {
      all = Combine::of(all, reinterpret_cast<const T*>(places.in[j])[i]);
    }
    for (std::byte* out : places.out) reinterpret_cast<T*>(out)[i] = all;
  }
}

using Plain = void (*)(const StreamPlaces&, std::int64_t);

/// Loops of the dtypes that are not computed with in float32.
struct PlainRow {
  DType dtype;
  Plain loop;
};
using PlainTable = std::array<PlainRow, 11>;

struct ReductionRow {
  Reduction reduction;
  FoldLoop ReductionLoops::*fold;
  StreamsLoop ReductionLoops::*streams;
  PlainTable plain;
};

/// Truths are bytes that are 0 or 1. Sums and products of integers wrap, so they are taken on
/// unsigned numbers; of truths a sum says whether one is true, a product whether all are.
template <class Combine, class Truth>
constexpr PlainTable wrapping_loops() {
  return {{{DType::f64, reduce_plain<double, Combine>},
           {DType::i32, reduce_plain<std::uint32_t, Combine>},
           {DType::i64, reduce_plain<std::uint64_t, Combine>},
           {DType::u32, reduce_plain<std::uint32_t, Combine>},
           {DType::boolean, reduce_plain<std::uint8_t, Truth>},
           {DType::i8, reduce_plain<std::uint8_t, Combine>},
           {DType::i16, reduce_plain<std::uint16_t, Combine>},
           {DType::u8, reduce_plain<std::uint8_t, Combine>},
           {DType::u16, reduce_plain<std::uint16_t, Combine>},
           {DType::u64, reduce_plain<std::uint64_t, Combine>},
           {DType::c64, reduce_plain<std::complex<float>, Combine>}}};
}

/// Complex numbers have no order.
void refuse_complex(const StreamPlaces&, std::int64_t) {
  throw InternalError("complex numbers are not compared");
}

template <class Combine>
constexpr PlainTable comparing_loops() {
  return {{{DType::f64, reduce_plain<double, Combine>},
           {DType::i32, reduce_plain<std::int32_t, Combine>},
           {DType::i64, reduce_plain<std::int64_t, Combine>},
           {DType::u32, reduce_plain<std::uint32_t, Combine>},
           {DType::boolean, reduce_plain<std::uint8_t, Combine>},
           {DType::i8, reduce_plain<std::int8_t, Combine>},
           {DType::i16, reduce_plain<std::int16_t, Combine>},
           {DType::u8, reduce_plain<std::uint8_t, Combine>},
           {DType::u16, reduce_plain<std::uint16_t, Combine>},
           {DType::u64, reduce_plain<std::uint64_t, Combine>},
           {DType::c64, refuse_complex}}};
}

using L = ReductionLoops;
constexpr std::array<ReductionRow, 4> rows = {{
    {Reduction::sum, &L::fold_sum, &L::streams_sum, wrapping_loops<Add, Largest>()},
    {Reduction::max, &L::fold_max, &L::streams_max, comparing_loops<Largest>()},
    {Reduction::min, &L::fold_min, &L::streams_min, comparing_loops<Smallest>()},
    {Reduction::prod, &L::fold_prod, &L::streams_prod, wrapping_loops<Multiply, Smallest>()},
}};

}  // namespace

void ask_for(const std::byte* from, std::size_t bytes) {
  constexpr std::size_t line = 64;
  for (std::size_t i = 0; i < bytes; i += line) __builtin_prefetch(from + i);
}

bool are_added_in_turn(std::int64_t arrays) {
  return arrays > static_cast<std::int64_t>(most_streams);
}

bool adds_in_f32(DType dtype) {
  return std::none_of(rows.front().plain.begin(), rows.front().plain.end(),
                      [&](const PlainRow& row) { return row.dtype == dtype; });
}

StreamPlaces places_from(std::span<const MemberPlace> members, std::span<const int> order,
                         std::int64_t offset) {
  StreamPlaces places;
  for (const int member : order) {
    const MemberPlace& place = members[static_cast<std::size_t>(member)];
    places.in.push_back(place.operand + offset);
    places.out.push_back(place.result + offset);
  }
  return places;
}

StreamReduction stream_reduction(Reduction reduction, DType dtype) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const ReductionRow& r) { return r.reduction == reduction; });
  SHARD_CHECK(row != rows.end(), "a reducing collective names its reduction");
  const FloatLoops loops = {reduction_loops().*row->fold, reduction_loops().*row->streams};
  if (dtype == DType::f32) {
    return [loops](const StreamPlaces& places, std::int64_t count) {
      reduce_f32(loops, places, count);
    };
  }
  const auto plain = std::find_if(row->plain.begin(), row->plain.end(),
                                  [&](const PlainRow& r) { return r.dtype == dtype; });
  if (plain != row->plain.end()) return plain->loop;
  return [loops, dtype](const StreamPlaces& places, std::int64_t count) {
    reduce_narrow(dtype, loops, places, count);
  };
}

}  // namespace shard
