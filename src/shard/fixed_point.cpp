#include "shard/fixed_point.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace shard {
namespace {

class FixedPoint {
 public:
  explicit FixedPoint(FlowGraph& flow)
      : flow_(flow),
        stepper_(flow),
        changed_at_(flow.slots.size(), 0),
        quiet_(flow.nodes.size()),
        is_waiting_(flow.nodes.size(), false) {
    find_touching();
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

  std::size_t gain_count() const { return stepper_.gains().size(); }
  std::vector<Gain> take_gains() { return stepper_.take_gains(); }

  std::vector<FlowConflict> conflicts() {
    std::vector<FlowConflict> found;
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      const Quiet& quiet = quiet_[i];
      if (quiet.is_settled && !has_changed(flow_.nodes[i], quiet.since)) continue;
      stepper_.find_conflicts(flow_.nodes[i], static_cast<int>(i), found);
    }
    return found;
  }

 private:
  /// When a step last changed nothing, and under which regime; `is_settled`: under whichever.
  struct Quiet {
    Regime regime;
    Strategy strategy = Strategy::aggressive;
    std::int64_t since = -1;
    bool is_settled = false;
  };

  /// Lists the nodes of each slot, all lists in one.
  void find_touching() {
    touching_from_.assign(flow_.slots.size() + 1, 0);
    std::vector<int> last(flow_.slots.size(), -1);
    for_each_touch(last, [&](std::size_t slot, int) { ++touching_from_[slot + 1]; });
    std::partial_sum(touching_from_.begin(), touching_from_.end(), touching_from_.begin());
    touching_.resize(touching_from_.back());
    last.assign(flow_.slots.size(), -1);
    std::vector<std::size_t> next = touching_from_;
    for_each_touch(last, [&](std::size_t slot, int node) { touching_[next[slot]++] = node; });
  }

  /// Slots with their nodes in order, each pair once. `last`: by slot, -1.
  void for_each_touch(std::vector<int>& last, const auto& visit) const {
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      const int node = static_cast<int>(i);
      for (const std::vector<int>* slots : {&flow_.nodes[i].operands, &flow_.nodes[i].results}) {
        for (const int number : *slots) {
          const auto slot = static_cast<std::size_t>(number);
          if (std::exchange(last[slot], node) != node) visit(slot, node);
        }
      }
    }
  }

  std::span<const int> touching(int slot) const {
    const auto at = static_cast<std::size_t>(slot);
    return std::span(touching_).subspan(touching_from_[at],
                                        touching_from_[at + 1] - touching_from_[at]);
  }

  /// All nodes once, the first on top; a changed slot brings back the other nodes that touch it.
  void drain(int level) {
    for (std::size_t i = flow_.nodes.size(); i-- > 0;) push(static_cast<int>(i));
    while (!waiting_.empty()) {
      const int current = waiting_.back();
      waiting_.pop_back();
      is_waiting_[static_cast<std::size_t>(current)] = false;
      for (const int slot : step(current, level)) {
        for (const int node : touching(slot)) {
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
    const bool is_quiet = quiet.since >= 0 && (is_same || quiet.is_settled);
    if (is_quiet && !has_changed(node, quiet.since)) return nothing;
    const std::vector<int>& changed = stepper_.run(node, index, regime);
    note_changes(changed);
    if (changed.empty()) quiet = {regime, strategy_, now_, stepper_.is_settled()};
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
  std::vector<int> touching_;               ///< nodes, by slot
  std::vector<std::size_t> touching_from_;  ///< by slot: where its nodes begin; one more at the end
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
    outcome.gains_until.push_back(run.gain_count());
  }
  outcome.conflicts = run.conflicts();
  outcome.gains = run.take_gains();
  return outcome;
}

}  // namespace shard
