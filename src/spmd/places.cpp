#include "spmd/places.h"

#include <algorithm>

#include "base/check.h"
#include "spmd/fused_form.h"
#include "spmd/liveness.h"

namespace shard::spmd {
namespace {

/// Works on one body; nested loops are opaque, but for the place of their results.
class BodyPlaces {
 public:
  BodyPlaces(Program& program, int body) : program_(program), body_(body) {
    producer_.resize(program.buffers.size());
    last_use_.resize(program.buffers.size());
    is_claimed_.resize(program.buffers.size());
    for (std::size_t i = 0; i < instructions().size(); ++i) {
      for (const BufferId id : instructions()[i].operands) last_use_[index_of(id)] = at(i);
      for (const BufferId id : instructions()[i].results) producer_[index_of(id)] = at(i);
    }
    for (const BufferId id : code().results) last_use_[index_of(id)] = at(instructions().size());
  }

  /// Makes `id`, and the chain of operands it may be written over, at the place of `target`, whose
  /// own value must be dead by then. False, and nothing changed, where that cannot be.
  bool place_at(BufferId id, BufferId target) {
    if (!is_free(id) || buffer(id).type != buffer(target).type) return false;
    const Instruction& instruction = producer_of(id);
    for (const ReusePair& pair : reuse_pairs(program_, instruction)) {
      const BufferId operand = instruction.operands[static_cast<std::size_t>(pair.operand)];
      if (!is_result(instruction, pair, id) || !dies_at(operand, producer_[index_of(id)])) continue;
      if (operand == target || place_at(operand, target)) return claim(id, operand);
    }
    if (is_claimed(target) || last_use_[index_of(target)] >= producer_[index_of(id)]) return false;
    return claim(id, target);
  }

  /// The same for a view of a loop's stacked result, which nobody else writes.
  bool place_in_stack(BufferId id, BufferId stacked) {
    if (!is_free(id)) return false;
    const Instruction& instruction = producer_of(id);
    for (const ReusePair& pair : reuse_pairs(program_, instruction)) {
      const BufferId operand = instruction.operands[static_cast<std::size_t>(pair.operand)];
      if (!is_result(instruction, pair, id) || !dies_at(operand, producer_[index_of(id)])) continue;
      if (place_in_stack(operand, stacked)) return claim(id, operand);
    }
    Buffer& view = buffer(id);
    view.stacked_of = stacked;
    view.loop_body = body_;
    view.stride = bytes_of(view.type);
    return true;
  }

  /// Everything that has no place yet goes over an operand that dies, where allowed.
  void reuse_operands() {
    for (const Instruction& instruction : instructions()) {
      for (const ReusePair& pair : reuse_pairs(program_, instruction)) {
        const BufferId result = instruction.results[static_cast<std::size_t>(pair.result)];
        const BufferId operand = instruction.operands[static_cast<std::size_t>(pair.operand)];
        if (is_free(result) && producer_[index_of(operand)] != nowhere && !is_claimed(operand) &&
            dies_at(operand, producer_[index_of(result)]))
          claim(result, operand);
      }
    }
  }

 private:
  static constexpr int nowhere = 0;  ///< positions count from 1
  static int at(std::size_t position) { return static_cast<int>(position) + 1; }

  Body& code() { return program_.bodies[static_cast<std::size_t>(body_)]; }
  std::vector<Instruction>& instructions() { return code().instructions; }
  Buffer& buffer(BufferId id) { return program_.buffers[index_of(id)]; }
  const Instruction& producer_of(BufferId id) {
    return instructions()[static_cast<std::size_t>(producer_[index_of(id)] - 1)];
  }

  static bool is_result(const Instruction& instruction, const ReusePair& pair, BufferId id) {
    return instruction.results[static_cast<std::size_t>(pair.result)] == id;
  }
  bool dies_at(BufferId id, int position) const {
    return last_use_[index_of(id)] == position && !is_claimed(id);
  }
  bool is_claimed(BufferId id) const { return is_claimed_[index_of(id)]; }

  /// Written by an instruction of this body and without a place.
  bool is_free(BufferId id) {
    return producer_[index_of(id)] != nowhere && buffer(id).alias_of == BufferId::none &&
           buffer(id).stacked_of == BufferId::none;
  }

  bool claim(BufferId id, BufferId place) {
    buffer(id).alias_of = place;
    is_claimed_[index_of(place)] = true;
    return true;
  }

  Program& program_;
  int body_;
  std::vector<int> producer_;  ///< by buffer: position of the instruction
  std::vector<int> last_use_;
  std::vector<bool> is_claimed_;  ///< somebody is written over it
};

/// Adds the copies without which a result could not be where it must be.
class CopyWriter {
 public:
  explicit CopyWriter(Program& program) : program_(program) {}

