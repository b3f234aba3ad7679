// Kernels of gather and of the scatters.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/index_walk.h"
#include "exec/kernel.h"
#include "exec/whole_numbers.h"

namespace shard {
namespace {

/// What a gather reads where there is nothing: NaN, the lowest of signed integers, the highest of
/// the others; or what attribute `fill` says.
double nothing_there(const KernelSite& site) {
  if (site.attributes.has("fill")) return site.attributes.number("fill");
  const DTypeInfo& dtype = info(site.results[0].dtype);
  if (is_inexact(dtype.dtype)) return std::nan("");
  return dtype.is_signed ? -std::ldexp(1.0, 8 * dtype.bytes - 1)
                         : std::ldexp(1.0, 8 * dtype.bytes) - 1;
}

std::vector<std::byte> one_element(DType dtype, double value) {
  std::vector<std::byte> element(static_cast<std::size_t>(info(dtype).bytes));
  from_doubles(&value, dtype, element.data(), 1);
  return element;
}

/// Calls `row(array, slices, count, array_stride, slices_stride)` for every run along the innermost
/// window dim of one slice.
template <class Row>
void each_row(const std::vector<CopyDim>& window, const SlicePlace& place, Row row) {
  const CopyDim inner = window.empty() ? CopyDim{1, 1, 1} : window.back();
  const std::size_t outer = window.empty() ? 0 : window.size() - 1;
  for (const CopyDim& dim : window) {
    if (dim.size == 0) return;
  }
  std::vector<std::int64_t> at(outer, 0);
  std::int64_t array = place.in_array, slices = place.in_slices;
  while (true) {
    row(array, slices, inner);
    std::size_t d = outer;
    for (; d > 0; --d) {
      const CopyDim& dim = window[d - 1];
      array += dim.in_stride;
      slices += dim.out_stride;
      if (++at[d - 1] < dim.size) break;
      array -= dim.size * dim.in_stride;
      slices -= dim.size * dim.out_stride;
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

/// Combines an update into an element of the array; 16-bit floats are combined as float32.
template <class T>
using Combine = T (*)(T, T);

template <class T>
T added(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}
template <class T>
T multiplied(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}
template <class T>
T replaced(T, T b) {
  return b;
}
template <class T>
T larger_of(T a, T b) {
  return b != b || a < b ? b : a;
}
template <class T>
T smaller_of(T a, T b) {
  return b != b || b < a ? b : a;
}

struct ScatterRow {
  Op op;
  double neutral;  ///< what devices without the first share start from; NaN: the array itself
  Combine<float> f32;
  Combine<double> f64;
  Combine<std::int64_t> whole;
};

constexpr double array_itself = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<ScatterRow, 5> scatter_rows = {{
    {Op::scatter_add, 0, added, added, added},
    {Op::scatter_set, array_itself, replaced, replaced, replaced},
    {Op::scatter_max, array_itself, larger_of, larger_of, larger_of},
    {Op::scatter_min, array_itself, smaller_of, smaller_of, smaller_of},
    {Op::scatter_mul, 1, multiplied, multiplied, multiplied},
}};

/// How elements of a dtype are held while updates come in.
template <class Wide>
struct WideForm {
  void (*read)(DType, const std::byte*, Wide*, std::size_t);
  void (*write)(const Wide*, DType, std::byte*, std::size_t);
};

template <class Wide>
void scatter(const IndexWalk& walk, const KernelCall& call, Combine<Wide> combine,
             const Wide* updates, Wide* array) {
  walk.each(call.operands[1], call.device, [&](const SlicePlace& place) {
    if (!place.is_inside || !place.is_here) return;
    each_row(walk.window(), place, [&](std::int64_t to, std::int64_t from, const CopyDim& inner) {
      for (std::int64_t i = 0; i < inner.size; ++i) {
        Wide& element = array[to + i * inner.in_stride];
        element = combine(element, updates[from + i * inner.out_stride]);
      }
    });
  });
}

template <class Wide>
Kernel scatter_kernel(const KernelSite& site, IndexWalk walk, Combine<Wide> combine, double neutral,
                      WideForm<Wide> form) {
  const DType dtype = site.results[0].dtype;
  const auto count = static_cast<std::size_t>(element_count(site.results[0].shape));
  const auto update_count = static_cast<std::size_t>(element_count(site.operands[2].shape));
  return [=, walk = std::move(walk)](const KernelCall& call) {
    Wide* array = call.scratch.take_array<Wide>(count);
    Wide* updates = call.scratch.take_array<Wide>(update_count);
    form.read(dtype, call.operands[2], updates, update_count);
    if (std::isnan(neutral) || walk.is_first_share(call.device)) {
      form.read(dtype, call.operands[0], array, count);
    } else {
      std::fill(array, array + count, static_cast<Wide>(neutral));
    }
    scatter(walk, call, combine, updates, array);
    form.write(array, dtype, call.results[0], count);
  };
}

}  // namespace

KernelResult make_gather(const KernelSite& site) {
  IndexWalk walk(site.attributes, site.operands[0], site.operands[1], site.results[0].shape,
                 site.attributes.integers("slice_sizes"));
  const DType dtype = site.results[0].dtype;
  const auto width = static_cast<std::int64_t>(info(dtype).bytes);
  const auto bytes = static_cast<std::size_t>(bytes_of(site.results[0]).count());
  const StridedCopy copy(walk.window(), static_cast<std::size_t>(width));
  std::vector<CopyDim> repeated = walk.window();
  for (CopyDim& dim : repeated) dim.in_stride = 0;
  const StridedCopy fill(repeated, static_cast<std::size_t>(width));
  return [=, walk = std::move(walk),
          nothing = one_element(dtype, nothing_there(site))](const KernelCall& call) {
    std::memset(call.results[0], 0, bytes);
    const bool answers = walk.is_first_part(call.device);
    walk.each(call.operands[1], call.device, [&](const SlicePlace& place) {
      std::byte* to = call.results[0] + place.in_slices * width;
      if (!place.is_inside) {
        if (answers) fill.run(nothing.data(), to);
      } else if (place.is_here) {
        copy.run(call.operands[0] + place.in_array * width, to);
      }
    });
  };
}

KernelResult make_scatter(const KernelSite& site) {
  const auto row = std::find_if(scatter_rows.begin(), scatter_rows.end(),
                                [&](const ScatterRow& r) { return r.op == site.op; });
  SHARD_CHECK(row != scatter_rows.end(), "every scatter has a row");
  if (has_complex(site)) return make_scatter(in_pairs(site));
  const DType dtype = site.results[0].dtype;
  IndexWalk walk(
      site.attributes, site.operands[0], site.operands[1], site.operands[2].shape,
      window_sizes(IndexDims(site.attributes), site.operands[0].rank(), site.operands[2].shape));
  if (computes_in_f32(dtype)) {
    return scatter_kernel<float>(site, std::move(walk), row->f32, row->neutral,
                                 {widen_floats, round_floats});
  }
  if (info(dtype).is_float) {
    return scatter_kernel<double>(site, std::move(walk), row->f64, row->neutral,
                                  {to_doubles, from_doubles});
  }
  if (dtype == DType::boolean && site.op != Op::scatter_set) return describe(site);
  return scatter_kernel<std::int64_t>(site, std::move(walk), row->whole, row->neutral,
                                      {to_integers, from_integers});
}

}  // namespace shard
