#include "spmd/reshard_memory.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "spmd/node_names.h"

namespace shard {
namespace {

bool is_step_of_reshard(const Instruction& instruction) {
  if (instruction.kind != Instruction::Kind::collective) return false;
  using Kind = CollectiveReason::Kind;
  const Kind why = instruction.collective->why.kind;
  return instruction.collective->reduction == Reduction::none && why != Kind::neighbours &&
         why != Kind::asked;
}

Bytes held(const Program& program, const Instruction& step) {
  return bytes_of(program.buffer(step.operands.front()).type) +
         bytes_of(program.buffer(step.results.front()).type);
}

template <class Visit>
void each_step(const Program& program, const Visit& visit) {
  for (const Body& body : program.bodies) {
    for (const Instruction& instruction : body.instructions) {
      if (is_step_of_reshard(instruction)) visit(instruction, held(program, instruction));
    }
  }
}

/// The steps of one reshard.
struct LargeReshard {
  CollectiveReason why;
  ValueId value = ValueId::none;
  Bytes most;

  bool is_of(const CollectiveReason& reason, ValueId moved) const {
    return value == moved && why.node == reason.node && why.kind == reason.kind &&
           why.from_spec == reason.from_spec && why.to_spec == reason.to_spec;
  }
};

std::vector<LargeReshard> large_reshards(const Program& program, Bytes memory) {
  std::vector<LargeReshard> found;
  each_step(program, [&](const Instruction& step, Bytes bytes) {
    if (bytes <= memory) return;
    const CollectiveReason& why = step.collective->why;
    const ValueId value = program.buffer(step.results.front()).value;
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const LargeReshard& one) { return one.is_of(why, value); });
    if (known == found.end()) {
      found.push_back({why, value, bytes});
    } else {
      known->most = std::max(known->most, bytes);
    }
  });
  return found;
}

std::string value_text(const Graph& graph, ValueId value) {
  return value == ValueId::none ? "a temporary"
                                : spmd::value_name(graph, value, graph.value(value).producer);
}

std::string user_text(const Graph& graph, const CollectiveReason& why) {
  if (why.kind == CollectiveReason::Kind::output || why.node == NodeId::none) return "the result";
  const Node& node = graph.node(why.node);
  return node.name.empty() ? std::string(def(node.op).name) : node.name;
}

}  // namespace

Bytes largest_reshard(const Program& program) {
  Bytes most;
  each_step(program, [&](const Instruction&, Bytes bytes) { most = std::max(most, bytes); });
  return most;
}

namespace spmd {

void check_reshard_memory(const Program& program, const ShardedGraph& sharded) {
  if (sharded.reshard_memory == Bytes(0)) return;
  const Graph& graph = sharded.graph;
  Diagnostics diagnostics;
  for (const LargeReshard& one : large_reshards(program, sharded.reshard_memory)) {
    Location at;
    if (one.why.node != NodeId::none) {
      at = graph.node(one.why.node).at;
    } else if (one.value != ValueId::none) {
      at = graph.value(one.value).at;
    }
    diagnostics.error("reshard-memory", at,
                      "bringing " + value_text(graph, one.value) + " from " + one.why.from_spec +
                          " to " + one.why.to_spec + " for " + user_text(graph, one.why) +
                          " takes " + with_commas(one.most) +
                          " B of operand and result together, the limit is " +
                          with_commas(sharded.reshard_memory) + " B",
                      "allow " + with_commas(one.most) +
                          " B (reshard_memory, --reshard-memory), or place it so that less of it "
                          "is moved: shard-plan explain says what asks for it");
  }
  diagnostics.throw_if_errors();
}

}  // namespace spmd
}  // namespace shard
