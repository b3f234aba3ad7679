#include "check/reshards.h"

#include <algorithm>

#include "model/placement_ask.h"
#include "spmd/words.h"

namespace shard {
namespace {

/// What an op does itself: summing up, fetching elements of its neighbours, what it is asked for.
bool is_part_of_op(CollectiveReason::Kind kind) {
  return kind == CollectiveReason::Kind::partial_sum ||
         kind == CollectiveReason::Kind::neighbours || kind == CollectiveReason::Kind::asked;
}

/// Follows chains of collectives on one value through the bodies of a program.
class ReshardSearch {
 public:
  ReshardSearch(const ShardedGraph& sharded, const Program& program)
      : sharded_(sharded),
        graph_(sharded.graph),
        program_(program),
        chain_of_(program.buffers.size(), -1) {}

  std::vector<Reshard> run() {
    visit(0, 1);
    std::erase_if(chains_, [](const Reshard& one) { return one.moves.empty(); });
    return std::move(chains_);
  }

 private:
  void visit(int body, std::int64_t times) {
    for (const Instruction& one : program_.bodies[static_cast<std::size_t>(body)].instructions) {
      if (one.kind == Instruction::Kind::loop) {
        visit(one.body, times * one.attributes.integer("times"));
      } else if (one.kind == Instruction::Kind::collective) {
        add(one, times);
      }
    }
  }

  void add(const Instruction& instruction, std::int64_t times) {
    const Collective& collective = *instruction.collective;
    if (is_part_of_op(collective.why.kind)) return;
    Reshard& chain = chain_at(instruction);
    chain_of_[index_of(instruction.results.front())] = static_cast<int>(&chain - chains_.data());
    const Buffer& result = program_.buffer(instruction.results.front());
    chain.whole = std::max(chain.whole, bytes_of(result.type));
    if (collective.kind == CollectiveKind::all_slice) {
      chain.is_full_remat = chain.is_full_remat || holds_everything_;
      return;
    }
    chain.count = times * instruction.iteration.count();
    chain.wire += chain.count * collective.wire;
    chain.moves.push_back({collective.kind, collective.axes});
    holds_everything_ = collective.kind == CollectiveKind::all_gather &&
                        chain.value != ValueId::none &&
                        result.type == graph_.value(chain.value).type;
  }

  /// The chain that the operand is the end of, or a new one.
  Reshard& chain_at(const Instruction& instruction) {
    const CollectiveReason& why = instruction.collective->why;
    const int before = chain_of_[index_of(instruction.operands.front())];
    if (before >= 0 && chains_[static_cast<std::size_t>(before)].why == why) {
      return chains_[static_cast<std::size_t>(before)];
    }
    holds_everything_ = false;
    Reshard& chain = chains_.emplace_back();
    chain.why = why;
    chain.value = program_.buffer(instruction.results.front()).value;
    chain.is_asked_for = !is_implicit(sharded_, why, chain.value, instruction.collective->axes);
    return chain;
  }

