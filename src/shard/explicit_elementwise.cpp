// Typing rules of ops that work on each element.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

std::string primitive_name(const TypingCall& call) {
  return std::string(call.op.substr(call.op.rfind('.') + 1));
}

[[noreturn]] void refuse_unreduced(const TypingCall& call) {
  refuse(RefusalKind::no_unreduced_rule,
         "unreduced rule for " + primitive_name(call) + " is not implemented");
}

bool is_unreduced(const ShardedType& type) { return !type.unreduced.empty(); }

/// One dim of the result: None and sizes of 1 give way, two different entries do not mix.
TypeEntry merged_entry(const TypingCall& call, const ShardedTypes& arrays, std::size_t dim) {
  const TypeEntry* named = nullptr;
  for (const ShardedType& array : arrays) {
    const TypeEntry& entry = array.entries[dim];
    if (entry.empty()) continue;
    if (named != nullptr && *named != entry) {
      std::string all;
      for (const ShardedType& one : arrays) {
        all += (all.empty() ? "" : ", ") + entries_text(call.mesh, one.entries);
      }
      refuse(RefusalKind::incompatible,
             primitive_name(call) + " got incompatible shardings for broadcasting: " + all);
    }
    named = &entry;
  }
  return named == nullptr ? TypeEntry{} : *named;
}

std::int64_t merged_size(const TypingCall& call, const ShardedTypes& arrays, std::size_t dim) {
  std::int64_t size = 1;
  for (const ShardedType& array : arrays) {
    if (array.shape[dim] == 1) continue;
    if (size != 1 && array.shape[dim] != size) {
      refuse(RefusalKind::unequal_shapes,
             primitive_name(call) + " got incompatible shapes for broadcasting: " +
                 to_string(arrays.front().shape) + " and " + to_string(array.shape));
    }
    size = array.shape[dim];
  }
  return size;
}

ShardedTypes arrays_of(const ShardedTypes& operands) {
  ShardedTypes arrays;
  std::copy_if(operands.begin(), operands.end(), std::back_inserter(arrays),
               [](const ShardedType& operand) { return operand.rank() > 0; });
  return arrays;
}

ShardedType merged(const TypingCall& call) {
  const ShardedTypes arrays = arrays_of(call.operands);
  if (arrays.empty()) return typed(call, {}, {});
  Shape shape;
  TypeEntries entries;
  for (const ShardedType& array : arrays) {
    if (array.rank() == arrays.front().rank()) continue;
    refuse(RefusalKind::unequal_shapes,
           primitive_name(call) + " got incompatible shapes for broadcasting: " +
               to_string(arrays.front().shape) + " and " + to_string(array.shape));
  }
  for (std::size_t dim = 0; dim < arrays.front().rank(); ++dim) {
    shape.push_back(merged_size(call, arrays, dim));
    entries.push_back(merged_entry(call, arrays, dim));
  }
  return typed(call, std::move(shape), std::move(entries));
}

/// The reduced axes all agree on; no array may be whole or split there.
TypeEntry merged_reduced(const ShardedTypes& operands) {
  TypeEntry axes;
  for (const ShardedType& operand : operands) {
    if (operand.reduced.empty()) continue;
    if (!axes.empty() && operand.reduced != axes) refuse(RefusalKind::unequal_reduced);
    axes = operand.reduced;
  }
  for (const ShardedType& operand : operands) {
    if (axes.empty() || operand.rank() == 0 || !operand.reduced.empty()) continue;
    const TypeEntry used = axes_of(operand.entries);
    const bool is_split_there = std::any_of(used.begin(), used.end(), [&](int axis) {
      return std::find(axes.begin(), axes.end(), axis) != axes.end();
    });
    refuse(is_split_there ? RefusalKind::split_beside_reduced : RefusalKind::whole_beside_reduced);
  }
  return axes;
}

using UnreducedRule = TypeEntry (*)(const TypingCall& call);

ShardedTypes merged_with(const TypingCall& call, UnreducedRule rule) {
  ShardedType type = merged(call);
  if (std::any_of(call.operands.begin(), call.operands.end(), is_unreduced)) {
    type.unreduced = rule(call);
  } else {
    type.reduced = merged_reduced(call.operands);
  }
  return {std::move(type)};
}

TypeEntry no_unreduced(const TypingCall& call) { refuse_unreduced(call); }

TypeEntry unreduced_of_sum(const TypingCall& call) {
  const ShardedType& lhs = call.operands[0];
  const ShardedType& rhs = call.operands[1];
  if (is_unreduced(lhs) && is_unreduced(rhs)) {
    if (lhs.unreduced != rhs.unreduced) refuse(RefusalKind::unequal_unreduced);
    return lhs.unreduced;
  }
  refuse(RefusalKind::lone_unreduced, is_unreduced(lhs) ? "lhs is unreduced while rhs is not"
                                                        : "rhs is unreduced while lhs is not");
}

