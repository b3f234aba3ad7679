#include "spmd/spread_again.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "spmd/fused_form.h"
#include "spmd/liveness.h"

namespace shard::spmd {
namespace {

bool is_spread(const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::compute && instruction.op == Op::broadcast;
}

bool is_step(const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::compute &&
         fusion_role(instruction.op) == FusionRole::pointwise;
}

/// A broadcast for those who need it again.
struct Spread {
  BufferId array = BufferId::none;  ///< what they read so far
  BufferId from = BufferId::none;   ///< what they get it from now
  Instruction made_by;              ///< with the attributes that say how
};

/// Who makes and reads what in a body, and in which stretch between two ends of chains. Readers are
/// known of broadcasts and parameters alone: nobody asks for others.
class BodyIndex {
 public:
  explicit BodyIndex(const Body& body) : body_(body) {
    results_.insert(body.results.begin(), body.results.end());
    for (const BufferId id : body.parameters) readers_[id];
    maker_.reserve(body.instructions.size());
    chain_.reserve(body.instructions.size());
    int chain = 0;
    for (std::size_t i = 0; i < body.instructions.size(); ++i) {
      const Instruction& one = body.instructions[i];
      if (i == 0 || begins_chain(body.instructions[i - 1], one)) ++chain;
      chain_.push_back(chain);
      for (const BufferId id : one.operands) {
        if (const auto known = readers_.find(id); known != readers_.end())
          known->second.push_back(i);
      }
      for (const BufferId id : one.results) maker_[id] = i;
      if (is_spread(one)) readers_[one.results.front()];
    }
  }

  /// The instruction that makes it; nullptr for parameters.
  const Instruction* maker(BufferId id) const {
    const auto found = maker_.find(id);
    return found == maker_.end() ? nullptr : &body_.instructions[found->second];
  }

  /// By chain the positions of its readers, but for the chain that makes it; nothing where somebody
  /// needs it as it is.
  std::vector<std::vector<std::size_t>> later_steps(BufferId id) const {
    const auto readers = readers_.find(id);
    if (results_.contains(id) || readers == readers_.end()) return {};
    const auto maker = maker_.find(id);
    std::map<int, std::vector<std::size_t>> by_chain;
    for (const std::size_t position : readers->second) {
      if (!is_step(body_.instructions[position])) return {};
      by_chain[chain_[position]].push_back(position);
    }
    if (maker != maker_.end()) by_chain.erase(chain_[maker->second]);
    std::vector<std::vector<std::size_t>> later;
    for (auto& [chain, positions] : by_chain) later.push_back(std::move(positions));
    return later;
  }

 private:
  static bool begins_chain(const Instruction& before, const Instruction& one) {
    return ends_chains(one) || one.phase != before.phase || one.iteration != before.iteration;
  }

  const Body& body_;
  std::set<BufferId> results_;
  std::vector<int> chain_;  ///< by position, from 1
  std::unordered_map<BufferId, std::vector<std::size_t>> readers_;
  std::unordered_map<BufferId, std::size_t> maker_;  ///< position
};

class Spreader {
 public:
  explicit Spreader(Program& program) : program_(program), spreads_(program.bodies.size()) {
    for (const Body& body : program_.bodies) index_.emplace_back(body);
  }

  bool run() {
    for (std::size_t body = 0; body < program_.bodies.size(); ++body) find_kept(body);
    bool has_changed = false;
    for (std::size_t body = 0; body < program_.bodies.size(); ++body) {
      find_own(body);
      has_changed |= !spreads_[body].empty();
      make_again(body);
    }
    return has_changed;
  }

 private:
  std::int64_t bytes(BufferId id) const { return bytes_of(program_.buffer(id).type).count(); }

  /// The broadcast that makes it of much less.
  const Instruction* spread_of(std::size_t body, BufferId id) const {
    const Instruction* const maker = index_[body].maker(id);
    const bool is_much_less =
        maker != nullptr && is_spread(*maker) && 2 * bytes(maker->operands.front()) <= bytes(id);
    return is_much_less ? maker : nullptr;
  }

