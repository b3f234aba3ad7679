// Kernels of convolutions and of reductions over windows: plain loops over positions, numbers held
// as doubles (integers as 64 bits) and rounded once.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/strided_copy.h"
#include "exec/whole_numbers.h"
#include "ops/window_dims.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

void read_window_numbers(DType dtype, const std::byte* from, double* to, std::size_t count) {
  to_doubles(dtype, from, to, count);
}
void read_window_numbers(DType dtype, const std::byte* from, std::int64_t* to, std::size_t count) {
  to_integers(dtype, from, to, count);
}
void write_window_numbers(DType dtype, const double* from, std::byte* to, std::size_t count) {
  from_doubles(from, dtype, to, count);
}
void write_window_numbers(DType dtype, const std::int64_t* from, std::byte* to, std::size_t count) {
  from_integers(from, dtype, to, count);
}

template <class Wide>
const Wide* window_operand(const KernelCall& call, std::size_t operand, const TensorType& type) {
  const auto count = static_cast<std::size_t>(element_count(type.shape));
  Wide* numbers = call.scratch.take_array<Wide>(count);
  read_window_numbers(type.dtype, call.operands[operand], numbers, count);
  return numbers;
}

/// Steps through all index combinations of `sizes`; false after the last.
bool next_index(Dims& index, const Dims& sizes) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

bool is_empty(const Dims& sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size == 0; });
}

// Convolutions.

/// Sizes and strides of the dims by their roles.
struct ConvolutionPlan {
  ConvolutionDims dims;
  Windows windows;
  TensorType lhs, rhs, out;
  Dims lhs_strides, rhs_strides, out_strides;

  explicit ConvolutionPlan(const KernelSite& site)
      : dims(convolution_dims(site.attributes)),
        windows(convolution_windows(site.attributes, site.operands[1].shape)),
        lhs(site.operands[0]),
        rhs(site.operands[1]),
        out(site.results[0]),
        lhs_strides(row_major_strides(lhs.shape)),
        rhs_strides(row_major_strides(rhs.shape)),
        out_strides(row_major_strides(out.shape)) {}

  static std::int64_t by_role(const Dims& numbers, const Dims& roles, std::size_t role) {
    return numbers[static_cast<std::size_t>(roles[role])];
  }
  std::int64_t lhs_size(std::size_t role) const { return by_role(lhs.shape, dims.lhs, role); }
  std::int64_t rhs_size(std::size_t role) const { return by_role(rhs.shape, dims.rhs, role); }
  std::int64_t out_size(std::size_t role) const { return by_role(out.shape, dims.out, role); }
  std::int64_t lhs_stride(std::size_t role) const { return by_role(lhs_strides, dims.lhs, role); }
  std::int64_t rhs_stride(std::size_t role) const { return by_role(rhs_strides, dims.rhs, role); }
  std::int64_t out_stride(std::size_t role) const { return by_role(out_strides, dims.out, role); }

  /// Output sizes and window sizes, spatial dims only.
  Dims out_spatial() const {
    Dims sizes;
    for (std::size_t i = 0; i < dims.spatial_count(); ++i) sizes.push_back(out_size(i + 2));
    return sizes;
  }
};

/// Adds one element of the window to all examples and features of one output position.
template <class Wide>
void add_window_element(const ConvolutionPlan& plan, const Wide* lhs, const Wide* rhs, Wide* out) {
  const std::int64_t features = plan.out_size(1), channels = plan.rhs_size(1);
  const std::int64_t examples = plan.out_size(0);
  const std::int64_t feature_group = features / plan.dims.feature_groups;
  const std::int64_t batch_group = features / plan.dims.batch_groups;
  for (std::int64_t b = 0; b < examples; ++b) {
    for (std::int64_t f = 0; f < features; ++f) {
      const std::int64_t example = f / batch_group * examples + b;
      const std::int64_t channel = f / feature_group * channels;
      const Wide* x = lhs + example * plan.lhs_stride(0) + channel * plan.lhs_stride(1);
      const Wide* w = rhs + f * plan.rhs_stride(0);
      Wide sum = 0;
      for (std::int64_t c = 0; c < channels; ++c) {
        sum += x[c * plan.lhs_stride(1)] * w[c * plan.rhs_stride(1)];
      }
      out[b * plan.out_stride(0) + f * plan.out_stride(1)] += sum;
    }
  }
}

template <class Wide>
void convolve(const ConvolutionPlan& plan, const Wide* lhs, const Wide* rhs, Wide* out) {
  const std::size_t spatial = plan.dims.spatial_count();
  const Dims sizes = plan.out_spatial();
  if (is_empty(sizes) || is_empty(plan.windows.sizes)) return;
  Dims at(spatial, 0);
  do {
    Dims k(spatial, 0);
    do {
      std::int64_t from = 0, weight = 0, to = 0;
      bool is_padding = false;
      for (std::size_t i = 0; i < spatial; ++i) {
        const std::int64_t element = plan.windows.at(i, at[i], k[i], plan.lhs_size(i + 2));
        is_padding = is_padding || element < 0;
        from += element * plan.lhs_stride(i + 2);
        weight += k[i] * plan.rhs_stride(i + 2);
        to += at[i] * plan.out_stride(i + 2);
      }
      if (!is_padding) add_window_element(plan, lhs + from, rhs + weight, out + to);
    } while (next_index(k, plan.windows.sizes));
  } while (next_index(at, sizes));
}

