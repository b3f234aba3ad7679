#include "shard/flow.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shard {
namespace {

int entry(const std::vector<int>& numbers, int value) {
  const std::size_t at = static_cast<std::size_t>(value);
  return at < numbers.size() ? numbers[at] : -1;
}

void set_entry(std::vector<int>& numbers, int value, int number) {
  const std::size_t at = static_cast<std::size_t>(value);
  if (at >= numbers.size()) numbers.resize(at + 1, -1);
  numbers[at] = number;
}

bool is_closed(const Sharding& sharding) {
  return std::none_of(sharding.dims.begin(), sharding.dims.end(),
                      [](const DimSharding& dim) { return dim.is_open; });
}

bool all_equal(const std::vector<Sharding>& shardings) {
  return std::all_of(shardings.begin(), shardings.end(),
                     [&](const Sharding& one) { return one == shardings.front(); });
}

}  // namespace

FactorRule identity_rule(const Shape& shape, std::size_t sources) {
  FactorRule rule;
  TensorFactors tensor(shape.size());
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    rule.factors.push_back({shape[dim], FactorKind::pass_through, false});
    tensor[dim] = {static_cast<int>(dim)};
  }
  rule.operands.assign(sources, tensor);
  rule.results = {std::move(tensor)};
  return rule;
}

int FlowBuilder::define(int value, const Shape& shape, const Sharding* given) {
  const int slot = new_slot(value, shape, given);
  set_entry(slot_of_, value, slot);
  return slot;
}

void FlowBuilder::define_constant(int value, const Shape& shape, FlowKind kind, int rule,
                                  std::vector<int> operands, NodeId origin) {
  set_entry(constant_of_, value, static_cast<int>(constants_.size()));
  constants_.push_back({shape, kind, rule, std::move(operands), origin});
}

bool FlowBuilder::is_constant(int value) const { return constant(resolved(value)) != nullptr; }

const FlowBuilder::Constant* FlowBuilder::constant(int value) const {
  const int position = entry(constant_of_, value);
  return position < 0 ? nullptr : &constants_[static_cast<std::size_t>(position)];
}

void FlowBuilder::alias(int value, int target) { set_entry(alias_of_, value, target); }

int FlowBuilder::use(int value) {
  value = resolved(value);
  int slot = entry(slot_of_, value);
  if (const Constant* const made = constant(value)) {
    slot = new_slot(value, made->shape, nullptr);
    if (!made->operands.empty()) {
      std::vector<int> operands;
      operands.reserve(made->operands.size());
      for (const int operand : made->operands) operands.push_back(use(operand));
      add_node(made->kind, made->rule, std::move(operands), {slot}, made->origin);
    }
  }
  SHARD_CHECK(slot >= 0, "a value is defined before it is used");
  graph_.slots[static_cast<std::size_t>(slot)].uses += 1;
  return slot;
}

int FlowBuilder::slot(int value) const { return entry(slot_of_, resolved(value)); }

int FlowBuilder::add_rule(FactorRule rule) {
  graph_.rules.push_back(std::move(rule));
  return static_cast<int>(graph_.rules.size()) - 1;
}

void FlowBuilder::add_node(FlowKind kind, int rule, std::vector<int> operands,
                           std::vector<int> results, NodeId origin) {
  const FactorRule& used = graph_.rules[static_cast<std::size_t>(rule)];
  SHARD_CHECK(used.operands.size() == operands.size() && used.results.size() == results.size(),
              "a rule has one entry per operand and result");
  graph_.nodes.push_back({kind, rule, std::move(operands), std::move(results), origin});
}

void FlowBuilder::add_edge(std::vector<int> sources, int target, NodeId origin) {
  const int rule = edge_rule(graph_.slots[static_cast<std::size_t>(target)].shape, sources.size());
  add_node(FlowKind::edge, rule, std::move(sources), {target}, origin);
}

int FlowBuilder::edge_rule(const Shape& shape, std::size_t sources) {
  const auto [found, is_new] = edge_rules_.try_emplace({shape, sources}, 0);
  if (is_new) found->second = add_rule(identity_rule(shape, sources));
  return found->second;
}

void FlowBuilder::constrain(int operand, const Sharding& sharding) {
  constraints_[operand].push_back(sharding);
}

void FlowBuilder::add_result(int value, const Sharding* given) {
  const int returned = use(value);
  const Shape shape = graph_.slots[static_cast<std::size_t>(returned)].shape;
  const int result = new_slot(-1, shape, given);
  graph_.results.push_back({returned, result, edge_rule(shape, 1)});
}

FlowGraph FlowBuilder::finish() {
  for (const auto& [slot, wanted] : constraints_) {
    FlowSlot& input = graph_.slots[static_cast<std::size_t>(slot)];
    if (input.is_given || !is_closed(wanted.front()) || !all_equal(wanted)) continue;
    input.sharding = wanted.front();
    input.is_given = true;
  }
  return std::move(graph_);
}

int FlowBuilder::resolved(int value) const {
  const int target = entry(alias_of_, value);
  return target < 0 ? value : target;
}

int FlowBuilder::new_slot(int value, const Shape& shape, const Sharding* given) {
  FlowSlot slot;
  slot.shape = shape;
  slot.is_given = given != nullptr;
  slot.sharding = given ? *given : open_sharding(static_cast<int>(shape.size()));
  slot.value = static_cast<ValueId>(value);
  graph_.slots.push_back(std::move(slot));
  return static_cast<int>(graph_.slots.size()) - 1;
}

}  // namespace shard
