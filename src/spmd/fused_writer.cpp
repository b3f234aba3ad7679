#include "spmd/fused_writer.h"

#include <utility>

#include "base/check.h"

namespace shard::spmd {

Instruction FusedWriter::write(std::span<const Instruction* const> steps,
                               const std::function<bool(BufferId id, int reads)>& is_wanted) {
  const Instruction& last = *steps.back();
  made_ = Instruction{};
  made_.kind = Instruction::Kind::fused;
  made_.node = last.node;
  made_.phase = last.phase;
  made_.iteration = last.iteration;
  find_operands(steps);
  for (const Instruction* step : steps) add_step(*step);
  for (const Instruction* step : steps) {
    for (const BufferId id : step->results) {
      if (!is_wanted(id, reads_[index_of(id)])) continue;
      made_.results.push_back(id);
      made_.outputs.push_back(number(id));
    }
  }
  forget(steps);
  return std::move(made_);
}

void FusedWriter::find_operands(std::span<const Instruction* const> steps) {
  for (const Instruction* step : steps) {
    for (const BufferId id : step->operands) {
      ++reads_[index_of(id)];
      if (number(id) != unknown) continue;
      number(id) = static_cast<int>(made_.operands.size());
      made_.operands.push_back(id);
    }
    for (const BufferId id : step->results) number(id) = made_inside;
  }
  values_ = static_cast<int>(made_.operands.size());
}

void FusedWriter::add_step(const Instruction& instruction) {
  FusedStep step{instruction.op, instruction.attributes, {}, instruction.node};
  step.operands.reserve(instruction.operands.size());
  for (const BufferId id : instruction.operands) {
    SHARD_CHECK(number(id) >= 0, "a step reads what comes from outside or before it");
    step.operands.push_back(number(id));
  }
  for (const BufferId id : instruction.results) number(id) = values_++;
  made_.steps.push_back(std::move(step));
}

/// For the next instruction.
void FusedWriter::forget(std::span<const Instruction* const> steps) {
  for (const Instruction* step : steps) {
    for (const std::vector<BufferId>* side : {&step->operands, &step->results}) {
      for (const BufferId id : *side) {
        number(id) = unknown;
        reads_[index_of(id)] = 0;
      }
    }
  }
}

}  // namespace shard::spmd
