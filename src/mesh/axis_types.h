#pragma once
// How each axis of a mesh may be used, and the way JAX checks and prints a mesh with such types.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mesh/axis_type.h"
#include "mesh/device.h"

namespace shard {

/// A name as a Python program gives it: None, a number or a text.
using AxisLabel = std::variant<std::monostate, std::int64_t, std::string>;

/// What a Python program hands to a mesh constructor.
struct MeshArguments {
  bool is_abstract = false;  ///< `AbstractMesh`: sizes without devices
  Shape sizes;
  std::variant<std::string, std::vector<AxisLabel>> names;
  /// One type is not spread over several axes. Nothing: the constructor's default.
  std::optional<std::vector<AxisType>> types;
};

/// A mesh as constructed: names and types, one per axis. Names may repeat, as in JAX.
struct MeshHeader {
  bool is_abstract = false;
  Shape sizes;
  std::vector<AxisLabel> names;
  std::vector<AxisType> types;

  /// Number of devices; an abstract mesh without axes has none.
  std::int64_t size() const;
  /// `Mesh('data': 2, 'model': 4, axis_types=(Auto, Auto))`.
  std::string str() const;
  /// `Mesh(axis_sizes=(2, 4), axis_names=('data', 'model'), axis_types=(Auto, Auto))`.
  std::string repr() const;
  /// Names with sizes; a repeated name once, with its last size.
  std::vector<std::pair<AxisLabel, std::int64_t>> shape() const;
};

/// Checks the arguments as the constructors do. A text of names is one name for a mesh and a letter
/// per axis for an abstract mesh. `fallback` is the type where none are given: `automatic` for the
/// constructors, `explicit_types` for `jax.make_mesh`. Throws `Error` `mesh-rank`, `bad-mesh-axis`
/// or `axis-types`.
MeshHeader construct_mesh(const MeshArguments& arguments, AxisType fallback, const Location& at);

}  // namespace shard
