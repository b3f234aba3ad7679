#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "spmd/axes.h"
#include "spmd/passes.h"
#include "spmd/reshard.h"

namespace shard::spmd {
namespace {

bool is_collective(const Instruction& instruction, CollectiveKind kind) {
  return instruction.kind == Instruction::Kind::collective && instruction.collective->kind == kind;
}

/// One collective after another on one value.
struct Piece {
  CollectiveKind kind;
  int dim;
  Axes axes;
};

/// The leading axes that lie within `reduced`.
Axes leading(const Axes& axes, const Axes& reduced) {
  const Axes pieces = aligned({axes}, {reduced}).front();
  Axes inside;
  for (const AxisRef& piece : pieces) {
    const auto holds = [&](const AxisRef& axis) { return contains(axis, piece); };
    if (!std::any_of(reduced.begin(), reduced.end(), holds)) break;
    inside.push_back(piece);
  }
  return merged(inside);
}

/// What an all_reduce over `reduced` followed by these slices becomes; nothing when the slices do
/// not use up all its axes.
std::vector<Piece> scattered(const Axes& reduced, const std::vector<const Collective*>& slices) {
  std::vector<Piece> scatters, rest;
  std::vector<int> closed_dims;  // a slice stays there, so nothing behind it can be scattered
  std::int64_t parts = 1;
  for (const Collective* slice : slices) {
    const bool is_closed =
        std::find(closed_dims.begin(), closed_dims.end(), slice->dim) != closed_dims.end();
    const Axes first = is_closed ? Axes{} : leading(slice->axes, reduced);
    const Axes left = first.empty() ? slice->axes : appended(first, slice->axes);
    if (!first.empty()) scatters.push_back({CollectiveKind::reduce_scatter, slice->dim, first});
    if (!left.empty()) {
      rest.push_back({CollectiveKind::all_slice, slice->dim, left});
      closed_dims.push_back(slice->dim);
    }
    parts *= product(first);
  }
  if (parts != product(reduced)) return {};
  scatters.insert(scatters.end(), rest.begin(), rest.end());
  return scatters;
}

class Simplifier {
 public:
  explicit Simplifier(Program& program) : program_(program) {}

  void run() {
    for (std::size_t body = 0; body < program_.bodies.size(); ++body) {
      cancel_slices(program_.bodies[body]);
      fuse(program_.bodies[body]);
    }
    std::vector<bool> needed(program_.buffers.size());
    remove_dead(0, needed);
  }

 private:
  /// Readers of each buffer inside one body; results of the body count as one more reader.
  struct Readers {
    std::vector<int> instruction;  ///< by buffer: the last one
    std::vector<int> count;
  };

  Readers readers(const Body& body) const {
    Readers readers{std::vector<int>(program_.buffers.size(), -1),
                    std::vector<int>(program_.buffers.size(), 0)};
    for (std::size_t i = 0; i < body.instructions.size(); ++i) {
      for (const BufferId operand : body.instructions[i].operands) {
        readers.instruction[index_of(operand)] = static_cast<int>(i);
        ++readers.count[index_of(operand)];
      }
    }
    for (const BufferId result : body.results) {
      readers.instruction[index_of(result)] = -1;
      readers.count[index_of(result)] += 2;
    }
    return readers;
  }

  /// Positions of the slices that follow, each the only reader of what is before it.
  static std::vector<int> slices_after(const Body& body, const Readers& readers, BufferId buffer) {
    std::vector<int> slices;
    while (readers.count[index_of(buffer)] == 1) {
      const int next = readers.instruction[index_of(buffer)];
      const Instruction& instruction = body.instructions[static_cast<std::size_t>(next)];
      if (!is_collective(instruction, CollectiveKind::all_slice)) break;
      slices.push_back(next);
      buffer = instruction.results.front();
    }
    return slices;
  }

  void fuse(Body& body) {
    const Readers known = readers(body);
    std::vector<Instruction> kept;
    kept.reserve(body.instructions.size());
    std::vector<bool> is_fused(body.instructions.size());
    for (std::size_t i = 0; i < body.instructions.size(); ++i) {
      if (is_fused[i]) continue;
      Instruction& instruction = body.instructions[i];
      std::vector<Piece> pieces;
      std::vector<int> slices;
      if (is_collective(instruction, CollectiveKind::all_reduce)) {
        slices = slices_after(body, known, instruction.results.front());
        std::vector<const Collective*> collectives;
        for (const int at : slices)
          collectives.push_back(&*body.instructions[static_cast<std::size_t>(at)].collective);
        pieces = scattered(instruction.collective->axes, collectives);
      }
      if (pieces.empty()) {
        kept.push_back(std::move(instruction));
        continue;
      }
      for (const int at : slices) is_fused[static_cast<std::size_t>(at)] = true;
      const Instruction& last = body.instructions[static_cast<std::size_t>(slices.back())];
      add_pieces(instruction, last, pieces, kept);
    }
    body.instructions = std::move(kept);
  }