TypeEntry unreduced_of_product(const TypingCall& call) {
  const ShardedType& lhs = call.operands[0];
  const ShardedType& rhs = call.operands[1];
  if (is_unreduced(lhs) && is_unreduced(rhs)) refuse(RefusalKind::both_unreduced);
  const ShardedType& one = is_unreduced(lhs) ? lhs : rhs;
  const ShardedType& other = is_unreduced(lhs) ? rhs : lhs;
  if (other.reduced != one.unreduced) {
    refuse(RefusalKind::not_reduced,
           std::string(is_unreduced(lhs) ? "RHS" : "LHS") +
               " should be reduced along the same axes that the other side is unreduced along");
  }
  return one.unreduced;
}

}  // namespace

ShardedTypes unary(const TypingCall& call) {
  if (is_unreduced(call.operands[0])) refuse_unreduced(call);
  return {call.operands[0]};
}

ShardedTypes converted(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  return {given_or(call, value.shape, value.entries, &value)};
}

ShardedTypes reversed(const TypingCall& call) {
  if (call.operands[0].has_sets()) {
    refuse(RefusalKind::no_set_rule,
           "unreduced/reduced rule for " + primitive_name(call) + " is not implemented");
  }
  return {call.operands[0]};
}

ShardedTypes clamped(const TypingCall& call) { return {call.operands[1]}; }

ShardedTypes bit_cast(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::int64_t old_bytes = element_bytes(value.element);
  const std::int64_t new_bytes = element_bytes(named_element(call));
  if (new_bytes == old_bytes) return {value};
  if (new_bytes > old_bytes) {
    const Dims last = {value.rank() - 1};
    return {typed(call, without(value.shape, last), without(value.entries, last))};
  }
  return {typed(call, inserted(value.shape, value.rank(), old_bytes / new_bytes),
                inserted(value.entries, value.rank(), TypeEntry{}))};
}

ShardedTypes nary(const TypingCall& call) { return merged_with(call, no_unreduced); }

ShardedTypes sum_of_two(const TypingCall& call) { return merged_with(call, unreduced_of_sum); }

ShardedTypes product_of_two(const TypingCall& call) {
  return merged_with(call, unreduced_of_product);
}

ShardedTypes of_equal_rank(ShardedTypes operands) {
  std::size_t rank = 0;
  for (const ShardedType& operand : operands) rank = std::max(rank, operand.rank());
  for (ShardedType& operand : operands) {
    if (operand.rank() == 0) continue;
    const std::size_t missing = rank - operand.rank();
    operand.shape.insert(operand.shape.begin(), missing, 1);
    operand.entries.insert(operand.entries.begin(), missing, TypeEntry{});
  }
  return operands;
}

ShardedTypes numpy_nary(const TypingCall& call) {
  // Numpy's promotion settles the elements; the primitive is asked about the rest.
  const ElementType element = promoted(call.operands);
  ShardedTypes operands = of_equal_rank(call.operands);
  for (ShardedType& operand : operands) operand.element = {};
  ShardedTypes types =
      type_op({call.mesh, typing_row(call.op)->primitive, std::move(operands), call.parameters});
  for (ShardedType& type : types) type.element = element;
  return types;
}

ShardedTypes clipped(const TypingCall& call) {
  return merged_with({call.mesh, call.op, of_equal_rank(call.operands), call.parameters},
                     no_unreduced);
}

void check_cases(const TypingCall& call, const ShardedType& which, const ShardedTypes& cases) {
  for (const ShardedType& one : cases) {
    if (one.entries == cases.front().entries) continue;
    refuse(RefusalKind::unequal_cases, "select cases must have the same shardings, got " +
                                           short_type_text(call.mesh, cases.front()) + " and " +
                                           short_type_text(call.mesh, one));
  }
  if (which.rank() == 0 || which.entries == cases.front().entries) return;
  refuse(RefusalKind::which_sharding,
         "select `which` must be scalar or have the same sharding as cases, got " +
             short_type_text(call.mesh, which) + " beside " +
             short_type_text(call.mesh, cases.front()));
}

ShardedTypes selected(const TypingCall& call) {
  check_cases(call, call.operands[0], {call.operands.begin() + 1, call.operands.end()});
  return {call.operands[1]};
}

ShardedTypes where(const TypingCall& call) {
  const ShardedType& which = call.operands[0];
  const ShardedTypes cases(call.operands.begin() + 1, call.operands.end());
  const bool has_sets = std::any_of(cases.begin(), cases.end(),
                                    [](const ShardedType& one) { return one.has_sets(); });
  const bool has_number = std::any_of(cases.begin(), cases.end(),
                                      [](const ShardedType& one) { return one.rank() == 0; });
  if (has_sets && has_number) {
    refuse(RefusalKind::sets_and_number,
           "a spec with unreduced or reduced axes cannot be of instance `tuple` and so is not "
           "padded to the other case's rank");
  }
  ShardedTypes sized = which.rank() > 0 ? call.operands : cases;
  const bool are_alike = std::all_of(sized.begin(), sized.end(), [&](const ShardedType& one) {
    return one.shape == sized.front().shape;
  });
  if (!are_alike) {
    return merged_with({call.mesh, call.op, of_equal_rank(std::move(sized)), call.parameters},
                       no_unreduced);
  }
  check_cases(call, which, cases);
  return {cases.front()};
}

}  // namespace shard::typing
