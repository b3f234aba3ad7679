#pragma once
// The loops whose bodies are being lowered, innermost last.

#include <map>
#include <optional>
#include <vector>

#include "shard/axes.h"
#include "spmd/forms.h"

namespace shard::spmd {

/// Sums that a carry gathers over the iterations, to be reduced once behind the loop.
struct CarriedSums {
  Axes axes;
  NodeId node = NodeId::none;  ///< that made the parts
  std::string label;
};

struct LoopFrame {
  NodeId node = NodeId::none;
  Instruction* loop = nullptr;
  int outer_body = 0;
  std::size_t carries = 0;
  std::size_t first_invariant = 0;
  std::map<std::size_t, CarriedSums> sums{};  ///< by carry
};

class LoopFrames {
 public:
  LoopFrames(const Graph& graph, const Forms& forms);

  bool empty() const { return frames_.empty(); }
  LoopFrame& top() { return frames_.back(); }
  const LoopFrame& top() const { return frames_.back(); }
  void push(LoopFrame frame);
  LoopFrame pop();

  /// How often the innermost loop runs; 1 outside of any.
  std::int64_t times() const;
  /// Which operand of the innermost loop the value is, when no iteration changes it and it may be
  /// brought to another sharding before the loop. State may not: it is split to take little room,
  /// and whole before the loop it would be whole all the time.
  std::optional<std::size_t> invariant_of(ValueId value) const;
  /// Which carry of the innermost loop starts as zeros, is the value during an iteration, and only
  /// serves to add something to, which gives `sum`.
  std::optional<std::size_t> accumulator_of(ValueId value, ValueId sum) const;

 private:
  const Region& region() const { return graph_.region(graph_.node(top().node).region); }
  bool starts_as_zeros(std::size_t carry) const;

  const Graph& graph_;
  const Forms& forms_;
  std::vector<char> is_state_;  ///< by value
  std::vector<LoopFrame> frames_;
};

}  // namespace shard::spmd