  /// Writes the pieces one after another, from the all_reduce's operand to the last slice's result.
  void add_pieces(const Instruction& all_reduce, const Instruction& last_slice,
                  const std::vector<Piece>& pieces, std::vector<Instruction>& kept) {
    BufferId from = all_reduce.operands.front();
    for (const Piece& piece : pieces) {
      const bool is_last = &piece == &pieces.back();
      Instruction instruction = all_reduce;
      Collective& collective = *instruction.collective;
      collective.kind = piece.kind;
      collective.dim = piece.dim;
      collective.axes = piece.axes;
      if (piece.kind == CollectiveKind::all_slice) collective.reduction = Reduction::none;
      collective.payload = bytes_of(program_.buffer(from).type);
      collective.wire = wire_bytes(piece.kind, collective.payload, product(piece.axes));
      collective.why.from_spec = last_slice.collective->why.from_spec;
      collective.why.to_spec = last_slice.collective->why.to_spec;
      const BufferId to = is_last ? last_slice.results.front() : part_of(from, piece);
      instruction.operands = {from};
      instruction.results = {to};
      kept.push_back(std::move(instruction));
      from = to;
    }
  }

  BufferId part_of(BufferId whole, const Piece& piece) {
    Buffer buffer = program_.buffer(whole);
    buffer.type.shape[static_cast<std::size_t>(piece.dim)] /= product(piece.axes);
    buffer.name += ":scattered";
    program_.buffers.push_back(std::move(buffer));
    return id_at<BufferId>(program_.buffers.size() - 1);
  }

  /// A slice that takes back out what the gather before it put together is the gather's operand.
  void cancel_slices(Body& body) {
    std::unordered_map<BufferId, BufferId> same;
    std::unordered_map<BufferId, const Instruction*> gathers;
    const auto resolve = [&](BufferId id) { return same.contains(id) ? same.at(id) : id; };
    for (Instruction& instruction : body.instructions) {
      for (BufferId& operand : instruction.operands) operand = resolve(operand);
      if (is_collective(instruction, CollectiveKind::all_gather))
        gathers[instruction.results.front()] = &instruction;
      if (!is_collective(instruction, CollectiveKind::all_slice)) continue;
      const auto gather = gathers.find(instruction.operands.front());
      if (gather == gathers.end()) continue;
      const Collective &one = *gather->second->collective, &other = *instruction.collective;
      if (one.dim == other.dim && one.axes == other.axes)
        same[instruction.results.front()] = gather->second->operands.front();
    }
    if (same.empty()) return;
    for (BufferId& result : body.results) result = resolve(result);
    if (&body == &program_.bodies.front()) {
      for (ProgramOutput& output : program_.outputs) output.buffer = resolve(output.buffer);
    }
    for (Buffer& buffer : program_.buffers) {
      buffer.alias_of = resolve(buffer.alias_of);
      buffer.stacked_of = resolve(buffer.stacked_of);
    }
  }

  void remove_dead(int body_index, std::vector<bool>& needed) {
    Body& body = program_.bodies[static_cast<std::size_t>(body_index)];
    for (const BufferId result : body.results) needed[index_of(result)] = true;
    std::vector<Instruction>& instructions = body.instructions;
    std::vector<bool> is_dead(instructions.size());
    for (std::size_t i = instructions.size(); i-- > 0;) {
      const auto is_needed = [&](BufferId result) { return needed[index_of(result)]; };
      is_dead[i] =
          std::none_of(instructions[i].results.begin(), instructions[i].results.end(), is_needed);
      if (is_dead[i]) continue;
      for (const BufferId operand : instructions[i].operands) needed[index_of(operand)] = true;
      if (instructions[i].kind == Instruction::Kind::loop)
        remove_dead(instructions[i].body, needed);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (is_dead[i]) continue;
      if (kept != i) instructions[kept] = std::move(instructions[i]);
      ++kept;
    }
    instructions.resize(kept);
  }

  Program& program_;
};

}  // namespace

void simplify(Program& program) { Simplifier(program).run(); }

}  // namespace shard::spmd
