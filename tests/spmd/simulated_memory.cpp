#include "simulated_memory.h"

#include <algorithm>

namespace shard::tests {
namespace {

/// Marks of a buffer's words (4 bytes each).
using Marks = std::vector<int>;

class Memory {
 public:
  explicit Memory(const Program& program)
      : program_(program),
        words_(static_cast<std::size_t>(program.memory.peak.count() / 4), 0),
        content_(program.buffers.size()),
        slices_(program.bodies.size(), 0) {}

  std::string run() {
    for (const ProgramInput& input : program_.inputs) write(input.buffer, fresh(input.buffer));
    run_body(0, "");
    std::vector<bool> is_donated(program_.inputs.size());
    for (const ProgramOutput& output : program_.outputs) {
      read(output.buffer, "the end");
      if (output.donates < 0) continue;
      const auto input = static_cast<std::size_t>(output.donates);
      is_donated[input] = true;
      if (place(output.buffer) != place(program_.inputs[input].buffer))
        complain("output " + output.path + " is not at its input's place");
    }
    for (std::size_t i = 0; i < is_donated.size(); ++i) {
      if (!is_donated[i]) read(program_.inputs[i].buffer, "the next step");
    }
    return problem_;
  }

 private:
  void complain(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }

  std::size_t place(BufferId id) const {
    return static_cast<std::size_t>(place_of(program_, id, slices_).count() / 4);
  }
  std::size_t size(BufferId id) const {
    return static_cast<std::size_t>(bytes_of(program_.buffer(id).type).count() / 4);
  }

  Marks fresh(BufferId id) { return Marks(size(id), ++next_mark_); }

  void write(BufferId id, Marks marks) {
    if (place(id) + marks.size() > words_.size())
      return complain("buffer " + std::to_string(index_of(id)) + " is beyond the peak");
    std::copy(marks.begin(), marks.end(), words_.begin() + static_cast<std::ptrdiff_t>(place(id)));
    content_[index_of(id)] = std::move(marks);
  }

  void read(BufferId id, const std::string& reader) {
    const auto first = words_.begin() + static_cast<std::ptrdiff_t>(place(id));
    const Marks& marks = content_[index_of(id)];
    if (marks.size() != size(id) || !std::equal(marks.begin(), marks.end(), first))
      complain("%" + std::to_string(index_of(id)) + " was written over before " + reader +
               " read it");
  }

  void run_body(int index, const std::string& round) {
    const auto& list = program_.bodies[static_cast<std::size_t>(index)].instructions;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string reader =
          "instruction " + std::to_string(i) + " of body " + std::to_string(index) + round;
      for (const BufferId operand : list[i].operands) read(operand, reader);
      if (list[i].kind == Instruction::Kind::loop) {
        run_loop(list[i]);
      } else {
        for (const BufferId result : list[i].results) write(result, fresh(result));
      }
    }
  }

  void run_loop(const Instruction& loop) {
    const auto count = [&](const char* key) {
      return static_cast<std::size_t>(loop.attributes.integer(key));
    };
    const std::size_t times = count("times"), carries = count("carries"), slices = count("stacked");
    const Body& body = program_.bodies[static_cast<std::size_t>(loop.body)];
    for (std::size_t i = 0; i < carries; ++i)
      write(body.parameters[i], content_[index_of(loop.operands[i])]);
    for (std::size_t i = carries; i < loop.results.size(); ++i)
      content_[index_of(loop.results[i])] = Marks(size(loop.results[i]), 0);
    for (std::size_t round = 0; round < times; ++round) {
      const std::size_t slice = count("reverse") != 0 ? times - 1 - round : round;
      slices_[static_cast<std::size_t>(loop.body)] = static_cast<std::int64_t>(slice);
      for (std::size_t i = carries; i < carries + slices; ++i)
        take_slice(body.parameters[i], loop.operands[i], slice);
      for (std::size_t i = carries + slices; i < loop.operands.size(); ++i)
        content_[index_of(body.parameters[i])] = content_[index_of(loop.operands[i])];
      run_body(loop.body, ", iteration " + std::to_string(round));
      end_iteration(loop, body, carries, slice);
    }
    for (std::size_t i = 0; i < carries; ++i)
      content_[index_of(loop.results[i])] = content_[index_of(body.parameters[i])];
  }

  void take_slice(BufferId inside, BufferId stacked, std::size_t slice) {
    const auto first =
        content_[index_of(stacked)].begin() + static_cast<std::ptrdiff_t>(slice * size(inside));
    content_[index_of(inside)] = Marks(first, first + static_cast<std::ptrdiff_t>(size(inside)));
  }

  void end_iteration(const Instruction& loop, const Body& body, std::size_t carries,
                     std::size_t slice) {
    for (const BufferId result : body.results) read(result, "the iteration's end");
    for (std::size_t i = carries; i < body.results.size(); ++i) {
      const Marks& marks = content_[index_of(body.results[i])];
      std::copy(marks.begin(), marks.end(),
                content_[index_of(loop.results[i])].begin() +
                    static_cast<std::ptrdiff_t>(slice * marks.size()));
    }
    for (std::size_t i = 0; i < carries; ++i) {
      // Earlier moves must not have hit a later result.
      read(body.results[i], "its carry was moved");
      write(body.parameters[i], content_[index_of(body.results[i])]);
    }
  }

  const Program& program_;
  Marks words_;
  std::vector<Marks> content_;  ///< by buffer: what it must hold
  std::vector<std::int64_t> slices_;
  int next_mark_ = 0;
  std::string problem_;
};

}  // namespace

std::string run_in_memory(const Program& program) { return Memory(program).run(); }

}  // namespace shard::tests
