#include "shard/explicit_type.h"

#include <algorithm>
#include <set>

#include "shard/explicit_refusal.h"

namespace shard {
namespace {

const std::string& axis_name(const Mesh& mesh, int axis) {
  return mesh.axes()[static_cast<std::size_t>(axis)].name.text();
}

/// `x`, or `(x,y)` for several.
std::string group_text(const Mesh& mesh, const TypeEntry& axes) {
  if (axes.size() == 1) return axis_name(mesh, axes.front());
  std::string text;
  for (const int axis : axes) text += (text.empty() ? "" : ",") + axis_name(mesh, axis);
  return "(" + text + ")";
}

std::string shape_text(const Mesh& mesh, const ShardedType& type) {
  std::string text;
  for (std::size_t dim = 0; dim < type.rank(); ++dim) {
    text += (dim == 0 ? "" : ",") + std::to_string(type.shape[dim]);
    if (!type.entries[dim].empty()) text += "@" + group_text(mesh, type.entries[dim]);
  }
  std::string sets;
  const auto add = [&](std::string_view letter, const TypeEntry& axes) {
    if (axes.empty()) return;
    sets += (sets.empty() ? "" : ", ") + std::string(letter) + ":" + group_text(mesh, axes);
  };
  add("V", type.varying);
  add("U", type.unreduced);
  add("R", type.reduced);
  return "[" + text + "]" + (sets.empty() ? "" : "{" + sets + "}");
}

/// `bf16` for `bfloat16`, `f32` for `float32`; other names as they are.
std::string short_name(const std::string& name) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"bfloat", "bf"}, {"float", "f"}, {"uint", "u"}, {"int", "i"}, {"complex", "c"}};
  for (const auto& [word, letters] : words) {
    if (name.starts_with(word)) return std::string(letters) + name.substr(word.size());
  }
  return name;
}

/// The axes of type Explicit.
TypeEntry explicit_axes_of(const Mesh& mesh, const TypeEntry& axes) {
  TypeEntry kept;
  for (const int axis : axes) {
    if (mesh.type(axis) == AxisType::explicit_types) kept.push_back(axis);
  }
  return kept;
}

void check_sets(const PartitionSpec& spec) {
  for (const MeshAxis& axis : spec.unreduced) {
    if (spec.reduced.contains(axis)) {
      refuse(RefusalKind::sets_overlap, "unreduced and reduced axes cannot overlap");
    }
  }
  for (const PartitionEntry& entry : spec.entries) {
    for (const MeshAxis& axis : entry.axes) {
      const bool is_unreduced = spec.unreduced.contains(axis);
      if (!is_unreduced && !spec.reduced.contains(axis)) continue;
      refuse(RefusalKind::sets_overlap, std::string("partitions cannot overlap with ") +
                                            (is_unreduced ? "unreduced" : "reduced") +
                                            " axes: " + to_string(spec));
    }
  }
}

void check_duplicates(const PartitionSpec& spec) {
  std::set<MeshAxis> seen;
  std::set<MeshAxis> twice;
  for (const PartitionEntry& entry : spec.entries) {
    for (const MeshAxis& axis : entry.axes) {
      if (!seen.insert(axis).second) twice.insert(axis);
    }
  }
  if (twice.empty()) return;
  std::string names;
  for (const MeshAxis& axis : twice) names += (names.empty() ? "`" : ", `") + axis.text() + "`";
  refuse(RefusalKind::duplicate_axis, to_string(spec) + " has duplicate entries for " + names);
}

void check_mesh_has(const Mesh& mesh, const PartitionSpec& spec) {
  for (const PartitionEntry& entry : spec.entries) {
    for (const MeshAxis& axis : entry.axes) {
      if (mesh.find(axis)) continue;
      refuse(RefusalKind::unknown_axis, "Resource axis: " + axis.text() + " of " + to_string(spec) +
                                            " is not found in mesh: " + to_string(mesh));
    }
  }
}

void check_set_axes(const Mesh& mesh, const std::set<MeshAxis>& axes, const std::string& title) {
  for (const MeshAxis& axis : axes) {
    if (mesh.find(axis)) continue;
    refuse(RefusalKind::unknown_set_axis,
           title + " axes " + axis.text() + " is not found in mesh: " + to_string(mesh));
  }
  for (const MeshAxis& axis : axes) {
    if (mesh.type(*mesh.find(axis)) == AxisType::explicit_types) continue;
    refuse(RefusalKind::set_axis_type,
           title + " axes can only refer to mesh axes that is of type `Explicit`");
  }
}

}  // namespace

bool ShardedType::is_split() const {
  return std::any_of(entries.begin(), entries.end(),
                     [](const TypeEntry& entry) { return !entry.empty(); });
}

bool same_placement(const ShardedType& a, const ShardedType& b) {
  return a.shape == b.shape && a.entries == b.entries && a.unreduced == b.unreduced &&
         a.reduced == b.reduced;
}

ShardedType number_type(double number, bool is_integer) {
  ShardedType type;
  type.element = {is_integer ? "int32" : "float32", true};
  type.is_number = true;
  type.number = number;
  return type;
}

