#include "spmd/loop_frames.h"

#include <algorithm>
#include <utility>

namespace shard::spmd {

LoopFrames::LoopFrames(const Graph& graph, const Forms& forms)
    : graph_(graph), forms_(forms), is_state_(graph.values.size(), 0) {
  for (const GraphInput& input : graph.inputs) {
    const bool is_state = input.role == Role::parameter || input.role == Role::optimizer;
    is_state_[index_of(input.value)] = is_state ? 1 : 0;
  }
}

void LoopFrames::push(LoopFrame frame) {
  frames_.push_back(std::move(frame));
  const Node& node = graph_.node(top().node);
  const std::vector<ValueId>& parameters = region().parameters;
  for (std::size_t i = top().first_invariant; i < parameters.size(); ++i)
    is_state_[index_of(parameters[i])] = is_state_[index_of(forms_.origin(node.operands[i]))];
}

LoopFrame LoopFrames::pop() {
  LoopFrame frame = std::move(frames_.back());
  frames_.pop_back();
  return frame;
}

std::int64_t LoopFrames::times() const {
  return frames_.empty() ? 1 : graph_.node(top().node).attributes.integer("times");
}

std::optional<std::size_t> LoopFrames::invariant_of(ValueId value) const {
  if (frames_.empty()) return std::nullopt;
  const std::vector<ValueId>& parameters = region().parameters;
  const auto first = parameters.begin() + static_cast<std::ptrdiff_t>(top().first_invariant);
  const auto found = std::find(first, parameters.end(), forms_.origin(value));
  if (found == parameters.end() || is_state_[index_of(*found)] != 0) return std::nullopt;
  return static_cast<std::size_t>(found - parameters.begin());
}

std::optional<std::size_t> LoopFrames::accumulator_of(ValueId value, ValueId sum) const {
  if (frames_.empty() || forms_.readers(value) != 1 || forms_.readers(sum) != 1)
    return std::nullopt;
  const Region& body = region();
  for (std::size_t carry = 0; carry < top().carries; ++carry) {
    if (body.parameters[carry] != forms_.origin(value)) continue;
    const bool is_kept = forms_.origin(body.results[carry]) == forms_.origin(sum);
    if (is_kept && starts_as_zeros(carry)) return carry;
  }
  return std::nullopt;
}

bool LoopFrames::starts_as_zeros(std::size_t carry) const {
  const ValueId start = forms_.origin(graph_.node(top().node).operands[carry]);
  const NodeId producer = graph_.value(start).producer;
  if (producer == NodeId::none) return false;
  const Node& node = graph_.node(producer);
  return node.op == Op::constant && node.attributes.number("value") == 0;
}

}  // namespace shard::spmd
