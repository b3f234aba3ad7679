#pragma once
// The leaves of a state through the rules, once for all that get the same answer.
//
// A model of 126 unrolled layers has thousands of leaves and a dozen kinds of them. What the rules
// say depends on the axes, the shape, the element type and the part, so leaves that agree in these
// are one class, and a class is resolved once:
//
//   const StateClasses classes(model.state);              // once per model
//   for (rules, mesh) {
//     Diagnostics mistakes;
//     const ResolvedState state = resolve_state(model.state, classes, rules, mesh, mistakes);
//     for (const ResolvedClass& one : state.classes) ...  // one.resolved, for one.leaves
//   }
//
// Costs: the classes once, then a few microseconds per class for every rule set and mesh, whatever
// the number of devices.

#include <span>
#include <utility>
#include <vector>

#include "model/model.h"
#include "shard/resolve.h"
#include "shard/sharded_graph.h"

namespace shard {

/// Which rules are asked first for an argument, a result or a leaf.
Part part_of(Role role);

/// Leaves with equal axes, shape, element type, labels and part, by position in the state.
class StateClasses {
 public:
  explicit StateClasses(std::span<const StateLeaf> state);

  /// Each with its leaves in order; ordered by their first leaves.
  std::span<const std::vector<int>> classes() const { return classes_; }

 private:
  std::vector<std::vector<int>> classes_;
};

/// What holds for all these leaves.
struct ResolvedClass {
  std::vector<int> leaves;  ///< positions in the state, in order
  std::int64_t count = 0;   ///< arrays: leaves with as many iterations as they stand for
  /// Of the first leaf. The reasons of the others differ only in the place of their own spec: see
  /// `reasons_of`.
  Resolved resolved;
};

struct ResolvedState {
  std::vector<ResolvedClass> classes;  ///< ordered by their first leaves
  std::vector<int> class_of;           ///< by leaf
  std::vector<RuleUse> uses;
  std::vector<RuleDecision> decisions;
  std::vector<std::int64_t> path_arrays;  ///< see ShardedGraph
  std::vector<std::pair<LogicalAxis, Location>> unmatched;

  const Resolved& of(int leaf) const {
    return classes[static_cast<std::size_t>(class_of[static_cast<std::size_t>(leaf)])].resolved;
  }
};

/// Resolves every class once. `classes` must be those of `state`. Mistakes go to `diagnostics` (see
/// Resolver), each once per class, in the name of its first leaf.
ResolvedState resolve_state(std::span<const StateLeaf> state, const StateClasses& classes,
                            const RulesConfig& rules, const Mesh& mesh, Diagnostics& diagnostics);

/// The reasons of one leaf with the places of its own spec.
ValueReasons reasons_of(const ResolvedState& resolved, std::span<const StateLeaf> state, int leaf);

/// A model without a program, sharded: `model.apply` has the leaves as inputs and no nodes.
/// Throws `Error` with all mistakes of resolution. The graph is moved out of the model.
ShardedGraph shard_state(Model& model, const RulesConfig& rules, const Mesh& mesh);

}  // namespace shard
