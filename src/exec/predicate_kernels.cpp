// Kernels of elementwise ops whose operands and results differ in dtype: comparisons, select,
// clamp.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/simd.h"
#include "exec/whole_numbers.h"

namespace shard {
namespace {

/// Says of every pair of elements whether it holds for them.
template <class Wide>
using PredicateLoop = void (*)(const Wide* a, const Wide* b, bool* out, std::size_t count);

/// Of numbers as they are stored; `is_turned`: of (b, a).
struct DirectLoops {
  CompareLoop<float> CompareLoops<float>::*f32 = nullptr;
  CompareLoop<std::int32_t> CompareLoops<std::int32_t>::*i32 = nullptr;
  bool is_turned = false;
};

struct PredicateRow {
  Op op;
  PredicateLoop<double> real;
  PredicateLoop<std::int64_t> whole;  ///< nullptr: not for integers
  DirectLoops direct = {};            ///< nullptrs: none
};

template <class T, class Compare>
void compare_all(const T* a, const T* b, bool* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = Compare()(a[i], b[i]);
}

void all_finite(const double* x, const double*, bool* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::isfinite(x[i]);
}

using F = CompareLoops<float>;
using I = CompareLoops<std::int32_t>;

template <template <class> class Compare>
constexpr PredicateRow comparison(Op op, DirectLoops direct) {
  return {op, compare_all<double, Compare<double>>,
          compare_all<std::int64_t, Compare<std::int64_t>>, direct};
}

constexpr std::array<PredicateRow, 7> predicate_rows = {{
    comparison<std::equal_to>(Op::eq, {&F::eq, &I::eq, false}),
    comparison<std::not_equal_to>(Op::ne, {&F::ne, &I::ne, false}),
    comparison<std::less>(Op::lt, {&F::lt, &I::lt, false}),
    comparison<std::less_equal>(Op::le, {&F::le, &I::le, false}),
    comparison<std::greater>(Op::gt, {&F::lt, &I::lt, true}),
    comparison<std::greater_equal>(Op::ge, {&F::le, &I::le, true}),
    {Op::is_finite, all_finite, nullptr},
}};

constexpr std::size_t tile_size = 1024;

/// One operand, read in tiles as doubles or as 64-bit integers; a scalar is repeated.
struct TileOperand {
  DType dtype = DType::f32;
  bool is_scalar = false;

  template <class Wide>
  void load(const std::byte* data, std::size_t start, std::size_t count, Wide* to) const {
    const auto width = static_cast<std::size_t>(info(dtype).bytes);
    read(is_scalar ? data : data + start * width, to, is_scalar ? 1 : count);
    if (is_scalar) std::fill(to + 1, to + count, *to);
  }

