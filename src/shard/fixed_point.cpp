#include "shard/fixed_point.h"

#include <algorithm>
#include <utility>

namespace shard {
namespace {

class FixedPoint {
 public:
  explicit FixedPoint(FlowGraph& flow)
      : flow_(flow),
        stepper_(flow),
        touching_(flow.slots.size()),
        changed_at_(flow.slots.size(), 0),
        quiet_(flow.nodes.size()),
        is_waiting_(flow.nodes.size(), false) {
    for (std::size_t i = 0; i < flow.nodes.size(); ++i) {
      for (const int slot : flow.nodes[i].operands) touch(slot, static_cast<int>(i));
      for (const int slot : flow.nodes[i].results) touch(slot, static_cast<int>(i));
    }
    for (const FlowResult& result : flow.results) {
      result_edges_.push_back(
          {FlowKind::edge, result.rule, {result.returned}, {result.result}, NodeId::none});
    }
  }

  void run_level(int level, Strategy strategy) {
    stepper_.set_strategy(strategy);
    strategy_ = strategy;
    sync_results();
    drain(level);
    sync_results();
  }

  const std::vector<Gain>& gains() const { return stepper_.gains(); }

  std::vector<FlowConflict> conflicts() {
    std::vector<FlowConflict> found;
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      stepper_.find_conflicts(flow_.nodes[i], static_cast<int>(i), found);
    }
    return found;
  }

 private:
  /// When a step last changed nothing, and under which regime.
  struct Quiet {
    Regime regime;
    Strategy strategy = Strategy::aggressive;
    std::int64_t since = -1;
  };

  void touch(int slot, int node) {
    std::vector<int>& nodes = touching_[static_cast<std::size_t>(slot)];
    if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
  }

  /// All nodes once, the first on top; a changed slot brings back the other nodes that touch it.
  void drain(int level) {
    for (std::size_t i = flow_.nodes.size(); i-- > 0;) push(static_cast<int>(i));
    while (!waiting_.empty()) {
      const int current = waiting_.back();
      waiting_.pop_back();
      is_waiting_[static_cast<std::size_t>(current)] = false;
      for (const int slot : step(current, level)) {
        for (const int node : touching_[static_cast<std::size_t>(slot)]) {
          if (node != current) push(node);
        }
      }
    }
  }

  void push(int node) {
    if (is_waiting_[static_cast<std::size_t>(node)]) return;
    is_waiting_[static_cast<std::size_t>(node)] = true;
    waiting_.push_back(node);
  }

  const std::vector<int>& step(int index, int level) {
    static const std::vector<int> nothing;
    const FlowNode& node = flow_.nodes[static_cast<std::size_t>(index)];
    const Regime regime = regime_of(node.kind, has_single_uses(node), level);
    Quiet& quiet = quiet_[static_cast<std::size_t>(index)];
    const bool is_same = quiet.regime == regime && quiet.strategy == strategy_;
    if (quiet.since >= 0 && is_same && !has_changed(node, quiet.since)) return nothing;
    const std::vector<int>& changed = stepper_.run(node, index, regime);
    note_changes(changed);
    if (changed.empty()) quiet = {regime, strategy_, now_};
    return changed;
  }

  void note_changes(const std::vector<int>& changed) {
    if (changed.empty()) return;
    ++now_;
    for (const int slot : changed) changed_at_[static_cast<std::size_t>(slot)] = now_;
  }

  bool has_changed(const FlowNode& node, std::int64_t since) const {
    const auto is_newer = [&](int slot) {
      return changed_at_[static_cast<std::size_t>(slot)] > since;
    };
    return std::any_of(node.operands.begin(), node.operands.end(), is_newer) ||
           std::any_of(node.results.begin(), node.results.end(), is_newer);
  }

  bool has_single_uses(const FlowNode& node) const {
    return std::all_of(node.operands.begin(), node.operands.end(), [&](int slot) {
      const FlowSlot& operand = flow_.slots[static_cast<std::size_t>(slot)];
      return operand.uses == 1 || operand.shape.empty();
    });
  }

  /// Function results and what they return, both ways.
  void sync_results() {
    for (const FlowNode& edge : result_edges_) {
      note_changes(stepper_.run(edge, -1, unrestricted));
    }
  }

  FlowGraph& flow_;
  Stepper stepper_;
  Strategy strategy_ = Strategy::aggressive;
  std::vector<std::vector<int>> touching_;  ///< by slot: nodes
  std::vector<std::int64_t> changed_at_;    ///< by slot
  std::vector<Quiet> quiet_;                ///< by node
  std::vector<bool> is_waiting_;
  std::vector<int> waiting_;
  std::vector<FlowNode> result_edges_;
  std::int64_t now_ = 0;
};

}  // namespace

FlowOutcome reach_fixed_point(FlowGraph& flow, const std::vector<Strategy>& strategies) {
  FixedPoint run(flow);
  FlowOutcome outcome;
  for (int level = 0; level < op_priority_count; ++level) {
    for (const Strategy strategy : strategies) run.run_level(level, strategy);
    outcome.gains_until.push_back(run.gains().size());
  }
  outcome.conflicts = run.conflicts();
  outcome.gains = run.gains();
  return outcome;
}

}  // namespace shard
