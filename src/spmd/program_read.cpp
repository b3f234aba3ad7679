#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "base/nearest.h"
#include "spmd/text_cursor.h"
#include "spmd/words.h"

namespace shard {
namespace {

using spmd::TextCursor;

/// One function per kind of line; each takes the line it reads and the line's end.
class ProgramReader {
 public:
  ProgramReader(const std::string& file, const std::string& text) : in_(file, text) {}

  Program run() {
    in_.is_at_end();
    in_.expect("program");
    program_.name = in_.word();
    in_.end_line();
    read_mesh();
    section("inputs");
    while (in_.peek() == "%") read_input();
    section("outputs");
    while (in_.peek() == "%") read_output();
    section("buffers");
    while (in_.peek() == "%") read_buffer();
    while (in_.take("body")) read_body();
    read_memory();
    if (!in_.is_at_end()) in_.fail("the end of the program", {"body", "memory"});
    return std::move(program_);
  }

 private:
  void section(const char* title) {
    in_.expect(title);
    in_.end_line();
  }

  int small() {
    const std::size_t start = in_.position();
    const std::int64_t number = in_.integer();
    if (number < -1 || number > std::numeric_limits<int>::max())
      in_.fail_at(start, fmt::format("{} is no position", number), "");
    return static_cast<int>(number);
  }

  Bytes bytes() { return Bytes(in_.integer()); }

  template <class Enum>
  Enum named(const char* what) {
    const auto found = spmd::named<Enum>(in_.peek());
    if (!found) {
      std::vector<std::string> known;
      for (const std::string_view one : spmd::words<Enum>()) known.emplace_back(one);
      in_.fail(what, known);
    }
    in_.take(in_.peek());
    return *found;
  }

  void read_mesh() {
    in_.expect("mesh");
    std::vector<MeshAxisInfo> axes;
    std::vector<std::int64_t> sizes;
    while (!in_.is_at_line_end()) {
      MeshAxisInfo axis;
      axis.name = MeshAxis(in_.word());
      in_.expect("=");
      axis.size = in_.integer();
      if (axis.size < 1) in_.fail_at(in_.position() - 1, "a mesh axis has at least size 1", "");
      if (in_.take(":")) axis.type = axis_type();
      sizes.push_back(axis.size);
      if (!checked_product(sizes)) in_.fail_at(in_.position() - 1, "more than 2^63 devices", "");
      axes.push_back(std::move(axis));
    }
    in_.end_line();
    std::vector<std::int64_t> devices;
    const std::size_t start = in_.position();
    const bool has_devices = in_.take("devices");
    if (has_devices) {
      while (!in_.is_at_line_end()) devices.push_back(in_.integer());
      in_.end_line();
    }
    const std::int64_t count = Mesh(axes).device_count();
    if (has_devices && static_cast<std::int64_t>(devices.size()) != count)
      in_.fail_at(start, fmt::format("{} device ids for {} devices", devices.size(), count), "");
    program_.mesh = Mesh(std::move(axes), std::move(devices));
  }

  AxisType axis_type() {
    const std::string word(in_.peek());
    const std::optional<AxisType> type = axis_type_named(word);
    if (!type) {
      std::vector<std::string> known;
      for (const AxisType one : {AxisType::automatic, AxisType::explicit_types, AxisType::manual})
        known.push_back(to_string(one));
      in_.fail("a type of mesh axis", known);
    }
    in_.take(word);
    return *type;
  }

  AxisRef axis() {
    const std::size_t start = in_.position();
    const std::string axis_name = in_.word();
    const std::optional<int> found = program_.mesh.find(MeshAxis(axis_name));
    if (!found) {
      std::vector<std::string> known;
      for (const MeshAxisInfo& one : program_.mesh.axes()) known.push_back(one.name.text());
      in_.fail_at(start, "mesh axis '" + axis_name + "' is not in the mesh",
                  did_you_mean(axis_name, known, "the mesh has"));
    }
    AxisRef ref = program_.mesh.full(*found);
    if (!in_.take(":")) return ref;
    in_.expect("(");
    ref.pre_size = in_.integer();
    in_.expect(")");
    ref.size = in_.integer();
    const bool is_part = ref.pre_size > 0 && ref.size > 0 &&
                         program_.mesh.size(ref.axis) % (ref.pre_size * ref.size) == 0;
    if (!is_part)
      in_.fail_at(start,
                  fmt::format("axis {} of size {} has no part :({}){}", axis_name,
                              program_.mesh.size(ref.axis), ref.pre_size, ref.size),
                  "");
    return ref;
  }

  DimSharding dim() {
    DimSharding dim;
    in_.expect("{");
    while (!in_.take("}")) {
      if (in_.take("?"))
        dim.is_open = true;
      else
        dim.axes.push_back(axis());
      if (!in_.take(",") && in_.peek() != "}") in_.fail("',' or '}'");
    }
    return dim;
  }

  std::vector<AxisRef> axes() { return dim().axes; }

