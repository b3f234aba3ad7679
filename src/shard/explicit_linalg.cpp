// The typing rules of dense linear algebra and of searches. The batch dims of a decomposition keep
// their entries; its matrices are whole.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

/// The last two dims.
Dims matrix_dims(const ShardedType& matrices) { return {matrices.rank() - 2, matrices.rank() - 1}; }

void check_whole_matrices(const TypingCall& call, const char* primitive) {
  const ShardedType& matrices = call.operands[0];
  for (const std::size_t dim : matrix_dims(matrices)) {
    if (matrices.entries[dim].empty()) continue;
    refuse(RefusalKind::split_factor, std::string("Input 0 to ") + primitive +
                                          " must be unsharded on non-batch dimensions, but got " +
                                          to_string(type_spec(call.mesh, matrices)) + ".");
  }
}

/// The batch dims with these sizes behind them, which are whole.
ShardedType behind_batch(const TypingCall& call, const Shape& sizes) {
  const ShardedType& matrices = call.operands[0];
  Shape shape(matrices.shape.begin(), matrices.shape.end() - 2);
  TypeEntries entries(matrices.entries.begin(), matrices.entries.end() - 2);
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  entries.resize(shape.size());
  return typed(call, std::move(shape), std::move(entries));
}

}  // namespace

ShardedTypes determinant(const TypingCall& call) {
  check_whole_matrices(call, "lu");
  return {behind_batch(call, {})};
}

ShardedTypes qr(const TypingCall& call) {
  check_whole_matrices(call, "qr");
  const ShardedType& matrices = call.operands[0];
  const std::int64_t rows = matrices.shape[matrices.rank() - 2], columns = matrices.shape.back();
  const bool is_full =
      find(call.parameters, "full_matrices") == nullptr || is_set(call.parameters, "full_matrices");
  const std::int64_t inner = is_full ? rows : std::min(rows, columns);
  return {behind_batch(call, {rows, inner}), behind_batch(call, {inner, columns})};
}

/// The mean with its transpose is decomposed, and the upper half cut off by a mask that is whole.
ShardedTypes cholesky(const TypingCall& call) {
  ShardedType matrices = call.operands[0];
  matrices.element = inexact_element(call);
  Dims order = first_dims(matrices.rank());
  std::swap(order[matrices.rank() - 2], order[matrices.rank() - 1]);
  ShardedType turned =
      typed_like(call, matrices, picked(matrices.shape, order), picked(matrices.entries, order));
  turned.element = matrices.element;
  type_one(call.mesh, "lax.add", {matrices, turned}, {}, nullptr);
  check_whole_matrices(call, "cholesky");
  check_cases(call, make_type(call.mesh, {"bool"}, matrices.shape, {}), {matrices});
  return {matrices};
}

/// Solved for the unit matrix, which is mapped over the batch beside the others and is whole.
ShardedTypes inverted(const TypingCall& call) {
  const ShardedType& matrices = call.operands[0];
  for (std::size_t dim = 0; dim + 2 < matrices.rank(); ++dim) {
    if (matrices.entries[dim].empty()) continue;
    const auto axis = static_cast<std::size_t>(matrices.entries[dim].front());
    refuse(RefusalKind::mapped_dims,
           "Mapped away dimension of inputs passed to vmap should be sharded the same. Got "
           "inconsistent axis specs: " +
               call.mesh.axes()[axis].name.text() + " vs None");
  }
  check_whole_matrices(call, "lu");
  return {matrices};
}

/// The loop of the search maps over the values on no mesh; of the sorted array it takes elements.
ShardedTypes searched(const TypingCall& call) {
  const ShardedType &sorted = call.operands[0], &values = call.operands[1];
  resized(call.mesh, sorted, {1}, "dynamic_slice");
  const PartitionSpec spec = type_spec(call.mesh, values);
  for (const PartitionEntry& entry : spec.entries) {
    for (const MeshAxis& axis : entry.axes) {
      refuse(RefusalKind::unknown_axis, "Resource axis: " + axis.text() + " of " + to_string(spec) +
                                            " is not found in mesh: ().");
    }
  }
  return {typed(call, values.shape, values.entries)};
}

}  // namespace shard::typing