  /// A copy of `source` at `position` of the body.
  BufferId copy(int body, std::size_t position, BufferId source) {
    Buffer buffer = program_.buffer(source);
    buffer.name += ":copy";
    buffer.alias_of = buffer.stacked_of = BufferId::none;
    buffer.loop_body = -1;
    buffer.stride = Bytes();
    Instruction instruction;
    instruction.op = Op::convert;
    instruction.attributes.set("dtype", std::string(info(buffer.type.dtype).name));
    instruction.operands = {source};
    instruction.results = {id_at<BufferId>(program_.buffers.size())};
    program_.buffers.push_back(std::move(buffer));
    std::vector<Instruction>& list = program_.bodies[static_cast<std::size_t>(body)].instructions;
    const std::vector<BufferId> results = instruction.results;
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(position), std::move(instruction));
    return results.front();
  }

 private:
  Program& program_;
};

class Places {
 public:
  explicit Places(Program& program) : program_(program) {}

  void run() {
    keep_replaced_inputs();
    for (std::size_t body = 0; body < program_.bodies.size(); ++body) {
      for (const Instruction& instruction : program_.bodies[body].instructions) {
        if (instruction.kind == Instruction::Kind::loop) loops_.push_back(instruction);
      }
    }
    for (const Instruction& loop : loops_) separate_results(loop);
    place_outputs();
    for (const Instruction& loop : loops_) place_loop(loop);
  }

 private:
  Body& body(int index) { return program_.bodies[static_cast<std::size_t>(index)]; }
  Buffer& buffer(BufferId id) { return program_.buffers[index_of(id)]; }
  std::size_t end_of(int index) { return body(index).instructions.size(); }

  /// By input: some output takes its place with another value.
  std::vector<bool> replaced_inputs() const {
    std::vector<bool> is_replaced(program_.inputs.size());
    for (const ProgramOutput& output : program_.outputs) {
      if (output.donates < 0) continue;
      const auto input = static_cast<std::size_t>(output.donates);
      if (output.buffer != program_.inputs[input].buffer) is_replaced[input] = true;
    }
    return is_replaced;
  }

  /// An output that is the old value of an input which another output replaces: copied before the
  /// last instruction that reads it, which may write over it.
  void keep_replaced_inputs() {
    const std::vector<bool> is_replaced = replaced_inputs();
    std::vector<bool> is_output(program_.buffers.size());
    for (const ProgramOutput& output : program_.outputs) is_output[index_of(output.buffer)] = true;
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      const BufferId old = program_.inputs[i].buffer;
      if (!is_replaced[i] || !is_output[index_of(old)]) continue;
      std::size_t position = 0;
      const std::vector<Instruction>& list = body(0).instructions;
      for (std::size_t at = 0; at < list.size(); ++at) {
        const auto& operands = list[at].operands;
        if (std::find(operands.begin(), operands.end(), old) != operands.end()) position = at;
      }
      const BufferId kept = CopyWriter(program_).copy(0, position, old);
      for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
        if (program_.outputs[k].buffer == old) set_output(k, kept);
      }
    }
  }

  void set_output(std::size_t position, BufferId id) {
    program_.outputs[position].buffer = id;
    body(0).results[position] = id;
  }

  /// Donated outputs at their input's place. Copies go to the very end, when nobody reads the
  /// inputs any more.
  void place_outputs() {
    std::vector<std::size_t> left;
    {
      BodyPlaces places(program_, 0);
      for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
        const ProgramOutput& output = program_.outputs[i];
        if (output.donates < 0) continue;
        const BufferId target = program_.inputs[static_cast<std::size_t>(output.donates)].buffer;
        if (output.buffer == target || places.place_at(output.buffer, target)) continue;
        left.push_back(i);
      }
      places.reuse_operands();
    }
    for (const std::size_t i : left) {
      const ProgramOutput& output = program_.outputs[i];
      const BufferId target = program_.inputs[static_cast<std::size_t>(output.donates)].buffer;
      const BufferId copy = CopyWriter(program_).copy(0, end_of(0), output.buffer);
      buffer(copy).alias_of = target;
      set_output(i, copy);
    }
  }

  /// Every carry result its own parameter or a buffer of its own, every output result a buffer of
  /// its own. A parameter is copied first thing, so that it does not have to live on.
  void separate_results(const Instruction& loop) {
    const std::size_t carries = loop_shape(loop).carries;
    const std::vector<BufferId> parameters = body(loop.body).parameters;
    std::vector<BufferId> taken = parameters;
    for (std::size_t i = 0; i < body(loop.body).results.size(); ++i) {
      const BufferId result = body(loop.body).results[i];
      const bool is_unchanged = i < carries && result == parameters[i];
      if (is_unchanged) continue;
      const bool is_parameter =
          std::find(parameters.begin(), parameters.end(), result) != parameters.end();
      BufferId own = result;
      if (std::find(taken.begin(), taken.end(), result) != taken.end()) {
        const bool at_start = is_parameter && i >= carries;
        own = CopyWriter(program_).copy(loop.body, at_start ? 0 : end_of(loop.body), result);
        body(loop.body).results[i] = own;
      }
      taken.push_back(own);
    }
  }

  void place_loop(const Instruction& loop) {
    const std::size_t carries = loop_shape(loop).carries;
    const Body& inner = body(loop.body);
    for (std::size_t i = 0; i < carries; ++i)
      buffer(inner.parameters[i]).alias_of = loop.results[i];
    BodyPlaces places(program_, loop.body);
    for (std::size_t i = 0; i < inner.results.size(); ++i) {
      const BufferId result = inner.results[i];
      const bool is_placed = i < carries ? places.place_at(result, inner.parameters[i])
                                         : places.place_in_stack(result, loop.results[i]);
      SHARD_CHECK(is_placed || i < carries, "a stacked output is written in the loop's body");
    }
    places.reuse_operands();
  }

  Program& program_;
  std::vector<Instruction> loops_;
};

