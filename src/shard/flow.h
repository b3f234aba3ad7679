#pragma once
// What propagation runs on: slots that hold a sharding, and nodes that connect them by factor
// rules. A slot is not quite a value: constants get one slot per use, so that one use's sharding
// does not leak to another; a loop's carry is one slot inside and after the loop.

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "ops/factors.h"
#include "shard/sharding.h"

namespace shard {

/// How propagation schedules a node (spec section 6.5); `edge` is data flow that is no op.
enum class FlowKind {
  elementwise,    ///< both directions first; operands never outgrow the result
  data_movement,  ///< reshape, transpose: both directions first
  edge,           ///< both directions first, whatever the use counts
  slice,          ///< dynamic slices and updates: forward first
  broadcast,      ///< backward only until the end
  other,          ///< pass-through factors first, then all
};

struct FlowSlot {
  Shape shape;
  Sharding sharding;      ///< fully open and empty while nothing is known
  bool is_given = false;  ///< had a sharding before propagation
  int uses = 0;
  ValueId value = ValueId::none;  ///< the value it holds, `none` for function results
};

struct FlowNode {
  FlowKind kind = FlowKind::other;
  int rule = 0;               ///< index into FlowGraph::rules
  std::vector<int> operands;  ///< slots
  std::vector<int> results;
  NodeId origin = NodeId::none;
};

/// A returned slot and the function result's own slot.
struct FlowResult {
  int returned = 0;
  int result = 0;
  int rule = 0;  ///< of the edge between them
};

/// One dim's growth, in the order it happened.
struct Gain {
  int slot = 0;
  int dim = 0;
  std::vector<AxisRef> axes;
  int node = -1;    ///< index into nodes; -1: the function's result (or what it returns)
  int from = -1;    ///< slot that had the axes
  int factor = -1;  ///< of the node's rule
};

struct FlowGraph {
  std::vector<FactorRule> rules;  ///< nodes that are alike share one
  std::vector<FlowSlot> slots;
  std::vector<FlowNode> nodes;  ///< in program order
  std::vector<FlowResult> results;
};

/// The rule of an edge: one factor per dim, shared by `sources` operands and the result.
FactorRule identity_rule(const Shape& shape, std::size_t sources);

/// Builds a FlowGraph from values numbered by the caller, in program order. Does what happens
/// before propagation (spec section 6.2): constants once per use, constraints placed on their
/// inputs.
class FlowBuilder {
 public:
  /// A value with its slot; `given` is its sharding or nothing.
  int define(int value, const Shape& shape, const Sharding* given = nullptr);
  /// A value computed from constants alone: gets a slot (and a node) for each use. A constant
  /// itself has no operands, and its rule is not looked at.
  void define_constant(int value, const Shape& shape, FlowKind kind, int rule,
                       std::vector<int> operands, NodeId origin);
  bool is_constant(int value) const;
  /// `value` is `target` under another name: a loop's region argument and the loop's result.
  void alias(int value, int target);

  /// The slot an operand stands for, counted as a use.
  int use(int value);
  /// The slot of a defined value (following aliases), -1 for constants.
  int slot(int value) const;

  /// A rule for `add_node` and `define_constant`, which may use it any number of times.
  int add_rule(FactorRule rule);
  void add_node(FlowKind kind, int rule, std::vector<int> operands, std::vector<int> results,
                NodeId origin);
  /// Data flow from several slots to one.
  void add_edge(std::vector<int> sources, int target, NodeId origin);
  /// A constraint node's sharding speaks about its operand too.
  void constrain(int operand, const Sharding& sharding);
  /// The value becomes a function result with a slot of its own.
  void add_result(int value, const Sharding* given = nullptr);

  /// Applies the constraints and hands the graph over. Slots' `value` is the caller's number.
  FlowGraph finish();

  /// The graph so far.
  const FlowGraph& graph() const { return graph_; }

 private:
  struct Constant {
    Shape shape;
    FlowKind kind = FlowKind::other;
    int rule = 0;
    std::vector<int> operands;
    NodeId origin = NodeId::none;
  };
  int resolved(int value) const;
  /// nullptr: it is none.
  const Constant* constant(int value) const;
  int edge_rule(const Shape& shape, std::size_t sources);
  int new_slot(int value, const Shape& shape, const Sharding* given);

  FlowGraph graph_;
  std::vector<int> slot_of_;      ///< by value, -1 for none
  std::vector<int> alias_of_;     ///< by value, -1 for none
  std::vector<int> constant_of_;  ///< by value: position in `constants_`, -1 for none
  std::deque<Constant> constants_;
  std::map<std::pair<Shape, std::size_t>, int> edge_rules_;  ///< by shape and sources
  std::map<int, std::vector<Sharding>> constraints_;         ///< by slot, in program order
};

}  // namespace shard
