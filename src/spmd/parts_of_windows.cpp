// Ops over windows, on dims that are split: convolution, reduce_window and what scatters into them.

#include <array>
#include <optional>

#include "ops/neutral.h"
#include "ops/window_dims.h"
#include "spmd/local_op.h"
#include "spmd/parts_form.h"

namespace shard::spmd {
namespace {

using Numbers = std::vector<std::int64_t>;

/// The windows of a part along one dim: what of the array they cover, and the padding that is left
/// where only that is there.
struct LocalWindows {
  PartWindow covered;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// `count` windows of `size` elements, which begin `step` places of the dilated array later on the
/// next part; nothing where a part would begin inside a gap that others begin at an element.
std::optional<LocalWindows> local_windows(const Windows& windows, std::size_t dim,
                                          std::int64_t count, std::int64_t size,
                                          std::int64_t step) {
  const std::int64_t spread = windows.base_dilation[dim], stride = windows.strides[dim];
  if (count < 1 || size < 1 || step % spread != 0) return std::nullopt;
  const std::int64_t reach = (size - 1) * windows.dilation[dim] + 1;
  const std::int64_t begin = -windows.low[dim], end = begin + (count - 1) * stride + reach;
  LocalWindows local;
  local.covered.start = floor_quotient(begin, spread);
  local.covered.step = step / spread;
  local.covered.size = floor_quotient(end - 1, spread) - local.covered.start + 1;
  local.low = local.covered.start * spread - begin;
  local.high = end - begin - local.low - ((local.covered.size - 1) * spread + 1);
  return local;
}

/// Windows of a reduction along a dim of the result that is split.
std::optional<LocalWindows> reduced_windows(const PartsSite& site, std::size_t dim) {
  const Windows windows = reduction_windows(site.attributes());
  const std::int64_t count = site.local_result(0).shape[dim];
  return local_windows(windows, dim, count, windows.sizes[dim], count * windows.strides[dim]);
}

bool is_plain(const Windows& windows, std::size_t dim) {
  return windows.sizes[dim] == 1 && windows.strides[dim] == 1 && windows.low[dim] == 0 &&
         windows.high[dim] == 0 && windows.base_dilation[dim] == 1;
}

/// The dims that are split and have windows that reach into other parts.
std::vector<std::size_t> shared_dims(const PartsSite& site) {
  const Windows windows = reduction_windows(site.attributes());
  std::vector<std::size_t> dims;
  for (std::size_t dim = 0; dim < windows.sizes.size(); ++dim) {
    const bool is_split = !site.result_axes(0, static_cast<std::int64_t>(dim)).empty();
    if (is_split && !is_plain(windows, dim)) dims.push_back(dim);
  }
  return dims;
}

FactorRule windows_rule(FactorRule rule, const Node&) {
  for (Factor& factor : rule.factors) factor.needs_neighbours = false;
  return rule;
}

/// What an extremum ignores; nothing where the dtype has no such number.
std::optional<double> ignored_by(Op op, DType dtype) {
  if (op == Op::reduce_window_sum) return 0;
  if (dtype == DType::f8_e4m3fn) return std::nullopt;
  return neutral_of(op == Op::reduce_window_max ? Reduction::max : Reduction::min, dtype);
}

bool reduce_window_fits(const PartsSite& site) {
  if (!ignored_by(site.node.op, site.operands[0].dtype)) return false;
  for (const std::size_t dim : shared_dims(site)) {
    if (!reduced_windows(site, dim)) return false;
  }
  return true;
}

/// `x`, a fetched window, with `value` where the array has no element.
BufferId masked(PartsBuilder& build, const Axes& axes, std::size_t dim, const PartWindow& window,
                std::int64_t size, BufferId x, double value) {
  const BufferId at = build.positions(axes, window);
  const BufferId is_behind = build.emit(Op::ge, {at, build.number(0)});
  const BufferId is_before = build.emit(Op::lt, {at, build.number(size)});
  const BufferId is_inside = build.emit(Op::bitwise_and, {is_behind, is_before});
  const TensorType type = build.type(x);
  const BufferId everywhere = build.along(is_inside, type.shape, static_cast<int>(dim));
  return build.emit(Op::select, {everywhere, x, build.constant(value, type.dtype)});
}

/// The window of `x` along a split dim; what a part has already goes nowhere.
BufferId fetched_window(PartsBuilder& build, BufferId x, const Axes& axes, std::size_t dim,
                        const PartWindow& window) {
  const std::int64_t own = build.type(x).shape[dim];
  if (window == PartWindow{0, own, own}) return x;
  return build.fetch(x, axes, static_cast<int>(dim), window);
}

std::vector<BufferId> emit_reduce_window(PartsBuilder& build, const PartsSite& site,
                                         const std::vector<BufferId>& operands) {
  BufferId x = operands[0];
  Attributes attributes = site.attributes();
  Numbers low = attributes.integers("low"), high = attributes.integers("high");
  const double ignored = *ignored_by(site.node.op, site.operands[0].dtype);
  for (const std::size_t dim : shared_dims(site)) {
    const LocalWindows local = *reduced_windows(site, dim);
    const Axes& axes = site.operand_axes(0, static_cast<std::int64_t>(dim));
    const std::int64_t size = site.operands[0].shape[dim];
    x = fetched_window(build, x, axes, dim, local.covered);
    if (ignored != 0 && reaches_beyond(local.covered, size, product(axes))) {
      x = masked(build, axes, dim, local.covered, size, x, ignored);
    }
    low[dim] = local.low;
    high[dim] = local.high;
  }
  attributes.set("low", std::move(low));
  attributes.set("high", std::move(high));
  return {build.emit(site.node.op, {x}, std::move(attributes))};
}

/// Along a split dim, for the elements of one part: the windows that reach into it, what of the
/// array those cover, and how far the part's first element is behind the first that is covered.
struct ScatterWindows {
  PartWindow windows;
  PartWindow covered;
  std::int64_t begin = 0;
};

/// Nothing where a part has no windows, or others than the next one.
std::optional<ScatterWindows> scatter_windows(const PartsSite& site, std::size_t dim) {
  const Windows all = reduction_windows(site.attributes());
  const std::int64_t part = site.local_result(0).shape[dim], stride = all.strides[dim];
  if (part < 1 || part % stride != 0 || all.base_dilation[dim] != 1) return std::nullopt;
  const std::int64_t reach = (all.sizes[dim] - 1) * all.dilation[dim] + 1;
  const std::int64_t first = floor_quotient(all.low[dim] - reach, stride) + 1;
  const std::int64_t last = floor_quotient(part - 1 + all.low[dim], stride);
  if (reach < 1 || last < first) return std::nullopt;
  const std::int64_t begin = first * stride - all.low[dim];
  return ScatterWindows{{first, part / stride, last - first + 1},
                        {begin, part, (last - first) * stride + reach},
                        -begin};
}

Op extremum_of_scatter(const Attributes& attributes) {
  return attributes.integer("largest") != 0 ? Op::reduce_window_max : Op::reduce_window_min;
}

bool scatter_fits(const PartsSite& site) {
  if (!ignored_by(extremum_of_scatter(site.attributes()), site.operands[0].dtype)) return false;
  for (const std::size_t dim : shared_dims(site)) {
    const auto axis = static_cast<std::int64_t>(dim);
    const bool is_alike = site.operand_axes(0, axis) == site.operand_axes(1, axis);
    if (!is_alike || !scatter_windows(site, dim)) return false;
  }
  return true;
}

/// Cut to, or filled up with zeros to, the part that begins at `begin` of dim `dim`.
BufferId own_part(PartsBuilder& build, BufferId x, std::size_t dim, std::int64_t begin,
                  std::int64_t size) {
  const TensorType type = build.type(x);
  if (begin == 0 && type.shape[dim] == size) return x;
  Numbers low(type.shape.size(), 0), high = low;
  low[dim] = -begin;
  high[dim] = size - (type.shape[dim] - begin);
  return build.emit(Op::pad, {x, build.constant(0, type.dtype)},
                    {{"low", low}, {"high", high}, {"interior", Numbers(low.size(), 0)}});
}

/// Each part looks at all windows that reach into it; those beyond the array add zeros.
std::vector<BufferId> emit_scatter(PartsBuilder& build, const PartsSite& site,
                                   const std::vector<BufferId>& operands) {
  BufferId x = operands[0], source = operands[1];
  Attributes attributes = site.attributes();
  Numbers low = attributes.integers("low"), high = attributes.integers("high");
  const double ignored =
      *ignored_by(extremum_of_scatter(site.attributes()), site.operands[0].dtype);
  for (const std::size_t dim : shared_dims(site)) {
    const ScatterWindows local = *scatter_windows(site, dim);
    const Axes& axes = site.operand_axes(0, static_cast<std::int64_t>(dim));
    const std::int64_t size = site.operands[0].shape[dim];
    x = fetched_window(build, x, axes, dim, local.covered);
    if (reaches_beyond(local.covered, size, product(axes))) {
      x = masked(build, axes, dim, local.covered, size, x, ignored);
    }
    source = fetched_window(build, source, axes, dim, local.windows);
    low[dim] = high[dim] = 0;
  }
  attributes.set("low", std::move(low));
  attributes.set("high", std::move(high));
  BufferId added = build.emit(Op::select_and_scatter_add, {x, source}, std::move(attributes));
  for (const std::size_t dim : shared_dims(site)) {
    added = own_part(build, added, dim, scatter_windows(site, dim)->begin,
                     site.local_result(0).shape[dim]);
  }
  return {added};
}

/// A spatial dim has the factor of the windows or that of a window's elements first; only that one
/// can be split.
FactorRule convolution_parts(FactorRule rule, const Node& node) {
  const ConvolutionDims dims = convolution_dims(node.attributes);
  for (std::size_t role = 2; role < dims.lhs.size(); ++role) {
    const std::vector<int>& factors = rule.operands[0][static_cast<std::size_t>(dims.lhs[role])];
    for (std::size_t i = 0; i < factors.size(); ++i) {
      Factor& factor = rule.factors[static_cast<std::size_t>(factors[i])];
      factor.needs_neighbours = false;
      if (i > 0) factor.kind = FactorKind::need_replication;
    }
  }
  return rule;
}

/// One spatial dim of a convolution, by its position among them.
struct SpatialDim {
  std::int64_t lhs = 0, rhs = 0, out = 0;
  bool has_split_windows = false, has_split_elements = false;

