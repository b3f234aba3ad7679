#include <algorithm>

#include "base/check.h"
#include "spmd/liveness.h"
#include "spmd/passes.h"

namespace shard::spmd {
namespace {

/// Where a buffer is written: instruction of a body, or parameter of a body.
struct Origin {
  int body = -1;
  int instruction = -1;
  int result = -1;
  int parameter = -1;
};

Category category_of(Role role) {
  switch (role) {
    case Role::parameter:
      return Category::parameter;
    case Role::optimizer:
    case Role::step:
      return Category::optimizer;
    case Role::gradient:
      return Category::gradient;
    case Role::loss:
    case Role::output:
      return Category::output;
    case Role::input:
      return Category::input;
    case Role::activation:
      return Category::activation;
  }
  SHARD_CHECK(false, "every role has a category");
}

class Categories {
 public:
  explicit Categories(Program& program)
      : program_(program),
        origins_(program.buffers.size()),
        readers_(program.buffers.size(), 0),
        is_gradient_(program.buffers.size()),
        loop_of_(program.bodies.size(), nullptr) {
    for (std::size_t body = 0; body < program.bodies.size(); ++body) note(static_cast<int>(body));
  }

  void run() {
    mark_gradients();
    for (std::size_t i = 0; i < origins_.size(); ++i)
      program_.buffers[i].category = temporary(id_at<BufferId>(i));
    name_state();
    for (std::size_t body = 1; body < program_.bodies.size(); ++body)
      pass_into(program_.bodies[body], *loop_of_[body]);
  }

 private:
  void note(int index) {
    const Body& body = program_.bodies[static_cast<std::size_t>(index)];
    for (std::size_t i = 0; i < body.parameters.size(); ++i)
      origins_[index_of(body.parameters[i])] = {index, -1, -1, static_cast<int>(i)};
    for (std::size_t i = 0; i < body.instructions.size(); ++i) {
      const Instruction& instruction = body.instructions[i];
      if (instruction.kind == Instruction::Kind::loop)
        loop_of_[static_cast<std::size_t>(instruction.body)] = &instruction;
      for (const BufferId id : instruction.operands) ++readers_[index_of(id)];
      for (std::size_t k = 0; k < instruction.results.size(); ++k) {
        origins_[index_of(instruction.results[k])] = {index, static_cast<int>(i),
                                                      static_cast<int>(k), -1};
      }
    }
  }

  const Instruction* producer(BufferId id) const {
    const Origin& origin = origins_[index_of(id)];
    if (origin.instruction < 0) return nullptr;
    return &program_.bodies[static_cast<std::size_t>(origin.body)]
                .instructions[static_cast<std::size_t>(origin.instruction)];
  }

  bool is_backward(BufferId id) const {
    const Instruction* made = producer(id);
    return made != nullptr && made->phase == Phase::backward;
  }

  /// What the backward pass made and an update reads, and what is returned as a gradient.
  void mark_gradients() {
    for (const Instruction& instruction : program_.main().instructions) {
      if (instruction.phase != Phase::update) continue;
      for (const BufferId id : instruction.operands) {
        if (is_backward(id)) mark(id);
      }
    }
    for (const ProgramOutput& output : program_.outputs) {
      if (output.role == Role::gradient && is_backward(output.buffer)) mark(output.buffer);
    }
  }

  /// Marks the buffer and the partial gradients it is made of.
  void mark(BufferId first) {
    std::vector<BufferId> work{first};
    while (!work.empty()) {
      const BufferId id = work.back();
      work.pop_back();
      if (is_gradient_[index_of(id)]) continue;
      is_gradient_[index_of(id)] = true;
      for (const BufferId part : parts_of(id)) work.push_back(part);
    }
  }

  std::vector<BufferId> parts_of(BufferId id) const {
    const Instruction* made = producer(id);
    if (made == nullptr) return parts_of_parameter(origins_[index_of(id)]);
    std::vector<BufferId> parts;
    if (made->kind == Instruction::Kind::loop) {
      const auto result = static_cast<std::size_t>(origins_[index_of(id)].result);
      const Body& body = program_.bodies[static_cast<std::size_t>(made->body)];
      parts.push_back(body.results[result]);
      if (result < loop_shape(*made).carries) parts.push_back(body.parameters[result]);
      return parts;
    }
    // A sum of gradients, or a gradient on its way to another sharding.
    const bool passes = made->kind != Instruction::Kind::compute || def(made->op).is_elementwise;
    for (const BufferId operand : made->operands) {
      const bool fits = made->kind == Instruction::Kind::collective ||
                        program_.buffer(operand).type == program_.buffer(id).type;
      if (passes && fits && readers_[index_of(operand)] == 1 && is_backward(operand))
        parts.push_back(operand);
    }
    return parts;
  }

  /// A carry parameter stands for the loop's operand and for the body's result.
  std::vector<BufferId> parts_of_parameter(const Origin& origin) const {
    if (origin.body <= 0) return {};
    const Instruction& loop = *loop_of_[static_cast<std::size_t>(origin.body)];
    const auto parameter = static_cast<std::size_t>(origin.parameter);
    if (parameter >= loop_shape(loop).carries) return {};
    const BufferId operand = loop.operands[parameter];
    return is_backward(operand) ? std::vector<BufferId>{operand} : std::vector<BufferId>{};
  }

  Category temporary(BufferId id) const {
    if (is_gradient_[index_of(id)]) return Category::gradient;
    const Instruction* made = producer(id);
    const bool is_reshard = made != nullptr && made->kind == Instruction::Kind::collective &&
                            made->collective->why.kind != CollectiveReason::Kind::partial_sum;
    return is_reshard ? Category::collective : Category::activation;
  }

  void name_state() {
    for (const ProgramOutput& output : program_.outputs) {
      const Category category =
          output.donates < 0 ? category_of(output.role) : input_category(output.donates);
      program_.buffers[index_of(output.buffer)].category = category;
    }
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      program_.buffers[index_of(program_.inputs[i].buffer)].category =
          input_category(static_cast<int>(i));
    }
  }

  Category input_category(int position) const {
    return category_of(program_.inputs[static_cast<std::size_t>(position)].role);
  }

  /// Parameters of a body are what the loop hands in.
  void pass_into(const Body& body, const Instruction& loop) {
    const std::size_t carries = loop_shape(loop).carries;
    for (std::size_t i = 0; i < body.parameters.size(); ++i) {
      const BufferId outer = i < carries ? loop.results[i] : loop.operands[i];
      program_.buffers[index_of(body.parameters[i])].category = program_.buffer(outer).category;
    }
  }

  Program& program_;
  std::vector<Origin> origins_;
  std::vector<int> readers_;
  std::vector<bool> is_gradient_;
  std::vector<const Instruction*> loop_of_;  ///< by body
};

}  // namespace

void categorize(Program& program) { Categories(program).run(); }

}  // namespace shard::spmd