/// Every step that reads the operand reads of it what lies at the points it is at, and nothing of
/// the rest; products read all of it.
bool is_read_in_step(const Program& program, const Instruction& fused, std::size_t operand) {
  if (program.buffer(fused.operands[operand]).type.shape.empty()) return false;
  return std::none_of(fused.steps.begin(), fused.steps.end(), [&](const FusedStep& step) {
    const bool is_spread =
        step.op == Op::broadcast && step.operands.front() == static_cast<int>(operand);
    return is_spread || fusion_role(step.op) == FusionRole::product;
  });
}

}  // namespace

std::vector<ReusePair> reuse_pairs(const Program& program, const Instruction& instruction) {
  const std::vector<BufferId>& operands = instruction.operands;
  std::vector<ReusePair> pairs;
  const auto fits = [&](std::size_t result, std::size_t operand) {
    return program.buffer(instruction.results[result]).type ==
           program.buffer(operands[operand]).type;
  };
  const auto add = [&](std::size_t result, std::size_t operand) {
    if (fits(result, operand))
      pairs.push_back({static_cast<int>(result), static_cast<int>(operand)});
  };
  switch (instruction.kind) {
    case Instruction::Kind::collective:
      if (instruction.collective->kind == CollectiveKind::all_reduce) add(0, 0);
      break;
    case Instruction::Kind::compute:
      if (!def(instruction.op).may_reuse_operand) break;
      if (instruction.results.size() == 1) {
        for (std::size_t i = 0; i < operands.size(); ++i) add(0, i);
      } else {
        for (std::size_t i = 0; i < std::min(operands.size(), instruction.results.size()); ++i)
          add(i, i);
      }
      break;
    case Instruction::Kind::fused:
      for (std::size_t result = 0; result < instruction.results.size(); ++result) {
        for (std::size_t i = 0; i < operands.size(); ++i) {
          if (is_read_in_step(program, instruction, i)) add(result, i);
        }
      }
      break;
    case Instruction::Kind::loop:
      for (std::size_t i = 0; i < loop_shape(instruction).carries; ++i) {
        if (std::count(operands.begin(), operands.end(), operands[i]) == 1) add(i, i);
      }
      break;
  }
  return pairs;
}

void share_places(Program& program) { Places(program).run(); }

BufferId root_of(const Program& program, BufferId id) {
  while (program.buffer(id).alias_of != BufferId::none) id = program.buffer(id).alias_of;
  return id;
}

std::vector<BufferId> roots_of(const Program& program) {
  std::vector<BufferId> roots(program.buffers.size(), BufferId::none);
  std::vector<BufferId> chain;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    BufferId at = id_at<BufferId>(i);
    while (roots[index_of(at)] == BufferId::none && program.buffer(at).alias_of != BufferId::none) {
      chain.push_back(at);
      at = program.buffer(at).alias_of;
    }
    const BufferId root = roots[index_of(at)] == BufferId::none ? at : roots[index_of(at)];
    roots[index_of(at)] = root;
    for (const BufferId id : chain) roots[index_of(id)] = root;
    chain.clear();
  }
  return roots;
}

}  // namespace shard::spmd
