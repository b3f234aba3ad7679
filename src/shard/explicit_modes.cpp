// Typing rules of what changes the placement or the mode: reshards, constraints, and regions in
// which axes have another type.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

/// The mesh with some axes of another type.
Mesh with_types(const Mesh& mesh, const TypeEntry& axes, AxisType type) {
  std::vector<MeshAxisInfo> infos = mesh.axes();
  for (const int axis : axes) infos[static_cast<std::size_t>(axis)].type = type;
  return Mesh(std::move(infos));
}

TypeEntry axes_or_all(const TypingCall& call) {
  if (const Parameter* names = find(call.parameters, "axes")) {
    for (const std::string& name : names->texts()) {
      if (call.mesh.find(MeshAxis(name))) continue;
      refuse(RefusalKind::region_axis,
             '\'' + name + "' is no axis of the mesh " + to_string(call.mesh));
    }
    return named_axes(call.mesh, *names);
  }
  TypeEntry axes;
  for (const std::size_t axis : first_dims(call.mesh.axes().size())) {
    axes.push_back(static_cast<int>(axis));
  }
  return axes;
}

TypeEntry only_explicit(const Mesh& mesh, const TypeEntry& axes) {
  TypeEntry kept;
  std::copy_if(axes.begin(), axes.end(), std::back_inserter(kept),
               [&](int axis) { return mesh.type(axis) == AxisType::explicit_types; });
  return kept;
}

/// A value as another mesh sees it.
ShardedType seen_on(const Mesh& mesh, const ShardedType& value) {
  return make_type(mesh, value.element, value.shape, value.entries,
                   only_explicit(mesh, value.unreduced), only_explicit(mesh, value.reduced));
}

ShardedTypes run_body(const TypingCall& call, const Mesh& inside, ShardedTypes arguments) {
  return type_program(inside, find(call.parameters, "body")->program(), std::move(arguments),
                      call.listener);
}

}  // namespace

TypeEntry named_axes(const Mesh& mesh, const Parameter& names) {
  TypeEntry axes;
  for (const std::string& name : names.texts()) {
    const std::optional<int> axis = mesh.find(MeshAxis(name));
    if (!axis)
      refuse(RefusalKind::unknown_axis, name + " is not found in mesh: " + to_string(mesh));
    axes.push_back(*axis);
  }
  return axes;
}

PartitionSpec spec_of(const Parameter& written) {
  PartitionSpec spec;
  if (const Parameter* entries = written.find("spec")) {
    for (const Parameter& one : entries->list()) {
      PartitionEntry& entry = spec.entries.emplace_back();
      if (one.is_none()) continue;
      for (const std::string& name : one.texts()) entry.axes.emplace_back(name);
    }
  }
  const auto read_set = [&](std::string_view key, std::set<MeshAxis>& axes) {
    if (const Parameter* names = written.find(key)) {
      for (const std::string& name : names->texts()) axes.emplace(name);
    }
  };
  read_set("unreduced", spec.unreduced);
  read_set("reduced", spec.reduced);
  return spec;
}

ShardedType moved_to(const Mesh& mesh, std::string_view where, const ShardedType& value,
                     PartitionSpec spec) {
  const auto is_none = [](const PartitionEntry& entry) {
    return entry.axes.empty() && !entry.is_unconstrained;
  };
  while (spec.entries.size() > value.rank() && is_none(spec.entries.back())) {
    spec.entries.pop_back();
  }
  return written_type(mesh, where, value.element, value.shape, spec);
}

ShardedTypes resharded(const TypingCall& call) {
  return {moved_to(call.mesh, call.op, call.operands[0], *call.out)};
}

namespace {

void check_placement_rank(const TypingCall& call) {
  const std::size_t rank = call.operands[0].rank();
  if (call.out->entries.size() <= rank) return;
  refuse(RefusalKind::placement_rank,
         to_string(*call.out) + " is only valid for values of rank at least " +
             std::to_string(call.out->entries.size()) + ", but was applied to a value of rank " +
             std::to_string(rank));
}

}  // namespace

ShardedTypes put_on_devices(const TypingCall& call) {
  check_axes(call.mesh, *call.out);
  check_placement_rank(call);
  const ShardedType& value = call.operands[0];
  return {written_type(call.mesh, call.op, value.element, value.shape, *call.out)};
}

ShardedTypes constrained(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  check_axes(call.mesh, *call.out);
  const bool is_assertion = call.mesh.is_explicit();
  TypeEntries wanted;
  for (const PartitionEntry& entry : call.out->entries) {
    TypeEntry& axes = wanted.emplace_back();
    for (const MeshAxis& axis : entry.axes) axes.push_back(*call.mesh.find(axis));
  }
  if (!is_assertion && !only_explicit(call.mesh, axes_of(wanted)).empty()) {
    refuse(RefusalKind::constraint_axes,
           "a constraint can only refer to Auto axes of the mesh: " + to_string(*call.out));
  }
  check_placement_rank(call);
  if (is_assertion &&
      make_type(call.mesh, value.element, value.shape, wanted).entries != value.entries) {
    refuse(RefusalKind::constraint_assertion,
           "a constraint acts as an assert when all axes are Explicit: the value is " +
               type_text(call.mesh, value) + ", not " + to_string(*call.out));
  }
  return {value};
}

ShardedTypes auto_axes(const TypingCall& call) {
  TypeEntry axes = axes_or_all(call);
  std::sort(axes.begin(), axes.end());
  TypeEntry automatic;
  for (std::size_t axis = 0; axis < call.mesh.axes().size(); ++axis) {
    const int position = static_cast<int>(axis);
    if (call.mesh.type(position) == AxisType::automatic) automatic.push_back(position);
  }
  if (axes == automatic) return run_body(call, call.mesh, call.operands);
  if (call.out == nullptr) refuse(RefusalKind::no_out_sharding);
  const Mesh inside = with_types(call.mesh, axes, AxisType::automatic);
  ShardedTypes arguments;
  for (const ShardedType& operand : call.operands) arguments.push_back(seen_on(inside, operand));
  ShardedTypes results = run_body(call, inside, std::move(arguments));
  for (ShardedType& result : results) {
    result = moved_to(call.mesh, "reshard", result, *call.out);
  }
  return results;
}

ShardedTypes explicit_axes(const TypingCall& call) {
  const Mesh inside = with_types(call.mesh, axes_or_all(call), AxisType::explicit_types);
  const Parameter* wanted = find(call.parameters, "in_sharding");
  ShardedTypes arguments;
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    const ShardedType& operand = call.operands[k];
    if (wanted == nullptr) {
      arguments.push_back(seen_on(inside, operand));
      continue;
    }
    const Parameter& one = wanted->is_list() ? wanted->list()[k] : *wanted;
    arguments.push_back(moved_to(inside, "reshard", operand, spec_of(one)));
  }
  ShardedTypes results = run_body(call, inside, std::move(arguments));
  for (ShardedType& result : results) result = seen_on(call.mesh, result);
  return results;
}

}  // namespace shard::typing
