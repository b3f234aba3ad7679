#include "spmd/program_writer.h"

#include <utility>

#include "spmd/local_op.h"
#include "spmd/lowering.h"

namespace shard::spmd {

ProgramWriter::ProgramWriter(const ShardedGraph& source) : graph_(source.graph) {
  program.name = source.graph.name;
  program.mesh = source.mesh;
  program.bodies.emplace_back();
}

void ProgramWriter::reserve(std::size_t nodes) {
  // Collectives come to the nodes, about one to four of them.
  body().instructions.reserve(nodes + nodes / 4);
  program.buffers.reserve(nodes + nodes / 2);
}

int ProgramWriter::enter(int body) { return std::exchange(body_, body); }

int ProgramWriter::enter_new_body() {
  program.bodies.emplace_back();
  return enter(static_cast<int>(program.bodies.size()) - 1);
}

BufferId ProgramWriter::new_buffer(ValueId value, const Sharding& sharding, std::string name) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.type = local_type(graph_.value(value).type, sharding);
  buffer.value = value;
  program.buffers.push_back(std::move(buffer));
  return id_at<BufferId>(program.buffers.size() - 1);
}

Instruction ProgramWriter::instruction_of(NodeId id) const {
  return instruction_of(id, graph_.node(id).attributes);
}

Instruction ProgramWriter::instruction_of(NodeId id, const Attributes& attributes) const {
  const Node& node = graph_.node(id);
  Instruction instruction;
  instruction.op = node.op;
  instruction.attributes = attributes;
  instruction.node = id;
  instruction.phase = node.phase;
  instruction.iteration = node.iteration;
  return instruction;
}

void ProgramWriter::localize(Instruction& instruction, const CommonFactors& common) const {
  if (def(instruction.op).local_form == nullptr) return;
  instruction.attributes =
      local_attributes(program.mesh, instruction.op, instruction.attributes,
                       types(instruction.operands), types(instruction.results), common);
}

std::vector<TensorType> ProgramWriter::types(const std::vector<BufferId>& buffers) const {
  std::vector<TensorType> types;
  types.reserve(buffers.size());
  for (const BufferId id : buffers) types.push_back(program.buffer(id).type);
  return types;
}

void ProgramWriter::emit_collective(Collective collective, BufferId operand, BufferId result,
                                    NodeId node, bool early) {
  Instruction instruction;
  instruction.kind = Instruction::Kind::collective;
  instruction.node = node;
  instruction.phase = collective.why.phase;
  if (node != NodeId::none) instruction.iteration = graph_.node(node).iteration;
  instruction.collective = std::move(collective);
  instruction.operands = {operand};
  instruction.results = {result};
  if (early) early_.add(result);
  emit(std::move(instruction));
}

}  // namespace shard::spmd
