#pragma once
// What several rows of the table make together: the words in which derivatives and layers talk.

#include <initializer_list>
#include <span>

#include "ops/builder.h"

namespace shard {

/// A constant of rank 0.
ValueId scalar(Builder& builder, double value, DType dtype);
/// An array of this type whose elements all equal `value`.
ValueId filled(Builder& builder, double value, const TensorType& type);
/// The same elements in another dtype; the value itself when it has it already.
ValueId as_dtype(Builder& builder, ValueId x, DType dtype);
/// The same elements, row-major, in another shape; the value itself when it has it already.
ValueId reshaped(Builder& builder, ValueId x, Shape shape);
/// `broadcast` into `shape`; dims[i] is the place of dim i.
ValueId broadcast_to(Builder& builder, ValueId x, Shape shape, std::vector<std::int64_t> dims);
/// A reduction over `dims`; the value itself for none.
ValueId reduced(Builder& builder, Op op, ValueId x, std::vector<std::int64_t> dims);
/// `x`, from which the dims `dims` of `shape` were reduced, spread over `shape` again.
ValueId spread_over(Builder& builder, ValueId x, const Shape& shape,
                    const std::vector<std::int64_t>& dims);
/// Positions along `dim`.
ValueId iota(Builder& builder, Shape shape, std::int64_t dim, DType dtype);
/// The part from `start` up to `limit` of dim `dim`.
ValueId sliced(Builder& builder, ValueId x, std::int64_t dim, std::int64_t start,
               std::int64_t limit);
/// Consecutive parts of dim `dim` of these sizes.
std::vector<ValueId> split_dim(Builder& builder, ValueId x, std::int64_t dim,
                               const std::vector<std::int64_t>& sizes);
ValueId concatenated(Builder& builder, std::span<const ValueId> values, std::int64_t dim);
/// `on_true` where `condition`, else `on_false`.
ValueId selected(Builder& builder, ValueId condition, ValueId on_true, ValueId on_false);

/// Slices of `table` at `indices` along `dim` (rows of an embedding): the table's dims with those
/// of the indices in place of `dim`. Indices beyond the ends are moved to them.
ValueId take(Builder& builder, ValueId table, ValueId indices, std::int64_t dim);
/// result[.., i, ..] = x[.., indices[.., i, ..], ..] along `dim`; all other dims are alike.
ValueId take_along(Builder& builder, ValueId x, ValueId indices, std::int64_t dim);
/// Zeros of `type` with `updates` added where `take_along` with `indices` reads.
ValueId added_along(Builder& builder, ValueId indices, ValueId updates, const TensorType& type,
                    std::int64_t dim);
/// 1 where the position along a new last dim is the index, else 0.
ValueId one_hot(Builder& builder, ValueId indices, std::int64_t classes, DType dtype);

}  // namespace shard