 private:
  void read(const std::byte* data, double* to, std::size_t count) const {
    to_doubles(dtype, data, to, count);
  }
  void read(const std::byte* data, std::int64_t* to, std::size_t count) const {
    to_integers(dtype, data, to, count);
  }
};

std::vector<TileOperand> tile_operands(const KernelSite& site) {
  const std::int64_t count = element_count(site.results[0].shape);
  std::vector<TileOperand> operands;
  operands.reserve(site.operands.size());
  for (const TensorType& type : site.operands) {
    operands.push_back({type.dtype, count > 1 && type.rank() == 0});
  }
  return operands;
}

template <class Wide>
Kernel predicate_kernel(const KernelSite& site, PredicateLoop<Wide> loop) {
  const std::vector<TileOperand> operands = tile_operands(site);
  const auto total = static_cast<std::size_t>(element_count(site.results[0].shape));
  return [operands, total, loop](const KernelCall& call) {
    std::array<Wide, tile_size> a, b;
    bool* out = reinterpret_cast<bool*>(call.results[0]);
    for (std::size_t start = 0; start < total; start += tile_size) {
      const std::size_t count = std::min(tile_size, total - start);
      operands[0].load(call.operands[0], start, count, a.data());
      if (operands.size() > 1) operands[1].load(call.operands[1], start, count, b.data());
      loop(a.data(), b.data(), out + start, count);
    }
  };
}

/// Numbers compared as they are stored.
template <class T>
Kernel direct_kernel(const KernelSite& site, CompareLoop<T> loop, bool is_turned) {
  std::vector<TileOperand> operands = tile_operands(site);
  const std::array<std::size_t, 2> order = {is_turned ? 1U : 0U, is_turned ? 0U : 1U};
  const auto total = static_cast<std::size_t>(element_count(site.results[0].shape));
  const std::array<bool, 2> is_one = {operands[order[0]].is_scalar, operands[order[1]].is_scalar};
  return [order, is_one, total, loop](const KernelCall& call) {
    std::array<std::array<T, tile_size>, 2> repeated;
    std::array<const T*, 2> in{};
    for (std::size_t i = 0; i < 2; ++i) {
      in[i] = reinterpret_cast<const T*>(call.operands[order[i]]);
      if (is_one[i]) std::fill_n(repeated[i].begin(), std::min(tile_size, total), *in[i]);
    }
    bool* const out = reinterpret_cast<bool*>(call.results[0]);
    for (std::size_t start = 0; start < total; start += tile_size) {
      loop(is_one[0] ? repeated[0].data() : in[0] + start,
           is_one[1] ? repeated[1].data() : in[1] + start, out + start,
           std::min(tile_size, total - start));
    }
  };
}

/// What `select` takes from, by the size of an element alone.
template <class T>
struct SelectTile {
  const std::uint8_t* condition;
  const T* on_true;
  const T* on_false;
  T out[tile_size];  ///< apart from the operands, so that the loop is free to run in vectors

  template <std::size_t C, std::size_t A, std::size_t B>
  void run(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = condition[i * C] != 0 ? on_true[i * A] : on_false[i * B];
    }
  }
};

/// The loop for these steps, 0 of scalars.
template <class T>
auto select_loop(const std::array<std::size_t, 3>& steps) {
  using Tile = SelectTile<T>;
  static constexpr std::array<void (Tile::*)(std::size_t), 8> loops = {
      &Tile::template run<0, 0, 0>, &Tile::template run<0, 0, 1>, &Tile::template run<0, 1, 0>,
      &Tile::template run<0, 1, 1>, &Tile::template run<1, 0, 0>, &Tile::template run<1, 0, 1>,
      &Tile::template run<1, 1, 0>, &Tile::template run<1, 1, 1>};
  return loops[steps[0] * 4 + steps[1] * 2 + steps[2]];
}

template <class T>
Kernel select_kernel(const KernelSite& site) {
  const std::vector<TileOperand> operands = tile_operands(site);
  const auto total = static_cast<std::size_t>(element_count(site.results[0].shape));
  const auto step = [&](std::size_t i) { return std::size_t{operands[i].is_scalar ? 0U : 1U}; };
  const std::array<std::size_t, 3> steps = {step(0), step(1), step(2)};
  return [total, steps, loop = select_loop<T>(steps)](const KernelCall& call) {
    SelectTile<T> tile;
    const auto* condition = reinterpret_cast<const std::uint8_t*>(call.operands[0]);
    const T* on_true = reinterpret_cast<const T*>(call.operands[1]);
    const T* on_false = reinterpret_cast<const T*>(call.operands[2]);
    T* out = reinterpret_cast<T*>(call.results[0]);
    // Read before anything is written: the result may lie over an operand.
    const std::uint8_t first = *condition;
    const T first_true = *on_true, first_false = *on_false;
    if (steps[0] == 0) condition = &first;
    if (steps[1] == 0) on_true = &first_true;
    if (steps[2] == 0) on_false = &first_false;
    for (std::size_t start = 0; start < total; start += tile_size) {
      const std::size_t count = std::min(tile_size, total - start);
      tile.condition = condition + start * steps[0];
      tile.on_true = on_true + start * steps[1];
      tile.on_false = on_false + start * steps[2];
      (tile.*loop)(count);
      std::memcpy(out + start, tile.out, count * sizeof(T));
    }
  };
}

/// Elements of four bytes, each with a condition of its own.
Kernel select_words(const KernelSite& site) {
  const std::vector<TileOperand> operands = tile_operands(site);
  const auto total = static_cast<std::size_t>(element_count(site.results[0].shape));
  const SelectLoop loop =
      predicate_loops().select[(operands[1].is_scalar ? 2 : 0) + (operands[2].is_scalar ? 1 : 0)];
  return [total, loop](const KernelCall& call) {
    loop(reinterpret_cast<const std::uint8_t*>(call.operands[0]),
         reinterpret_cast<const std::uint32_t*>(call.operands[1]),
         reinterpret_cast<const std::uint32_t*>(call.operands[2]),
         reinterpret_cast<std::uint32_t*>(call.results[0]), total);
  };
}

double clamped(double low, double x, double high) {
  if (std::isnan(low) || std::isnan(x) || std::isnan(high)) return std::nan("");
  return std::min(std::max(x, low), high);
}

std::int64_t clamped(std::int64_t low, std::int64_t x, std::int64_t high) {
  return std::min(std::max(x, low), high);
}

void write_wide(DType dtype, const double* from, std::byte* to, std::size_t count) {
  from_doubles(from, dtype, to, count);
}
void write_wide(DType dtype, const std::int64_t* from, std::byte* to, std::size_t count) {
  from_integers(from, dtype, to, count);
}

template <class Wide>
Kernel clamp_kernel(const KernelSite& site) {
  const std::vector<TileOperand> operands = tile_operands(site);
  const auto total = static_cast<std::size_t>(element_count(site.results[0].shape));
  const DType dtype = site.results[0].dtype;
  const auto width = static_cast<std::size_t>(info(dtype).bytes);
  return [operands, total, dtype, width](const KernelCall& call) {
    std::array<std::array<Wide, tile_size>, 3> in;
    for (std::size_t start = 0; start < total; start += tile_size) {
      const std::size_t count = std::min(tile_size, total - start);
      for (std::size_t i = 0; i < 3; ++i) {
        operands[i].load(call.operands[i], start, count, in[i].data());
      }
      for (std::size_t i = 0; i < count; ++i) in[0][i] = clamped(in[0][i], in[1][i], in[2][i]);
      write_wide(dtype, in[0].data(), call.results[0] + start * width, count);
    }
  };
}

}  // namespace

