#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ops/ragged_exchange.h"
#include "spmd/axes.h"
#include "spmd/fused_form.h"
#include "spmd/liveness.h"
#include "spmd/places.h"
#include "spmd/reshard.h"
#include "spmd/verify.h"

namespace shard::spmd {
namespace {

class TypeCheck {
 public:
  TypeCheck(const Program& program, Findings& findings) : program_(program), findings_(findings) {}

  void run() {
    for (std::size_t i = 0; i < program_.inputs.size(); ++i)
      check_port(fmt::format("input {}", i), program_.inputs[i]);
    for (std::size_t i = 0; i < program_.outputs.size(); ++i)
      check_port(fmt::format("output {}", i), program_.outputs[i]);
    for (body_ = 0; body_ < static_cast<int>(program_.bodies.size()); ++body_) {
      const auto& list = program_.bodies[static_cast<std::size_t>(body_)].instructions;
      for (position_ = 0; position_ < list.size(); ++position_) check(list[position_]);
    }
  }

 private:
  const TensorType& type(BufferId id) const { return program_.buffer(id).type; }
  void wrong(const std::string& what) { findings_.at(program_, body_, position_, what); }

  template <class Port>
  void check_port(const std::string& where, const Port& port) {
    if (!has_axes(axes_of(port.sharding)) || !has_axes({port.sharding.unreduced}))
      return findings_.add(where + ": its sharding has axes that the mesh has not, or one twice");
    const TensorType stored{port.global.dtype, port.stored()};
    const bool fits =
        port.sharding.rank() == stored.rank() && divides_evenly(stored.shape, port.sharding);
    if (!fits) return findings_.add(where + ": its sharding does not divide " + to_string(stored));
    if (!is_enlarged(port.global.shape, stored.shape))
      return findings_.add(where + ": " + to_string(port.global) + " cannot be padded to " +
                           to_string(stored));
    const TensorType local{port.global.dtype, local_shape(stored.shape, port.sharding)};
    if (local != type(port.buffer))
      findings_.add(fmt::format("{}: {} is {}, its sharding makes it {}", where,
                                text_of(port.buffer), to_string(type(port.buffer)),
                                to_string(local)));
  }

  static bool is_enlarged(const Shape& shape, const Shape& stored) {
    return shape.size() == stored.size() &&
           std::equal(shape.begin(), shape.end(), stored.begin(), std::less_equal<>());
  }

  /// Axes of the mesh, each part of one at most once.
  bool has_axes(const AxesPerDim& dims) const {
    Axes seen;
    for (const Axes& dim : dims) {
      for (const AxisRef& axis : dim) {
        if (axis.axis < 0 || static_cast<std::size_t>(axis.axis) >= program_.mesh.axes().size() ||
            axis.size < 1 || axis.pre_size < 1 ||
            program_.mesh.size(axis.axis) % (axis.pre_size * axis.size) != 0)
          return false;
        for (const AxisRef& other : seen) {
          if (overlaps(axis, other)) return false;
        }
        seen.push_back(axis);
      }
    }
    return true;
  }

  void check(const Instruction& instruction) {
    switch (instruction.kind) {
      case Instruction::Kind::compute:
        return check_compute(instruction);
      case Instruction::Kind::collective:
        return check_collective(instruction);
      case Instruction::Kind::loop:
        return check_loop(instruction);
      case Instruction::Kind::fused:
        return check_fused(instruction);
    }
  }

  void check_fused(const Instruction& instruction) {
    std::vector<TensorType> operands;
    for (const BufferId id : instruction.operands) operands.push_back(type(id));
    const FusedFormResult answer = fused_form(operands, instruction.steps);
    if (const auto* problem = std::get_if<std::string>(&answer)) return wrong(*problem);
    const FusedForm& form = std::get<FusedForm>(answer);
    for (const int sum : form.sums) {
      const std::vector<int>& outputs = instruction.outputs;
      if (std::find(outputs.begin(), outputs.end(), sum) == outputs.end())
        return wrong(fmt::format("value {} is a sum of products, and no result", sum));
    }
    std::vector<TensorType> results;
    for (const int output : instruction.outputs) {
      if (output < static_cast<int>(operands.size()) ||
          output >= static_cast<int>(form.values.size()))
        return wrong(fmt::format("no step makes value {}", output));
      results.push_back(form.values[static_cast<std::size_t>(output)]);
    }
    check_results(instruction, results);
  }

  void check_compute(const Instruction& instruction) {
    const OpDef& row = def(instruction.op);
    if (instruction.op == Op::repeat || row.shape_rule == nullptr)
      return wrong("it is no computation");
    if (row.operand_count >= 0 &&
        instruction.operands.size() != static_cast<std::size_t>(row.operand_count))
      return wrong(
          fmt::format("{} operands, expected {}", instruction.operands.size(), row.operand_count));
    std::vector<TensorType> operands;
    for (const BufferId id : instruction.operands) operands.push_back(type(id));
    try {
      const ShapeResult answer = row.shape_rule(operands, instruction.attributes);
      if (const auto* problem = std::get_if<std::string>(&answer)) return wrong(*problem);
      check_results(instruction, std::get<std::vector<TensorType>>(answer));
    } catch (const InternalError&) {
      // Rules ask for attributes by name and type; in a text written by hand they may be missing.
      wrong("attributes of this op are missing or of another type: '" +
            to_string(instruction.attributes) + "'");
    }
  }

