// Layers that move elements: reshape, slice, reverse, concatenate, split, pad, take.

#include <algorithm>
#include <numeric>

#include "model/op_arguments.h"
#include "ops/composed.h"

namespace shard {
namespace {

using Positions = std::vector<std::int64_t>;

std::string size_text(std::int64_t size) { return std::to_string(size); }

/// Reports and returns false where `start` to `limit` is no range of a dim of this size.
bool is_range(const OpArguments& op, ValueId x, std::int64_t dim, std::int64_t start,
              std::int64_t limit) {
  const std::int64_t size = op.type(x).shape[static_cast<std::size_t>(dim)];
  if (start >= 0 && start < limit && limit <= size) return true;
  op.fail("bad-range",
          op.layer.kind + " from " + size_text(start) + " to " + size_text(limit) + ": dim " +
              size_text(dim) + " of " + op.lowering.described(x) + " has " + size_text(size) +
              " elements",
          "positions count from 0, and limit is the one behind the last");
  return false;
}

/// The part of one dim; it keeps its label only when it is the whole dim.
ValueId part_of(const OpArguments& op, ValueId x, std::int64_t dim, std::int64_t start,
                std::int64_t limit, std::int64_t stride) {
  const Shape& shape = op.type(x).shape;
  Positions starts(shape.size(), 0), strides(shape.size(), 1);
  Positions limits = shape;
  starts[static_cast<std::size_t>(dim)] = start;
  limits[static_cast<std::size_t>(dim)] = limit;
  strides[static_cast<std::size_t>(dim)] = stride;
  std::vector<std::string> labels = op.labels(x);
  const ValueId part = op.lowering.emit(Op::slice, {x},
                                        Attributes{{"start", std::move(starts)},
                                                   {"limit", std::move(limits)},
                                                   {"stride", std::move(strides)}});
  op.set_labels(part, std::move(labels));
  return part;
}

}  // namespace

ValueId lower_reshape(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  Shape shape;
  std::vector<std::string> labels;
  for (const ShapeDim& dim : op.layer.shape) {
    const auto size = lowering.count(dim.size, call.scope);
    if (!size) return ValueId::none;
    shape.push_back(size->value);
    labels.push_back(dim.label.empty() ? size->label : dim.label);
  }
  const ValueId value =
      lowering.emit(Op::reshape, {op.input()}, Attributes{{"shape", std::move(shape)}});
  op.set_labels(value, std::move(labels));
  return op.named(value);
}

ValueId lower_slice(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  const auto dim = op.dim(x);
  if (!dim) return ValueId::none;
  const std::int64_t size = op.type(x).shape[static_cast<std::size_t>(*dim)];
  const std::int64_t start = op.whole("start", 0), limit = op.whole("limit", size),
                     stride = op.whole("stride", 1);
  if (!is_range(op, x, *dim, start, limit)) return ValueId::none;
  if (stride < 1) {
    return op.fail("bad-size",
                   "the stride of a slice is " + size_text(stride) + ", which is not positive");
  }
  return op.named(part_of(op, x, *dim, start, limit, stride));
}

ValueId lower_reverse(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  auto dims = lowering.dim_positions(x, op.layer.dims, op.layer.at);
  if (!dims) return ValueId::none;
  std::sort(dims->begin(), dims->end());
  return op.named(lowering.emit(Op::reverse, {x}, Attributes{{"dims", std::move(*dims)}}));
}

ValueId lower_concatenate(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const auto dim = op.dim(op.untouched(0));
  if (!dim) return ValueId::none;
  DType dtype = op.type(op.input()).dtype;
  for (std::size_t k = 1; k < op.input_count(); ++k) {
    dtype = promoted(dtype, op.type(op.untouched(k)).dtype);
  }
  std::vector<ValueId> parts;
  for (std::size_t k = 0; k < op.input_count(); ++k) {
    parts.push_back(lowering.converted(op.untouched(k), op.layer.dtype.value_or(dtype)));
  }
  return op.named(lowering.emit(Op::concatenate, parts, Attributes{{"dim", *dim}}));
}

namespace {

/// The sizes of the parts, or nothing after `bad-split`.
std::optional<Positions> split_sizes(const OpArguments& op, ValueId x, std::int64_t dim) {
  const std::int64_t size = op.type(x).shape[static_cast<std::size_t>(dim)];
  const auto count = static_cast<std::int64_t>(op.layer.into.size());
  Positions sizes;
  if (const Positions* written = op.list("sizes")) {
    sizes = *written;
  } else if (size % count == 0) {
    sizes.assign(op.layer.into.size(), size / count);
  }
  const bool are_positive =
      std::all_of(sizes.begin(), sizes.end(), [](std::int64_t part) { return part > 0; });
  const bool fits = sizes.size() == op.layer.into.size() && are_positive &&
                    std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == size;
  if (fits) return sizes;
  op.fail("bad-split",
          "dim " + size_text(dim) + " of " + op.lowering.described(x) + " is not split into " +
              size_text(count) + (op.has_list("sizes") ? " parts of these sizes" : " equal parts"),
          "the sizes of the parts add up to " + size_text(size) + ", one for each name of 'into'");
  return std::nullopt;
}

}  // namespace

ValueId lower_split(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  const auto dim = op.dim(x);
  if (!dim) return ValueId::none;
  const auto sizes = split_sizes(op, x, *dim);
  std::int64_t start = 0;
  ValueId first = ValueId::none;
  for (std::size_t k = 0; k < op.layer.into.size(); ++k) {
    const std::int64_t size = sizes ? (*sizes)[k] : 0;
    const ValueId part = sizes ? part_of(op, x, *dim, start, start + size, 1) : ValueId::none;
    op.bind(op.layer.into[k], part);
    if (k == 0) first = part;
    start += size;
  }
  return first;
}

ValueId lower_pad(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  const auto dim = op.dim(x);
  if (!dim) return ValueId::none;
  const std::size_t rank = op.type(x).shape.size();
  const auto along = [&](std::string_view key) {
    Positions counts(rank, 0);
    counts[static_cast<std::size_t>(*dim)] = op.whole(key, 0);
    return counts;
  };
  const ValueId value = lowering.number(op.layer.number.value_or(0), op.type(x).dtype);
  return op.named(lowering.emit(
      Op::pad, {x, value},
      Attributes{{"low", along("low")}, {"high", along("high")}, {"interior", along("interior")}}));
}

namespace {

/// The two inputs of a look-up; false after `dtype-mismatch`.
bool are_places(const OpArguments& op, ValueId indices) {
  if (info(op.type(indices).dtype).is_float || op.type(indices).dtype == DType::boolean) {
    op.fail("dtype-mismatch", op.layer.kind + " needs integers as its second input, found " +
                                  op.lowering.described(indices));
    return false;
  }
  return true;
}

}  // namespace

ValueId lower_take(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId table = op.input(), indices = op.untouched(1);
  const auto dim = op.dim(table, 0);
  if (!dim || !are_places(op, indices)) return ValueId::none;
  std::vector<std::string> labels = op.labels(table);
  const std::vector<std::string> places = op.labels(indices);
  labels.erase(labels.begin() + *dim);
  labels.insert(labels.begin() + *dim, places.begin(), places.end());
  const ValueId value = take(lowering.builder, table, indices, *dim);
  op.set_labels(value, std::move(labels));
  return op.named(value);
}

ValueId lower_take_along(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input(), indices = op.untouched(1);
  const auto dim = op.dim(x, 0);
  if (!dim || !are_places(op, indices)) return ValueId::none;
  Shape shape = op.type(x).shape;
  const Shape& places = op.type(indices).shape;
  if (places.size() == shape.size()) {
    shape[static_cast<std::size_t>(*dim)] = places[static_cast<std::size_t>(*dim)];
  }
  if (places != shape) {
    return op.fail("shape-mismatch", "take_along of " + lowering.described(x) + " at " +
                                         lowering.described(indices) + ": all dims but dim " +
                                         size_text(*dim) + " have the same size");
  }
  return op.named(take_along(lowering.builder, x, indices, *dim));
}

ValueId lower_one_hot(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  const auto classes = op.count("classes");
  if (op.is_spoiled() || !classes) return ValueId::none;
  const ValueId indices = op.untouched(0);
  if (info(op.type(indices).dtype).is_float || op.type(indices).dtype == DType::boolean) {
    return op.fail("dtype-mismatch",
                   "one_hot needs integers, found " + lowering.described(indices));
  }
  std::vector<std::string> labels = op.labels(indices);
  labels.push_back(classes->label);
  const ValueId value = one_hot(lowering.builder, indices, classes->value,
                                op.layer.dtype.value_or(lowering.config.dtypes.compute));
  op.set_labels(value, std::move(labels));
  return op.named(value);
}

ValueId lower_where(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId condition = op.untouched(0);
  ValueId yes = op.input(1), no = op.input(2);
  if (op.type(condition).dtype != DType::boolean) {
    return op.fail(
        "dtype-mismatch",
        "the first input of where is a condition (bool), found " + lowering.described(condition),
        "compare: gt, ge, lt, le, eq, ne");
  }
  const DType dtype = promoted(op.type(yes).dtype, op.type(no).dtype);
  yes = lowering.converted(yes, dtype);
  no = lowering.converted(no, dtype);
  Shape shape;
  for (const ValueId value : {condition, yes, no}) {
    const Shape& one = op.type(value).shape;
    while (shape.size() < one.size()) shape.insert(shape.begin(), 1);
    for (std::size_t k = 0; k < one.size(); ++k) {
      std::int64_t& size = shape[shape.size() - one.size() + k];
      size = size == 1 ? one[k] : size;
    }
  }
  return op.named(lowering.emit(
      Op::select, {lowering.broadcast_to(condition, shape), lowering.broadcast_to(yes, shape),
                   lowering.broadcast_to(no, shape)}));
}

}  // namespace shard
