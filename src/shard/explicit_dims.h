#pragma once
// Small arithmetic on dims that several typing rules share.

#include <vector>

#include "shard/explicit_typing.h"

namespace shard::typing {

using Dims = std::vector<std::size_t>;

/// A dim by its number, negative ones counted from the end. Throws `TypingRefusal` `bad_dim`.
std::size_t dim_at(std::int64_t number, std::size_t rank);
/// One or several; all where there is none.
Dims dims_at(const Parameter* numbers, std::size_t rank);
/// 0, 1, ..., count - 1.
Dims first_dims(std::size_t count);
bool holds(const Dims& dims, std::size_t dim);

/// The values of all other dims.
template <class Value>
std::vector<Value> without(const std::vector<Value>& values, const Dims& dims) {
  std::vector<Value> kept;
  for (std::size_t dim = 0; dim < values.size(); ++dim) {
    if (!holds(dims, dim)) kept.push_back(values[dim]);
  }
  return kept;
}

/// The values of these dims, in this order.
template <class Value>
std::vector<Value> picked(const std::vector<Value>& values, const Dims& dims) {
  std::vector<Value> all;
  for (const std::size_t dim : dims) all.push_back(values[dim]);
  return all;
}

template <class Value>
std::vector<Value> inserted(std::vector<Value> values, std::size_t dim, Value value) {
  values.insert(values.begin() + static_cast<std::ptrdiff_t>(dim), std::move(value));
  return values;
}

Shape with_size(Shape shape, std::size_t dim, std::int64_t size);
TypeEntries with_entry(TypeEntries entries, std::size_t dim, TypeEntry entry);

/// The type that `out_sharding` gives, else these entries; the sets are those of `like`.
ShardedType given_or(const TypingCall& call, Shape shape, TypeEntries entries,
                     const ShardedType* like = nullptr);
/// A type on the call's mesh with the elements of the first operand.
ShardedType typed(const TypingCall& call, Shape shape, TypeEntries entries);
/// The same with the sets of `like` too.
ShardedType typed_like(const TypingCall& call, const ShardedType& like, Shape shape,
                       TypeEntries entries);

/// The value with another shape of the same rank: a split dim may only change to a size that its
/// axes divide. Throws `TypingRefusal` `uneven_change`; `what` is the word of the message.
ShardedType resized(const Mesh& mesh, const ShardedType& value, const Shape& shape,
                    const std::string& what);

/// Refuses operands whose entries or sets differ from the first one's.
void check_same(const TypingCall& call, RefusalKind kind);

/// `('x', None)`, as messages show the entries of some dims.
std::string entries_text(const Mesh& mesh, const TypeEntries& entries);

}  // namespace shard::typing
