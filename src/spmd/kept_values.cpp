#include "spmd/kept_values.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "spmd/fused_form.h"
#include "spmd/liveness.h"

namespace shard::spmd {
namespace {

/// The loop that runs body `number`.
std::optional<LoopPair> loop_of(const Program& program, std::size_t number) {
  for (std::size_t outer = 0; outer < program.bodies.size(); ++outer) {
    const std::vector<Instruction>& list = program.bodies[outer].instructions;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool is_it = list[i].kind == Instruction::Kind::loop &&
                         static_cast<std::size_t>(list[i].body) == number;
      if (is_it) return LoopPair{outer, i, i};
    }
  }
  return std::nullopt;
}

const Instruction& instruction_at(const Program& program, std::size_t body, std::size_t position) {
  return program.bodies[body].instructions[position];
}

/// Adds to `kept` the parameter of the loop that goes back which has this value.
bool follow(const Program& program, const Body& body, BufferId value, const BodyUses& outer_uses,
            KeptValues& kept) {
  LoopPair& loops = *kept.loops;
  const Instruction& first = instruction_at(program, loops.outer, loops.first);
  const auto at = std::find(body.results.begin(), body.results.end(), value);
  const auto position = static_cast<std::size_t>(at - body.results.begin());
  const bool is_once = std::count(body.results.begin(), body.results.end(), value) == 1;
  if (!is_once || position < loop_shape(first).carries) return false;
  const BufferId stacked = first.results[position];
  const std::span<const std::size_t> readers = outer_uses.readers(stacked);
  if (readers.size() != 1 || outer_uses.is_result(stacked)) return false;
  if (loops.second != loops.first && loops.second != readers.front()) return false;
  loops.second = readers.front();
  const Instruction& second = instruction_at(program, loops.outer, loops.second);
  if (second.kind != Instruction::Kind::loop) return false;
  const auto operand = std::find(second.operands.begin(), second.operands.end(), stacked);
  const auto number = static_cast<std::size_t>(operand - second.operands.begin());
  const LoopShape shape = loop_shape(second);
  const bool is_slice = number >= shape.carries && number < shape.carries + shape.stacked &&
                        std::count(second.operands.begin(), second.operands.end(), stacked) == 1;
  if (!is_slice) return false;
  kept.body = static_cast<std::size_t>(second.body);
  kept.parameters.emplace(value, program.bodies[kept.body].parameters[number]);
  return true;
}

}  // namespace

BufferId KeptValues::named_there(BufferId id) const {
  if (!loops) return id;
  const auto found = parameters.find(id);
  return found == parameters.end() ? BufferId::none : found->second;
}

BufferId KeptValues::named_here(BufferId id) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const auto& one) { return one.second == id; });
  return found == parameters.end() ? id : found->first;
}

std::optional<KeptValues> kept_values(const Program& program, std::size_t number,
                                      const BodyUses& uses, std::span<const BufferId> values) {
  KeptValues kept{number, std::nullopt, {}};
  const auto handed_out =
      std::count_if(values.begin(), values.end(), [&](BufferId id) { return uses.is_result(id); });
  if (handed_out == 0) return kept;
  kept.loops = loop_of(program, number);
  if (!kept.loops || static_cast<std::size_t>(handed_out) != values.size()) return std::nullopt;
  const BodyUses outer_uses(program.bodies[kept.loops->outer], program.buffers.size());
  for (const BufferId value : values) {
    if (!follow(program, program.bodies[number], value, outer_uses, kept)) return std::nullopt;
  }
  return kept;
}

void drop_kept(Program& program, const KeptValues& kept) {
  if (!kept.loops) return;
  std::vector<Instruction>& list = program.bodies[kept.loops->outer].instructions;
  Instruction& first = list[kept.loops->first];
  Instruction& second = list[kept.loops->second];
  Body& body = program.bodies[static_cast<std::size_t>(first.body)];
  Body& later = program.bodies[kept.body];
  const auto erase_at = [](std::vector<BufferId>& from, std::ptrdiff_t position) {
    from.erase(from.begin() + position);
  };
  for (const auto& [value, parameter] : kept.parameters) {
    const auto result =
        std::find(body.results.begin(), body.results.end(), value) - body.results.begin();
    const auto operand = std::find(later.parameters.begin(), later.parameters.end(), parameter) -
                         later.parameters.begin();
    erase_at(body.results, result);
    erase_at(first.results, result);
    erase_at(later.parameters, operand);
    erase_at(second.operands, operand);
    second.attributes.set("stacked", second.attributes.integer("stacked") - 1);
  }
}

