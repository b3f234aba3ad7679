#include "random_ops.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "ops/composed.h"
#include "ops/window_dims.h"

namespace shard::tests {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t signed_below(const OpSite& site, std::int64_t limit) {
  return static_cast<std::int64_t>(site.choices.below(static_cast<std::uint64_t>(limit)));
}

std::int64_t any_dim(const OpSite& site, ValueId value) {
  return signed_below(site, static_cast<std::int64_t>(site.shape(value).size()));
}

std::int64_t size_of(const OpSite& site, ValueId value, std::int64_t dim) {
  return site.shape(value)[static_cast<std::size_t>(dim)];
}

Dims repeated(std::size_t count, std::int64_t value) { return Dims(count, value); }

Dims all_but(std::size_t rank, std::int64_t dim) {
  Dims dims;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(rank); ++i) {
    if (i != dim) dims.push_back(i);
  }
  return dims;
}

using Made = std::optional<ValueId>;

Made unary(const OpSite& site) {
  static const std::vector<Op> ops = {Op::negate,  Op::tanh,   Op::relu, Op::sin,
                                      Op::sigmoid, Op::square, Op::abs,  Op::optimization_barrier};
  return site.build.emit(site.choices.pick(ops), {site.any()});
}

Made binary(const OpSite& site) {
  static const std::vector<Op> ops = {Op::add, Op::subtract, Op::multiply, Op::maximum,
                                      Op::minimum};
  const Op op = site.choices.pick(ops);
  const ValueId lhs = site.any();
  return site.build.emit(op, {lhs, site.alike(site.shape(lhs))});
}

/// Two dims of one size are summed over; leading dims of one size may be batch dims.
Made product(const OpSite& site) {
  const ValueId lhs = site.any(), rhs = site.any();
  const Shape left = site.shape(lhs), right = site.shape(rhs);
  const bool is_batched =
      left.size() == 3 && right.size() == 3 && left[0] == right[0] && site.choices.chance(70);
  const std::size_t first = is_batched ? 1 : 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t l = first; l < left.size(); ++l) {
    for (std::size_t r = first; r < right.size(); ++r) {
      if (left[l] == right[r])
        pairs.emplace_back(static_cast<std::int64_t>(l), static_cast<std::int64_t>(r));
    }
  }
  const std::size_t rank = left.size() + right.size() - 2 - first;
  if (pairs.empty() || rank > 3 || rank == 0) return std::nullopt;
  const auto [l, r] = site.choices.pick(pairs);
  const Dims batch = is_batched ? Dims{0} : Dims{};
  return site.build.emit(Op::dot, {lhs, rhs},
                         {{"lhs_batch", batch},
                          {"rhs_batch", batch},
                          {"lhs_contract", Dims{l}},
                          {"rhs_contract", Dims{r}}});
}

Made transposed(const OpSite& site) {
  const ValueId value = site.any();
  Dims order(site.shape(value).size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[i - 1 - site.choices.below(i)]);
  return site.build.emit(Op::transpose, {value}, {{"order", order}});
}

Made reduction(const OpSite& site) {
  static const std::vector<Op> ops = {Op::reduce_sum, Op::reduce_max, Op::reduce_min};
  const Op op = site.choices.pick(ops);
  const ValueId value = site.any();
  if (site.shape(value).size() < 2) return std::nullopt;
  return site.build.emit(op, {value}, {{"dims", Dims{any_dim(site, value)}}});
}

/// A dim of its largest elements' sum, spread over the array again: what softmax and norms do.
Made normalised(const OpSite& site) {
  const ValueId value = site.any();
  const Shape whole = site.shape(value);
  const Dims dims{any_dim(site, value)};
  const ValueId sum = site.build.emit(Op::reduce_sum, {value}, {{"dims", dims}});
  return site.build.emit(Op::subtract, {value, spread_over(site.build, sum, whole, dims)});
}

Made spread(const OpSite& site) {
  const ValueId value = site.any();
  Shape shape = site.shape(value);
  if (shape.size() > 2) return std::nullopt;
  const std::int64_t dim = signed_below(site, static_cast<std::int64_t>(shape.size()) + 1);
  const Dims kept = all_but(shape.size() + 1, dim);
  shape.insert(shape.begin() + dim, site.choices.pick(Shape{4, 8, 6}));
  return broadcast_to(site.build, value, shape, kept);
}

/// Two neighbours become one dim.
Made merged(const OpSite& site) {
  const ValueId value = site.any();
  Shape shape = site.shape(value);
  if (shape.size() < 2) return std::nullopt;
  const auto dim = static_cast<std::ptrdiff_t>(site.choices.below(shape.size() - 1));
  shape[static_cast<std::size_t>(dim)] *= shape[static_cast<std::size_t>(dim) + 1];
  shape.erase(shape.begin() + dim + 1);
  return reshaped(site.build, value, shape);
}

