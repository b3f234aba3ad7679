#include "shard/explicit_dims.h"

#include <algorithm>
#include <numeric>

namespace shard::typing {

std::size_t dim_at(std::int64_t number, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (number < -count || number >= count) {
    refuse(RefusalKind::bad_dim, "axis " + std::to_string(number) +
                                     " is out of bounds for array of dimension " +
                                     std::to_string(rank));
  }
  return static_cast<std::size_t>(number < 0 ? number + count : number);
}

Dims dims_at(const Parameter* numbers, std::size_t rank) {
  if (numbers == nullptr) return first_dims(rank);
  Dims dims;
  for (const std::int64_t number : numbers->integers()) dims.push_back(dim_at(number, rank));
  return dims;
}

Dims first_dims(std::size_t count) {
  Dims dims(count);
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  return dims;
}

bool holds(const Dims& dims, std::size_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

Shape with_size(Shape shape, std::size_t dim, std::int64_t size) {
  shape[dim] = size;
  return shape;
}

TypeEntries with_entry(TypeEntries entries, std::size_t dim, TypeEntry entry) {
  entries[dim] = std::move(entry);
  return entries;
}

ShardedType given_or(const TypingCall& call, Shape shape, TypeEntries entries,
                     const ShardedType* like) {
  const ElementType element = call.operands.empty() ? ElementType{} : call.operands[0].element;
  if (call.out != nullptr) {
    return written_type(call.mesh, call.op, element, std::move(shape), *call.out);
  }
  if (like == nullptr) return make_type(call.mesh, element, std::move(shape), std::move(entries));
  return make_type(call.mesh, element, std::move(shape), std::move(entries), like->unreduced,
                   like->reduced);
}

ShardedType typed(const TypingCall& call, Shape shape, TypeEntries entries) {
  const ElementType element = call.operands.empty() ? ElementType{} : call.operands[0].element;
  return make_type(call.mesh, element, std::move(shape), std::move(entries));
}

ShardedType typed_like(const TypingCall& call, const ShardedType& like, Shape shape,
                       TypeEntries entries) {
  return make_type(call.mesh, like.element, std::move(shape), std::move(entries), like.unreduced,
                   like.reduced);
}

ShardedType resized(const Mesh& mesh, const ShardedType& value, const Shape& shape,
                    const std::string& what) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const std::int64_t parts = ways(mesh, value.entries[dim]);
    if (shape[dim] == value.shape[dim] || shape[dim] % parts == 0) continue;
    refuse(RefusalKind::uneven_change,
           what + " on sharded dims where out dim (" + std::to_string(shape[dim]) +
               ") is not divisible by mesh axes (" + std::to_string(parts) +
               ") is not implemented. Got input type=" + short_type_text(mesh, value));
  }
  return make_type(mesh, value.element, shape, value.entries, value.unreduced, value.reduced);
}

void check_same(const TypingCall& call, RefusalKind kind) {
  const ShardedType& first = call.operands.front();
  for (const ShardedType& other : call.operands) {
    if (other.entries == first.entries && other.unreduced == first.unreduced &&
        other.reduced == first.reduced) {
      continue;
    }
    refuse(kind, std::string(row_of(kind).phrase) + ". Got " + short_type_text(call.mesh, first) +
                     " and " + short_type_text(call.mesh, other));
  }
}

std::string entries_text(const Mesh& mesh, const TypeEntries& entries) {
  ShardedType type;
  type.entries = entries;
  const std::string text = to_string(type_spec(mesh, type));
  return text.substr(1);
}

}  // namespace shard::typing
