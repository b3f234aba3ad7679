#include "base/check.h"
#include "spmd/passes.h"

namespace shard::spmd {
namespace {

class Renumbering {
 public:
  explicit Renumbering(Program& program)
      : program_(program),
        new_buffer_(program.buffers.size(), BufferId::none),
        new_body_(program.bodies.size(), -1) {}

  void run() {
    visit(0);
    buffers_.reserve(buffer_order_.size());
    for (const BufferId old : buffer_order_) {
      Buffer& buffer = program_.buffers[index_of(old)];
      buffer.alias_of = renamed(buffer.alias_of);
      buffer.stacked_of = renamed(buffer.stacked_of);
      if (buffer.loop_body >= 0)
        buffer.loop_body = new_body_[static_cast<std::size_t>(buffer.loop_body)];
      buffers_.push_back(std::move(buffer));
    }
    std::vector<Body> bodies;
    for (const int old : body_order_) {
      bodies.push_back(std::move(program_.bodies[static_cast<std::size_t>(old)]));
      rename(bodies.back());
    }
    for (ProgramInput& input : program_.inputs) input.buffer = renamed(input.buffer);
    for (ProgramOutput& output : program_.outputs) output.buffer = renamed(output.buffer);
    program_.buffers = std::move(buffers_);
    program_.bodies = std::move(bodies);
  }

 private:
  void visit(int index) {
    new_body_[static_cast<std::size_t>(index)] = static_cast<int>(body_order_.size());
    body_order_.push_back(index);
    const Body& body = program_.bodies[static_cast<std::size_t>(index)];
    for (const BufferId parameter : body.parameters) number(parameter);
    for (const Instruction& instruction : body.instructions) {
      for (const BufferId result : instruction.results) number(result);
      if (instruction.kind == Instruction::Kind::loop) visit(instruction.body);
    }
  }

  void number(BufferId id) {
    SHARD_CHECK(new_buffer_[index_of(id)] == BufferId::none, "a buffer is written once");
    new_buffer_[index_of(id)] = id_at<BufferId>(buffer_order_.size());
    buffer_order_.push_back(id);
  }

  BufferId renamed(BufferId id) const {
    if (id == BufferId::none) return id;
    SHARD_CHECK(new_buffer_[index_of(id)] != BufferId::none,
                "a buffer is written before it is named");
    return new_buffer_[index_of(id)];
  }

  void rename(Body& body) const {
    for (BufferId& id : body.parameters) id = renamed(id);
    for (BufferId& id : body.results) id = renamed(id);
    for (Instruction& instruction : body.instructions) {
      for (BufferId& id : instruction.operands) id = renamed(id);
      for (BufferId& id : instruction.results) id = renamed(id);
      if (instruction.body >= 0)
        instruction.body = new_body_[static_cast<std::size_t>(instruction.body)];
    }
  }

  Program& program_;
  std::vector<BufferId> new_buffer_;
  std::vector<int> new_body_;
  std::vector<BufferId> buffer_order_;
  std::vector<int> body_order_;
  std::vector<Buffer> buffers_;
};

}  // namespace

void renumber(Program& program) { Renumbering(program).run(); }

}  // namespace shard::spmd
