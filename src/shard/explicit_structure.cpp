// Typing rules of ops that arrange whole arrays.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

/// Position of a new dim of a result with `rank` dims before it is put in.
std::size_t new_dim_at(std::int64_t number, std::size_t rank) { return dim_at(number, rank + 1); }

ShardedType with_dims_in_front(const TypingCall& call, const ShardedType& value,
                               std::size_t count) {
  ShardedType type = value;
  type.shape.insert(type.shape.begin(), count, 1);
  type.entries.insert(type.entries.begin(), count, TypeEntry{});
  return typed_like(call, value, type.shape, type.entries);
}

const Parameter* dims_of(const TypingCall& call) {
  const Parameter* dims = find(call.parameters, "dimensions");
  return dims != nullptr ? dims : find(call.parameters, "axis");
}

ShardedTypes joined_along(const TypingCall& call, ShardedTypes parts, std::size_t dim) {
  const ElementType element = promoted(parts);
  for (ShardedType& part : parts) part.element = element;
  return type_op({call.mesh, "lax.concatenate", std::move(parts), {{"dimension", dim}}});
}

}  // namespace

ShardedTypes broadcast_in_dim(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Shape shape = find(call.parameters, "shape")->integers();
  const std::vector<std::int64_t> places =
      find(call.parameters, "broadcast_dimensions")->integers();
  TypeEntries entries(shape.size());
  for (std::size_t dim = 0; dim < places.size(); ++dim) {
    entries[static_cast<std::size_t>(places[dim])] = value.entries[dim];
  }
  return {given_or(call, shape, std::move(entries), &value)};
}

ShardedTypes broadcast_leading(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  Shape shape = find(call.parameters, "sizes")->integers();
  TypeEntries entries(shape.size());
  shape.insert(shape.end(), value.shape.begin(), value.shape.end());
  entries.insert(entries.end(), value.entries.begin(), value.entries.end());
  return {given_or(call, std::move(shape), std::move(entries), &value)};
}

void check_broadcast(const TypingCall& call, const TypeEntries& entries,
                     const TypeEntries& wanted) {
  const std::size_t count = std::min(entries.size(), wanted.size());
  for (std::size_t k = 1; k <= count; ++k) {
    const TypeEntry& mine = entries[entries.size() - k];
    if (mine.empty() || mine == wanted[wanted.size() - k]) continue;
    refuse(RefusalKind::broadcast_types,
           "Incompatible types for broadcasting: " + entries_text(call.mesh, entries) + " and " +
               entries_text(call.mesh, wanted));
  }
}

ShardedTypes broadcast_to(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Shape shape = find(call.parameters, "shape")->integers();
  TypeEntries entries(shape.size() - value.rank());
  entries.insert(entries.end(), value.entries.begin(), value.entries.end());
  if (call.out != nullptr && value.is_split()) {
    const TypeEntries wanted = written_entries(call.mesh, call.op, *call.out);
    if (wanted.size() != shape.size()) {
      refuse(RefusalKind::broadcast_rank, "safe_zip() argument 1 has length " +
                                              std::to_string(wanted.size()) + ", not " +
                                              std::to_string(shape.size()));
    }
    check_broadcast(call, entries, wanted);
  }
  return {given_or(call, shape, std::move(entries))};
}

ShardedTypes broadcast_rank(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::int64_t wanted = integer_or(call.parameters, "rank", 2);
  const auto rank = static_cast<std::int64_t>(value.rank());
  return {with_dims_in_front(call, value,
                             static_cast<std::size_t>(std::max<std::int64_t>(0, wanted - rank)))};
}

ShardedTypes expanded(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::vector<std::int64_t> numbers = dims_of(call)->integers();
  Dims dims;
  for (const std::int64_t number : numbers) {
    dims.push_back(dim_at(number, value.rank() + numbers.size()));
  }
  std::sort(dims.begin(), dims.end());
  Shape shape = value.shape;
  TypeEntries entries = value.entries;
  for (const std::size_t dim : dims) {
    shape = inserted(std::move(shape), dim, std::int64_t{1});
    entries = inserted(std::move(entries), dim, TypeEntry{});
  }
  return {typed(call, std::move(shape), std::move(entries))};
}

ShardedTypes squeezed(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  Dims dims;
  if (const Parameter* numbers = dims_of(call)) {
    dims = dims_at(numbers, value.rank());
  } else {
    for (std::size_t dim = 0; dim < value.rank(); ++dim) {
      if (value.shape[dim] == 1) dims.push_back(dim);
    }
  }
  for (const std::size_t dim : dims) {
    if (value.shape[dim] == 1) continue;
    refuse(RefusalKind::bad_squeeze, "cannot select an axis to squeeze out whose size is " +
                                         std::to_string(value.shape[dim]));
  }
  return {typed_like(call, value, without(value.shape, dims), without(value.entries, dims))};
}

ShardedTypes transposed(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Parameter* order = find(call.parameters, "permutation");
  if (order == nullptr) order = find(call.parameters, "axes");
  Dims dims = dims_at(order, value.rank());
  if (order == nullptr) std::reverse(dims.begin(), dims.end());
  return {typed_like(call, value, picked(value.shape, dims), picked(value.entries, dims))};
}

ShardedTypes swapped_axes(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  Dims dims = first_dims(value.rank());
  std::swap(dims[dim_at(integer_or(call.parameters, "axis1", -2), value.rank())],
            dims[dim_at(integer_or(call.parameters, "axis2", -1), value.rank())]);
  return {typed_like(call, value, picked(value.shape, dims), picked(value.entries, dims))};
}

