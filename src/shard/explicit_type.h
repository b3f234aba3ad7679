#pragma once
// Sharding in types: in explicit mode the type of a value says how it is split, and an op's result
// type follows from its operands' types by a rule. Nothing is propagated backwards and nothing is
// guessed: where a rule has more than one answer, the program has to say which.
//
// On the mesh fsdp 4 x model 2 the product of bfloat16[8@fsdp,4096,128] and
// bfloat16[128@fsdp,256@model] is bfloat16[8@fsdp,4096,256@model]; that of its result and
// [256@model,128@fsdp] is refused, because both have the contracted dim split over `model`.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor_type.h"
#include "config/spec.h"
#include "mesh/mesh.h"

namespace shard {

/// Mesh axes of one dim by position in the mesh, major to minor; empty is None.
using TypeEntry = std::vector<int>;
using TypeEntries = std::vector<TypeEntry>;

/// An element type by the name JAX prints. A weak one gives way to others in promotion.
struct ElementType {
  std::string name = "float32";
  bool is_weak = false;

  friend bool operator==(const ElementType&, const ElementType&) = default;
};

/// What `jax.typeof` says of a value: only axes of type Explicit occur.
struct ShardedType {
  ElementType element;
  Shape shape;
  TypeEntries entries;     ///< one per dim
  TypeEntry unreduced{};   ///< ascending: the value is the sum of the shards along these
  TypeEntry reduced{};     ///< ascending: whole along these, its derivative is unreduced there
  bool is_number = false;  ///< a number written in the program, of rank 0
  double number = 0;       ///< that number
  bool is_mapped = false;  ///< inside `vmap`: has a split dim that the body does not see
  TypeEntry varying{};     ///< inside `shard_map`: devices along these may hold different values
  /// The mesh it was typed on, where that is not the one in force.
  std::shared_ptr<const Mesh> typed_on{};

  std::size_t rank() const { return shape.size(); }
  bool has_sets() const { return !unreduced.empty() || !reduced.empty(); }
  bool is_split() const;
};

/// Same shape and split, whatever the elements are.
bool same_placement(const ShardedType& a, const ShardedType& b);

/// A number written in the program.
ShardedType number_type(double number, bool is_integer);

/// `float32[8@x,4]{U:y}`: several axes in parentheses, sets of varying (V), unreduced (U) and
/// reduced (R) axes in the order of the mesh, `~` in front of a weak type.
std::string type_text(const Mesh& mesh, const ShardedType& type);
/// The same with the short names of errors and jaxprs: `f32[8@x,4]`.
std::string short_type_text(const Mesh& mesh, const ShardedType& type);
/// `P('x', None)`: the type's spec, as long as the rank.
PartitionSpec type_spec(const Mesh& mesh, const ShardedType& type);

/// Number of parts that `axes` cut a dim into.
std::int64_t ways(const Mesh& mesh, const TypeEntry& axes);
/// All axes of the entries, in order.
TypeEntry axes_of(const TypeEntries& entries);

/// A type on this mesh: entries are padded with None and lose the axes that are not Explicit.
/// Throws `TypingRefusal`: `spec_rank` for more entries than dims, `illegal_result` for an axis
/// that occurs twice, `indivisible`.
ShardedType make_type(const Mesh& mesh, ElementType element, Shape shape, TypeEntries entries,
                      TypeEntry unreduced = {}, TypeEntry reduced = {});

/// The type that a written spec gives. Throws `TypingRefusal`, in this order: `sets_overlap`,
/// `duplicate_axis`, `unknown_axis`, `unconstrained`, `auto_axis` (`where` is the op it is for),
/// then as `make_type`.
ShardedType written_type(const Mesh& mesh, std::string_view where, ElementType element, Shape shape,
                         const PartitionSpec& spec);

/// The checks of `written_type` that need no array; the spec's entries on this mesh.
TypeEntries written_entries(const Mesh& mesh, std::string_view where, const PartitionSpec& spec);
/// The first of them: what is refused whatever the types of the axes are.
void check_axes(const Mesh& mesh, const PartitionSpec& spec);
/// Positions of named axes, ascending. Assumes that the mesh has them.
TypeEntry axis_positions(const Mesh& mesh, const std::set<MeshAxis>& names);

}  // namespace shard