  void check_results(const Instruction& instruction, const std::vector<TensorType>& expected) {
    if (instruction.results.size() != expected.size())
      return wrong(
          fmt::format("{} results, expected {}", instruction.results.size(), expected.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) expect(instruction.results[i], expected[i]);
  }

  void expect(BufferId id, const TensorType& expected) {
    if (type(id) == expected) return;
    wrong(fmt::format("{} is {}, expected {}", text_of(id), to_string(type(id)),
                      to_string(expected)));
  }

  void check_collective(const Instruction& instruction) {
    const Collective& collective = *instruction.collective;
    const std::size_t count = operand_count(collective.kind);
    if (instruction.operands.size() != count || instruction.results.size() != 1) {
      return wrong(count == 1 ? std::string("a collective has one operand and one result")
                              : fmt::format("it has {} operands and one result", count));
    }
    if (collective.axes.empty() || !has_axes({collective.axes}))
      return wrong("it runs over axes that the mesh has not, over one twice, or over none");
    const bool reduces = collective.kind == CollectiveKind::all_reduce ||
                         collective.kind == CollectiveKind::reduce_scatter;
    if (reduces != (collective.reduction != Reduction::none))
      return wrong(reduces ? "it has no reduction" : "it has a reduction but reduces nothing");
    const TensorType& before = type(instruction.operands.front());
    if (collective.kind == CollectiveKind::ragged_all_to_all) return check_ragged(instruction);
    const std::optional<TensorType> after = result_type(collective, before);
    if (!after && collective.kind == CollectiveKind::collective_broadcast)
      return wrong(fmt::format("its source is none of {} devices", product(collective.axes)));
    if (!after)
      return wrong(fmt::format("its dims do not fit {} and groups of {}", to_string(before),
                               product(collective.axes)));
    expect(instruction.results.front(), *after);
    if (collective.window) return check_window_bytes(collective, before);
    if (!collective.senders.empty()) return check_sent_bytes(collective, before);
    check_bytes(collective, bytes_of(before), bytes_of(*after));
  }

  void check_ragged(const Instruction& instruction) {
    const Collective& collective = *instruction.collective;
    std::vector<TensorType> operands;
    for (const BufferId id : instruction.operands) operands.push_back(type(id));
    const int leads = std::max(0, operands.back().rank() - 1);
    const std::string mistake = ragged_exchange_mistake(operands, leads, product(collective.axes));
    if (!mistake.empty()) return wrong(mistake);
    if (collective.dim >= 0 || collective.split_dim >= 0 || !collective.from.empty() ||
        !collective.to.empty() || collective.window || !collective.senders.empty() ||
        collective.source >= 0)
      return wrong("it has fields of another kind");
    expect(instruction.results.front(), operands[1]);
    check_bytes(collective, bytes_of(operands[0]), bytes_of(operands[1]));
  }

  void check_window_bytes(const Collective& collective, const TensorType& before) {
    const Bytes wire =
        window_bytes(*collective.window, before, collective.dim, product(collective.axes));
    expect_bytes("payload", collective.payload, wire);
    expect_bytes("wire", collective.wire, wire);
  }

  void check_sent_bytes(const Collective& collective, const TensorType& before) {
    const Bytes wire = sent_bytes(collective.senders, bytes_of(before));
    expect_bytes("payload", collective.payload, wire);
    expect_bytes("wire", collective.wire, wire);
  }

  void check_bytes(const Collective& collective, Bytes before, Bytes after) {
    const Bytes payload = collective.kind == CollectiveKind::all_gather ? after : before;
    const Bytes wire = wire_bytes(collective.kind, before, product(collective.axes));
    expect_bytes("payload", collective.payload, payload);
    expect_bytes("wire", collective.wire, wire);
  }

  void expect_bytes(const char* what, Bytes found, Bytes expected) {
    if (found == expected) return;
    wrong(fmt::format("{} {}, expected {}", what, found.count(), expected.count()));
  }

  /// The local type after a collective, nothing when its dims do not fit.
  std::optional<TensorType> result_type(const Collective& collective,
                                        const TensorType& before) const {
    const std::int64_t n = product(collective.axes);
    TensorType after = before;
    const auto has_dim = [&](int dim) { return dim >= 0 && dim < before.rank(); };
    const auto join = [&](int dim) { after.shape[static_cast<std::size_t>(dim)] *= n; };
    const auto cut_dim = [&](int dim) {
      std::int64_t& size = after.shape[static_cast<std::size_t>(dim)];
      const bool divides = size % n == 0;
      size /= n;
      return divides;
    };
    switch (collective.kind) {
      case CollectiveKind::all_reduce:
        return after;
      case CollectiveKind::all_gather:
        if (!has_dim(collective.dim)) return std::nullopt;
        join(collective.dim);
        return after;
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::all_slice:
        if (!has_dim(collective.dim) || !cut_dim(collective.dim)) return std::nullopt;
        return after;
      case CollectiveKind::all_to_all:
        if (!has_dim(collective.dim) || !has_dim(collective.split_dim) ||
            collective.dim == collective.split_dim || !cut_dim(collective.split_dim))
          return std::nullopt;
        join(collective.dim);
        return after;
      case CollectiveKind::collective_permute:
        if (collective.window) return window_type(collective, before);
        if (!collective.senders.empty() ? !sends(collective, n)
                                        : !permutes(collective, before.rank()))
          return std::nullopt;
        return after;
      case CollectiveKind::ragged_all_to_all:
        return std::nullopt;  // looked at by itself
      case CollectiveKind::collective_broadcast:
        if (collective.source < 0 || collective.source >= n) return std::nullopt;
        return after;
    }
    return std::nullopt;
  }

  static std::optional<TensorType> window_type(const Collective& collective, TensorType before) {
    // Far beyond any array there is nothing to fetch, and numbers would overflow.
    constexpr std::int64_t most = std::int64_t{1} << 40;
    const PartWindow& window = *collective.window;
    const auto is_near = [&](std::int64_t number) { return number > -most && number < most; };
    const bool fits = collective.dim >= 0 && collective.dim < before.rank() && window.size >= 0 &&
                      is_near(window.size) && is_near(window.start) && is_near(window.step) &&
                      collective.from.empty() && collective.to.empty();
    if (!fits) return std::nullopt;
    before.shape[static_cast<std::size_t>(collective.dim)] = window.size;
    return before;
  }

  static bool sends(const Collective& collective, std::int64_t members) {
    if (static_cast<std::int64_t>(collective.senders.size()) != members) return false;
    std::vector<char> has_sent(collective.senders.size());
    for (const int from : collective.senders) {
      const bool exists = from >= -1 && from < members;
      if (!exists || (from >= 0 && has_sent[static_cast<std::size_t>(from)]++ != 0)) return false;
    }
    return collective.from.empty() && collective.to.empty() && collective.dim < 0;
  }

  bool permutes(const Collective& collective, int rank) const {
    const auto& from = collective.from;
    const auto& to = collective.to;
    if (from.size() != to.size() || from.size() != static_cast<std::size_t>(rank)) return false;
    AxesPerDim ins, outs;
    for (std::size_t dim = 0; dim < from.size(); ++dim) {
      if (part_count(from[dim]) != part_count(to[dim])) return false;
      ins.push_back(from[dim].axes);
      outs.push_back(to[dim].axes);
    }
    return has_axes(ins) && has_axes(outs);
  }

  void check_loop(const Instruction& loop) {
    const Body& inner = program_.bodies[static_cast<std::size_t>(loop.body)];
    const LoopShape shape = loop_shape(loop);
    const std::int64_t times = loop.attributes.integer("times");
    for (std::size_t i = 0; i < loop.operands.size(); ++i) {
      const bool is_slice = i >= shape.carries && i < shape.carries + shape.stacked;
      check_inside(inner.parameters[i], loop.operands[i], is_slice, times);
      const Buffer& parameter = program_.buffer(inner.parameters[i]);
      if (is_slice) check_view(inner.parameters[i], loop.operands[i], loop.body);
      const BufferId place = i < shape.carries ? loop.results[i] : loop.operands[i];
      if (!is_slice && parameter.alias_of != place)
        wrong(text_of(inner.parameters[i]) + " is not at the place of " + text_of(place));
    }
    for (std::size_t i = 0; i < loop.results.size(); ++i) {
      const bool is_output = i >= shape.carries;
      check_inside(inner.results[i], loop.results[i], is_output, times);
      if (is_output) check_view(root(inner.results[i]), loop.results[i], loop.body);
      if (!is_output) expect(loop.operands[i], type(loop.results[i]));
    }
  }

  /// The buffer at the start of the chain; stops where a chain made by hand has no start.
  BufferId root(BufferId id) const {
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      if (program_.buffer(id).alias_of == BufferId::none) break;
      id = program_.buffer(id).alias_of;
    }
    return id;
  }

  void check_inside(BufferId inside, BufferId outside, bool is_slice, std::int64_t times) {
    TensorType expected = type(inside);
    if (is_slice) expected.shape.insert(expected.shape.begin(), times);
    if (type(outside) != expected)
      wrong(fmt::format("{} is {}, but {} in body is {}", text_of(outside),
                        to_string(type(outside)), text_of(inside), to_string(type(inside))));
  }

  void check_view(BufferId inside, BufferId stacked, int body) {
    const Buffer& view = program_.buffer(inside);
    if (view.stacked_of != stacked || view.loop_body != body || view.stride != bytes_of(view.type))
      wrong(fmt::format("{} is not the slice of {} in body {}", text_of(inside), text_of(stacked),
                        body));
  }

  const Program& program_;
  Findings& findings_;
  int body_ = 0;
  std::size_t position_ = 0;
};

}  // namespace

void check_types(const Program& program, Findings& findings) { TypeCheck(program, findings).run(); }

}  // namespace shard::spmd