  /// Made in that iteration or outside of all. Where iterations stand for several, what is made in
  /// another one is found from the iteration that reads it so far, and from no other.
  bool is_beside(std::size_t body, BufferId id, const Iteration& iteration) const {
    const Instruction* const maker = index_[body].maker(id);
    return maker == nullptr || maker->iteration == iteration || maker->iteration.repeat < 0;
  }

  void find_own(std::size_t body) {
    for (const Instruction& one : program_.bodies[body].instructions) {
      if (!is_spread(one)) continue;
      const BufferId id = one.results.front();
      if (spread_of(body, id) == nullptr || !is_beside(body, one.operands.front(), one.iteration) ||
          index_[body].later_steps(id).empty())
        continue;
      spreads_[body].push_back({id, one.operands.front(), one});
    }
  }

  /// Each chain gets a broadcast of its own before its first reader.
  void make_again(std::size_t number) {
    if (spreads_[number].empty()) return;
    std::vector<Instruction>& list = program_.bodies[number].instructions;
    std::map<std::size_t, std::vector<Instruction>> before;  ///< by position
    for (const Spread& spread : spreads_[number]) {
      for (const std::vector<std::size_t>& chain : index_[number].later_steps(spread.array)) {
        const BufferId own = copy_of(spread.array);
        Instruction again = spread.made_by;
        again.operands = {spread.from};
        again.results = {own};
        again.phase = list[chain.front()].phase;
        again.iteration = list[chain.front()].iteration;
        before[chain.front()].push_back(std::move(again));
        for (const std::size_t position : chain) {
          std::vector<BufferId>& operands = list[position].operands;
          std::replace(operands.begin(), operands.end(), spread.array, own);
        }
      }
    }
    std::vector<Instruction> made;
    made.reserve(list.size() + before.size());
    auto next = before.begin();
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (next != before.end() && next->first == i) {
        std::move(next->second.begin(), next->second.end(), std::back_inserter(made));
        ++next;
      }
      made.push_back(std::move(list[i]));
    }
    list = std::move(made);
  }

  /// What this body's loops keep of each iteration for another loop of it.
  void find_kept(std::size_t number) {
    for (Instruction& loop : program_.bodies[number].instructions) {
      if (loop.kind != Instruction::Kind::loop) continue;
      for (std::size_t i = loop.results.size(); i-- > loop_shape(loop).carries;) {
        keep_less(number, loop, i);
      }
    }
  }

  void keep_less(std::size_t number, Instruction& loop, std::size_t result) {
    const auto inner = static_cast<std::size_t>(loop.body);
    Body& body = program_.bodies[inner];
    const BufferId kept = body.results[result];
    const Instruction* const made_by = spread_of(inner, kept);
    const bool is_once =
        made_by != nullptr && std::count(body.results.begin(), body.results.end(), kept) == 1;
    if (!is_once || !can_be_kept(number, loop, made_by->operands.front())) return;
    const std::optional<SliceReader> reader = only_reader(number, loop.results[result]);
    if (!reader) return;
    const auto back = static_cast<std::size_t>(reader->loop->body);
    const BufferId array = program_.bodies[back].parameters[reader->operand];
    if (index_[back].later_steps(array).empty()) return;
    const BufferId from = made_by->operands.front();
    const BufferId part = instead_of(array, from);
    spreads_[back].push_back({array, part, *made_by});
    program_.bodies[back].parameters[reader->operand] = part;
    const BufferId whole = keep(loop, body, result, from);
    reader->loop->operands[reader->operand] = whole;
    program_.buffers[index_of(part)].stacked_of = whole;
    program_.buffers[index_of(part)].stride = Bytes(bytes(part));
  }

