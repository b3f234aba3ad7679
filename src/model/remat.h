#pragma once
// Rematerialization: what a block's derivative needs of its forward pass is computed again from the
// block's inputs instead of being kept (Chen et al., "Training Deep Nets with Sublinear Memory
// Cost", 2016; JAX's checkpoint).
//
// A range of nodes is one use of a block. The backward pass asks for values of it as usual; what
// the policy does not keep is then replaced by copies of the nodes that lead to it, each once,
// right before the first use. Values from before the range (a block's input, parameters) are there
// anyway, and what a block hands on is kept. Loops inside a range are not run again: what leaves
// them is kept, and what is inside them they keep themselves, or remake by a policy of their own.

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/graph_builder.h"

namespace shard {

/// Whether the values of a node are kept for the backward pass.
using KeepsNode = bool (*)(const Node& node);

/// `full` keeps nothing, `dots` the products, `dots_no_batch` the products without batch dims (not
/// those of attention); nothing for `none`.
KeepsNode remat_policy(std::string_view word);

/// The nodes from `first` up to, and without, `end`.
struct RematRange {
  NodeId first;
  NodeId end;
  KeepsNode keeps;
};

class Rematerializer {
 public:
  /// Of ranges within ranges the outermost count.
  Rematerializer(GraphBuilder& builder, std::vector<RematRange> ranges);

  /// In the nodes of the current region from position `first` on, reads copies of what is not kept,
  /// which come before these nodes.
  void serve(std::size_t first);

 private:
  const RematRange* range_of(ValueId value) const;
  /// A block's result is the next one's input: it is kept, or all blocks would be run again at
  /// once.
  void keep_what_leaves();
  ValueId remade(ValueId value);

  GraphBuilder& builder_;
  std::vector<RematRange> ranges_;  ///< in order, none within another
  std::unordered_set<ValueId> kept_;
  std::unordered_map<ValueId, ValueId> copies_;
};

}  // namespace shard