/// A dim becomes two.
Made split(const OpSite& site) {
  const ValueId value = site.any();
  Shape shape = site.shape(value);
  const auto dim = static_cast<std::size_t>(any_dim(site, value));
  const std::int64_t inner = site.choices.pick(Shape{2, 4, 3});
  if (shape.size() > 2 || shape[dim] % inner != 0) return std::nullopt;
  shape[dim] /= inner;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1, inner);
  return reshaped(site.build, value, shape);
}

Made cut(const OpSite& site) {
  const ValueId value = site.any();
  const Shape shape = site.shape(value);
  const auto dim = static_cast<std::size_t>(any_dim(site, value));
  Dims start = repeated(shape.size(), 0), limit = shape, stride = repeated(shape.size(), 1);
  stride[dim] = 1 + signed_below(site, 2);
  start[dim] = signed_below(site, (shape[dim] + 1) / 2);
  limit[dim] = shape[dim] - signed_below(site, (shape[dim] + 1) / 2);
  if (start[dim] >= limit[dim]) return std::nullopt;
  return site.build.emit(Op::slice, {value},
                         {{"start", start}, {"limit", limit}, {"stride", stride}});
}

Made padded(const OpSite& site) {
  const ValueId value = site.any();
  const Shape shape = site.shape(value);
  const auto dim = static_cast<std::size_t>(any_dim(site, value));
  Dims low = repeated(shape.size(), 0), high = low, interior = low;
  low[dim] = signed_below(site, 5) - 1;
  high[dim] = signed_below(site, 7) - 3;
  interior[dim] = signed_below(site, 2);
  if (low[dim] + high[dim] + shape[dim] < 1) return std::nullopt;
  return site.build.emit(Op::pad, {value, scalar(site.build, 0.25, DType::f32)},
                         {{"low", low}, {"high", high}, {"interior", interior}});
}

Made joined(const OpSite& site) {
  const ValueId lhs = site.any();
  const ValueId rhs = site.alike(site.shape(lhs));
  const std::array<ValueId, 2> both = {lhs, rhs};
  return concatenated(site.build, both, any_dim(site, lhs));
}

Made rolled(const OpSite& site) {
  const ValueId value = site.any();
  const std::int64_t dim = any_dim(site, value), size = size_of(site, value, dim);
  if (size < 2) return std::nullopt;
  const std::int64_t by = 1 + signed_below(site, size - 1);
  const std::array<ValueId, 2> parts = {sliced(site.build, value, dim, size - by, size),
                                        sliced(site.build, value, dim, 0, size - by)};
  return concatenated(site.build, parts, dim);
}

Made reversed(const OpSite& site) {
  const ValueId value = site.any();
  return site.build.emit(Op::reverse, {value}, {{"dims", Dims{any_dim(site, value)}}});
}

Made accumulated(const OpSite& site) {
  static const std::vector<Op> ops = {Op::cumsum, Op::cummax, Op::cummin};
  const Op op = site.choices.pick(ops);
  const ValueId value = site.any();
  return site.build.emit(op, {value},
                         {{"dim", any_dim(site, value)}, {"reverse", signed_below(site, 2)}});
}

Made sorted(const OpSite& site) {
  const ValueId value = site.any();
  return site.build.emit(Op::sort, {value},
                         {{"dim", any_dim(site, value)}, {"keys", std::int64_t{1}}});
}

Made largest(const OpSite& site) {
  const ValueId value = site.any();
  const std::int64_t k =
      std::min<std::int64_t>(site.shape(value).back(), 2 + signed_below(site, 3));
  return site.build.emit_all(Op::top_k, std::array{value}, {{"k", k}}).front();
}

Made chosen(const OpSite& site) {
  const ValueId value = site.any();
  Builder& b = site.build;
  const ValueId condition = b.emit(Op::lt, {value, scalar(b, 0.5, DType::f32)});
  return selected(b, condition, value, site.alike(site.shape(value)));
}

/// Positions along a dim, of the largest elements or just counted, look up rows.
Made looked_up(const OpSite& site) {
  const ValueId value = site.any(), table = site.any();
  Builder& b = site.build;
  if (site.shape(value).size() != 2) return std::nullopt;
  const ValueId at = b.emit(Op::argmax, {value}, {{"dim", any_dim(site, value)}});
  if (site.shape(table).size() > 3) return std::nullopt;
  return take(b, table, at, any_dim(site, table));
}

/// Elements along a dim by whole numbers made from another array; and added where those point.
Made along(const OpSite& site) {
  const ValueId value = site.any();
  Builder& b = site.build;
  const TensorType type = b.type(value);
  const std::int64_t dim = any_dim(site, value);
  const ValueId scaled = b.emit(Op::scale, {site.alike(type.shape)}, {{"value", 3.0}});
  const ValueId at = as_dtype(b, scaled, DType::i32);
  return site.choices.chance(50) ? take_along(b, value, at, dim)
                                 : added_along(b, at, value, type, dim);
}

