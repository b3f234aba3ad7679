#include "ops/composed.h"

#include <algorithm>
#include <numeric>

#include "ops/index_dims.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

std::string dtype_text(DType dtype) { return std::string(info(dtype).name); }

Dims counted_from(std::int64_t first, std::size_t count) {
  Dims dims(count);
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

/// One element per index: every dim but `dim` is paired with that of the indices.
IndexDims dims_along(int rank, std::int64_t dim) {
  IndexDims dims;
  for (std::int64_t other = 0; other < rank; ++other) {
    if (other != dim) dims.batch.push_back(other);
  }
  dims.index_batch = dims.batch;
  dims.collapsed = {dim};
  dims.start = {dim};
  dims.vector = rank;
  return dims;
}

Attributes gather_attributes(const IndexDims& dims, Dims slice_sizes) {
  Attributes attributes = dims.attributes();
  attributes.set("slice_sizes", std::move(slice_sizes));
  attributes.set("mode", std::string("clip"));
  return attributes;
}

}  // namespace

ValueId scalar(Builder& builder, double value, DType dtype) {
  return filled(builder, value, {dtype, {}});
}

ValueId filled(Builder& builder, double value, const TensorType& type) {
  return builder.emit(
      Op::constant, {},
      Attributes{{"shape", type.shape}, {"value", value}, {"dtype", dtype_text(type.dtype)}});
}

ValueId as_dtype(Builder& builder, ValueId x, DType dtype) {
  if (builder.type(x).dtype == dtype) return x;
  return builder.emit(Op::convert, {x}, Attributes{{"dtype", dtype_text(dtype)}});
}

ValueId reshaped(Builder& builder, ValueId x, Shape shape) {
  if (builder.type(x).shape == shape) return x;
  return builder.emit(Op::reshape, {x}, Attributes{{"shape", std::move(shape)}});
}

ValueId broadcast_to(Builder& builder, ValueId x, Shape shape, Dims dims) {
  return builder.emit(Op::broadcast, {x},
                      Attributes{{"shape", std::move(shape)}, {"dims", std::move(dims)}});
}

ValueId reduced(Builder& builder, Op op, ValueId x, Dims dims) {
  if (dims.empty()) return x;
  return builder.emit(op, {x}, Attributes{{"dims", std::move(dims)}});
}

ValueId spread_over(Builder& builder, ValueId x, const Shape& shape, const Dims& dims) {
  Dims kept;
  for (std::int64_t dim = 0; dim < static_cast<std::int64_t>(shape.size()); ++dim) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) kept.push_back(dim);
  }
  return broadcast_to(builder, x, shape, std::move(kept));
}

ValueId iota(Builder& builder, Shape shape, std::int64_t dim, DType dtype) {
  return builder.emit(
      Op::iota, {},
      Attributes{{"shape", std::move(shape)}, {"dim", dim}, {"dtype", dtype_text(dtype)}});
}

ValueId sliced(Builder& builder, ValueId x, std::int64_t dim, std::int64_t start,
               std::int64_t limit) {
  Dims limits = builder.type(x).shape;
  Dims starts(limits.size(), 0), strides(limits.size(), 1);
  starts[static_cast<std::size_t>(dim)] = start;
  limits[static_cast<std::size_t>(dim)] = limit;
  return builder.emit(Op::slice, {x},
                      Attributes{{"start", std::move(starts)},
                                 {"limit", std::move(limits)},
                                 {"stride", std::move(strides)}});
}

std::vector<ValueId> split_dim(Builder& builder, ValueId x, std::int64_t dim, const Dims& sizes) {
  std::vector<ValueId> parts;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(sliced(builder, x, dim, start, start + size));
    start += size;
  }
  return parts;
}

ValueId concatenated(Builder& builder, std::span<const ValueId> values, std::int64_t dim) {
  return builder.emit(Op::concatenate, values, Attributes{{"dim", dim}});
}

ValueId selected(Builder& builder, ValueId condition, ValueId on_true, ValueId on_false) {
  return builder.emit(Op::select, {condition, on_true, on_false});
}

ValueId take(Builder& builder, ValueId table, ValueId indices, std::int64_t dim) {
  const TensorType type = builder.type(table);
  const std::int64_t indices_rank = builder.type(indices).rank();
  IndexDims dims;
  dims.window = counted_from(0, static_cast<std::size_t>(dim));
  const Dims behind =
      counted_from(dim + indices_rank, static_cast<std::size_t>(type.rank() - 1 - dim));
  dims.window.insert(dims.window.end(), behind.begin(), behind.end());
  dims.collapsed = {dim};
  dims.start = {dim};
  dims.vector = indices_rank;
  Dims sizes = type.shape;
  sizes[static_cast<std::size_t>(dim)] = 1;
  return builder.emit(Op::gather, {table, indices}, gather_attributes(dims, std::move(sizes)));
}

ValueId take_along(Builder& builder, ValueId x, ValueId indices, std::int64_t dim) {
  const int rank = builder.type(x).rank();
  return builder.emit(
      Op::gather, {x, indices},
      gather_attributes(dims_along(rank, dim), Dims(static_cast<std::size_t>(rank), 1)));
}

ValueId added_along(Builder& builder, ValueId indices, ValueId updates, const TensorType& type,
                    std::int64_t dim) {
  Attributes attributes = dims_along(type.rank(), dim).attributes();
  attributes.set("mode", std::string("clip"));
  return builder.emit(Op::scatter_add, {filled(builder, 0, type), indices, updates},
                      std::move(attributes));
}

ValueId one_hot(Builder& builder, ValueId indices, std::int64_t classes, DType dtype) {
  const TensorType type = builder.type(indices);
  Shape shape = type.shape;
  shape.push_back(classes);
  const ValueId spread = broadcast_to(builder, indices, shape, counted_from(0, type.shape.size()));
  const ValueId numbers = iota(builder, shape, type.rank(), type.dtype);
  return as_dtype(builder, builder.emit(Op::eq, {spread, numbers}), dtype);
}

}  // namespace shard