ShardedTypes moved_axis(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::size_t from = dim_at(find(call.parameters, "source")->integer(), value.rank());
  const std::size_t to = dim_at(find(call.parameters, "destination")->integer(), value.rank());
  const Dims dims = inserted(without(first_dims(value.rank()), {from}), to, from);
  return {typed_like(call, value, picked(value.shape, dims), picked(value.entries, dims))};
}

ShardedTypes concatenated(const TypingCall& call) {
  check_same(call, RefusalKind::unequal_parts);
  const ShardedType& first = call.operands[0];
  const std::int64_t number =
      integer_or(call.parameters, "dimension", integer_or(call.parameters, "axis", 0));
  const std::size_t dim = dim_at(number, first.rank());
  std::int64_t total = 0;
  for (const ShardedType& part : call.operands) total += part.shape[dim];
  return {typed_like(call, first, with_size(first.shape, dim, total), first.entries)};
}

ShardedTypes joined_side_by_side(const TypingCall& call) {
  return joined_along(call, call.operands, call.operands[0].rank() < 2 ? 0 : 1);
}

ShardedTypes joined_in_rows(const TypingCall& call) {
  ShardedTypes rows;
  for (const ShardedType& part : call.operands) {
    rows.push_back(with_dims_in_front(call, part, part.rank() < 2 ? 2 - part.rank() : 0));
  }
  return joined_along(call, std::move(rows), 0);
}

ShardedTypes appended(const TypingCall& call) {
  if (const Parameter* axis = find(call.parameters, "axis")) {
    return joined_along(call, call.operands, dim_at(axis->integer(), call.operands[0].rank()));
  }
  ShardedTypes flat;
  for (const ShardedType& part : call.operands) {
    flat.push_back(type_one(call.mesh, "jnp.ravel", {part}));
  }
  return joined_along(call, std::move(flat), 0);
}

ShardedTypes stacked(const TypingCall& call) {
  check_same(call, RefusalKind::unequal_parts);
  const ShardedType& first = call.operands[0];
  const std::size_t dim = new_dim_at(integer_or(call.parameters, "axis", 0), first.rank());
  return {typed(call, inserted(first.shape, dim, static_cast<std::int64_t>(call.operands.size())),
                inserted(first.entries, dim, TypeEntry{}))};
}

ShardedTypes unstacked(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::size_t dim = dim_at(integer_or(call.parameters, "axis", 0), value.rank());
  if (!value.entries[dim].empty()) {
    refuse(RefusalKind::split_unstacking, short_type_text(call.mesh, value) +
                                              " cannot be sharded on the unstacking axis " +
                                              std::to_string(dim));
  }
  const ShardedType part = typed(call, without(value.shape, {dim}), without(value.entries, {dim}));
  return ShardedTypes(static_cast<std::size_t>(value.shape[dim]), part);
}

ShardedTypes tiled(const TypingCall& call) {
  const std::vector<std::int64_t> counts = find(call.parameters, "reps")->integers();
  const std::size_t rank = call.operands[0].rank();
  const ShardedType value =
      with_dims_in_front(call, call.operands[0], counts.size() > rank ? counts.size() - rank : 0);
  Shape shape = value.shape;
  const std::size_t skipped = value.rank() - counts.size();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::size_t dim = skipped + k;
    if (counts[k] > 1 && !value.entries[dim].empty()) {
      refuse(RefusalKind::split_tiling,
             "operand cannot be sharded on dimension " + std::to_string(dim) +
                 " when the tiling is non-trivial: " + short_type_text(call.mesh, value));
    }
    shape[dim] *= counts[k];
  }
  return {typed(call, std::move(shape), value.entries)};
}

ShardedTypes repeated(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Parameter* axis = find(call.parameters, "axis");
  const Dims dims = dims_at(axis, value.rank());
  const bool is_split = std::any_of(dims.begin(), dims.end(),
                                    [&](std::size_t dim) { return !value.entries[dim].empty(); });
  if (call.out == nullptr && is_split) {
    refuse(RefusalKind::split_repeat,
           "Please pass sharding to repeat: " + short_type_text(call.mesh, value) +
               " is split on what is repeated");
  }
  const std::int64_t times = find(call.parameters, "repeats")->integer();
  if (axis == nullptr) return {given_or(call, {element_count(value.shape) * times}, {{}})};
  const std::int64_t size = value.shape[dims.front()] * times;
  return {given_or(call, with_size(value.shape, dims.front(), size), value.entries)};
}

namespace {

/// The shape of something made from nothing: `shape`, one dim by whatever its size is called, or a
/// square.
Shape created_shape(const TypingCall& call) {
  if (const Parameter* shape = find(call.parameters, "shape")) return shape->integers();
  for (const std::string_view key : {"start", "size", "num", "x"}) {
    // linspace has a start and a number of points.
    if (key == "start" && find(call.parameters, "num") != nullptr) continue;
    if (const Parameter* size = find(call.parameters, key)) return {size->integer()};
  }
  for (const std::string_view key : {"N", "n"}) {
    if (const Parameter* size = find(call.parameters, key)) {
      return {size->integer(), size->integer()};
    }
  }
  return {};
}

}  // namespace

ShardedTypes created(const TypingCall& call) { return {given_or(call, created_shape(call), {})}; }

ShardedTypes filled_like(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  if (const Parameter* shape = find(call.parameters, "shape")) {
    return {given_or(call, shape->integers(), {})};
  }
  return {given_or(call, value.shape, value.entries, &value)};
}

}  // namespace shard::typing
