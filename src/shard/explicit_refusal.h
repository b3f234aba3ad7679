#pragma once
// What explicit mode refuses: one row per reason, with the class of JAX's exception and the phrase
// by which its message is known.

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace shard {

enum class RefusalKind {
  illegal_result,
  indivisible,
  spec_rank,
  duplicate_axis,
  unknown_axis,
  unconstrained,
  auto_axis,
  sets_overlap,
  unknown_set_axis,
  set_axis_type,
  other_mesh,
  no_unreduced_rule,
  no_set_rule,
  sets_in_the_way,
  incompatible,
  element_kind,
  element_types,
  power_elements,
  bit_size,
  bit_kind,
  logical_elements,
  ranked_floats,
  ranked_complex,
  clipped_complex,
  quantile_complex,
  choice_elements,
  predicate_elements,
  branch_number,
  indexer_elements,
  index_elements,
  aligned_index_elements,
  start_elements,
  list_elements,
  list_rank,
  group_elements,
  counted_elements,
  attention_elements,
  unequal_shapes,
  lone_unreduced,
  unequal_unreduced,
  both_unreduced,
  not_reduced,
  unequal_reduced,
  whole_beside_reduced,
  split_beside_reduced,
  sets_and_number,
  broadcast_types,
  broadcast_rank,
  unequal_cases,
  which_sharding,
  unequal_parts,
  split_unstacking,
  split_tiling,
  split_repeat,
  uneven_change,
  unequal_update,
  reshape,
  reshape_walk_long,
  reshape_walk_short,
  reshape_sets,
  new_unreduced,
  new_reduced,
  split_scan,
  split_flat_scan,
  split_sort,
  unequal_sort,
  split_top_k,
  foreign_unreduced,
  batch_sizes,
  contracted_sizes,
  contracted_differ,
  ambiguous_contraction,
  batch_differ,
  unreduced_product,
  contraction_unreduced,
  unreduced_contraction_axes,
  matmul_batch,
  gather,
  gather_partly,
  scatter,
  boolean_index,
  convolution,
  ragged_dot,
  bad_dim,
  bad_squeeze,
  odd_halves,
  stacked_dim,
  loop_carry,
  branches,
  predicate,
  mapped_dims,
  unmapped_axes,
  constraint_assertion,
  constraint_axes,
  placement_rank,
  no_out_sharding,
  in_specs,
  uneven_map,
  out_specs,
  cotangent_type,
  squeezed_cotangent,
  annotated_uneven,
  annotated_rank,
  region_axis,
  split_factor,
  unknown_op,
  count_,
};

struct RefusalRow {
  RefusalKind kind;
  std::string_view id;           ///< of our diagnostic
  std::string_view error_class;  ///< of JAX's exception; empty where JAX has none
  std::string_view phrase;       ///< part of its message; empty where it has none
};

const RefusalRow& row_of(RefusalKind kind);

/// Carries a refusal from a rule to whoever asked for the type.
class TypingRefusal : public std::runtime_error {
 public:
  /// `message` is the whole sentence; it must contain the row's phrase.
  TypingRefusal(RefusalKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}

  RefusalKind kind() const { return kind_; }
  const RefusalRow& row() const { return row_of(kind_); }

 private:
  RefusalKind kind_;
};

/// Throws; without a message the row's phrase is the message.
[[noreturn]] void refuse(RefusalKind kind);
[[noreturn]] void refuse(RefusalKind kind, const std::string& message);

}  // namespace shard
