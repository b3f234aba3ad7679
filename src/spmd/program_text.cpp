#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "spmd/words.h"

namespace shard {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// A bare word where it is one, else quoted.
std::string word(const std::string& text) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const bool is_word = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
                       std::all_of(text.begin(), text.end(), is_plain);
  return is_word ? text : quoted(text);
}

std::string buffer_text(BufferId id) { return "%" + std::to_string(index_of(id)); }

std::string buffers_text(const std::vector<BufferId>& ids) {
  std::string text;
  for (const BufferId id : ids) text += (text.empty() ? "" : ", ") + buffer_text(id);
  return text;
}

/// Writes a program line by line; what is at its default is left out, so lines stay short.
class ProgramWriter {
 public:
  explicit ProgramWriter(const Program& program) : program_(program), mesh_(program.mesh) {}

  std::string run() {
    text_ = "program " + word(program_.name) + "\n" + mesh_line();
    text_ += "\ninputs\n";
    for (const ProgramInput& input : program_.inputs) write(input);
    text_ += "\noutputs\n";
    for (const ProgramOutput& output : program_.outputs) write(output);
    text_ += "\nbuffers\n";
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) write(id_at<BufferId>(i));
    for (std::size_t i = 0; i < program_.bodies.size(); ++i) write_body(i);
    write_memory();
    return std::move(text_);
  }

 private:
  std::string mesh_line() const {
    std::string line = "mesh";
    for (const MeshAxisInfo& axis : mesh_.axes()) {
      line += " " + word(axis.name.text()) + "=" + std::to_string(axis.size);
      if (axis.type != AxisType::automatic) line += ":" + to_string(axis.type);
    }
    std::string ids;
    bool is_plain = true;
    for (std::int64_t i = 0; i < mesh_.device_count(); ++i) {
      is_plain = is_plain && mesh_.device_id(i) == i;
      if (!is_plain) break;
    }
    if (is_plain) return line + "\n";
    for (std::int64_t i = 0; i < mesh_.device_count(); ++i)
      ids += " " + std::to_string(mesh_.device_id(i));
    return line + "\ndevices" + ids + "\n";
  }

  std::string axes_text(const std::vector<AxisRef>& axes, bool is_open = false) const {
    std::string text = "{";
    for (const AxisRef& axis : axes) {
      if (text.size() > 1) text += ", ";
      text += word(mesh_.axes()[static_cast<std::size_t>(axis.axis)].name.text());
      if (!mesh_.is_full(axis)) text += fmt::format(":({}){}", axis.pre_size, axis.size);
    }
    if (is_open) text += text.size() > 1 ? ", ?" : "?";
    return text + "}";
  }

  std::string dims_text(const std::vector<DimSharding>& dims) const {
    std::string text = "[";
    for (const DimSharding& dim : dims)
      text += (text.size() > 1 ? ", " : "") + axes_text(dim.axes, dim.is_open);
    return text + "]";
  }

  std::string sharding_text(const Sharding& sharding) const {
    std::string text = dims_text(sharding.dims);
    if (!sharding.replicated.empty()) text += " replicated " + axes_text(sharding.replicated);
    if (!sharding.unreduced.empty()) text += " unreduced " + axes_text(sharding.unreduced);
    return text;
  }

  template <class Port>
  std::string port_text(const Port& port) const {
    std::string text =
        fmt::format("  {} {} {} {} {}", buffer_text(port.buffer), quoted(port.path),
                    to_string(port.global), sharding_text(port.sharding), name(port.role));
    if (port.state_leaf >= 0) text += fmt::format(" leaf {}", port.state_leaf);
    if (!port.padded.empty())
      text += " padded " + to_string(TensorType{port.global.dtype, port.padded});
    return text;
  }

  void write(const ProgramInput& input) { text_ += port_text(input) + "\n"; }

  void write(const ProgramOutput& output) {
    text_ += port_text(output);
    if (output.donates >= 0) text_ += fmt::format(" donates {}", output.donates);
    text_ += "\n";
  }

  void write(BufferId id) {
    const Buffer& buffer = program_.buffer(id);
    text_ += fmt::format("  {} {} {} at {}", buffer_text(id), to_string(buffer.type),
                         name(buffer.category), buffer.offset.count());
    if (buffer.alias_of != BufferId::none) text_ += " over " + buffer_text(buffer.alias_of);
    if (buffer.stacked_of != BufferId::none) {
      text_ += fmt::format(" slice of {} body {} stride {}", buffer_text(buffer.stacked_of),
                           buffer.loop_body, buffer.stride.count());
    }
    if (buffer.value != ValueId::none) text_ += fmt::format(" value {}", index_of(buffer.value));
    text_ += (buffer.name.empty() ? "" : " " + quoted(buffer.name)) + "\n";
  }

  void write_body(std::size_t index) {
    const Body& body = program_.bodies[index];
    text_ += fmt::format("\nbody {} ({}) -> ({})\n", index, buffers_text(body.parameters),
                         buffers_text(body.results));
    for (std::size_t i = 0; i < body.instructions.size(); ++i) {
      const Instruction& instruction = body.instructions[i];
      text_ += fmt::format("  {}: {} = {}{}\n", i, buffers_text(instruction.results),
                           action(instruction), origin(instruction));
    }
  }

  std::string action(const Instruction& instruction) const {
    const std::string operands = "(" + buffers_text(instruction.operands) + ")";
    std::string attributes = to_string(instruction.attributes);
    if (!attributes.empty()) attributes = " " + attributes;
    switch (instruction.kind) {
      case Instruction::Kind::compute:
        return std::string(def(instruction.op).name) + operands + attributes;
      case Instruction::Kind::loop:
        return fmt::format("loop{} body {}{}", operands, instruction.body, attributes);
      case Instruction::Kind::fused:
        return "fused" + operands + steps_text(instruction);
      case Instruction::Kind::collective:
        break;
    }
    const Collective& collective = *instruction.collective;
    return fmt::format("{}{} {}{}", name(collective.kind), operands, axes_text(collective.axes),
                       details(collective));
  }

  static std::string numbers_text(const std::vector<int>& numbers) {
    return fmt::format("({})", fmt::join(numbers, ", "));
  }

  static std::string steps_text(const Instruction& instruction) {
    std::string text;
    for (const FusedStep& step : instruction.steps) {
      text += text.empty() ? " [" : ", ";
      text += std::string(def(step.op).name) + numbers_text(step.operands);
      const std::string attributes = to_string(step.attributes);
      if (!attributes.empty()) text += " " + attributes;
      if (step.node != NodeId::none) text += fmt::format(" node {}", index_of(step.node));
    }
    return text + "] -> " + numbers_text(instruction.outputs);
  }

  std::string details(const Collective& collective) const {
    std::string text;
    if (collective.reduction != Reduction::none)
      text += fmt::format(" {}", name(collective.reduction));
    if (collective.dim >= 0) text += fmt::format(" dim {}", collective.dim);
    if (collective.split_dim >= 0) text += fmt::format(" split {}", collective.split_dim);
    if (!collective.from.empty()) text += " from " + dims_text(collective.from);
    if (!collective.to.empty()) text += " to " + dims_text(collective.to);
    if (collective.window) {
      text += fmt::format(" window start {} step {} size {}", collective.window->start,
                          collective.window->step, collective.window->size);
    }
    if (!collective.senders.empty()) text += " senders " + numbers_text(collective.senders);
    if (collective.source >= 0) text += fmt::format(" source {}", collective.source);
    text += fmt::format(" payload {} wire {}", collective.payload.count(), collective.wire.count());
    const CollectiveReason& why = collective.why;
    text += fmt::format(" because {} {}", name(why.kind), name(why.phase));
    if (why.node != NodeId::none) text += fmt::format(" node {}", index_of(why.node));
    if (!why.label.empty()) text += " over " + quoted(why.label);
    if (!why.from_spec.empty()) text += " from " + quoted(why.from_spec);
    if (!why.to_spec.empty()) text += " to " + quoted(why.to_spec);
    return text;
  }

  std::string origin(const Instruction& instruction) const {
    std::string text = fmt::format("; {}", name(instruction.phase));
    if (instruction.node != NodeId::none)
      text += fmt::format(" node {}", index_of(instruction.node));
    const Iteration& iteration = instruction.iteration;
    if (iteration != Iteration{}) {
      text += fmt::format(" repeat {} iteration {} to {}", iteration.repeat, iteration.first,
                          iteration.last);
    }
    return text;
  }

  void write_memory() {
    const MemoryPlan& memory = program_.memory;
    text_ += fmt::format("\nmemory peak {} instruction {} live {}\n", memory.peak.count(),
                         memory.peak_instruction, memory.peak_live.count());
    text_ += "  live (" + buffers_text(memory.live_at_peak) + ")\n";
    for (const CategoryBytes& part : memory.by_category)
      text_ += fmt::format("  {} {}\n", name(part.category), part.bytes.count());
  }

  const Program& program_;
  const Mesh& mesh_;
  std::string text_;
};

}  // namespace

std::string to_string(const Program& program) { return ProgramWriter(program).run(); }

}  // namespace shard
