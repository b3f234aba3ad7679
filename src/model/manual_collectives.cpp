// The collectives of a manual region as ops along the leading dims of its values.

#include <algorithm>
#include <array>

#include "base/check.h"
#include "model/manual_replay.h"
#include "ops/composed.h"

namespace shard {
namespace {

using AxisList = std::vector<int>;
using DimOrder = std::vector<std::int64_t>;

AxisList lacking(const AxisList& axes, const AxisList& gone) {
  AxisList left;
  for (const int axis : axes) {
    if (std::find(gone.begin(), gone.end(), axis) == gone.end()) left.push_back(axis);
  }
  return left;
}

AxisList sorted_union(AxisList axes, const AxisList& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

/// Positions of these axes among `axes`.
DimOrder positions_among(const AxisList& axes, const AxisList& wanted) {
  DimOrder positions;
  for (const int axis : wanted) {
    positions.push_back(std::find(axes.begin(), axes.end(), axis) - axes.begin());
  }
  return positions;
}

}  // namespace

void ManualReplay::play(const ManualCollective& collective) {
  using Form = StackedValue (ManualReplay::*)(const ManualCollective&);
  struct Row {
    ManualKind kind;
    Form form;
  };
  static constexpr std::array<Row, 11> forms = {{
      {ManualKind::psum, &ManualReplay::summed},
      {ManualKind::pmean, &ManualReplay::mean},
      {ManualKind::pmax, &ManualReplay::largest},
      {ManualKind::pmin, &ManualReplay::smallest},
      {ManualKind::all_gather, &ManualReplay::gathered},
      {ManualKind::psum_scatter, &ManualReplay::scattered},
      {ManualKind::all_to_all, &ManualReplay::exchanged},
      {ManualKind::ragged_all_to_all, &ManualReplay::exchanged_rows},
      {ManualKind::ppermute, &ManualReplay::permuted},
      {ManualKind::pbroadcast, &ManualReplay::broadcast},
      {ManualKind::axis_index, &ManualReplay::index},
  }};
  lowering_.builder.origin.name = collective.origin.name;
  lowering_.builder.origin.at = collective.origin.at;
  const auto* row = std::find_if(forms.begin(), forms.end(),
                                 [&](const Row& one) { return one.kind == collective.kind; });
  keep(collective.result, (this->*row->form)(collective));
}

/// Over the leading dims of these axes; along an axis without one all devices have the same.
StackedValue ManualReplay::reduced(const ManualCollective& collective, Op op) {
  const StackedValue& value = stacked(collective.operand);
  const AxisList left = lacking(value.axes, collective.axes);
  const AxisList over = lacking(value.axes, left);
  StackedValue result{value.value, left, lacking(value.varying, collective.axes)};
  if (over.empty()) return result;
  DimOrder dims = positions_among(value.axes, over);
  result.value =
      placed(lowering_.emit(op, {value.value}, Attributes{{"dims", std::move(dims)}}), left);
  return result;
}

StackedValue ManualReplay::summed(const ManualCollective& collective) {
  const AxisList same = lacking(collective.axes, stacked(collective.operand).axes);
  StackedValue result = reduced(collective, Op::reduce_sum);
  const auto times = static_cast<double>(body_.product(same));
  if (times != 1) {
    result.value = lowering_.emit(Op::scale, {result.value}, Attributes{{"value", times}});
  }
  return result;
}

StackedValue ManualReplay::mean(const ManualCollective& collective) {
  const AxisList same = lacking(collective.axes, stacked(collective.operand).axes);
  StackedValue result = reduced(collective, Op::reduce_sum);
  const auto count = static_cast<double>(body_.product(collective.axes)) /
                     static_cast<double>(body_.product(same));
  if (count != 1) {
    result.value = lowering_.emit(Op::scale, {result.value}, Attributes{{"value", 1 / count}});
  }
  return result;
}

StackedValue ManualReplay::largest(const ManualCollective& collective) {
  return reduced(collective, Op::reduce_max);
}

StackedValue ManualReplay::smallest(const ManualCollective& collective) {
  return reduced(collective, Op::reduce_min);
}

/// The operand where the region has it: the collective moves it, and nothing before it.
StackedValue ManualReplay::in_place(const ManualCollective& collective) {
  const StackedValue& before = stacked(collective.operand);
  StackedValue value = widened(before, sorted_union(before.axes, collective.axes));
  value.value = placed(value.value, value.axes);
  return value;
}

StackedValue ManualReplay::gathered(const ManualCollective& collective) {
  const StackedValue before = stacked(collective.operand);
  const StackedValue value = in_place(collective);
  const AxisList left = lacking(value.axes, collective.axes);
  Shape shape = local(collective.operand).shape;
  DimOrder order = positions_among(value.axes, left);
  const DimOrder taken = positions_among(value.axes, collective.axes);
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (static_cast<std::int64_t>(dim) == collective.dim) {
      order.insert(order.end(), taken.begin(), taken.end());
    }
    order.push_back(static_cast<std::int64_t>(value.axes.size() + dim));
  }
  shape[static_cast<std::size_t>(collective.dim)] *= body_.product(collective.axes);
  Shape whole = sizes(left);
  whole.insert(whole.end(), shape.begin(), shape.end());
  const ValueId joined = shaped(turned(value.value, std::move(order)), std::move(whole));
  // JAX takes it for different on each device, though it is the same.
  return {placed(joined, left, {}, true), left, sorted_union(before.varying, collective.axes)};
}

StackedValue ManualReplay::scattered(const ManualCollective& collective) {
  const StackedValue before = stacked(collective.operand);
  // A sum over axes that the region leaves alone may wait for this one.
  const StackedValue value = body_.is_full
                                 ? in_place(collective)
                                 : widened(before, sorted_union(before.axes, collective.axes));
  const AxisList left = lacking(value.axes, collective.axes);
  const auto dim = static_cast<std::size_t>(collective.dim);
  DimOrder dims = positions_among(value.axes, collective.axes);
  std::sort(dims.begin(), dims.end());
  const ValueId sum =
      lowering_.emit(Op::reduce_sum, {value.value}, Attributes{{"dims", std::move(dims)}});
  ManualEntries split(local(collective.operand).shape.size());
  split[dim] = collective.axes;
  const ValueId parted = placed(sum, left, split);
  // [left..., .., axes * n, ..] to [all..., .., n, ..].
  Shape apart = sizes(left);
  for (std::size_t k = 0; k < split.size(); ++k) {
    if (k == dim) {
      const Shape parts = sizes(collective.axes);
      apart.insert(apart.end(), parts.begin(), parts.end());
    }
    apart.push_back(local(collective.result).shape[k]);
  }
  const std::size_t first = left.size() + dim;
  DimOrder order;
  for (const int axis : value.axes) {
    const auto in_left = std::find(left.begin(), left.end(), axis);
    const auto in_split = std::find(collective.axes.begin(), collective.axes.end(), axis);
    order.push_back(in_left != left.end()
                        ? in_left - left.begin()
                        : static_cast<std::int64_t>(first) + (in_split - collective.axes.begin()));
  }
  for (std::size_t k = left.size(); k < apart.size(); ++k) {
    const bool is_part = k >= first && k < first + collective.axes.size();
    if (!is_part) order.push_back(static_cast<std::int64_t>(k));
  }
  const ValueId result = turned(shaped(parted, std::move(apart)), std::move(order));
  return {placed(result, value.axes), value.axes, sorted_union(before.varying, collective.axes)};
}

StackedValue ManualReplay::exchanged(const ManualCollective& collective) {
  const StackedValue value = in_place(collective);
  const auto leading = static_cast<std::int64_t>(value.axes.size());
  const std::int64_t parts = body_.product(collective.axes);
  const std::int64_t at = positions_among(value.axes, collective.axes).front();
  // [.., a, .., split, .., concat, ..]: the parts of the split dim become the devices', and the
  // devices' dim goes before the concatenated one.
  Shape apart = lowering_.type(value.value).shape;
  const std::int64_t chunk = leading + collective.dim;
  apart[static_cast<std::size_t>(chunk)] /= parts;
  apart.insert(apart.begin() + chunk, parts);
  DimOrder order;
  for (std::int64_t k = 0; k < leading; ++k) order.push_back(k == at ? chunk : k);
  const auto rank = static_cast<std::int64_t>(local(collective.operand).shape.size());
  std::int64_t senders = 0;
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    if (dim == collective.other) {
      senders = static_cast<std::int64_t>(order.size());
      order.push_back(at);
    }
    order.push_back(leading + dim + (dim >= collective.dim ? 1 : 0));
  }
  const ValueId moved =
      placed(turned(shaped(value.value, std::move(apart)), std::move(order)), value.axes, {}, true);
  Shape joined = lowering_.type(moved).shape;
  joined[static_cast<std::size_t>(senders) + 1] *= joined[static_cast<std::size_t>(senders)];
  joined.erase(joined.begin() + senders);
  return {shaped(moved, std::move(joined)), value.axes, value.varying};
}