  std::vector<DimSharding> dims() {
    std::vector<DimSharding> dims;
    in_.expect("[");
    while (!in_.take("]")) {
      dims.push_back(dim());
      if (!in_.take(",") && in_.peek() != "]") in_.fail("',' or ']'");
    }
    return dims;
  }

  Sharding sharding() {
    Sharding sharding;
    sharding.dims = dims();
    if (in_.take("replicated")) sharding.replicated = axes();
    if (in_.take("unreduced")) sharding.unreduced = axes();
    return sharding;
  }

  TensorType type() {
    const std::optional<DType> dtype = dtype_named(in_.peek());
    if (!dtype) {
      std::vector<std::string> known;
      for (const DTypeInfo& one : dtype_table()) known.emplace_back(one.name);
      in_.fail("a type like f32[8,4]", known);
    }
    in_.take(in_.peek());
    TensorType type{*dtype, {}};
    in_.expect("[");
    while (!in_.take("]")) {
      type.shape.push_back(in_.integer());
      if (type.shape.back() < 0) in_.fail_at(in_.position() - 1, "a size is not negative", "");
      if (!in_.take(",") && in_.peek() != "]") in_.fail("',' or ']'");
    }
    std::vector<std::int64_t> factors = type.shape;
    factors.push_back(info(type.dtype).bytes);
    if (!checked_product(factors))
      in_.fail_at(in_.position() - 1, "more than 2^63 bytes in one array", "");
    return type;
  }

  BufferId buffer() {
    in_.expect("%");
    return static_cast<BufferId>(small());
  }

  std::vector<BufferId> buffers_in_parentheses() {
    std::vector<BufferId> ids;
    in_.expect("(");
    while (!in_.take(")")) {
      ids.push_back(buffer());
      if (!in_.take(",") && in_.peek() != ")") in_.fail("',' or ')'");
    }
    return ids;
  }

  template <class Port>
  Port port() {
    Port port;
    port.buffer = buffer();
    port.path = in_.quoted();
    port.global = type();
    port.sharding = sharding();
    port.role = named<Role>("a role");
    if (in_.take("leaf")) port.state_leaf = small();
    if (in_.take("padded")) port.padded = type().shape;
    return port;
  }

  void read_input() {
    program_.inputs.push_back(port<ProgramInput>());
    in_.end_line();
  }

  void read_output() {
    program_.outputs.push_back(port<ProgramOutput>());
    if (in_.take("donates")) program_.outputs.back().donates = small();
    in_.end_line();
  }

  void read_buffer() {
    const std::size_t start = in_.position();
    const BufferId id = buffer();
    if (id != id_at<BufferId>(program_.buffers.size()))
      in_.fail_at(
          start,
          fmt::format("buffers are listed in order, this one must be %{}", program_.buffers.size()),
          "");
    Buffer entry;
    entry.type = type();
    entry.category = named<Category>("a category");
    in_.expect("at");
    entry.offset = bytes();
    if (in_.take("over")) entry.alias_of = buffer();
    if (in_.take("slice")) {
      in_.expect("of");
      entry.stacked_of = buffer();
      in_.expect("body");
      entry.loop_body = small();
      in_.expect("stride");
      entry.stride = bytes();
    }
    if (in_.take("value")) entry.value = static_cast<ValueId>(small());
    if (in_.is_at_quote()) entry.name = in_.quoted();
    in_.end_line();
    program_.buffers.push_back(std::move(entry));
  }

  void read_body() {
    number_expected(program_.bodies.size());
    Body body;
    body.parameters = buffers_in_parentheses();
    in_.expect("-");
    in_.expect(">");
    body.results = buffers_in_parentheses();
    in_.end_line();
    while (!in_.peek().empty() && in_.peek() != "body" && in_.peek() != "memory") {
      number_expected(body.instructions.size());
      in_.expect(":");
      body.instructions.push_back(instruction());
      in_.end_line();
    }
    program_.bodies.push_back(std::move(body));
  }

  void number_expected(std::size_t number) {
    const std::string text = std::to_string(number);
    if (in_.peek() != text) in_.fail("number " + text + ", they are listed in order");
    in_.take(text);
  }

  Instruction instruction() {
    Instruction instruction;
    while (!in_.take("=")) {
      instruction.results.push_back(buffer());
      if (!in_.take(",") && in_.peek() != "=") in_.fail("',' or '='");
    }
    read_action(instruction);
    in_.expect(";");
    instruction.phase = named<Phase>("a phase");
    if (in_.take("node")) instruction.node = static_cast<NodeId>(small());
    if (in_.take("repeat")) {
      instruction.iteration.repeat = small();
      in_.expect("iteration");
      instruction.iteration.first = in_.integer();
      in_.expect("to");
      instruction.iteration.last = in_.integer();
    }
    return instruction;
  }

