#include "spmd/liveness.h"

#include <algorithm>

namespace shard::spmd {
namespace {

class LifeFinder {
 public:
  explicit LifeFinder(const Program& program) : program_(program) {
    found_.lives.resize(program.buffers.size());
    found_.moments.resize(program.bodies.size());
    found_.main_position.push_back(-1);
  }

  Liveness run() {
    visit(0);
    found_.end = now_ + 1;
    found_.main_position.push_back(static_cast<int>(program_.main().instructions.size()));
    for (const BufferId result : program_.main().results) read(result, found_.end);
    const std::vector<bool> is_donated = donated_inputs(program_);
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      if (!is_donated[i]) read(program_.inputs[i].buffer, found_.end);
    }
    return std::move(found_);
  }

 private:
  void visit(int body_index) {
    const Body& body = program_.bodies[static_cast<std::size_t>(body_index)];
    for (std::size_t i = 0; i < body.instructions.size(); ++i) {
      if (body_index == 0) main_position_ = static_cast<int>(i);
      const Instruction& instruction = body.instructions[i];
      const int begin = next_moment();
      for (const BufferId operand : instruction.operands) read(operand, begin);
      if (instruction.kind == Instruction::Kind::loop)
        visit_loop(instruction, begin);
      else
        for (const BufferId result : instruction.results) write(result, begin);
      found_.moments[static_cast<std::size_t>(body_index)].push_back({begin, now_});
    }
  }

  void visit_loop(const Instruction& loop, int begin) {
    const LoopShape shape = loop_shape(loop);
    const Body& body = program_.bodies[static_cast<std::size_t>(loop.body)];
    for (const BufferId parameter : body.parameters) write(parameter, begin);
    visit(loop.body);
    const int end = next_moment();
    for (const BufferId result : body.results) read(result, end);
    for (std::size_t i = shape.carries; i < loop.operands.size(); ++i) read(loop.operands[i], end);
    for (std::size_t i = 0; i < loop.results.size(); ++i) {
      write(loop.results[i], i < shape.carries ? end : begin);
      read(loop.results[i], end);
    }
  }

  int next_moment() {
    found_.main_position.push_back(main_position_);
    return ++now_;
  }

  void write(BufferId id, int moment) { found_.lives[index_of(id)] = {moment, moment}; }
  void read(BufferId id, int moment) {
    Life& life = found_.lives[index_of(id)];
    life.last = std::max(life.last, moment);
  }

  const Program& program_;
  Liveness found_;
  int now_ = 0;
  int main_position_ = -1;
};

}  // namespace

Liveness find_lives(const Program& program) { return LifeFinder(program).run(); }

std::vector<bool> donated_inputs(const Program& program) {
  std::vector<bool> is_donated(program.inputs.size());
  for (const ProgramOutput& output : program.outputs) {
    if (output.donates >= 0) is_donated[static_cast<std::size_t>(output.donates)] = true;
  }
  return is_donated;
}

std::vector<int> count_readers(const Program& program) {
  std::vector<int> readers(program.buffers.size(), 0);
  for (const Body& body : program.bodies) {
    for (const BufferId id : body.results) ++readers[index_of(id)];
    for (const Instruction& instruction : body.instructions) {
      for (const BufferId id : instruction.operands) ++readers[index_of(id)];
    }
  }
  return readers;
}

LoopShape loop_shape(const Instruction& loop) {
  return {static_cast<std::size_t>(loop.attributes.integer("carries")),
          static_cast<std::size_t>(loop.attributes.integer("stacked"))};
}

}  // namespace shard::spmd
