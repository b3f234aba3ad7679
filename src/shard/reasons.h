#pragma once
// Reasons are data, recorded when a decision is made: which rule, which constraint, propagated from
// where.

#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/ids.h"
#include "mesh/mesh.h"

namespace shard {

enum class ReasonKind {
  rule,           ///< `rule` (from 1) at `at` gave the axes
  no_rule,        ///< no rule names the logical axis `logical`
  rule_none,      ///< a rule says None
  blocked,        ///< rules matched, but their mesh axes were taken by dim `other_dim`
  explicit_spec,  ///< `P(...)` written at `at`
  unannotated,    ///< no spec: replicated
  scalar,
  follows,        ///< an optimizer slot mirrors its parameter
  constraint,     ///< a `constrain` node at `at`
  propagated,     ///< through node `via` along a factor from value `from`
  output,         ///< the function's output number `output`, placed at `at`, asks for it
  unconstrained,  ///< left to propagation by the spec at `at`
  uneven,         ///< propagation offered `axes`, but they do not divide the dim
  dropped,        ///< `misfit: drop-axes`: these axes do not divide the dim
  padded,         ///< `misfit: pad`: the axes do not divide the dim, the last pieces are padding
  typed,          ///< explicit mode: the typing rule of node `via` gave the axes
  taken_as_axis,  ///< no rule names `logical`, so NNX takes it for a mesh axis
};

/// Why one dim of a value has the axes it has.
struct Reason {
  ReasonKind kind = ReasonKind::unannotated;
  int rule = 0;         ///< from 1: the general rules, then those of each part, in file order
  LogicalAxis logical;  ///< the dim's logical axis where the spec has one
  int other_dim = -1;
  int output = -1;
  int decision = -1;  ///< of the rules, where they were asked: position in ShardedGraph::decisions
  Location at;
  NodeId via = NodeId::none;
  ValueId from = ValueId::none;
  std::string label;          ///< label of the factor, e.g. `batch`; empty when it has none
  std::vector<AxisRef> axes;  ///< what was gained, or lost when `uneven`
  int step = 0;               ///< of propagation, from 1: the order in which dims gained axes
  int level = 0;              ///< op priority at which it happened
};

/// A reason with what most kinds have.
inline Reason reason_for(ReasonKind kind, Location at = {}, std::vector<AxisRef> axes = {}) {
  Reason reason;
  reason.kind = kind;
  reason.at = std::move(at);
  reason.axes = std::move(axes);
  return reason;
}

/// A conflict that propagation resolved: at node `via` these axes wanted `loser` and stayed away.
struct Conflict {
  NodeId via = NodeId::none;
  ValueId loser = ValueId::none;
  int dim = -1;
  std::vector<AxisRef> axes;
  ValueId from = ValueId::none;  ///< the value that has them
  std::string label;             ///< of the factor along which they came
  std::string why;  ///< `dim 1 has model already`, `its sharding is given`, `... differ`
};

/// Reasons of one value, per dim the list in the order they happened.
using ValueReasons = std::vector<std::vector<Reason>>;

}  // namespace shard
