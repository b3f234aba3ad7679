// Typing rules of loops, branches and maps.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

ShardedTypes run_body(const TypingCall& call, ShardedTypes arguments) {
  return type_program(call.mesh, find(call.parameters, "body")->program(), std::move(arguments),
                      call.listener);
}

/// What the body of a scan sees of an array it walks over.
ShardedType row_of_stack(const TypingCall& call, const ShardedType& stack) {
  if (!stack.entries[0].empty()) {
    refuse(RefusalKind::stacked_dim, "0th dimension of all xs should be replicated. Got " +
                                         to_string(type_spec(call.mesh, stack)));
  }
  return typed_like(call, stack, without(stack.shape, {0}), without(stack.entries, {0}));
}

ShardedType stack_of(const TypingCall& call, const ShardedType& row, std::int64_t count) {
  return typed_like(call, row, inserted(row.shape, 0, count),
                    inserted(row.entries, 0, TypeEntry{}));
}

bool is_same(const ShardedType& a, const ShardedType& b) {
  return a.element.name == b.element.name && same_placement(a, b);
}

void check_carry(const TypingCall& call, std::span<const ShardedType> before,
                 std::span<const ShardedType> after) {
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (is_same(before[k], after[k])) continue;
    refuse(RefusalKind::loop_carry,
           "carry input and carry output must have equal types: the loop starts with " +
               type_text(call.mesh, before[k]) + " and goes on with " +
               type_text(call.mesh, after[k]));
  }
}

}  // namespace

ShardedTypes scan(const TypingCall& call) {
  const auto carries = static_cast<std::size_t>(integer_or(call.parameters, "carries", 1));
  ShardedTypes arguments;
  std::int64_t times = integer_or(call.parameters, "length", 0);
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    const ShardedType& operand = call.operands[k];
    if (k >= carries) times = operand.shape[0];
    arguments.push_back(k < carries ? operand : row_of_stack(call, operand));
  }
  ShardedTypes results = run_body(call, std::move(arguments));
  check_carry(call, std::span(call.operands).first(carries), results);
  for (std::size_t k = carries; k < results.size(); ++k) {
    results[k] = stack_of(call, results[k], times);
  }
  return results;
}

ShardedTypes map_rows(const TypingCall& call) {
  ShardedTypes rows;
  for (const ShardedType& operand : call.operands) rows.push_back(row_of_stack(call, operand));
  ShardedTypes results = run_body(call, std::move(rows));
  for (ShardedType& result : results) result = stack_of(call, result, call.operands[0].shape[0]);
  return results;
}

ShardedTypes while_loop(const TypingCall& call) {
  if (const Parameter* condition = find(call.parameters, "cond")) {
    type_program(call.mesh, condition->program(), call.operands);
  }
  ShardedTypes results = run_body(call, call.operands);
  check_carry(call, call.operands, results);
  return results;
}

ShardedTypes counted_loop(const TypingCall& call) {
  ShardedType counter;
  counter.element = {"int32", false};
  ShardedTypes arguments = {counter};
  arguments.insert(arguments.end(), call.operands.begin(), call.operands.end());
  ShardedTypes results = run_body(call, std::move(arguments));
  check_carry(call, call.operands, results);
  return results;
}

ShardedTypes branch(const TypingCall& call) {
  const ShardedType& predicate = call.operands[0];
  if (predicate.rank() != 0) {
    refuse(RefusalKind::predicate, "Pred must be a scalar, got " + type_text(call.mesh, predicate));
  }
  ShardedTypes first;
  const Parameter::List& bodies = find(call.parameters, "branches")->list();
  for (std::size_t which = 0; which < bodies.size(); ++which) {
    if (call.listener != nullptr) call.listener->enters(which);
    ShardedTypes results =
        type_program(call.mesh, bodies[which].program(),
                     {call.operands.begin() + 1, call.operands.end()}, call.listener);
    if (call.listener != nullptr) call.listener->leaves();
    if (first.empty()) first = results;
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (is_same(first[k], results[k])) continue;
      refuse(RefusalKind::branches, "branches must have equal output types, but they are " +
                                        type_text(call.mesh, first[k]) + " and " +
                                        type_text(call.mesh, results[k]));
    }
  }
  return first;
}

ShardedTypes called(const TypingCall& call) { return run_body(call, call.operands); }

namespace {

/// A result of jit as its `out_shardings` has it: unlike a reshard's, its dims are compared first.
/// While jit is traced inside of something it is compared, and the type stays the body's.
ShardedType annotated(const Mesh& mesh, const ShardedType& result, const PartitionSpec& spec) {
  const TypeEntries entries = written_entries(mesh, "jit", spec);
  const auto told = [&](const std::string& why) { return "jit's " + to_string(spec) + ' ' + why; };
  if (entries.size() > result.rank()) {
    refuse(RefusalKind::annotated_rank,
           "the result " + short_type_text(mesh, result) +
               " is incompatible with its sharding annotation: " + to_string(spec));
  }
  for (std::size_t dim = 0; dim < entries.size(); ++dim) {
    const std::int64_t parts = ways(mesh, entries[dim]);
    if (result.shape[dim] % parts == 0) continue;
    refuse(
        RefusalKind::annotated_uneven,
        told("cuts dim " + std::to_string(dim) + " into " + std::to_string(parts) +
             " parts, which should evenly divide the shape of " + short_type_text(mesh, result)));
  }
  return written_type(mesh, "jit", result.element, result.shape, spec);
}

}  // namespace