Remaker::Remaker(Program& program, std::size_t number, const BodyUses& uses, const KeptValues& kept,
                 const BodyUses& later_uses, const Instruction& like)
    : program_(program),
      number_(number),
      uses_(uses),
      kept_(kept),
      later_uses_(later_uses),
      phase_(like.phase),
      iteration_(like.iteration) {}

std::optional<BufferId> Remaker::there(BufferId id) {
  if (const auto copy = copies_.find(id); copy != copies_.end()) return copy->second;
  if (const auto known = found(id)) return known;
  return again(id);
}

std::vector<BufferId> Remaker::copied() const {
  std::vector<BufferId> ids;
  for (const auto& [id, copy] : copies_) ids.push_back(id);
  return ids;
}

std::optional<BufferId> Remaker::found(BufferId id) const {
  if (kept_.loops) return found_in_loop(id);
  return is_near(id) ? std::optional(id) : std::nullopt;
}

/// Made outside of all iterations, or in this one, or read by it anyway: where iterations stand for
/// several, what is made in another one is found from the iteration that reads it, and no other.
bool Remaker::is_near(BufferId id) const {
  const std::vector<Instruction>& list = program_.bodies[number_].instructions;
  const auto maker = uses_.maker(id);
  if (!maker || list[*maker].iteration.repeat < 0 || list[*maker].iteration == iteration_)
    return true;
  const std::span<const std::size_t> readers = later_uses_.readers(id);
  return std::any_of(readers.begin(), readers.end(), [&](std::size_t reader) {
    return list[reader].iteration == iteration_ && list[reader].phase == phase_;
  });
}

/// The parameter that is a slice of what the first loop keeps of it, or is given of the same array.
std::optional<BufferId> Remaker::found_in_loop(BufferId id) const {
  const Instruction& first = instruction_at(program_, kept_.loops->outer, kept_.loops->first);
  const Instruction& second = instruction_at(program_, kept_.loops->outer, kept_.loops->second);
  const Body& body = program_.bodies[number_];
  const Body& later = program_.bodies[kept_.body];
  const LoopShape shape = loop_shape(first), later_shape = loop_shape(second);
  const auto parameter_of = [&](BufferId array, bool is_slice) -> std::optional<BufferId> {
    for (std::size_t i = later_shape.carries; i < second.operands.size(); ++i) {
      const bool is_sliced = i < later_shape.carries + later_shape.stacked;
      if (second.operands[i] == array && is_sliced == is_slice) return later.parameters[i];
    }
    return std::nullopt;
  };
  for (std::size_t i = shape.carries; i < body.results.size(); ++i) {
    if (body.results[i] != id) continue;
    if (const auto kept = parameter_of(first.results[i], true)) return kept;
  }
  for (std::size_t i = shape.carries; i < body.parameters.size(); ++i) {
    if (body.parameters[i] == id)
      return parameter_of(first.operands[i], i < shape.carries + shape.stacked);
  }
  return std::nullopt;
}

std::optional<BufferId> Remaker::again(BufferId id) {
  const auto maker = uses_.maker(id);
  if (!maker) return std::nullopt;
  Instruction copy = program_.bodies[number_].instructions[*maker];
  const FusionRole role = fusion_role(copy.op);
  const bool is_cheap = role == FusionRole::pointwise || role == FusionRole::spread ||
                        role == FusionRole::fill || role == FusionRole::position;
  const bool is_known_kind = copy.kind == Instruction::Kind::collective ||
                             (copy.kind == Instruction::Kind::compute && is_cheap);
  if (!is_known_kind || copy.results.size() != 1) return std::nullopt;
  for (BufferId& operand : copy.operands) {
    const auto known = there(operand);
    if (!known) return std::nullopt;
    operand = *known;
  }
  if (copy.collective) {
    if (const auto same = moved_there(copy)) return same;
    if (copy.collective->kind != CollectiveKind::all_slice) return std::nullopt;
  }
  program_.buffers.push_back(Buffer(program_.buffer(id)));
  const BufferId made = id_at<BufferId>(program_.buffers.size() - 1);
  copy.results = {made};
  copy.phase = phase_;
  copy.iteration = iteration_;
  made_.push_back(std::move(copy));
  copies_.emplace(id, made);
  return made;
}

/// What the gradient moves like this for its own use.
std::optional<BufferId> Remaker::moved_there(const Instruction& wanted) const {
  for (const Instruction& one : program_.bodies[kept_.body].instructions) {
    if (!one.collective || one.operands != wanted.operands || one.phase != phase_ ||
        one.iteration != iteration_)
      continue;
    Collective same = *one.collective;
    same.why = wanted.collective->why;
    if (same == *wanted.collective) return one.results.front();
  }
  return std::nullopt;
}

}  // namespace shard::spmd