StackedValue ManualReplay::exchanged_rows(const ManualCollective& collective) {
  std::vector<ValueId> given{collective.operand};
  given.insert(given.end(), collective.others.begin(), collective.others.end());
  AxisList axes = sorted_union(collective.axes, {}), varying = axes;
  for (const ValueId operand : given) {
    axes = sorted_union(axes, stacked(operand).axes);
    varying = sorted_union(varying, stacked(operand).varying);
  }
  std::vector<ValueId> operands;
  for (const ValueId operand : given) operands.push_back(widened(stacked(operand), axes).value);
  const ValueId result =
      lowering_.emit(Op::ragged_all_to_all, operands,
                     Attributes{{"dims", positions_among(axes, collective.axes)}});
  return {placed(result, axes), axes, varying};
}

StackedValue ManualReplay::permuted(const ManualCollective& collective) {
  const StackedValue before = stacked(collective.operand);
  const StackedValue value = widened(before, sorted_union(before.axes, collective.axes));
  DimOrder source(static_cast<std::size_t>(body_.product(collective.axes)), -1);
  for (const auto& [from, to] : collective.pairs) source[static_cast<std::size_t>(to)] = from;
  const ValueId sent =
      lowering_.emit(Op::ppermute, {value.value},
                     Attributes{{"dim", positions_among(value.axes, collective.axes).front()},
                                {"source", source}});
  return {placed(sent, value.axes), value.axes, value.varying};
}