ShardedTypes jitted(const TypingCall& call) {
  ShardedTypes results = called(call);
  if (call.out == nullptr) return results;
  for (ShardedType& result : results) {
    ShardedType placed = annotated(call.mesh, result, *call.out);
    if (call.is_eager) result = std::move(placed);
  }
  return results;
}

namespace {

/// One number for all, or a list with None for what is not mapped.
std::vector<std::optional<std::int64_t>> axes_per_value(const Parameter* written,
                                                        std::size_t count) {
  std::vector<std::optional<std::int64_t>> axes;
  for (std::size_t k = 0; k < count; ++k) {
    if (written == nullptr) {
      axes.emplace_back(0);
    } else if (written->is_integer()) {
      axes.emplace_back(written->integer());
    } else {
      const Parameter& one = written->list()[k];
      axes.push_back(one.is_none() ? std::nullopt : std::optional(one.integer()));
    }
  }
  return axes;
}

/// The dims that a map takes away: they have one entry, and nothing else may use its axes.
class MappedDims {
 public:
  explicit MappedDims(const TypingCall& call)
      : call_(call), axes_(axes_per_value(find(call.parameters, "in_axes"), call.operands.size())) {
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      if (axes_[k]) see(call.operands[k], dim_at(*axes_[k], call.operands[k].rank()));
    }
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      if (!axes_[k] && uses_entry(axes_of(call.operands[k].entries))) {
        refuse(RefusalKind::unmapped_axes,
               "Unmapped values passed to vmap cannot be sharded along the mapped axes: " +
                   short_type_text(call.mesh, call.operands[k]));
      }
    }
    check_inside(find(call.parameters, "body")->program());
  }

  ShardedTypes arguments() const {
    ShardedTypes inner = call_.operands;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      if (!axes_[k]) continue;
      const ShardedType& value = call_.operands[k];
      const Dims mapped = {dim_at(*axes_[k], value.rank())};
      inner[k] = make_type(call_.mesh, value.element, without(value.shape, mapped),
                           without(value.entries, mapped));
      inner[k].is_mapped = !entry_->empty();
    }
    return inner;
  }

  ShardedType result(const ShardedType& inner, std::int64_t axis) const {
    const std::size_t dim = dim_at(axis, inner.rank() + 1);
    return make_type(call_.mesh, inner.element, inserted(inner.shape, dim, size_),
                     inserted(inner.entries, dim, *entry_));
  }

 private:
  void see(const ShardedType& value, std::size_t dim) {
    if (entry_ && *entry_ != value.entries[dim]) {
      refuse(RefusalKind::mapped_dims,
             "Mapped away dimension of inputs passed to vmap should be sharded the same. Got " +
                 entries_text(call_.mesh, {*entry_}) + " and " +
                 entries_text(call_.mesh, {value.entries[dim]}));
    }
    entry_ = value.entries[dim];
    size_ = value.shape[dim];
  }

  bool uses_entry(const TypeEntry& axes) const {
    return std::any_of(axes.begin(), axes.end(), [&](int axis) {
      return std::find(entry_->begin(), entry_->end(), axis) != entry_->end();
    });
  }

  /// An out_sharding inside gets the mapped entry in front.
  void check_inside(const TypedProgram& body) const {
    for (const TypedStep& step : body.steps) {
      if (!step.out_sharding) continue;
      for (const PartitionEntry& entry : step.out_sharding->entries) {
        for (const MeshAxis& axis : entry.axes) {
          const std::optional<int> known = call_.mesh.find(axis);
          if (!known || !uses_entry({*known})) continue;
          refuse(RefusalKind::duplicate_axis,
                 "the mapped dim's entry in front of " + to_string(*step.out_sharding) +
                     " has duplicate entries for `" + axis.text() + "`");
        }
      }
    }
  }

  const TypingCall& call_;
  std::vector<std::optional<std::int64_t>> axes_;
  std::optional<TypeEntry> entry_;
  std::int64_t size_ = 0;
};

}  // namespace

ShardedTypes vmap(const TypingCall& call) {
  const MappedDims mapped(call);
  ShardedTypes results = run_body(call, mapped.arguments());
  const auto axes = axes_per_value(find(call.parameters, "out_axes"), results.size());
  for (std::size_t k = 0; k < results.size(); ++k) {
    results[k] = mapped.result(results[k], axes[k].value_or(0));
  }
  return results;
}

}  // namespace shard::typing
