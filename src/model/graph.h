#pragma once
// The program on one imaginary device: values with global shapes, nodes in order, nested regions.
//
// All values and nodes of a graph live in two flat vectors; a region lists its nodes in execution
// order. Region 0 is the body of the function. A `repeat` node owns a further region, run `times`
// times:
//   operands      [carries..., stacked..., invariants...]      stacked arrays have a leading dim of
//   `times` region params [carries..., slices..., invariants...]       slices drop that leading dim
//   region results[carries..., outputs...]
//   node results  [final carries..., stacked outputs...]
// with attributes times, carries, stacked (counts) and reverse (0 or 1: walk the stacked arrays
// from the end). An example, one layer of the guide:
//   %4 = dot(%0, %1) {lhs_batch=[], ...} : f32[8,1024]   # DotReluDot_0/Dense_0
//   %5 = relu(%4) : f32[8,1024]

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/tensor_type.h"
#include "config/spec.h"
#include "ops/op.h"

namespace shard {

/// Which iteration of an unrolled `repeat` something belongs to. `repeat` is -1 outside of any.
/// With first < last it stands for all of these equal iterations (a folded graph); in names their
/// numbers are `{3..996}`.
struct Iteration {
  int repeat = -1;
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::int64_t count() const { return last - first + 1; }
  friend bool operator==(const Iteration&, const Iteration&) = default;
};

enum class Phase { forward, backward, update };

struct GraphValue {
  TensorType type;
  std::string name;                 ///< `DotReluDot_0/Dense_0`; empty for unnamed intermediates
  std::vector<std::string> labels;  ///< per dim the label (logical axis), empty text for none
  NodeId producer = NodeId::none;   ///< none: a graph input or a region parameter
  Location at;
};

struct Node {
  Op op = Op::constant;
  Attributes attributes;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  RegionId region = RegionId::none;  ///< of `repeat`
  Phase phase = Phase::forward;
  Iteration iteration;
  std::string
      name;  ///< the layer: `DotReluDot_0/Dense_0`; backward nodes carry their forward node's
  Location at;
};

struct Region {
  std::vector<ValueId> parameters;
  std::vector<NodeId> nodes;
  std::vector<ValueId> results;
};

/// `activation` is only of models without a program: their dumps list values of a program that is
/// not there.
enum class Role { input, parameter, optimizer, step, loss, gradient, output, activation };

/// An argument of the function. `state_leaf` indexes Model::state, -1 for a data input.
struct GraphInput {
  ValueId value = ValueId::none;
  std::string path;  ///< `params/DotReluDot_0/W2`, `opt_state/0/mu/...`, `x`
  Role role = Role::input;
  int state_leaf = -1;
  SpecConfig placement;  ///< unannotated state is replicated (closed `P()`)
  Iteration iteration{};
};

/// A result of the function. `donates` is the position in `inputs` whose storage it takes over, or
/// -1.
struct GraphOutput {
  ValueId value = ValueId::none;
  std::string path;
  Role role = Role::output;
  int state_leaf = -1;
  int donates = -1;
  std::optional<SpecConfig> placement;  ///< nothing: left to propagation (open)
  Iteration iteration{};
};

struct Graph {
  std::string name;  ///< `train_step`, `apply`
  std::vector<GraphValue> values;
  std::vector<Node> nodes;
  std::vector<Region> regions;         ///< [0] is the function body
  std::vector<GraphInput> inputs;      ///< regions[0].parameters in the same order
  std::vector<GraphOutput> outputs;    ///< regions[0].results in the same order
  std::vector<SpecConfig> placements;  ///< of `constrain` nodes, by attribute `placement`

  const GraphValue& value(ValueId id) const { return values[index_of(id)]; }
  const Node& node(NodeId id) const { return nodes[index_of(id)]; }
  const Region& region(RegionId id) const { return regions[index_of(id)]; }
  const Region& body() const { return regions.front(); }
};

/// The graph as text, one line per input, node and output; `--dump-stages` writes it and tests
/// assert on it. `annotations` (may be empty, else one per value) is appended to each value's type.
std::string to_string(const Graph& graph, const std::vector<std::string>& annotations = {});

/// Checks every belief above (ids in range, defined before use, types agree with the shape rules,
/// region signatures); throws `InternalError`.
void verify(const Graph& graph);

/// Types of a node's operands or results.
std::vector<TensorType> types_of(const Graph& graph, const std::vector<ValueId>& values);

/// The factor rule of a node on its global types. Must not be called for ops without a rule.
FactorRule rule_of(const Graph& graph, const Node& node);

}  // namespace shard
