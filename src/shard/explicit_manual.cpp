// Typing rules of `shard_map`: a program per device on the local parts, with collectives by name.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

bool has_axis(const TypeEntry& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

TypeEntry only(const TypeEntry& entry, const TypeEntry& axes, bool inside) {
  TypeEntry kept;
  std::copy_if(entry.begin(), entry.end(), std::back_inserter(kept),
               [&](int axis) { return has_axis(axes, axis) == inside; });
  return kept;
}

class ShardMap {
 public:
  explicit ShardMap(const TypingCall& call) : call_(call) {
    if (const Parameter* names = find(call.parameters, "axis_names")) {
      manual_ = named_axes(call.mesh, *names);
    } else {
      for (const std::size_t axis : first_dims(call.mesh.axes().size())) {
        manual_.push_back(static_cast<int>(axis));
      }
    }
    std::vector<MeshAxisInfo> infos = call.mesh.axes();
    for (const int axis : manual_) infos[static_cast<std::size_t>(axis)].type = AxisType::manual;
    inside_ = Mesh(std::move(infos));
  }

  ShardedTypes type() const {
    ShardedTypes arguments;
    for (std::size_t k = 0; k < call_.operands.size(); ++k) arguments.push_back(local(k));
    ShardedTypes results = type_program(inside_, find(call_.parameters, "body")->program(),
                                        std::move(arguments), call_.listener);
    const Parameter& specs = *find(call_.parameters, "out_specs");
    for (std::size_t k = 0; k < results.size(); ++k) {
      results[k] = whole(results[k], spec_of(specs.is_list() ? specs.list()[k] : specs));
    }
    return results;
  }

 private:
  TypeEntries entries_of(const PartitionSpec& spec, std::size_t rank) const {
    check_axes(call_.mesh, spec);
    TypeEntries entries;
    for (const PartitionEntry& entry : spec.entries) {
      TypeEntry& axes = entries.emplace_back();
      for (const MeshAxis& axis : entry.axes) axes.push_back(*call_.mesh.find(axis));
    }
    entries.resize(std::max(rank, entries.size()));
    return entries;
  }

  /// What the spec of an operand says, or what its type says where none is given.
  PartitionSpec in_spec(std::size_t k) const {
    const Parameter* specs = find(call_.parameters, "in_specs");
    if (specs == nullptr) return type_spec(call_.mesh, call_.operands[k]);
    return spec_of(specs->is_list() ? specs->list()[k] : *specs);
  }

  ShardedType local(std::size_t k) const {
    const ShardedType& value = call_.operands[k];
    const PartitionSpec spec = in_spec(k);
    const TypeEntries by_dim = entries_of(spec, value.rank());
    Shape shape = value.shape;
    TypeEntries kept;
    for (std::size_t dim = 0; dim < value.rank(); ++dim) {
      const std::int64_t parts = ways(call_.mesh, by_dim[dim]);
      if (shape[dim] % parts != 0) {
        refuse(RefusalKind::uneven_map, "the sizes of " + short_type_text(call_.mesh, value) +
                                            " are not evenly divisible by the corresponding mesh "
                                            "axis sizes of " +
                                            to_string(spec));
      }
      shape[dim] /= parts;
    }
    for (std::size_t dim = 0; dim < value.rank(); ++dim) {
      check_entry(value, spec, dim, by_dim[dim]);
      kept.push_back(only(value.entries[dim], manual_, false));
    }
    ShardedType type = make_type(inside_, value.element, std::move(shape), std::move(kept));
    type.varying = axes_of(by_dim);
    for (const int axis : axis_positions(call_.mesh, spec.reduced)) type.varying.push_back(axis);
    return type;
  }

  /// Where all axes are of type Explicit nothing is resharded on the way in.
  void check_entry(const ShardedType& value, const PartitionSpec& spec, std::size_t dim,
                   const TypeEntry& wanted) const {
    if (only(value.entries[dim], manual_, true) == wanted) return;
    if (!call_.mesh.is_explicit()) return;
    refuse(RefusalKind::in_specs, "in_specs passed to shard_map: " + to_string(spec) +
                                      " does not match the specs of the input: " +
                                      to_string(type_spec(call_.mesh, value)));
  }

  ShardedType whole(const ShardedType& local_type, const PartitionSpec& spec) const {
    const TypeEntries by_dim = entries_of(spec, local_type.rank());
    TypeEntry named = axes_of(by_dim);
    const TypeEntry unreduced = axis_positions(call_.mesh, spec.unreduced);
    named.insert(named.end(), unreduced.begin(), unreduced.end());
    const Parameter* checks = find(call_.parameters, "check_vma");
    const bool is_checked = checks == nullptr || checks->flag();
    for (const int axis : local_type.varying) {
      if (!is_checked || has_axis(named, axis)) continue;
      refuse(RefusalKind::out_specs,
             "shard_map was given out_specs which require replication which can't be inferred: " +
                 to_string(spec));
    }
    Shape shape = local_type.shape;
    TypeEntries entries = by_dim;
    for (std::size_t dim = 0; dim < local_type.rank(); ++dim) {
      shape[dim] *= ways(call_.mesh, by_dim[dim]);
      const TypeEntry& rest = local_type.entries[dim];
      entries[dim].insert(entries[dim].end(), rest.begin(), rest.end());
    }
    ShardedType type =
        make_type(call_.mesh, local_type.element, std::move(shape), std::move(entries), unreduced);
    return type;
  }

  const TypingCall& call_;
  TypeEntry manual_;
  Mesh inside_;
};

TypeEntry collective_axes(const TypingCall& call) {
  return named_axes(call.mesh, *find(call.parameters, "axis_name"));
}

std::size_t dim_of(const TypingCall& call, std::string_view key) {
  return dim_at(find(call.parameters, key)->integer(), call.operands[0].rank());
}

/// The local value with one size scaled.
ShardedType scaled(const TypingCall& call, std::size_t dim, std::int64_t times,
                   std::int64_t parts) {
  ShardedType type = call.operands[0];
  type.shape[dim] = type.shape[dim] * times / parts;
  return type;
}

}  // namespace

