#include "spmd/fold_facts.h"

#include "base/check.h"
#include "model/range_names.h"
#include "spmd/memory.h"
#include "spmd/places.h"

namespace shard::spmd {
namespace {

class FactFinder {
 public:
  explicit FactFinder(const FoldedFunction& function)
      : graph_(function.graph),
        program_(function.program),
        liveness_(find_lives(program_)),
        producers_(program_.buffers.size(), -1),
        of_buffers_(program_.buffers.size()) {}

  FoldFacts run() && {
    find_steps();
    note_buffers();
    found_.by_buffer = ByIteration(std::move(of_buffers_));
    return std::move(found_);
  }

  FoldFacts steps() && {
    find_steps();
    return std::move(found_);
  }

 private:
  void find_steps() {
    found_.program = &program_;
    found_.inputs = static_cast<int>(program_.inputs.size());
    found_.end = liveness_.end;
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      of_buffers_[index_of(program_.inputs[i].buffer)] = graph_.inputs[i].iteration;
    }
    visit(0);
    found_.by_step = ByIteration(std::move(of_steps_));
  }

  void visit(int body) {
    const std::vector<Instruction>& list =
        program_.bodies[static_cast<std::size_t>(body)].instructions;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Instruction& instruction = list[i];
      StepFacts step;
      step.instruction = &instruction;
      step.moments = liveness_.moments[static_cast<std::size_t>(body)][i];
      if (body == 0) step.position = static_cast<int>(i);
      step.needs.reserve(instruction.operands.size());
      for (const BufferId operand : instruction.operands) {
        step.needs.push_back(producers_[index_of(operand)]);
      }
      for (const BufferId result : instruction.results) {
        producers_[index_of(result)] = step.position;
        of_buffers_[index_of(result)] = instruction.iteration;
      }
      found_.steps.push_back(std::move(step));
      of_steps_.push_back(instruction.iteration);
      if (instruction.kind == Instruction::Kind::loop) enter(instruction);
    }
  }

  void enter(const Instruction& loop) {
    const Body& body = program_.bodies[static_cast<std::size_t>(loop.body)];
    for (const BufferId parameter : body.parameters) {
      of_buffers_[index_of(parameter)] = loop.iteration;
    }
    visit(loop.body);
  }

  void note_buffers() {
    const std::vector<BufferId> roots = roots_of(program_);
    const std::vector<BufferId> owners = place_owners(program_, roots);
    const std::vector<Life> places = place_lives(liveness_, roots);
    const std::vector<Life> held = tenancies(program_, liveness_, roots, places);
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const BufferId id = id_at<BufferId>(i);
      const int number = static_cast<int>(i) - found_.inputs;
      found_.buffers.push_back({&program_.buffers[i], std::max(number, -1), places[i], held[i],
                                owners[i] == id, roots[i] == id && !is_view(program_.buffers[i])});
    }
    for (const ProgramInput& input : program_.inputs) {
      SHARD_CHECK(found_.buffers[index_of(input.buffer)].number < 0, "inputs are numbered first");
    }
  }

  const Graph& graph_;
  const Program& program_;
  Liveness liveness_;
  std::vector<int> producers_;  ///< by buffer
  FoldFacts found_;
  std::vector<Iteration> of_steps_;
  std::vector<Iteration> of_buffers_;
};

/// What the plans and reports say about collectives, but not which layer they belong to.
bool are_alike(const Collective& a, const Collective& b) {
  CollectiveReason why = a.why;
  why.node = b.why.node;
  return a.kind == b.kind && a.axes == b.axes && a.reduction == b.reduction && a.dim == b.dim &&
         a.split_dim == b.split_dim && a.from == b.from && a.to == b.to && a.window == b.window &&
         a.senders == b.senders && a.source == b.source && a.payload == b.payload &&
         a.wire == b.wire && why == b.why;
}

/// The same but for the layer they belong to.
bool are_steps_alike(const FusedStep& a, const FusedStep& b) {
  return a.op == b.op && a.attributes == b.attributes && a.operands == b.operands;
}

bool are_inputs_alike(const std::vector<int>& a, const std::vector<int>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] < 0) != (b[i] < 0)) return false;
  }
  return true;
}

}  // namespace

FoldFacts fold_facts(const FoldedFunction& function) { return FactFinder(function).run(); }

FoldFacts step_facts(const FoldedFunction& function) { return FactFinder(function).steps(); }

bool are_alike(const StepFacts& a, const StepFacts& b) {
  const Instruction &one = *a.instruction, &other = *b.instruction;
  return one.kind == other.kind && one.op == other.op && one.phase == other.phase &&
         one.attributes == other.attributes && one.results.size() == other.results.size() &&
         one.collective.has_value() == other.collective.has_value() &&
         (!one.collective || are_alike(*one.collective, *other.collective)) &&
         one.outputs == other.outputs &&
         std::equal(one.steps.begin(), one.steps.end(), other.steps.begin(), other.steps.end(),
                    are_steps_alike) &&
         (a.position < 0) == (b.position < 0) && are_inputs_alike(a.needs, b.needs);
}

bool are_alike(const BufferFacts& a, const BufferFacts& b) {
  return a.buffer->type == b.buffer->type && a.buffer->category == b.buffer->category &&
         (a.number < 0) == (b.number < 0) && a.is_owner == b.is_owner && a.is_root == b.is_root &&
         differ_in_numbers_only(a.buffer->name, b.buffer->name);
}

}  // namespace shard::spmd
