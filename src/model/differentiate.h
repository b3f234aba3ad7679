#pragma once
// Reverse mode, one region at a time; the public function is in model.h. Only values that depend on
// what is differentiated get a cotangent; several cotangents of one value are added.

#include "model/graph_builder.h"
#include "model/remat.h"

namespace shard {

class Differentiator {
 public:
  /// Derivatives with respect to the graph inputs `wrt`.
  Differentiator(Graph& graph, const std::vector<ValueId>& wrt, std::vector<RematRange> remats);

  /// Emits the backward nodes of `nodes`, last first, where the builder stands.
  void walk(const std::vector<NodeId>& nodes);

  /// Adds a cotangent to that of `primal`; it gets the primal's labels where it has none.
  void accumulate(ValueId primal, ValueId cotangent);
  ValueId cotangent(ValueId primal) const { return cotangent_[index_of(primal)]; }
  ValueId cotangent_or_zeros(ValueId primal);
  ValueId zeros_like(ValueId primal);
  bool is_active(ValueId primal) const { return active_[index_of(primal)] != 0; }
  GraphBuilder& builder() { return builder_; }

 private:
  void step(NodeId node);
  void label_new_nodes(std::size_t first);

  GraphBuilder builder_;
  Rematerializer rematerializer_;
  std::vector<char> active_;        ///< per forward value
  std::vector<ValueId> cotangent_;  ///< per forward value
};

/// The same as without ranges, but what these say is computed again.
std::vector<ValueId> differentiate(Graph& graph, ValueId scalar, const std::vector<ValueId>& wrt,
                                   std::vector<RematRange> remats);

}  // namespace shard
