// Typing rules of reductions, running sums and sorts.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

/// Where JAX 0.10.2 stops on an operand with unreduced or reduced axes.
void refuse_sets(const ShardedType& value) {
  if (value.has_sets())
    refuse(RefusalKind::sets_in_the_way,
           "Using pspec[...] is dangerous when PartitionSpec has non-empty unreduced/reduced set");
}

/// Unreduced axes of the result have to come from the dims that are summed.
void check_unreduced_sum(const TypingCall& call, const Dims& dims) {
  const ShardedType& value = call.operands[0];
  TypeEntry summed = axes_of(picked(value.entries, dims));
  summed.insert(summed.end(), value.unreduced.begin(), value.unreduced.end());
  for (const int axis : axis_positions(call.mesh, call.out->unreduced)) {
    if (std::find(summed.begin(), summed.end(), axis) != summed.end()) continue;
    refuse(RefusalKind::foreign_unreduced,
           "unreduced axes of out_sharding should be in operand's specs that were summed over: " +
               short_type_text(call.mesh, value));
  }
}

ShardedType reduced_over(const TypingCall& call, const Dims& dims, bool keeps_sets) {
  const ShardedType& value = call.operands[0];
  if (!keeps_sets) refuse_sets(value);
  if (call.out != nullptr) {
    check_axes(call.mesh, *call.out);
    check_unreduced_sum(call, dims);
  }
  return given_or(call, without(value.shape, dims), without(value.entries, dims), &value);
}

/// `axis` and `keepdims` of numpy; a dim that is kept is whole.
ShardedType numpy_reduction(const TypingCall& call, bool keeps_sets) {
  const ShardedType& value = call.operands[0];
  const Dims dims = dims_at(find(call.parameters, "axis"), value.rank());
  if (!is_set(call.parameters, "keepdims")) return reduced_over(call, dims, keeps_sets);
  if (!keeps_sets) refuse_sets(value);
  Shape shape = value.shape;
  TypeEntries entries = value.entries;
  for (const std::size_t dim : dims) {
    shape[dim] = 1;
    entries[dim].clear();
  }
  return given_or(call, std::move(shape), std::move(entries), &value);
}

}  // namespace

ShardedTypes reduced_sum(const TypingCall& call) {
  return {
      reduced_over(call, dims_at(find(call.parameters, "axes"), call.operands[0].rank()), true)};
}

ShardedTypes reduced(const TypingCall& call) {
  return {
      reduced_over(call, dims_at(find(call.parameters, "axes"), call.operands[0].rank()), false)};
}

ShardedTypes numpy_sum(const TypingCall& call) { return {numpy_reduction(call, true)}; }
ShardedTypes numpy_reduced(const TypingCall& call) { return {numpy_reduction(call, false)}; }

ShardedTypes averaged(const TypingCall& call) {
  ShardedType sum = numpy_reduction(call, true);
  if (!sum.unreduced.empty()) {
    refuse(RefusalKind::no_unreduced_rule, "unreduced rule for div is not implemented");
  }
  return {std::move(sum)};
}

ShardedTypes position_of_extreme(const TypingCall& call) { return {numpy_reduction(call, false)}; }

ShardedTypes flat_position_of_extreme(const TypingCall& call) {
  const Parameter* axis = find(call.parameters, "axis");
  if (axis == nullptr || axis->is_none()) type_one(call.mesh, "jnp.ravel", call.operands, {});
  return position_of_extreme(call);
}

ShardedTypes median(const TypingCall& call) {
  const Parameter* axis = find(call.parameters, "axis");
  type_op(
      {call.mesh, "jnp.sort", call.operands, {{"axis", axis == nullptr ? Parameter() : *axis}}});
  return {numpy_reduction(call, false)};
}

ShardedTypes trace(const TypingCall& call) {
  // The diagonal is picked by a mask, which is whole.
  const ShardedType& value = call.operands[0];
  check_cases(call, typed(call, value.shape, {}), {value});
  return {reduced_over(call, {0, 1}, false)};
}

