#include <algorithm>

#include "base/check.h"
#include "model/graph.h"
#include "model/guard.h"

namespace shard {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph), defined_(graph.values.size()), seen_(graph.nodes.size()) {}

  void verify() {
    SHARD_CHECK(!graph_.regions.empty(), "a graph has a body");
    for (const GraphValue& value : graph_.values) {
      SHARD_CHECK(value.labels.size() == value.type.shape.size(), "a value has one label per dim");
    }
    signature();
    region(graph_.body(), NodeId::none);
    SHARD_CHECK(std::all_of(seen_.begin(), seen_.end(), [](char seen) { return seen != 0; }),
                "every node is in a region");
  }

 private:
  bool in_range(ValueId id) const {
    return id != ValueId::none && index_of(id) < graph_.values.size();
  }

  void signature() {
    const Region& body = graph_.body();
    SHARD_CHECK(body.parameters.size() == graph_.inputs.size(), "each input is a body parameter");
    SHARD_CHECK(body.results.size() == graph_.outputs.size(), "each output is a body result");
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      SHARD_CHECK(graph_.inputs[i].value == body.parameters[i], "inputs are the body's parameters");
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) output(i);
  }

  void output(std::size_t position) {
    const GraphOutput& output = graph_.outputs[position];
    SHARD_CHECK(output.value == graph_.body().results[position], "outputs are the body's results");
    if (output.donates < 0) return;
    SHARD_CHECK(output.donates < static_cast<int>(graph_.inputs.size()), "a donated input exists");
    const ValueId donated = graph_.inputs[static_cast<std::size_t>(output.donates)].value;
    SHARD_CHECK(graph_.value(donated).type == graph_.value(output.value).type,
                "a donated input has the output's type");
  }

  void define(ValueId id, NodeId producer) {
    SHARD_CHECK(in_range(id), "a value is one of the graph's");
    SHARD_CHECK(!defined_[index_of(id)], "a value is defined once");
    SHARD_CHECK(graph_.value(id).producer == producer, "a value knows its producer");
    defined_[index_of(id)] = true;
  }

  void use(ValueId id) const {
    SHARD_CHECK(in_range(id), "an operand is one of the graph's values");
    SHARD_CHECK(defined_[index_of(id)], "a value is defined before it is used");
  }

  void region(const Region& region, NodeId owner) {
    // A loop body sees its own parameters only, never the values around it.
    std::vector<char> outside;
    if (owner != NodeId::none) {
      outside.assign(defined_.size(), 0);
      outside.swap(defined_);
    }
    for (const ValueId id : region.parameters) define(id, NodeId::none);
    for (const NodeId id : region.nodes) node(id);
    for (const ValueId id : region.results) use(id);
    if (owner == NodeId::none) return;
    for (std::size_t i = 0; i < defined_.size(); ++i) {
      SHARD_CHECK(!(defined_[i] && outside[i]), "a value is defined in one region");
    }
    defined_.swap(outside);
  }

  void node(NodeId id) {
    SHARD_CHECK(id != NodeId::none && index_of(id) < graph_.nodes.size(), "a node exists");
    SHARD_CHECK(!seen_[index_of(id)], "a node is in one region");
    seen_[index_of(id)] = true;
    const Node& node = graph_.node(id);
    for (const ValueId operand : node.operands) use(operand);
    if (node.op == Op::repeat) {
      loop(node, id);
    } else {
      SHARD_CHECK(node.region == RegionId::none, "only loops have a region");
      SHARD_CHECK(result_types(node.op, types_of(graph_, node.operands), node.attributes) ==
                      types_of(graph_, node.results),
                  "result types are those of the shape rule");
    }
    if (node.op == Op::constrain) {
      const std::int64_t placement = node.attributes.integer("placement");
      SHARD_CHECK(placement >= 0 && placement < std::ssize(graph_.placements),
                  "a constraint's placement is one of the graph's");
    }
    for (const ValueId result : node.results) define(result, id);
  }

  void loop(const Node& node, NodeId id) {
    SHARD_CHECK(node.region != RegionId::none && index_of(node.region) < graph_.regions.size(),
                "a loop has a region");
    const Region& body = graph_.region(node.region);
    const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    const auto stacked = static_cast<std::size_t>(node.attributes.integer("stacked"));
    const std::int64_t times = node.attributes.integer("times");
    SHARD_CHECK(carries + stacked <= node.operands.size(), "a loop has its carries and stacks");
    SHARD_CHECK(body.parameters.size() == node.operands.size(), "one body parameter per operand");
    SHARD_CHECK(body.results.size() == node.results.size(), "one body result per loop result");
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const bool is_slice = i >= carries && i < carries + stacked;
      same_type(body.parameters[i], node.operands[i], is_slice ? times : 0);
    }
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      same_type(body.results[i], node.results[i], i < carries ? 0 : times);
      if (i < carries) same_type(body.results[i], node.operands[i], 0);
    }
    if (is_guarded(node)) check_guard(node);
    region(body, id);
  }

  void check_guard(const Node& node) const {
    SHARD_CHECK(guard_of(node) < node.operands.size() && node.attributes.integer("times") == 1,
                "a guarded loop has a condition and runs once");
    const TensorType& type = graph_.value(node.operands[guard_of(node)]).type;
    SHARD_CHECK(type.rank() == 0 && type.dtype == DType::boolean, "a condition is a truth value");
  }

  /// `outer` has the type of `inner`, with a leading dim of `times` when that is not zero.
  void same_type(ValueId inner, ValueId outer, std::int64_t times) const {
    SHARD_CHECK(in_range(inner) && in_range(outer), "a loop's values are the graph's");
    TensorType expected = graph_.value(inner).type;
    if (times > 0) expected.shape.insert(expected.shape.begin(), times);
    SHARD_CHECK(graph_.value(outer).type == expected, "a loop's types agree with its body's");
  }

  const Graph& graph_;
  std::vector<char> defined_;
  std::vector<char> seen_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).verify(); }

}  // namespace shard