  /// The array of which a body's parameter is a slice, as the loop is given it.
  static std::optional<BufferId> sliced(const Instruction& loop, const Body& body, BufferId id) {
    const LoopShape shape = loop_shape(loop);
    for (std::size_t i = shape.carries; i < shape.carries + shape.stacked; ++i) {
      if (body.parameters[i] == id) return loop.operands[i];
    }
    return std::nullopt;
  }

  /// Without a copy: it is made in the body, and none of the loop's carries, or a slice.
  bool can_be_kept(std::size_t outer, const Instruction& loop, BufferId id) const {
    const auto number = static_cast<std::size_t>(loop.body);
    const Body& body = program_.bodies[number];
    if (const auto given = sliced(loop, body, id)) return is_beside(outer, *given, loop.iteration);
    const auto behind =
        body.results.begin() + static_cast<std::ptrdiff_t>(loop_shape(loop).carries);
    return index_[number].maker(id) != nullptr &&
           std::find(body.results.begin(), behind, id) == behind;
  }

  /// A loop that reads an array slice by slice.
  struct SliceReader {
    Instruction* loop = nullptr;
    std::size_t operand = 0;
  };

  std::optional<SliceReader> only_reader(std::size_t number, BufferId id) {
    Body& body = program_.bodies[number];
    if (std::find(body.results.begin(), body.results.end(), id) != body.results.end())
      return std::nullopt;
    SliceReader reader;
    int count = 0;
    for (Instruction& one : body.instructions) {
      for (std::size_t i = 0; i < one.operands.size(); ++i) {
        if (one.operands[i] != id) continue;
        ++count;
        reader = {&one, i};
      }
    }
    if (count != 1 || reader.loop->kind != Instruction::Kind::loop) return std::nullopt;
    const LoopShape shape = loop_shape(*reader.loop);
    const bool is_slice =
        reader.operand >= shape.carries && reader.operand < shape.carries + shape.stacked;
    return is_slice ? std::optional(reader) : std::nullopt;
  }

  /// The array that has all iterations' `from`: what the loop is given or keeps anyway, or else its
  /// result in the place of the one so far.
  BufferId keep(Instruction& loop, Body& body, std::size_t result, BufferId from) {
    const auto carries = static_cast<std::ptrdiff_t>(loop_shape(loop).carries);
    const auto known = std::find(body.results.begin() + carries, body.results.end(), from);
    std::optional<BufferId> there = sliced(loop, body, from);
    if (known != body.results.end())
      there = loop.results[static_cast<std::size_t>(known - body.results.begin())];
    if (there) {
      const auto position = static_cast<std::ptrdiff_t>(result);
      body.results.erase(body.results.begin() + position);
      loop.results.erase(loop.results.begin() + position);
      return *there;
    }
    const BufferId whole = instead_of(loop.results[result], from);
    Shape& shape = program_.buffers[index_of(whole)].type.shape;
    shape.insert(shape.begin(), loop.attributes.integer("times"));
    body.results[result] = from;
    return loop.results[result] = whole;
  }

  BufferId copy_of(BufferId id) {
    program_.buffers.push_back(Buffer(program_.buffer(id)));
    return id_at<BufferId>(program_.buffers.size() - 1);
  }

  /// A buffer for what `of` holds, of which the graph has no value.
  BufferId instead_of(BufferId id, BufferId of) {
    const BufferId made = copy_of(id);
    Buffer& buffer = program_.buffers[index_of(made)];
    buffer.type = program_.buffer(of).type;
    buffer.name = program_.buffer(of).name;
    buffer.value = ValueId::none;
    return made;
  }

  Program& program_;
  std::vector<BodyIndex> index_;              ///< by body, before anything is inserted
  std::vector<std::vector<Spread>> spreads_;  ///< by body
};

}  // namespace

bool ends_chains(const Instruction& instruction) {
  if (instruction.kind != Instruction::Kind::compute) return true;
  const OpDef& row = def(instruction.op);
  return !row.is_elementwise && row.flops_per_point >= 2;
}

bool spread_again(Program& program) { return Spreader(program).run(); }

}  // namespace shard::spmd
