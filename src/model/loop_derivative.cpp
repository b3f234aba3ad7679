#include "model/loop_derivative.h"

#include <algorithm>

namespace shard {

LoopDerivative::LoopDerivative(Differentiator& owner, NodeId loop) : owner_(owner), forward_(loop) {
  const Node& node = graph().node(loop);
  body_ = graph().region(node.region);
  operands_ = node.operands;
  results_ = node.results;
  attributes_ = node.attributes;
  carries_ = static_cast<std::size_t>(attributes_.integer("carries"));
  stacked_ = static_cast<std::size_t>(attributes_.integer("stacked"));
  for (const NodeId id : body_.nodes) {
    const Node& inner = graph().node(id);
    if (inner.op == Op::constrain) {
      constrained_.emplace(inner.operands.front(), inner.results.front());
    }
  }
}

void LoopDerivative::run() {
  open_carries();
  if (attributes_.has("guarded")) bring_in_guard();
  const RegionId around = owner_.builder().enter(backward_);
  seed_cotangents();
  const NodeOrigin origin = owner_.builder().origin;
  owner_.walk(body_.nodes);
  owner_.builder().origin = origin;
  close_body();
  bring_in_forward_values();
  owner_.builder().enter(around);
  add_loop();
}

LoopDerivative::Kind LoopDerivative::kind_of(std::size_t parameter) const {
  if (parameter < carries_) return Kind::carry;
  return parameter < carries_ + stacked_ ? Kind::slice : Kind::invariant;
}

/// A parameter of the backward body, labelled as the forward value that it belongs to.
ValueId LoopDerivative::add_parameter(TensorType type, ValueId like) {
  const std::vector<std::string> labels = graph().value(like).labels;
  const Location at = graph().value(like).at;
  return owner_.builder().add_value(std::move(type), "", labels, at);
}

/// Cotangents of the carries come from behind the loop; sums for the invariants start at zero.
void LoopDerivative::open_carries() {
  backward_ = owner_.builder().add_region();
  for (std::size_t i = 0; i < body_.parameters.size(); ++i) {
    const ValueId parameter = body_.parameters[i];
    if (!owner_.is_active(parameter) || kind_of(i) == Kind::slice) continue;
    const ValueId start = kind_of(i) == Kind::carry ? owner_.cotangent_or_zeros(results_[i])
                                                    : owner_.zeros_like(parameter);
    carry_operands_.push_back({start, add_parameter(graph().value(parameter).type, parameter)});
    primals_.push_back(operands_[i]);
  }
}

/// The backward pass is left out where the forward pass was; the condition is the first invariant.
void LoopDerivative::bring_in_guard() {
  const std::size_t position = carries_ + stacked_;
  const ValueId forward = body_.parameters[position];
  const ValueId here = add_parameter(graph().value(forward).type, forward);
  invariant_operands_.push_back({operands_[position], here});
  brought_in_.emplace(forward, here);
}

void LoopDerivative::seed_cotangents() {
  std::size_t carry = 0;
  for (std::size_t i = 0; i < carries_; ++i) {
    if (!owner_.is_active(body_.parameters[i])) continue;
    owner_.accumulate(body_.results[i], carry_operands_[carry++].parameter);
  }
  for (std::size_t i = carries_; i < results_.size(); ++i) {
    const ValueId outer = owner_.cotangent(results_[i]);
    if (outer == ValueId::none) continue;
    const ValueId slice = add_parameter(graph().value(body_.results[i]).type, body_.results[i]);
    stacked_operands_.push_back({outer, slice});
    owner_.accumulate(body_.results[i], slice);
  }
}

void LoopDerivative::close_body() {
  GraphBuilder& builder = owner_.builder();
  std::size_t carry = 0;
  for (std::size_t i = 0; i < body_.parameters.size(); ++i) {
    const ValueId parameter = body_.parameters[i];
    if (!owner_.is_active(parameter) || kind_of(i) == Kind::slice) continue;
    const ValueId incoming = carry_operands_[carry++].parameter;
    if (kind_of(i) == Kind::carry) {
      body_results_.push_back(owner_.cotangent_or_zeros(parameter));
    } else if (owner_.cotangent(parameter) == ValueId::none) {
      body_results_.push_back(incoming);
    } else {
      body_results_.push_back(builder.emit(Op::add, {incoming, owner_.cotangent(parameter)}));
    }
  }
  for (std::size_t i = carries_; i < carries_ + stacked_; ++i) {
    if (!owner_.is_active(body_.parameters[i])) continue;
    body_results_.push_back(owner_.cotangent_or_zeros(body_.parameters[i]));
    primals_.push_back(operands_[i]);
  }
}

/// The walk used forward values where it needed them; they are replaced by what is at hand here.
void LoopDerivative::bring_in_forward_values() {
  std::unordered_set<ValueId> local;
  for (const auto* list : {&carry_operands_, &stacked_operands_}) {
    for (const Operand& operand : *list) local.insert(operand.parameter);
  }
  const std::vector<NodeId> nodes = graph().region(backward_).nodes;
  for (const NodeId id : nodes) {
    for (std::size_t i = 0; i < graph().node(id).operands.size(); ++i) {
      const ValueId operand = graph().node(id).operands[i];
      if (local.contains(operand)) continue;
      const ValueId here = brought_in(operand);
      graph().nodes[index_of(id)].operands[i] = here;
    }
    for (const ValueId result : graph().node(id).results) local.insert(result);
  }
}

ValueId LoopDerivative::brought_in(ValueId forward) {
  if (const auto known = brought_in_.find(forward); known != brought_in_.end()) {
    return known->second;
  }
  const auto position = static_cast<std::size_t>(
      std::find(body_.parameters.begin(), body_.parameters.end(), forward) -
      body_.parameters.begin());
  const NodeId producer = graph().value(forward).producer;
  ValueId here = ValueId::none;
  if (position < body_.parameters.size() && kind_of(position) != Kind::carry) {
    here = add_parameter(graph().value(forward).type, forward);
    auto& list = kind_of(position) == Kind::slice ? stacked_operands_ : invariant_operands_;
    list.push_back({operands_[position], here});
  } else if (producer != NodeId::none && graph().node(producer).op == Op::constant) {
    here = made_again(producer);
  } else if (const auto same = constrained_.find(forward); same != constrained_.end()) {
    // The constrained value has the same numbers, and is often needed anyway.
    here = brought_in(same->second);
  } else {
    here = saved(forward);
  }
  brought_in_.emplace(forward, here);
  return here;
}

/// A further stacked output of the forward loop, and a slice of it here.
ValueId LoopDerivative::saved(ValueId forward) {
  TensorType slice = graph().value(forward).type;
  TensorType stack = slice;
  stack.shape.insert(stack.shape.begin(), attributes_.integer("times"));
  std::vector<std::string> labels = graph().value(forward).labels;
  labels.insert(labels.begin(), "");
  graph().regions[index_of(graph().node(forward_).region)].results.push_back(forward);
  const ValueId outer = owner_.builder().add_result(forward_, std::move(stack), std::move(labels));
  const ValueId here = add_parameter(std::move(slice), forward);
  stacked_operands_.push_back({outer, here});
  return here;
}

ValueId LoopDerivative::made_again(NodeId constant) {
  const Attributes attributes = graph().node(constant).attributes;
  const ValueId here = owner_.builder().emit(Op::constant, {}, attributes);
  // Before its first use.
  std::vector<NodeId>& nodes = graph().regions[index_of(backward_)].nodes;
  std::rotate(nodes.begin(), nodes.end() - 1, nodes.end());
  return here;
}

void LoopDerivative::add_loop() {
  GraphBuilder& builder = owner_.builder();
  const std::int64_t times = attributes_.integer("times");
  std::vector<ValueId> operands;
  Region& region = graph().regions[index_of(backward_)];
  for (const auto* list : {&carry_operands_, &stacked_operands_, &invariant_operands_}) {
    for (const Operand& operand : *list) {
      operands.push_back(operand.outer);
      region.parameters.push_back(operand.parameter);
    }
  }
  region.results = body_results_;
  Attributes attributes{{"times", times},
                        {"carries", static_cast<std::int64_t>(carry_operands_.size())},
                        {"stacked", static_cast<std::int64_t>(stacked_operands_.size())},
                        {"reverse", 1 - attributes_.integer("reverse")}};
  if (attributes_.has("guarded")) attributes.set("guarded", std::int64_t{1});
  const NodeId loop = builder.add_repeat(backward_, std::move(operands), std::move(attributes));
  for (std::size_t i = 0; i < body_results_.size(); ++i) {
    TensorType type = graph().value(body_results_[i]).type;
    std::vector<std::string> labels = graph().value(body_results_[i]).labels;
    if (i >= carry_operands_.size()) {
      type.shape.insert(type.shape.begin(), times);
      labels.insert(labels.begin(), "");
    }
    const ValueId result = builder.add_result(loop, std::move(type), std::move(labels));
    if (owner_.is_active(primals_[i])) owner_.accumulate(primals_[i], result);
  }
}

}  // namespace shard