  const ShardedGraph& sharded_;
  const Graph& graph_;
  const Program& program_;
  std::vector<Reshard> chains_;
  std::vector<int> chain_of_;  ///< by buffer: the chain that made it
  bool holds_everything_ = false;
};

std::string op_words(const Node& node) {
  std::string text(def(node.op).name);
  if (!node.name.empty()) text += " of " + node.name;
  return node.phase == Phase::forward
             ? text
             : text + " (" + (node.phase == Phase::backward ? "backward" : "update") + ')';
}

/// What a loop's parameter is a slice of, or stands for, outside; nothing for a carry.
ValueId outside_of_loop(const Graph& graph, ValueId parameter) {
  for (const Node& node : graph.nodes) {
    if (node.region == RegionId::none) continue;
    const std::vector<ValueId>& parameters = graph.region(node.region).parameters;
    const auto found = std::find(parameters.begin(), parameters.end(), parameter);
    const auto position = static_cast<std::size_t>(found - parameters.begin());
    if (found == parameters.end()) continue;
    const bool is_carry = position < static_cast<std::size_t>(node.attributes.integer("carries"));
    return is_carry ? ValueId::none : node.operands[position];
  }
  return ValueId::none;
}

/// Rows are sent back by the lists of the collective that was asked for, once members have told
/// each other theirs.
bool is_list_of_asked(const Graph& graph, const CollectiveReason& why, ValueId value) {
  if (why.node == NodeId::none || value == ValueId::none) return false;
  const Node& node = graph.node(why.node);
  return node.op == Op::ragged_all_to_all && node.phase == Phase::backward &&
         is_whole(graph.value(value).type.dtype);
}

/// The axes that a manual region's placement names.
void add_manual_axes(const Graph& graph, const Node& node, std::vector<MeshAxis>& names) {
  if (node.op != Op::constrain || ask_of(node.attributes) != PlacementAsk::manual) return;
  const auto number = static_cast<std::size_t>(node.attributes.integer("placement"));
  const PartitionSpec* const spec = graph.placements[number].mesh();
  if (spec == nullptr) return;
  for (const PartitionEntry& entry : spec->entries)
    names.insert(names.end(), entry.axes.begin(), entry.axes.end());
}

/// The op is part of a collective of a manual region over these axes, or of its derivative: nodes
/// of one layer follow each other, and among them are the placements between which it moves.
bool is_of_manual_collective(const ShardedGraph& sharded, const CollectiveReason& why,
                             const std::vector<AxisRef>& axes) {
  if (why.node == NodeId::none) return false;
  const std::vector<Node>& nodes = sharded.graph.nodes;
  const auto has_place = [&](const Node& node) {
    return node.at == sharded.graph.node(why.node).at;
  };
  std::size_t first = index_of(why.node);
  while (first > 0 && has_place(nodes[first - 1])) --first;
  std::vector<MeshAxis> names;
  for (std::size_t i = first; i < nodes.size() && has_place(nodes[i]); ++i)
    add_manual_axes(sharded.graph, nodes[i], names);
  return !names.empty() && std::all_of(axes.begin(), axes.end(), [&](const AxisRef& axis) {
    const MeshAxis& name = sharded.mesh.axes()[static_cast<std::size_t>(axis.axis)].name;
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

/// A constraint or the placement of an output decided some dim of it.
bool is_placed(const ShardedGraph& sharded, ValueId value) {
  for (const std::vector<Reason>& dim : sharded.reasons[index_of(value)]) {
    for (const Reason& reason : dim) {
      if (reason.kind == ReasonKind::constraint || reason.kind == ReasonKind::output) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Reshard> reshards_of(const ShardedGraph& sharded, const Program& program) {
  if (program.bodies.empty()) return {};
  return ReshardSearch(sharded, program).run();
}

bool is_implicit(const ShardedGraph& sharded, const CollectiveReason& why, ValueId value,
                 const std::vector<AxisRef>& axes) {
  using Kind = CollectiveReason::Kind;
  if (why.kind == Kind::carry) return true;
  if (why.kind == Kind::result) {
    if (value != ValueId::none && is_placed(sharded, value)) return false;
  } else if (why.kind != Kind::operand || is_list_of_asked(sharded.graph, why, value)) {
    return false;
  }
  return !is_of_manual_collective(sharded, why, axes);
}

std::string tensor_name(const Graph& graph, ValueId value) {
  if (value == ValueId::none) return "a temporary";
  const GraphValue& of = graph.value(value);
  if (!of.name.empty()) return of.name;
  for (const GraphInput& input : graph.inputs) {
    if (input.value == value) return input.path;
  }
  if (of.producer != NodeId::none) return op_words(graph.node(of.producer));
  const ValueId outside = outside_of_loop(graph, value);
  return outside == ValueId::none ? "a loop's carry" : tensor_name(graph, outside);
}

std::string op_name(const Graph& graph, const CollectiveReason& why) {
  return why.node == NodeId::none ? "the result" : op_words(graph.node(why.node));
}

}  // namespace shard
