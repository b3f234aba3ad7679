#pragma once
// The typing rules by file; the table (explicit_table.cpp) says which ops they are for.

#include "shard/explicit_dims.h"
#include "shard/explicit_elements.h"

namespace shard::typing {

// explicit_elementwise.cpp
ShardedTypes unary(const TypingCall& call);      ///< the operand's type
ShardedTypes converted(const TypingCall& call);  ///< also of unreduced operands
ShardedTypes reversed(const TypingCall& call);
ShardedTypes clamped(const TypingCall& call);
ShardedTypes bit_cast(const TypingCall& call);
ShardedTypes nary(const TypingCall& call);
ShardedTypes sum_of_two(const TypingCall& call);
ShardedTypes product_of_two(const TypingCall& call);
ShardedTypes numpy_nary(const TypingCall& call);  ///< ranks made equal, then the primitive
ShardedTypes clipped(const TypingCall& call);
ShardedTypes selected(const TypingCall& call);
ShardedTypes where(const TypingCall& call);

// explicit_structure.cpp
ShardedTypes broadcast_in_dim(const TypingCall& call);
ShardedTypes broadcast_leading(const TypingCall& call);
ShardedTypes broadcast_to(const TypingCall& call);
ShardedTypes broadcast_rank(const TypingCall& call);
ShardedTypes expanded(const TypingCall& call);
ShardedTypes squeezed(const TypingCall& call);
ShardedTypes transposed(const TypingCall& call);
ShardedTypes swapped_axes(const TypingCall& call);
ShardedTypes moved_axis(const TypingCall& call);
ShardedTypes concatenated(const TypingCall& call);
ShardedTypes joined_side_by_side(const TypingCall& call);
ShardedTypes joined_in_rows(const TypingCall& call);
ShardedTypes appended(const TypingCall& call);
ShardedTypes stacked(const TypingCall& call);
ShardedTypes unstacked(const TypingCall& call);
ShardedTypes tiled(const TypingCall& call);
ShardedTypes repeated(const TypingCall& call);
ShardedTypes created(const TypingCall& call);  ///< `shape`, or one dim or a square
ShardedTypes filled_like(const TypingCall& call);

// explicit_linalg.cpp
ShardedTypes determinant(const TypingCall& call);
ShardedTypes qr(const TypingCall& call);
ShardedTypes cholesky(const TypingCall& call);
ShardedTypes inverted(const TypingCall& call);
ShardedTypes searched(const TypingCall& call);

// explicit_slices.cpp
/// Fourier transforms: split dims stay split, `last` is the size of the last one.
ShardedTypes transformed(const TypingCall& call);
ShardedTypes split_in_parts(const TypingCall& call);
ShardedTypes split_in_sections(const TypingCall& call);
ShardedTypes split_unevenly(const TypingCall& call);
ShardedTypes padded(const TypingCall& call);
ShardedTypes numpy_padded(const TypingCall& call);
ShardedTypes sliced(const TypingCall& call);
ShardedTypes sliced_in_dim(const TypingCall& call);
ShardedTypes dynamic_slice(const TypingCall& call);
ShardedTypes dynamic_slice_in_dim(const TypingCall& call);
ShardedTypes dynamic_index_in_dim(const TypingCall& call);
ShardedTypes dynamic_update(const TypingCall& call);
ShardedTypes dynamic_update_index(const TypingCall& call);
ShardedTypes rolled(const TypingCall& call);
ShardedTypes differences(const TypingCall& call);

// explicit_reshape.cpp
ShardedTypes reshaped(const TypingCall& call);
ShardedTypes collapsed(const TypingCall& call);
ShardedTypes flattened(const TypingCall& call);
ShardedTypes fortran_reshaped(const TypingCall& call);

// explicit_reductions.cpp
ShardedTypes reduced_sum(const TypingCall& call);
ShardedTypes reduced(const TypingCall& call);
ShardedTypes numpy_sum(const TypingCall& call);
ShardedTypes numpy_reduced(const TypingCall& call);
ShardedTypes averaged(const TypingCall& call);
ShardedTypes position_of_extreme(const TypingCall& call);
ShardedTypes flat_position_of_extreme(const TypingCall& call);
ShardedTypes median(const TypingCall& call);
ShardedTypes trace(const TypingCall& call);
ShardedTypes diagonal(const TypingCall& call);
ShardedTypes cumulative(const TypingCall& call);
ShardedTypes sorted(const TypingCall& call);
ShardedTypes sorted_flat(const TypingCall& call);  ///< unique, flatnonzero: `size` results
ShardedTypes counted_flat(const TypingCall& call);
ShardedTypes top_k(const TypingCall& call);
ShardedTypes halved(const TypingCall& call);
ShardedTypes one_hot(const TypingCall& call);

// explicit_products.cpp
ShardedTypes dot_general(const TypingCall& call);
ShardedTypes dot(const TypingCall& call);
ShardedTypes matmul(const TypingCall& call);
ShardedTypes batch_matmul(const TypingCall& call);
ShardedTypes outer(const TypingCall& call);
ShardedTypes tensordot(const TypingCall& call);
ShardedTypes inner(const TypingCall& call);
ShardedTypes flat_dot(const TypingCall& call);
ShardedTypes ragged_dot(const TypingCall& call);
ShardedTypes attention(const TypingCall& call);

// explicit_einsum.cpp
ShardedTypes einsum(const TypingCall& call);

// explicit_gather.cpp
ShardedTypes take(const TypingCall& call);
ShardedTypes take_along_axis(const TypingCall& call);
ShardedTypes gather(const TypingCall& call);
ShardedTypes scatter(const TypingCall& call);

// explicit_index.cpp
ShardedTypes indexed(const TypingCall& call);
ShardedTypes gotten(const TypingCall& call);
ShardedTypes updated(const TypingCall& call);
ShardedTypes segment_sum(const TypingCall& call);
ShardedTypes bin_counts(const TypingCall& call);

// explicit_windows.cpp
ShardedTypes reduced_windows(const TypingCall& call);
ShardedTypes convolved(const TypingCall& call);
ShardedTypes numpy_convolved(const TypingCall& call);

// explicit_regions.cpp
ShardedTypes scan(const TypingCall& call);
ShardedTypes map_rows(const TypingCall& call);
ShardedTypes while_loop(const TypingCall& call);
ShardedTypes counted_loop(const TypingCall& call);
ShardedTypes branch(const TypingCall& call);
ShardedTypes vmap(const TypingCall& call);
ShardedTypes called(const TypingCall& call);
/// The same with results that `out_sharding` has to fit and, on arrays, places.
ShardedTypes jitted(const TypingCall& call);

// explicit_modes.cpp
ShardedTypes resharded(const TypingCall& call);
ShardedTypes put_on_devices(const TypingCall& call);
ShardedTypes constrained(const TypingCall& call);
ShardedTypes auto_axes(const TypingCall& call);
ShardedTypes explicit_axes(const TypingCall& call);

// explicit_manual.cpp
ShardedTypes shard_map(const TypingCall& call);
ShardedTypes summed_over_axis(const TypingCall& call);
ShardedTypes gathered_over_axis(const TypingCall& call);
ShardedTypes scattered_over_axis(const TypingCall& call);
ShardedTypes permuted_over_axis(const TypingCall& call);
ShardedTypes exchanged_over_axis(const TypingCall& call);
/// Of `ragged_all_to_all`: as the array that the rows are put into, which also says along which
/// axes it varies.
ShardedTypes sent_by_lists(const TypingCall& call);

/// The axes that `axes` names, of one text or a list.
TypeEntry named_axes(const Mesh& mesh, const Parameter& names);
/// A spec written as a parameter: `{spec: [...], unreduced: [...], reduced: [...]}`.
PartitionSpec spec_of(const Parameter& written);
/// The value resharded to a spec, whose surplus trailing Nones are dropped.
ShardedType moved_to(const Mesh& mesh, std::string_view where, const ShardedType& value,
                     PartitionSpec spec);

/// Numpy's alignment: dims of size 1 in front of all but scalars.
ShardedTypes of_equal_rank(ShardedTypes operands);
/// Entries aligned at the last dim must be None or the wanted one. Refuses `broadcast_types`.
void check_broadcast(const TypingCall& call, const TypeEntries& entries, const TypeEntries& wanted);
/// Cases of one sharding, and a predicate that is a scalar or like them.
void check_cases(const TypingCall& call, const ShardedType& which, const ShardedTypes& cases);

}  // namespace shard::typing
