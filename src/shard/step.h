#pragma once
// One propagation step on a node at one op priority (spec sections 6.5 and 6.7).

#include <span>
#include <utility>
#include <vector>

#include "shard/flow.h"
#include "shard/projection.h"
#include "shard/reasons.h"

namespace shard {

enum class Strategy { basic, aggressive };

inline constexpr int op_priority_count = 5;

struct Directions {
  bool forward = false;  ///< operands to results
  bool backward = false;

  bool any() const { return forward || backward; }
  friend bool operator==(const Directions&, const Directions&) = default;
};

/// What a node may do at an op priority. Under the same regime a step that changed nothing need not
/// be repeated while its slots stay as they are.
struct Regime {
  Directions pass_through;  ///< along pass-through factors
  Directions others;        ///< along all other factors

  friend bool operator==(const Regime&, const Regime&) = default;
};

/// Everything is allowed, as at the last priority.
inline constexpr Regime unrestricted{{true, true}, {true, true}};

/// Union of what priorities 0..level grant. `has_single_uses`: every operand that is no scalar has
/// exactly one use.
Regime regime_of(FlowKind kind, bool has_single_uses, int level);

/// Axes that wanted to come and could not.
struct FlowConflict {
  int node = 0;
  int slot = 0;  ///< the loser
  int dim = 0;
  int factor = 0;
  int from = 0;            ///< slot that has the axes
  int other_dim = -1;      ///< dim of the loser that has them already; -1: another cause
  bool is_closed = false;  ///< the loser's sharding is given
  Axes axes;
};

/// Runs steps on the nodes of one graph; keeps its scratch memory between steps.
class Stepper {
 public:
  explicit Stepper(FlowGraph& flow) : flow_(flow) {}

  void set_strategy(Strategy strategy) { strategy_ = strategy; }

  /// Expands the shardings of the node's slots as far as the regime allows. The slots that changed,
  /// until the next call. `index` is the node's number for gains.
  const std::vector<int>& run(const FlowNode& node, int index, const Regime& regime);

  /// Appends what kept the node's slots apart, were everything allowed; for after the fixed point.
  void find_conflicts(const FlowNode& node, int index, std::vector<FlowConflict>& conflicts);

  /// Whether the last step found nothing to do under any regime, and nothing that is apart: its
  /// tensors have the same axes along every factor that propagates.
  bool is_settled() const { return is_settled_; }

  const std::vector<Gain>& gains() const { return gains_; }
  /// Hands them over; for after the last step.
  std::vector<Gain> take_gains() { return std::move(gains_); }

 private:
  void begin(const FlowNode& node, const Regime& regime);
  void load();
  bool has_split_slot() const;
  bool agree_by_dim();
  bool agree() const;
  bool agree(int factor) const;
  int tensor_count() const { return static_cast<int>(slots_.size()); }
  int factor_count() const { return static_cast<int>(rule_->factors.size()); }
  const FlowSlot& slot_of(int tensor) const {
    return flow_.slots[static_cast<std::size_t>(slots_[static_cast<std::size_t>(tensor)])];
  }
  FactorShare& share(int tensor, int factor) {
    return shares_[static_cast<std::size_t>(tensor)][static_cast<std::size_t>(factor)];
  }
  const FactorShare& share(int tensor, int factor) const {
    return shares_[static_cast<std::size_t>(tensor)][static_cast<std::size_t>(factor)];
  }
  void load_sizes(int rule);
  const TensorFactors& layout(int tensor) const;
  std::int64_t tensor_size(int tensor) const;
  Directions directions_of(int factor) const;
  void find_wanted(int factor);
  void find_source(int factor);
  void filter(Axes& axes, int factor, int tensor);
  void keep_fitting(Axes& axes, const FactorShare& share, std::int64_t size);
  void cut_taken(Axes& axes, int factor, int tensor);
  void limit_by_results(Axes& axes, int factor);
  void update(int tensor, int factor, const Axes& axes);
  void run_basic();
  void run_aggressive();
  void sort_by_preference();
  void write_back(int index);
  void write_tensor(int tensor, int index);
  int most_split(int factor);
  int dim_of(int tensor, int factor) const;
  void compare_with(int best, int tensor, int factor, FlowConflict conflict,
                    std::vector<FlowConflict>& conflicts);
  void note_gain(int tensor, int dim, Axes axes, int index);

  FlowGraph& flow_;
  Strategy strategy_ = Strategy::aggressive;
  std::vector<Gain> gains_;
  std::vector<int> changed_;
  bool is_settled_ = false;
  std::vector<std::vector<std::int64_t>> sizes_of_;  ///< by rule, by tensor

  // Of the node at hand: tensors are its operands, then its results.
  const FlowNode* node_ = nullptr;
  const FactorRule* rule_ = nullptr;
  Regime regime_;
  std::vector<int> slots_;
  std::vector<std::vector<FactorShare>> shares_;  ///< by tensor, by factor
  std::vector<Axes> wanted_;                      ///< by factor
  std::vector<int> source_;                       ///< by factor: tensor that has the wanted axes
  std::span<const std::int64_t> sizes_;           ///< by tensor
  std::vector<const Axes*> dim_axes_;             ///< by factor: of the first dim that is it
  std::vector<int> order_;
  std::vector<bool> is_updated_;
  Axes taken_;
  Axes filtered_;
  Axes written_;
};

}  // namespace shard
