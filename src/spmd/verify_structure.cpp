#include <fmt/format.h>

#include <algorithm>

#include "spmd/liveness.h"
#include "spmd/verify.h"

namespace shard::spmd {
namespace {

constexpr int unwritten = -1;

class StructureCheck {
 public:
  StructureCheck(const Program& program, Findings& findings)
      : program_(program),
        findings_(findings),
        writer_(program.buffers.size(), unwritten),
        loops_of_(program.bodies.size(), 0) {}

  void run() {
    if (program_.bodies.empty()) return findings_.add("a program has a main body");
    check_ports();
    check_body(0);
    for (std::size_t body = 1; body < loops_of_.size(); ++body) {
      if (loops_of_[body] == 0) findings_.add(fmt::format("body {}: no loop runs it", body));
    }
    for (std::size_t i = 0; i < writer_.size(); ++i) check_buffer(id_at<BufferId>(i));
  }

 private:
  bool exists(BufferId id) const {
    return static_cast<int>(id) >= 0 && index_of(id) < program_.buffers.size();
  }

  void check_ports() {
    const Body& main = program_.main();
    bool is_same = main.parameters.size() == program_.inputs.size();
    for (std::size_t i = 0; is_same && i < main.parameters.size(); ++i)
      is_same = main.parameters[i] == program_.inputs[i].buffer;
    if (!is_same) findings_.add("body 0: its parameters are not the buffers of the inputs");
    is_same = main.results.size() == program_.outputs.size();
    for (std::size_t i = 0; is_same && i < main.results.size(); ++i)
      is_same = main.results[i] == program_.outputs[i].buffer;
    if (!is_same) findings_.add("body 0: its results are not the buffers of the outputs");
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) check_donation(i);
  }

  void check_donation(std::size_t position) {
    const ProgramOutput& output = program_.outputs[position];
    if (output.donates == -1) return;
    if (output.donates < 0 || static_cast<std::size_t>(output.donates) >= program_.inputs.size())
      return findings_.add(fmt::format("output {}: there is no input {} whose place it could have",
                                       position, output.donates));
    for (std::size_t i = 0; i < position; ++i) {
      if (program_.outputs[i].donates == output.donates)
        findings_.add(fmt::format("output {}: output {} has the place of input {} already",
                                  position, i, output.donates));
    }
  }

  /// Depth first, so that a body that runs itself is met a second time and not entered.
  void check_body(int index) {
    const Body& body = program_.bodies[static_cast<std::size_t>(index)];
    for (const BufferId id : body.parameters) write(id, index, "parameter of the body");
    for (std::size_t i = 0; i < body.instructions.size(); ++i) {
      const Instruction& instruction = body.instructions[i];
      for (const BufferId id : instruction.operands) {
        if (const std::string problem = read(id, index); !problem.empty())
          findings_.at(program_, index, i, problem);
      }
      if (instruction.kind == Instruction::Kind::loop) check_loop(index, i, instruction);
      for (const BufferId id : instruction.results)
        write(id, index, fmt::format("result of instruction {}", i));
    }
    for (const BufferId id : body.results) {
      if (const std::string problem = read(id, index); !problem.empty())
        findings_.add(fmt::format("body {}, results: {}", index, problem));
    }
  }

  void write(BufferId id, int body, const std::string& what) {
    if (!exists(id))
      return findings_.add(
          fmt::format("body {}, {}: there is no buffer {}", body, what, text_of(id)));
    if (writer_[index_of(id)] != unwritten)
      return findings_.add(
          fmt::format("body {}, {}: {} is written a second time", body, what, text_of(id)));
    writer_[index_of(id)] = body;
  }

  std::string read(BufferId id, int body) const {
    if (!exists(id)) return "there is no buffer " + text_of(id);
    if (writer_[index_of(id)] == unwritten) return text_of(id) + " is read before it is written";
    if (writer_[index_of(id)] != body)
      return fmt::format("{} belongs to body {}", text_of(id), writer_[index_of(id)]);
    return "";
  }

