#pragma once
// The one way nodes get into a graph: types by the op's shape rule, labels by its factor rule.

#include "model/graph.h"
#include "ops/builder.h"

namespace shard {

/// What is stamped on every node and its results: which layer, in which phase and iteration.
struct NodeOrigin {
  std::string name;
  Location at;
  Phase phase = Phase::forward;
  Iteration iteration;
};

/// Appends to one region of `graph` at a time. The graph must outlive the builder; a reference into
/// its vectors does not survive the next call.
class GraphBuilder : public Builder {
 public:
  /// Makes region 0 when the graph has none, and appends there.
  explicit GraphBuilder(Graph& graph);

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  const TensorType& type(ValueId value) const override { return graph_.value(value).type; }

  using Builder::emit;
  ValueId emit(Op op, std::span<const ValueId> operands, Attributes attributes) override;
  std::vector<ValueId> emit_all(Op op, std::span<const ValueId> operands,
                                Attributes attributes) override;

  /// The same when the caller has asked the shape rule already and, for an op of one result, may
  /// know its labels.
  std::vector<ValueId> emit_typed(Op op, std::span<const ValueId> operands, Attributes attributes,
                                  std::vector<TensorType> results,
                                  std::optional<std::vector<std::string>> labels = std::nullopt);

  /// A value without a producer: a graph input or a region parameter. The caller lists it.
  ValueId add_value(TensorType type, std::string name, std::vector<std::string> labels,
                    Location at);
  /// A further result of a node, after those it has.
  ValueId add_result(NodeId node, TensorType type, std::vector<std::string> labels);
  /// A `repeat` node over `region` in the current region; its results are added by `add_result`.
  NodeId add_repeat(RegionId region, std::vector<ValueId> operands, Attributes attributes);

  RegionId add_region();
  /// Appends to `region` from now on; returns the region appended to so far.
  RegionId enter(RegionId region);
  RegionId region() const { return region_; }

  NodeOrigin origin;
  /// Leaves results without labels where a factor rule would have to be worked out; whoever sets
  /// this fills them in.
  bool labels_later = false;

 private:
  NodeId append(Node node);

  Graph& graph_;
  RegionId region_ = id_at<RegionId>(0);
};

/// Labels of each result dim: that of the first operand dim with the same factor that has one.
std::vector<std::vector<std::string>> result_labels(const Graph& graph, Op op,
                                                    std::span<const ValueId> operands,
                                                    std::span<const TensorType> results,
                                                    const Attributes& attributes);

}  // namespace shard