KernelResult make_predicate(const KernelSite& site) {
  if (has_complex(site)) return make_complex_elementwise(site);
  const auto row = std::find_if(predicate_rows.begin(), predicate_rows.end(),
                                [&](const PredicateRow& r) { return r.op == site.op; });
  SHARD_CHECK(row != predicate_rows.end(), "every op that makes truth values has a row");
  const DType dtype = site.operands[0].dtype;
  const DirectLoops& direct = row->direct;
  if (dtype == DType::f32 && direct.f32 != nullptr)
    return direct_kernel<float>(site, predicate_loops().f32.*direct.f32, direct.is_turned);
  if (dtype == DType::i32 && direct.i32 != nullptr)
    return direct_kernel<std::int32_t>(site, predicate_loops().i32.*direct.i32, direct.is_turned);
  if (info(dtype).is_float) return predicate_kernel<double>(site, row->real);
  if (row->whole == nullptr) return describe(site);
  return predicate_kernel<std::int64_t>(site, row->whole);
}

KernelResult make_select(const KernelSite& site) {
  switch (info(site.results[0].dtype).bytes) {
    case 1:
      return select_kernel<std::uint8_t>(site);
    case 2:
      return select_kernel<std::uint16_t>(site);
    case 4:
      return site.operands[0].rank() == 0 ? select_kernel<std::uint32_t>(site) : select_words(site);
    default:
      return select_kernel<std::uint64_t>(site);
  }
}

KernelResult make_clamp(const KernelSite& site) {
  const DTypeInfo& dtype = info(site.results[0].dtype);
  if (dtype.dtype == DType::boolean || dtype.is_complex) return describe(site);
  if (dtype.is_float) return clamp_kernel<double>(site);
  return clamp_kernel<std::int64_t>(site);
}

}  // namespace shard