  void check_loop(int body, std::size_t position, const Instruction& loop) {
    const auto wrong = [&](const std::string& what) {
      findings_.at(program_, body, position, what);
    };
    if (loop.body <= 0 || static_cast<std::size_t>(loop.body) >= program_.bodies.size())
      return wrong(fmt::format("there is no body {} for it", loop.body));
    if (loops_of_[static_cast<std::size_t>(loop.body)]++ > 0)
      return wrong(fmt::format("body {} belongs to another loop", loop.body));
    for (const char* key : {"times", "carries", "stacked", "reverse"}) {
      const bool has_it =
          std::any_of(loop.attributes.entries().begin(), loop.attributes.entries().end(),
                      [&](const auto& entry) {
                        const auto* number = std::get_if<std::int64_t>(&entry.second);
                        return entry.first == key && number != nullptr && *number >= 0;
                      });
      if (!has_it) return wrong(fmt::format("a loop has a count '{}'", key));
    }
    const LoopShape shape = loop_shape(loop);
    const Body& inner = program_.bodies[static_cast<std::size_t>(loop.body)];
    if (loop.attributes.integer("times") < 1) wrong("a loop runs at least once");
    if (inner.parameters.size() != loop.operands.size() ||
        loop.operands.size() < shape.carries + shape.stacked)
      return wrong(fmt::format(
          "{} operands for {} parameters of body {}, of which {} are carries "
          "and {} slices",
          loop.operands.size(), inner.parameters.size(), loop.body, shape.carries, shape.stacked));
    if (inner.results.size() != loop.results.size() || loop.results.size() < shape.carries)
      return wrong(fmt::format("{} results for {} results of body {}, of which {} are carries",
                               loop.results.size(), inner.results.size(), loop.body,
                               shape.carries));
    check_body(loop.body);
    check_results(loop, shape.carries);
  }

  /// Moving carry results one after another is safe only if they are told apart.
  void check_results(const Instruction& loop, std::size_t carries) {
    const Body& inner = program_.bodies[static_cast<std::size_t>(loop.body)];
    std::vector<BufferId> taken = inner.parameters;
    for (std::size_t i = 0; i < inner.results.size(); ++i) {
      const BufferId id = inner.results[i];
      if (i < carries && id == inner.parameters[i]) continue;
      if (std::find(taken.begin(), taken.end(), id) != taken.end())
        findings_.add(fmt::format("body {}, result {}: {} is a parameter or another result",
                                  loop.body, i, text_of(id)));
      taken.push_back(id);
    }
  }

  void check_buffer(BufferId id) {
    const Buffer& buffer = program_.buffer(id);
    if (writer_[index_of(id)] == unwritten) findings_.at(id, "nobody writes it");
    for (const BufferId other : {buffer.alias_of, buffer.stacked_of}) {
      if (other != BufferId::none && (!exists(other) || other == id))
        findings_.at(id, "there is no buffer " + text_of(other) + " whose place it could have");
    }
    if (buffer.alias_of != BufferId::none && buffer.stacked_of != BufferId::none)
      findings_.at(id, "it is over another buffer and a slice at once");
    const bool has_body =
        buffer.loop_body > 0 && static_cast<std::size_t>(buffer.loop_body) < program_.bodies.size();
    if (buffer.stacked_of != BufferId::none && !has_body)
      findings_.at(id, fmt::format("there is no body {} that walks its slices", buffer.loop_body));
  }

  const Program& program_;
  Findings& findings_;
  std::vector<int> writer_;    ///< by buffer: the body that writes it
  std::vector<int> loops_of_;  ///< by body
};

}  // namespace

void check_structure(const Program& program, Findings& findings) {
  StructureCheck(program, findings).run();
}

}  // namespace shard::spmd