  SpatialDim(const PartsSite& site, const ConvolutionDims& dims, std::size_t number)
      : lhs(dims.lhs[number + 2]), rhs(dims.rhs[number + 2]), out(dims.out[number + 2]) {
    has_split_windows = !site.result_axes(0, out).empty();
    has_split_elements = !site.operand_axes(1, rhs).empty();
  }
  bool is_shared() const { return has_split_windows || has_split_elements; }

  std::optional<LocalWindows> windows(const PartsSite& site, std::size_t number) const {
    const Windows all = convolution_windows(site.attributes(), site.operands[1].shape);
    const Axes& axes = site.operand_axes(0, lhs);
    const Axes& mine = has_split_windows ? site.result_axes(0, out) : site.operand_axes(1, rhs);
    if ((has_split_windows && has_split_elements) || axes != mine) return std::nullopt;
    const std::int64_t parts = product(axes), size = all.sizes[number];
    const std::int64_t count = site.results[0].shape[static_cast<std::size_t>(out)];
    return has_split_windows ? local_windows(all, number, count / parts, size,
                                             count / parts * all.strides[number])
                             : local_windows(all, number, count, size / parts,
                                             size / parts * all.dilation[number]);
  }
};

bool convolution_fits(const PartsSite& site) {
  const ConvolutionDims dims = convolution_dims(site.attributes());
  for (std::size_t i = 0; i < dims.spatial_count(); ++i) {
    const SpatialDim dim(site, dims, i);
    if (dim.is_shared() ? !dim.windows(site, i) : !site.operand_axes(0, dim.lhs).empty()) {
      return false;
    }
  }
  return true;
}

std::vector<BufferId> emit_convolution(PartsBuilder& build, const PartsSite& site,
                                       const std::vector<BufferId>& operands) {
  BufferId x = operands[0];
  const ConvolutionDims dims = convolution_dims(site.attributes());
  Numbers low = site.attributes().integers("low"), high = site.attributes().integers("high");
  for (std::size_t i = 0; i < dims.spatial_count(); ++i) {
    const SpatialDim dim(site, dims, i);
    if (!dim.is_shared()) continue;
    const LocalWindows local = *dim.windows(site, i);
    x = fetched_window(build, x, site.operand_axes(0, dim.lhs), static_cast<std::size_t>(dim.lhs),
                       local.covered);
    low[i] = local.low;
    high[i] = local.high;
  }
  const std::vector<TensorType> types{build.type(x), build.type(operands[1])};
  const std::vector<TensorType> results{site.local_result(0)};
  Attributes attributes = local_attributes(build.mesh(), Op::convolution, site.attributes(), types,
                                           results, site.common);
  attributes.set("low", std::move(low));
  attributes.set("high", std::move(high));
  return {build.emit(Op::convolution, {x, operands[1]}, std::move(attributes))};
}

constexpr std::array<PartsForm, 5> forms_of_windows = {{
    {Op::convolution, convolution_parts, convolution_fits, emit_convolution},
    {Op::reduce_window_sum, windows_rule, reduce_window_fits, emit_reduce_window},
    {Op::reduce_window_max, windows_rule, reduce_window_fits, emit_reduce_window},
    {Op::reduce_window_min, windows_rule, reduce_window_fits, emit_reduce_window},
    {Op::select_and_scatter_add, windows_rule, scatter_fits, emit_scatter},
}};

}  // namespace

std::span<const PartsForm> window_forms() { return forms_of_windows; }

}  // namespace shard::spmd
