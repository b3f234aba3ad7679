#include "exec/reduce_streams.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "exec/element.h"
#include "exec/extrema.h"
#include "exec/simd.h"

namespace shard {
namespace {

constexpr std::int64_t tile = 1024;  // elements: 4 KiB per stream

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
    out[j] = reinterpret_cast<float*>(places.out[j]);
  }
  streams(in.data(), out.data(), static_cast<int>(places.in.size()),
          static_cast<std::size_t>(count));
}

void reduce_f32(const FloatLoops& loops, const StreamPlaces& places, std::int64_t count) {
  if (places.in.size() <= most_streams && places.out.size() == places.in.size()) {
    return reduce_side_by_side(loops.streams, places, count);
  }
  alignas(64) std::array<float, tile> sum;
  for (std::int64_t start = 0; start < count; start += tile) {
    const std::size_t n = static_cast<std::size_t>(std::min(tile, count - start));
    const std::size_t offset = static_cast<std::size_t>(start) * sizeof(float);
    std::memcpy(sum.data(), places.in[0] + offset, n * sizeof(float));
    for (std::size_t j = 1; j < places.in.size(); ++j) {
      loops.fold(reinterpret_cast<const float*>(places.in[j] + offset), sum.data(), n);
    }
    for (std::byte* out : places.out) std::memcpy(out + offset, sum.data(), n * sizeof(float));
  }
}

void reduce_narrow(DType dtype, const FloatLoops& loops, const StreamPlaces& places,
                   std::int64_t count) {
  alignas(64) std::array<float, tile> sum, part;
  for (std::int64_t start = 0; start < count; start += tile) {
    const std::size_t n = static_cast<std::size_t>(std::min(tile, count - start));
    const std::size_t offset = static_cast<std::size_t>(start) * 2;
    widen_floats(dtype, places.in[0] + offset, sum.data(), n);
    for (std::size_t j = 1; j < places.in.size(); ++j) {
      widen_floats(dtype, places.in[j] + offset, part.data(), n);
      loops.fold(part.data(), sum.data(), n);
    }
    for (std::byte* out : places.out) round_floats(sum.data(), dtype, out + offset, n);
  }
}

struct Add {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    return a * b;
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

/// Sums and products of integers wrap, so they are taken on unsigned numbers.
struct ReductionRow {
  Reduction reduction;
  FoldLoop ReductionLoops::*fold;
  StreamsLoop ReductionLoops::*streams;
  Plain f64, i32, i64, u32;
  Plain truth;  ///< of bytes that are 0 or 1; of a sum at most one is 1
};

template <class Combine, class Truth>
constexpr ReductionRow wrapping(Reduction reduction, FoldLoop ReductionLoops::*fold,
                                StreamsLoop ReductionLoops::*streams) {
  return {reduction,
          fold,
          streams,
          reduce_plain<double, Combine>,
          reduce_plain<std::uint32_t, Combine>,
          reduce_plain<std::uint64_t, Combine>,
          reduce_plain<std::uint32_t, Combine>,
          reduce_plain<std::uint8_t, Truth>};
}

template <class Combine>
constexpr ReductionRow comparing(Reduction reduction, FoldLoop ReductionLoops::*fold,
                                 StreamsLoop ReductionLoops::*streams) {
  return {reduction,
          fold,
          streams,
          reduce_plain<double, Combine>,
          reduce_plain<std::int32_t, Combine>,
          reduce_plain<std::int64_t, Combine>,
          reduce_plain<std::uint32_t, Combine>,
          reduce_plain<std::uint8_t, Combine>};
}

using L = ReductionLoops;
constexpr std::array<ReductionRow, 4> rows = {{
    wrapping<Add, Largest>(Reduction::sum, &L::fold_sum, &L::streams_sum),
    comparing<Largest>(Reduction::max, &L::fold_max, &L::streams_max),
    comparing<Smallest>(Reduction::min, &L::fold_min, &L::streams_min),
    wrapping<Multiply, Smallest>(Reduction::prod, &L::fold_prod, &L::streams_prod),
}};

}  // namespace

std::optional<StreamReduction> stream_reduction(Reduction reduction, DType dtype, int members) {
  SHARD_CHECK(members >= 1, "a group has members");
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const ReductionRow& r) { return r.reduction == reduction; });
  SHARD_CHECK(row != rows.end(), "a reducing collective names its reduction");
  const FloatLoops loops = {reduction_loops().*row->fold, reduction_loops().*row->streams};
  if (dtype == DType::f32) {
    return [loops](const StreamPlaces& places, std::int64_t count) {
      reduce_f32(loops, places, count);
    };
  }
  if (computes_in_f32(dtype)) {
    return [loops, dtype](const StreamPlaces& places, std::int64_t count) {
      reduce_narrow(dtype, loops, places, count);
    };
  }
  if (dtype == DType::f64) return row->f64;
  if (dtype == DType::i32) return row->i32;
  if (dtype == DType::i64) return row->i64;
  if (dtype == DType::u32) return row->u32;
  if (dtype == DType::boolean) return row->truth;
  return std::nullopt;
}

}  // namespace shard
