#pragma once
// The types of a graph's values in explicit mode. The forward ops are typed by the rules of
// explicit_typing.h, op by op; ops that have no row there by their factors. Derivatives and updates
// are not typed: they follow.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/graph.h"
#include "shard/explicit_typing.h"
#include "shard/sharding.h"

namespace shard {

/// A node whose result has no type, and why.
struct TypingMistake {
  NodeId node = NodeId::none;
  RefusalKind kind = RefusalKind::unknown_op;
  std::string message;
  ShardedTypes operands;
};

struct GraphTypes {
  /// By ValueId; nothing for values of derivatives and updates, and for what follows a mistake.
  std::vector<std::optional<ShardedType>> types;
  /// By ValueId: the mesh in force where the value is made, an index into `meshes`.
  std::vector<int> mesh_of;
  std::vector<Mesh> meshes;  ///< the first is the graph's; others are those of regions
  /// In the order of the nodes; what follows from one is not reported again.
  std::vector<TypingMistake> mistakes;

  const Mesh& mesh(ValueId value) const {
    return meshes[static_cast<std::size_t>(mesh_of[index_of(value)])];
  }
};

/// Types from the inputs on. `inputs` has the sharding of each input by position; `placements`
/// those that `constrain` nodes ask for, by attribute.
GraphTypes type_graph(const Graph& graph, const Mesh& mesh, const std::vector<Sharding>& inputs,
                      const std::vector<PartitionSpec>& placements);

/// The sharding that a type is: closed, or open for axes of type auto.
Sharding sharding_of_type(const Mesh& mesh, const ShardedType& type);
/// The type that an array with this sharding has.
ShardedType type_of_sharding(const Mesh& mesh, const TensorType& type, const Sharding& sharding);

}  // namespace shard