ShardedTypes diagonal(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  if (!value.entries[0].empty() || !value.entries[1].empty()) refuse(RefusalKind::gather);
  const Dims both = {0, 1};
  Shape shape = without(value.shape, both);
  TypeEntries entries = without(value.entries, both);
  shape.push_back(std::min(value.shape[0], value.shape[1]));
  entries.emplace_back();
  return {typed(call, std::move(shape), std::move(entries))};
}

ShardedTypes cumulative(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  refuse_sets(value);
  const Parameter* axis = find(call.parameters, "axis");
  if (axis == nullptr) {
    if (value.is_split()) {
      refuse(
          RefusalKind::split_flat_scan,
          "the input should be fully replicated when axis is not specified to a cumulative op: " +
              short_type_text(call.mesh, value));
    }
    return {typed(call, {element_count(value.shape)}, {})};
  }
  if (!value.entries[dim_at(axis->integer(), value.rank())].empty()) {
    refuse(RefusalKind::split_scan, "Input should be unsharded over the axis being reduced. Got " +
                                        short_type_text(call.mesh, value) + " and axis " +
                                        std::to_string(axis->integer()));
  }
  return {value};
}

ShardedTypes sorted(const TypingCall& call) {
  std::int64_t number = -1;
  for (const std::string_view key : {"axis", "dimension"}) {
    const auto written = call.parameters.find(key);
    if (written == call.parameters.end()) continue;
    if (written->second.is_none()) {
      const ShardedType flat = type_one(call.mesh, "jnp.ravel", {call.operands[0]});
      return sorted({call.mesh, call.op, {flat}, {}});
    }
    number = written->second.integer();
  }
  for (const ShardedType& operand : call.operands) {
    if (operand.entries[dim_at(number, operand.rank())].empty()) continue;
    refuse(RefusalKind::split_sort,
           "Arguments to sort must be unsharded over the sorting "
           "dimension. Got " +
               short_type_text(call.mesh, operand));
  }
  check_same(call, RefusalKind::unequal_sort);
  return call.operands;
}

ShardedTypes sorted_flat(const TypingCall& call) {
  const ShardedType flat = type_one(call.mesh, "jnp.ravel", {call.operands[0]});
  sorted({call.mesh, call.op, {flat}, {}});
  return {typed(call, {find(call.parameters, "size")->integer()}, {})};
}

ShardedTypes counted_flat(const TypingCall& call) {
  cumulative({call.mesh, call.op, {call.operands[0]}, {}});
  return {typed(call, {find(call.parameters, "size")->integer()}, {})};
}

ShardedTypes top_k(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::int64_t number =
      integer_or(call.parameters, "axis", integer_or(call.parameters, "reduction_dimension", -1));
  const std::size_t dim = dim_at(number, value.rank());
  if (!value.entries[dim].empty()) {
    refuse(RefusalKind::split_top_k, "operand " + short_type_text(call.mesh, value) +
                                         " should be unsharded over the axis " +
                                         std::to_string(dim));
  }
  const Shape shape = with_size(value.shape, dim, find(call.parameters, "k")->integer());
  const ShardedType largest = typed(call, shape, value.entries);
  ShardedType places = largest;
  places.element = {"int32", false};
  return {largest, places};
}

ShardedTypes halved(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::size_t dim = dim_at(integer_or(call.parameters, "axis", -1), value.rank());
  if (value.shape[dim] % 2 != 0) {
    refuse(RefusalKind::odd_halves,
           "axis size must be divisible by 2, not " + std::to_string(value.shape[dim]));
  }
  return {resized(call.mesh, value, with_size(value.shape, dim, value.shape[dim] / 2), "split")};
}

ShardedTypes one_hot(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::size_t dim = dim_at(integer_or(call.parameters, "axis", -1), value.rank() + 1);
  return {typed(call, inserted(value.shape, dim, find(call.parameters, "num_classes")->integer()),
                inserted(value.entries, dim, TypeEntry{}))};
}

}  // namespace shard::typing