std::vector<ValueId> starts(const OpSite& site, ValueId value, std::int64_t dim) {
  std::vector<ValueId> at;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(site.shape(value).size()); ++i) {
    const double start = i == dim ? static_cast<double>(site.choices.below(6)) : 0;
    at.push_back(scalar(site.build, start, DType::i32));
  }
  return at;
}

Made moved_part(const OpSite& site) {
  const ValueId value = site.any();
  const std::int64_t dim = any_dim(site, value);
  Dims sizes = site.shape(value);
  std::int64_t& size = sizes[static_cast<std::size_t>(dim)];
  size -= signed_below(site, size);
  std::vector<ValueId> operands{value};
  for (const ValueId at : starts(site, value, dim)) operands.push_back(at);
  return site.build.emit_all(Op::dynamic_slice, operands, {{"sizes", sizes}}).front();
}

Made replaced_part(const OpSite& site) {
  const ValueId value = site.any();
  const std::int64_t dim = any_dim(site, value), size = size_of(site, value, dim);
  const std::int64_t part = 1 + signed_below(site, size);
  const ValueId from = site.alike(site.shape(value));
  std::vector<ValueId> operands{value, sliced(site.build, from, dim, 0, part)};
  for (const ValueId at : starts(site, value, dim)) operands.push_back(at);
  return site.build.emit_all(Op::dynamic_update_slice, operands, {}).front();
}

Made windows(const OpSite& site) {
  static const std::vector<Op> ops = {Op::reduce_window_sum, Op::reduce_window_max,
                                      Op::reduce_window_min};
  const Op op = site.choices.pick(ops);
  const ValueId value = site.any();
  const std::size_t rank = site.shape(value).size();
  const auto dim = static_cast<std::size_t>(any_dim(site, value));
  const Dims ones = repeated(rank, 1);
  Dims window = ones, strides = ones, low = repeated(rank, 0), high = low;
  window[dim] = 1 + signed_below(site, 4);
  strides[dim] = 1 + signed_below(site, 3);
  low[dim] = signed_below(site, window[dim]);
  high[dim] = signed_below(site, window[dim]);
  if (window[dim] > site.shape(value)[dim]) return std::nullopt;
  return site.build.emit(op, {value},
                         {{"window", window},
                          {"strides", strides},
                          {"low", low},
                          {"high", high},
                          {"dilation", ones},
                          {"base_dilation", ones}});
}

/// Over [batch, length, features] with a kernel [width, features, features'] cut out of a value.
Made convolved(const OpSite& site) {
  const ValueId value = site.any(), other = site.any();
  const Shape shape = site.shape(value), kernel = site.shape(other);
  if (shape.size() != 3 || kernel.size() != 3 || kernel[1] != shape[2]) return std::nullopt;
  const std::int64_t width = std::min<std::int64_t>({kernel[0], shape[1], 3});
  const ValueId narrow = sliced(site.build, other, 0, 0, width);
  const ConvolutionDims dims{{0, 2, 1}, {2, 1, 0}, {0, 2, 1}, 1, 1};
  const std::int64_t around = signed_below(site, width);
  return site.build.emit(
      Op::convolution, {value, narrow},
      convolution_attributes(dims,
                             {{}, {1 + signed_below(site, 2)}, {around}, {around}, {1}, {1}}));
}

Made counted(const OpSite& site) {
  const ValueId value = site.any();
  const Shape shape = site.shape(value);
  const ValueId numbers = iota(site.build, shape, any_dim(site, value), DType::f32);
  return site.build.emit(Op::add,
                         {value, site.build.emit(Op::scale, {numbers}, {{"value", 0.125}})});
}

using Family = Made (*)(const OpSite& site);

/// The simplest first; those that models use most stand several times.
const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      unary,   binary,    product,    product,    product,       transposed, reduction,
      spread,  merged,    split,      cut,        padded,        joined,     rolled,
      chosen,  counted,   normalised, reversed,   accumulated,   sorted,     largest,
      windows, looked_up, along,      moved_part, replaced_part, convolved,  convolved};
  return all;
}

}  // namespace

ValueId OpSite::alike(const Shape& wanted) const {
  std::vector<ValueId> found;
  for (const ValueId value : values) {
    if (shape(value) == wanted) found.push_back(value);
  }
  return choices.pick(found);
}

void add_random_op(const OpSite& site) {
  const Made made = site.choices.pick(families())(site);
  if (!made) return;
  const Shape& shape = site.shape(*made);
  const bool fits = !shape.empty() && shape.size() <= 3 && element_count(shape) <= element_limit &&
                    element_count(shape) > 0;
  if (fits) site.values.push_back(*made);
}

}  // namespace shard::tests