template <class Wide>
Kernel convolution_kernel(const KernelSite& site) {
  return [plan = ConvolutionPlan(site)](const KernelCall& call) {
    const Wide* lhs = window_operand<Wide>(call, 0, plan.lhs);
    const Wide* rhs = window_operand<Wide>(call, 1, plan.rhs);
    const auto count = static_cast<std::size_t>(element_count(plan.out.shape));
    Wide* out = call.scratch.take_array<Wide>(count);
    std::fill(out, out + count, Wide{0});
    convolve(plan, lhs, rhs, out);
    write_window_numbers(plan.out.dtype, out, call.results[0], count);
  };
}

// Reductions over windows.

template <class Wide>
struct WindowFold {
  Wide start;
  Wide (*combine)(Wide, Wide);
};

template <class Wide>
Wide window_sum(Wide a, Wide b) {
  return a + b;
}
template <class Wide>
Wide window_largest(Wide a, Wide b) {
  return b != b || a < b ? b : a;
}
template <class Wide>
Wide window_smallest(Wide a, Wide b) {
  return b != b || b < a ? b : a;
}

/// Calls `visit(position)` for the elements of the array in window `at`, in order.
template <class Visit>
void each_in_window(const Windows& windows, const Shape& shape, const Dims& strides, const Dims& at,
                    Visit visit) {
  Dims k(shape.size(), 0);
  do {
    std::int64_t position = 0;
    bool is_padding = false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t element = windows.at(d, at[d], k[d], shape[d]);
      is_padding = is_padding || element < 0;
      position += element * strides[d];
    }
    if (!is_padding) visit(position);
  } while (next_index(k, windows.sizes));
}

template <class Wide>
Kernel reduce_window_kernel(const KernelSite& site, WindowFold<Wide> fold) {
  const TensorType in = site.operands[0], out = site.results[0];
  const Windows windows = reduction_windows(site.attributes);
  return [in, out, windows, fold](const KernelCall& call) {
    const Wide* numbers = window_operand<Wide>(call, 0, in);
    const auto count = static_cast<std::size_t>(element_count(out.shape));
    Wide* folded = call.scratch.take_array<Wide>(count);
    const Dims strides = row_major_strides(in.shape);
    Dims at(out.shape.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      Wide all = fold.start;
      each_in_window(windows, in.shape, strides, at,
                     [&](std::int64_t position) { all = fold.combine(all, numbers[position]); });
      folded[i] = all;
      next_index(at, out.shape);
    }
    write_window_numbers(out.dtype, folded, call.results[0], count);
  };
}

constexpr double most = std::numeric_limits<double>::infinity();

/// The lowest and the highest number of an integer dtype.
std::int64_t extreme_of(const DTypeInfo& dtype, bool is_lowest) {
  const int bits = 8 * dtype.bytes;
  if (!dtype.is_signed) return is_lowest ? 0 : static_cast<std::int64_t>((1ULL << bits) - 1);
  const std::int64_t highest = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  return is_lowest ? -highest - 1 : highest;
}

struct WindowRow {
  Op op;
  WindowFold<double> real;
  std::int64_t (*whole)(std::int64_t, std::int64_t);
};
constexpr WindowRow window_rows[] = {
    {Op::reduce_window_sum, {0, window_sum<double>}, window_sum<std::int64_t>},
    {Op::reduce_window_max, {-most, window_largest<double>}, window_largest<std::int64_t>},
    {Op::reduce_window_min, {most, window_smallest<double>}, window_smallest<std::int64_t>},
};

}  // namespace

KernelResult make_convolution(const KernelSite& site) {
  if (site.results[0].dtype == DType::boolean) return describe(site);
  if (info(site.results[0].dtype).is_float) return convolution_kernel<double>(site);
  return convolution_kernel<std::int64_t>(site);
}

KernelResult make_reduce_window(const KernelSite& site) {
  const auto row = std::find_if(std::begin(window_rows), std::end(window_rows),
                                [&](const WindowRow& r) { return r.op == site.op; });
  SHARD_CHECK(row != std::end(window_rows), "every reduction over windows has a row");
  const DTypeInfo& dtype = info(site.results[0].dtype);
  if (dtype.is_float) return reduce_window_kernel<double>(site, row->real);
  if (dtype.dtype == DType::u64) return describe(site);
  const std::int64_t start =
      site.op == Op::reduce_window_sum ? 0 : extreme_of(dtype, site.op == Op::reduce_window_max);
  return reduce_window_kernel<std::int64_t>(site, {start, row->whole});
}

KernelResult make_select_and_scatter_add(const KernelSite& site) {
  const TensorType in = site.operands[0], source = site.operands[1];
  const Windows windows = reduction_windows(site.attributes);
  const bool wants_largest = site.attributes.integer("largest") != 0;
  if (!info(in.dtype).is_float) return describe(site);
  return [=](const KernelCall& call) {
    const double* numbers = window_operand<double>(call, 0, in);
    const double* added = window_operand<double>(call, 1, source);
    const auto count = static_cast<std::size_t>(element_count(in.shape));
    double* out = call.scratch.take_array<double>(count);
    std::fill(out, out + count, 0.0);
    const Dims strides = row_major_strides(in.shape);
    Dims at(source.shape.size(), 0);
    for (std::int64_t i = 0; i < element_count(source.shape); ++i) {
      std::int64_t chosen = -1;  // the first of equal ones
      each_in_window(windows, in.shape, strides, at, [&](std::int64_t position) {
        const double x = numbers[position];
        if (chosen < 0 || (wants_largest ? x > numbers[chosen] : x < numbers[chosen])) {
          chosen = position;
        }
      });
      if (chosen >= 0) out[chosen] += added[i];
      next_index(at, source.shape);
    }
    from_doubles(out, in.dtype, call.results[0], count);
  };
}

}  // namespace shard