std::string type_text(const Mesh& mesh, const ShardedType& type) {
  return (type.element.is_weak ? "~" : "") + type.element.name + shape_text(mesh, type);
}

std::string short_type_text(const Mesh& mesh, const ShardedType& type) {
  return short_name(type.element.name) + shape_text(mesh, type);
}

PartitionSpec type_spec(const Mesh& mesh, const ShardedType& type) {
  const auto name = [&](int axis) { return mesh.axes()[static_cast<std::size_t>(axis)].name; };
  PartitionSpec spec;
  for (const TypeEntry& axes : type.entries) {
    PartitionEntry entry;
    for (const int axis : axes) entry.axes.push_back(name(axis));
    spec.entries.push_back(std::move(entry));
  }
  for (const int axis : type.unreduced) spec.unreduced.insert(name(axis));
  for (const int axis : type.reduced) spec.reduced.insert(name(axis));
  return spec;
}

std::int64_t ways(const Mesh& mesh, const TypeEntry& axes) {
  std::int64_t parts = 1;
  for (const int axis : axes) parts *= mesh.size(axis);
  return parts;
}

TypeEntry axes_of(const TypeEntries& entries) {
  TypeEntry axes;
  for (const TypeEntry& entry : entries) axes.insert(axes.end(), entry.begin(), entry.end());
  return axes;
}

ShardedType make_type(const Mesh& mesh, ElementType element, Shape shape, TypeEntries entries,
                      TypeEntry unreduced, TypeEntry reduced) {
  ShardedType type;
  type.element = std::move(element);
  type.shape = std::move(shape);
  for (const TypeEntry& entry : entries) type.entries.push_back(explicit_axes_of(mesh, entry));
  type.unreduced = std::move(unreduced);
  type.reduced = std::move(reduced);
  if (type.entries.size() > type.rank()) {
    refuse(RefusalKind::spec_rank, "the spec is longer than the rank: (" +
                                       std::to_string(type.rank()) + ", " +
                                       to_string(type_spec(mesh, type)) + ")");
  }
  type.entries.resize(type.rank());
  TypeEntry used = axes_of(type.entries);
  std::sort(used.begin(), used.end());
  if (std::adjacent_find(used.begin(), used.end()) != used.end()) {
    refuse(RefusalKind::illegal_result,
           "produces an illegally sharded result: " + short_type_text(mesh, type));
  }
  for (std::size_t dim = 0; dim < type.rank(); ++dim) {
    const std::int64_t parts = ways(mesh, type.entries[dim]);
    if (type.shape[dim] % parts == 0) continue;
    refuse(RefusalKind::indivisible, "sharding spec " + to_string(type_spec(mesh, type)) +
                                         " cuts dim " + std::to_string(dim) + " into " +
                                         std::to_string(parts) +
                                         " parts, but does not evenly divide the dimension size " +
                                         std::to_string(type.shape[dim]));
  }
  return type;
}

void check_axes(const Mesh& mesh, const PartitionSpec& spec) {
  check_sets(spec);
  check_duplicates(spec);
  check_mesh_has(mesh, spec);
  const auto is_open = [](const PartitionEntry& entry) { return entry.is_unconstrained; };
  const bool has_open = std::any_of(spec.entries.begin(), spec.entries.end(), is_open);
  if (has_open && !mesh.has(AxisType::automatic)) {
    refuse(RefusalKind::unconstrained,
           "a spec cannot contain `P.UNCONSTRAINED` when no mesh axis_types are `Auto`");
  }
  check_set_axes(mesh, spec.unreduced, "Unreduced");
  check_set_axes(mesh, spec.reduced, "Reduced");
}

TypeEntries written_entries(const Mesh& mesh, std::string_view where, const PartitionSpec& spec) {
  check_axes(mesh, spec);
  TypeEntries entries;
  for (const PartitionEntry& entry : spec.entries) {
    if (entry.is_unconstrained) {
      refuse(RefusalKind::unconstrained,
             "UNCONSTRAINED has no meaning in the type of a value: " + to_string(spec));
    }
    TypeEntry& axes = entries.emplace_back();
    for (const MeshAxis& axis : entry.axes) axes.push_back(*mesh.find(axis));
  }
  for (const int axis : axes_of(entries)) {
    if (mesh.type(axis) == AxisType::explicit_types) continue;
    refuse(RefusalKind::auto_axis,
           "PartitionSpec passed to " + std::string(where) +
               " cannot contain axis names that are of type Auto or Manual. Got " +
               to_string(spec));
  }
  return entries;
}

TypeEntry axis_positions(const Mesh& mesh, const std::set<MeshAxis>& names) {
  TypeEntry axes;
  for (const MeshAxis& name : names) axes.push_back(*mesh.find(name));
  std::sort(axes.begin(), axes.end());
  return axes;
}

ShardedType written_type(const Mesh& mesh, std::string_view where, ElementType element, Shape shape,
                         const PartitionSpec& spec) {
  TypeEntries entries = written_entries(mesh, where, spec);
  return make_type(mesh, std::move(element), std::move(shape), std::move(entries),
                   axis_positions(mesh, spec.unreduced), axis_positions(mesh, spec.reduced));
}

}  // namespace shard
