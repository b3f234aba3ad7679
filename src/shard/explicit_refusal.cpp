#include "shard/explicit_refusal.h"

#include "base/check.h"

namespace shard {
namespace {

using RefusalRows = std::array<RefusalRow, static_cast<std::size_t>(RefusalKind::count_)>;

constexpr RefusalRows make_refusal_rows() {
  using enum RefusalKind;
  constexpr std::string_view typing_error = "ShardingTypeError";
  constexpr std::string_view value_error = "ValueError";
  constexpr std::string_view missing = "NotImplementedError";
  constexpr std::string_view type_error = "TypeError";
  return {{
      {illegal_result, "illegal-result", typing_error, "produces an illegally sharded result"},
      {indivisible, "indivisible", value_error, "does not evenly divide the dimension size"},
      {spec_rank, "spec-rank", "AssertionError", ", P("},
      {duplicate_axis, "duplicate-mesh-axis", "DuplicateSpecError", "has duplicate entries for"},
      {unknown_axis, "unknown-mesh-axis", value_error, "is not found in mesh"},
      {unconstrained, "unconstrained-without-auto", value_error, "UNCONSTRAINED"},
      {auto_axis, "axis-not-explicit", value_error,
       "cannot contain axis names that are of type Auto or Manual"},
      {sets_overlap, "unreduced-overlap", value_error, "cannot overlap"},
      {unknown_set_axis, "unknown-mesh-axis", value_error, "is not found"},
      {set_axis_type, "unreduced-axis-type", value_error,
       "can only refer to mesh axes that is of type"},
      {other_mesh, "mesh-differs", value_error, "should match the aval mesh"},
      {no_unreduced_rule, "no-unreduced-rule", missing, "unreduced rule for"},
      {no_set_rule, "no-unreduced-rule", missing, "unreduced/reduced rule for"},
      {sets_in_the_way, "no-unreduced-rule", value_error,
       "is dangerous when PartitionSpec has non-empty unreduced/reduced set"},
      {incompatible, "incompatible-shardings", typing_error,
       "got incompatible shardings for broadcasting"},
      {element_kind, "element-type", type_error, "does not accept dtype"},
      {element_types, "element-types", type_error, "requires arguments to have the same dtypes"},
      {power_elements, "element-types", type_error,
       "the first argument to pow must have an inexact"},
      {bit_size, "bit-size", value_error, "Attempting to convert array of shape"},
      {bit_kind, "element-type", type_error, "does not support bool or complex values"},
      {logical_elements, "element-type", type_error,
       "logical reduction requires operand dtype bool or int"},
      {ranked_floats, "element-type", value_error, "operand must be a floating type"},
      {ranked_complex, "element-type", value_error, "is not compatible with complex inputs"},
      {clipped_complex, "element-type", value_error, "Clip received a complex value"},
      {quantile_complex, "element-type", value_error, "does not support complex input"},
      {choice_elements, "element-type", type_error,
       "select `which` must be boolean or integer type"},
      {predicate_elements, "element-type", type_error,
       "Pred type must be either boolean or number"},
      {branch_number, "element-type", type_error, "Index type must be an integer"},
      {indexer_elements, "index-type", type_error, "Indexer must have integer or boolean type"},
      {index_elements, "index-type", value_error, "indices must have an integer type"},
      {aligned_index_elements, "index-type", type_error, "indices must be of integer type"},
      {start_elements, "index-type", type_error, "must be integers of the same type"},
      {list_elements, "index-type", value_error, "must be integer type"},
      {list_rank, "bad-dim", value_error, "must be rank 1 with positive dimension size"},
      {group_elements, "index-type", type_error, "group_sizes.dtype is subtype of"},
      {counted_elements, "index-type", type_error, "must have an integer type"},
      {attention_elements, "element-types", value_error, "dtype should be"},
      {unequal_shapes, "shapes-differ", type_error, "got incompatible shapes for broadcasting"},
      {lone_unreduced, "unreduced-operand", typing_error, "is unreduced while"},
      {unequal_unreduced, "unreduced-operand", typing_error,
       "must be unreduced along the same mesh axes"},
      {both_unreduced, "unreduced-operand", typing_error,
       "cannot be unreduced since mul is bilinear"},
      {not_reduced, "unreduced-operand", typing_error, "should be reduced along the same axes"},
      {unequal_reduced, "reduced-operand", typing_error,
       "should be reduced across the same mesh axes"},
      {whole_beside_reduced, "reduced-operand", typing_error,
       "cannot be replicated on the same axes"},
      {split_beside_reduced, "reduced-operand", typing_error,
       "cannot be sharded/varying on the same axes"},
      {sets_and_number, "unreduced-operand", type_error, "cannot be of instance `tuple`"},
      {broadcast_types, "incompatible-shardings", value_error,
       "Incompatible types for broadcasting"},
      {broadcast_rank, "spec-rank", value_error, "safe_zip() argument 1 has length"},
      {unequal_cases, "incompatible-shardings", typing_error,
       "select cases must have the same shardings"},
      {which_sharding, "incompatible-shardings", typing_error, "select `which` must be scalar"},
      {unequal_parts, "incompatible-shardings", typing_error,
       "All operands should have the same sharding"},
      {split_unstacking, "split-dim", typing_error, "cannot be sharded on the unstacking axis"},
      {split_tiling, "split-dim", typing_error, "tiling is non-trivial"},
      {split_repeat, "split-dim", value_error, "Please pass sharding to"},
      {uneven_change, "uneven-result", typing_error, "on sharded dims where out dim"},
      {unequal_update, "incompatible-shardings", typing_error,
       "operand sharding must be equal to update"},
      {reshape, "ambiguous-reshape", typing_error, "This reshape is not supported"},
      {reshape_walk_long, "ambiguous-reshape", "IndexError", "tuple index out of range"},
      {reshape_walk_short, "ambiguous-reshape", "AssertionError", ""},
      {reshape_sets, "unreduced-operand", value_error, "over the same mesh axes"},
      {new_unreduced, "unreduced-operand", value_error, "cannot contain unreduced axes"},
      {new_reduced, "reduced-operand", value_error, "cannot contain reduced axes"},
      {split_scan, "split-dim", typing_error,
       "Input should be unsharded over the axis being reduced"},
      {split_flat_scan, "split-dim", typing_error,
       "should be fully replicated when axis is not specified"},
      {split_sort, "split-dim", typing_error, "must be unsharded over the sorting dimension"},
      {unequal_sort, "incompatible-shardings", typing_error, "must have equal shardings"},
      {split_top_k, "split-dim", typing_error, "should be unsharded"},
      {foreign_unreduced, "unreduced-axes", typing_error, "should be in operand's specs that were"},
      {batch_sizes, "contraction-sizes", type_error,
       "requires lhs batch dimensions and rhs batch dimensions to have the same shape"},
      {contracted_sizes, "contraction-sizes", type_error,
       "requires contracting dimensions to have the same shape"},
      {contracted_differ, "contracted-differ", typing_error,
       "requires contracting dimensions to have consistent sharding"},
      {ambiguous_contraction, "ambiguous-contraction", typing_error,
       "Contracting dimensions are sharded and it is ambiguous"},
      {batch_differ, "batch-differ", typing_error, "lhs batch dimensions and rhs batch dimensions"},
      {unreduced_product, "unreduced-operand", typing_error, "cannot be unreduced"},
      {contraction_unreduced, "unreduced-axes", typing_error, "should be sharded identically"},
      {unreduced_contraction_axes, "unreduced-axes", typing_error,
       "should be equal to the contracting specs"},
      {matmul_batch, "batch-differ", value_error, "Incompatible types for matmul arguments"},
      {gather, "ambiguous-gather", typing_error, "Use `.at[...].get(out_sharding=)`"},
      {gather_partly, "ambiguous-gather", "AssertionError", ""},
      {scatter, "ambiguous-scatter", typing_error, "Use `.at[...].set/add/mul/...(out_sharding=)`"},
      {boolean_index, "boolean-index", "NonConcreteBooleanIndexError",
       "Array boolean indices must be concrete"},
      {convolution, "ambiguous-convolution", typing_error, "specify the output sharding via"},
      {ragged_dot, "no-typing-rule", missing, "Explicit sharding inference for ragged_dot_general"},
      {bad_dim, "bad-dim", value_error, "is out of bounds for array of dimension"},
      {bad_squeeze, "bad-dim", value_error, "cannot select an axis to squeeze out"},
      {odd_halves, "bad-dim", "AssertionError", "axis size must be divisible by 2"},
      {stacked_dim, "split-dim", value_error, "0th dimension of all xs should be replicated"},
      {loop_carry, "carry-type", type_error, "carry input and carry output must have equal types"},
      {branches, "branch-type", type_error, "branches must have equal output types"},
      {predicate, "branch-type", type_error, "Pred must be a scalar"},
      {mapped_dims, "mapped-dim", value_error, "Mapped away dimension of inputs passed to vmap"},
      {unmapped_axes, "mapped-dim", value_error,
       "Unmapped values passed to vmap cannot be sharded along"},
      {constraint_assertion, "constraint-differs", "AssertionError",
       "acts as an assert when all axes"},
      {constraint_axes, "axis-not-auto", value_error, "can only refer to Auto axes of the mesh"},
      {placement_rank, "spec-rank", value_error, "only valid for values of rank at least"},
      {no_out_sharding, "missing-out-sharding", type_error,
       "Missing required keyword argument: 'out_sharding'"},
      {in_specs, "in-specs", value_error, "does not match the specs of the input"},
      {uneven_map, "indivisible", value_error,
       "not evenly divisible by the corresponding mesh axis sizes"},
      {out_specs, "out-specs", value_error, "given out_specs which require replication which"},
      {cotangent_type, "cotangent-type", value_error, "unexpected JAX type"},
      {squeezed_cotangent, "cotangent-type", value_error, "Expected cotangent type"},
      {annotated_uneven, "indivisible", "IndivisibleError", "should evenly divide the shape"},
      {annotated_rank, "spec-rank", value_error, "is incompatible with its sharding annotation"},
      {region_axis, "unknown-mesh-axis", "KeyError", ""},
      {split_factor, "split-dim", typing_error, ""},
      {unknown_op, "no-typing-rule", "", ""},
  }};
}

constexpr RefusalRows refusal_rows = make_refusal_rows();

constexpr bool are_in_enum_order() {
  for (std::size_t k = 0; k < refusal_rows.size(); ++k) {
    if (refusal_rows[k].kind != static_cast<RefusalKind>(k)) return false;
  }
  return true;
}
static_assert(are_in_enum_order(), "refusal_rows must list every RefusalKind once, in enum order");

}  // namespace

const RefusalRow& row_of(RefusalKind kind) { return refusal_rows[static_cast<std::size_t>(kind)]; }

void refuse(RefusalKind kind) { throw TypingRefusal(kind, std::string(row_of(kind).phrase)); }

void refuse(RefusalKind kind, const std::string& message) {
  const std::string_view phrase = row_of(kind).phrase;
  SHARD_CHECK(message.find(phrase) != message.npos, "a refusal's message has its row's phrase");
  throw TypingRefusal(kind, message);
}

}  // namespace shard