/// The source's place in each of the leading dims.
StackedValue ManualReplay::broadcast(const ManualCollective& collective) {
  const StackedValue& value = stacked(collective.operand);
  const AxisList left = lacking(value.axes, collective.axes);
  DimOrder start(lowering_.type(value.value).shape.size(), 0);
  DimOrder limit = lowering_.type(value.value).shape;
  std::int64_t number = collective.other;
  for (auto axis = collective.axes.rbegin(); axis != collective.axes.rend(); ++axis) {
    const std::int64_t size = body_.axes[static_cast<std::size_t>(*axis)].size;
    const std::int64_t place = number % size;
    number /= size;
    const auto dim = static_cast<std::size_t>(positions_among(value.axes, {*axis}).front());
    if (dim == value.axes.size()) continue;  // all along this axis have the same
    start[dim] = place;
    limit[dim] = place + 1;
  }
  // JAX takes it for different on each device, though it is the same.
  StackedValue result{value.value, left, sorted_union(value.varying, collective.axes)};
  if (left.size() == value.axes.size()) return result;
  const ValueId piece = lowering_.emit(
      Op::slice, {placed(value.value, value.axes)},
      Attributes{{"start", start}, {"limit", limit}, {"stride", DimOrder(start.size(), 1)}});
  Shape whole = sizes(left);
  const Shape& inner = local(collective.operand).shape;
  whole.insert(whole.end(), inner.begin(), inner.end());
  result.value = placed(shaped(piece, std::move(whole)), left, {}, true);
  return result;
}

StackedValue ManualReplay::index(const ManualCollective& collective) {
  const ValueId positions = iota(lowering_.builder, sizes(collective.axes), 0, DType::i32);
  return {placed(positions, collective.axes), collective.axes, collective.axes};
}

}  // namespace shard