  void read_action(Instruction& instruction) {
    const std::string_view word = in_.peek();
    if (const auto kind = spmd::named<CollectiveKind>(word)) {
      in_.take(word);
      instruction.kind = Instruction::Kind::collective;
      instruction.operands = buffers_in_parentheses();
      instruction.collective = collective(*kind);
      return;
    }
    if (in_.take("loop")) {
      instruction.kind = Instruction::Kind::loop;
      instruction.op = Op::repeat;
      instruction.operands = buffers_in_parentheses();
      in_.expect("body");
      instruction.body = small();
    } else if (in_.take("fused")) {
      instruction.kind = Instruction::Kind::fused;
      instruction.operands = buffers_in_parentheses();
      return read_steps(instruction);
    } else {
      instruction.op = op("an op, a collective, 'fused' or 'loop'", {"fused", "loop"});
      instruction.operands = buffers_in_parentheses();
    }
    if (in_.peek() == "{") instruction.attributes = attributes();
  }

  Op op(const char* what, std::vector<std::string> others) {
    const std::string_view word = in_.peek();
    const std::optional<Op> op = op_named(word);
    if (!op || op == Op::repeat) in_.fail(what, action_words(std::move(others)));
    in_.take(word);
    return *op;
  }

  void read_steps(Instruction& instruction) {
    in_.expect("[");
    while (!in_.take("]")) {
      FusedStep step;
      step.op = op("an op", {});
      step.operands = numbers_in_parentheses();
      if (in_.peek() == "{") step.attributes = attributes();
      if (in_.take("node")) step.node = static_cast<NodeId>(small());
      instruction.steps.push_back(std::move(step));
      if (!in_.take(",") && in_.peek() != "]") in_.fail("',' or ']'");
    }
    in_.expect("-");
    in_.expect(">");
    instruction.outputs = numbers_in_parentheses();
  }

  std::vector<int> numbers_in_parentheses() {
    std::vector<int> numbers;
    in_.expect("(");
    while (!in_.take(")")) {
      numbers.push_back(small());
      if (!in_.take(",") && in_.peek() != ")") in_.fail("',' or ')'");
    }
    return numbers;
  }

  /// Names of ops, and of what else may stand there; collectives stand where loops do.
  static std::vector<std::string> action_words(std::vector<std::string> known) {
    if (!known.empty()) {
      for (const std::string_view one : spmd::words<CollectiveKind>()) known.emplace_back(one);
    }
    for (const OpDef& one : op_table()) known.emplace_back(one.name);
    return known;
  }

  Attributes attributes() {
    const std::size_t start = in_.position();
    const std::string_view text = in_.bracketed();
    try {
      return read_attributes(text);
    } catch (const std::invalid_argument& failure) {
      in_.fail_at(start, failure.what(), "");
    }
  }

  Collective collective(CollectiveKind kind) {
    Collective collective;
    collective.kind = kind;
    collective.axes = axes();
    if (const auto reduction = spmd::named<Reduction>(in_.peek())) {
      in_.take(in_.peek());
      collective.reduction = *reduction;
    }
    if (in_.take("dim")) collective.dim = small();
    if (in_.take("split")) collective.split_dim = small();
    if (in_.take("from")) collective.from = dims();
    if (in_.take("to")) collective.to = dims();
    if (in_.take("window")) collective.window = window();
    if (in_.take("senders")) collective.senders = numbers_in_parentheses();
    if (in_.take("source")) collective.source = small();
    in_.expect("payload");
    collective.payload = bytes();
    in_.expect("wire");
    collective.wire = bytes();
    in_.expect("because");
    CollectiveReason& why = collective.why;
    why.kind = named<CollectiveReason::Kind>("a reason");
    why.phase = named<Phase>("a phase");
    if (in_.take("node")) why.node = static_cast<NodeId>(small());
    if (in_.take("over")) why.label = in_.quoted();
    if (in_.take("from")) why.from_spec = in_.quoted();
    if (in_.take("to")) why.to_spec = in_.quoted();
    return collective;
  }

  PartWindow window() {
    PartWindow window;
    in_.expect("start");
    window.start = in_.integer();
    in_.expect("step");
    window.step = in_.integer();
    in_.expect("size");
    window.size = in_.integer();
    return window;
  }

  void read_memory() {
    if (!in_.take("memory")) in_.fail("'body' or 'memory'", {"body", "memory"});
    MemoryPlan& memory = program_.memory;
    in_.expect("peak");
    memory.peak = bytes();
    in_.expect("instruction");
    memory.peak_instruction = small();
    in_.expect("live");
    memory.peak_live = bytes();
    in_.end_line();
    in_.expect("live");
    memory.live_at_peak = buffers_in_parentheses();
    in_.end_line();
    while (!in_.is_at_end()) {
      const Category category = named<Category>("a category");
      memory.by_category.push_back({category, bytes()});
      in_.end_line();
    }
  }

  TextCursor in_;
  Program program_;
};

}  // namespace

Program read_program(const std::string& file, const std::string& text) {
  return ProgramReader(file, text).run();
}

}  // namespace shard