ShardedTypes shard_map(const TypingCall& call) { return ShardMap(call).type(); }

ShardedTypes summed_over_axis(const TypingCall& call) {
  ShardedType type = call.operands[0];
  type.varying = only(type.varying, collective_axes(call), false);
  return {std::move(type)};
}

ShardedTypes gathered_over_axis(const TypingCall& call) {
  const std::int64_t parts = ways(call.mesh, collective_axes(call));
  return {scaled(call, dim_of(call, "axis"), parts, 1)};
}

ShardedTypes scattered_over_axis(const TypingCall& call) {
  const std::int64_t parts = ways(call.mesh, collective_axes(call));
  return {scaled(call, dim_of(call, "scatter_dimension"), 1, parts)};
}

ShardedTypes permuted_over_axis(const TypingCall& call) { return {call.operands[0]}; }

ShardedTypes sent_by_lists(const TypingCall& call) {
  for (std::size_t k = 2; k < call.operands.size(); ++k) {
    const ShardedType& list = call.operands[k];
    if (list.rank() == 1 && list.shape[0] > 0) continue;
    refuse(RefusalKind::list_rank,
           "each list of ragged_all_to_all must be rank 1 with positive dimension size, but got " +
               short_type_text(call.mesh, list));
  }
  collective_axes(call);
  return {call.operands[1]};
}

ShardedTypes exchanged_over_axis(const TypingCall& call) {
  const std::int64_t parts = ways(call.mesh, collective_axes(call));
  ShardedType type = scaled(call, dim_of(call, "split_axis"), 1, parts);
  type.shape[dim_of(call, "concat_axis")] *= parts;
  return {std::move(type)};
}

}  // namespace shard::typing
