#include "spmd/verify.h"

#include <fmt/format.h>

#include "spmd/words.h"

namespace shard {
namespace spmd {
namespace {

std::string what_it_does(const Instruction& instruction) {
  switch (instruction.kind) {
    case Instruction::Kind::compute:
      return std::string(def(instruction.op).name);
    case Instruction::Kind::collective:
      return std::string(name(instruction.collective->kind));
    case Instruction::Kind::loop:
      return "loop";
    case Instruction::Kind::fused:
      return "fused";
  }
  return "";
}

}  // namespace

std::string text_of(BufferId id) { return fmt::format("%{}", static_cast<int>(id)); }

void Findings::at(const Program& program, int body, std::size_t position, const std::string& what) {
  const Instruction& instruction =
      program.bodies[static_cast<std::size_t>(body)].instructions[position];
  add(fmt::format("body {}, instruction {} ({}): {}", body, position, what_it_does(instruction),
                  what));
}

void Findings::at(BufferId buffer, const std::string& what) {
  add("buffer " + text_of(buffer) + ": " + what);
}

void Findings::add(const std::string& what) { list_.error("bad-program", {}, what); }

}  // namespace spmd

void verify(const Program& program) {
  spmd::Findings findings;
  spmd::check_structure(program, findings);
  findings.throw_if_any();
  spmd::check_types(program, findings);
  findings.throw_if_any();
  spmd::check_places(program, findings);
  findings.throw_if_any();
}

}  // namespace shard
