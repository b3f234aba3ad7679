#include "spmd/fuse.h"

#include <algorithm>

#include "base/check.h"
#include "spmd/fuse_attention.h"
#include "spmd/fused_form.h"
#include "spmd/fused_writer.h"
#include "spmd/liveness.h"
#include "spmd/partition.h"
#include "spmd/passes.h"
#include "spmd/places.h"
#include "spmd/spread_again.h"

namespace shard {
namespace {

/// Scratch memory grows with the steps, and a row has to fit in it.
constexpr std::size_t most_steps = 48;
constexpr std::int64_t widest_row = 16384;

/// Instructions that will be one.
struct Chain {
  std::vector<std::size_t> members;  ///< positions, rising
  spmd::FusedSpace space;
  bool is_open = true;
};

/// Finds the chains of one body.
class ChainFinder {
 public:
  ChainFinder(const Program& program, const Body& body, const std::vector<int>& readers)
      : program_(program),
        instructions_(body.instructions),
        readers_(readers),
        chain_of_buffer_(program.buffers.size(), nowhere),
        reader_of_buffer_(program.buffers.size(), nowhere) {}

  std::vector<Chain> run() {
    for (std::size_t i = 0; i < instructions_.size(); ++i) visit(i);
    std::erase_if(chains_, [&](const Chain& chain) {
      return chain.members.empty() || (chain.members.size() == 1 && !is_behind_sum(chain));
    });
    std::sort(chains_.begin(), chains_.end(),
              [](const Chain& a, const Chain& b) { return a.members.back() < b.members.back(); });
    return std::move(chains_);
  }

 private:
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  void visit(std::size_t position) {
    const Instruction& instruction = instructions_[position];
    if (spmd::ends_chains(instruction)) return close_all();
    close_others(instruction);
    const std::size_t joined = is_step(instruction) ? join(position) : nowhere;
    // What another instruction reads has to be there by then.
    for (const BufferId id : instruction.operands) {
      const std::size_t chain = open_chain_of(id);
      if (chain != nowhere && chain != joined) close(chain);
    }
    if (joined == nowhere) return;
    for (const BufferId id : instruction.results) chain_of_buffer_[index_of(id)] = joined;
    for (const BufferId id : instruction.operands) reader_of_buffer_[index_of(id)] = joined;
  }

  /// An update by itself right behind the sum of its gradient: the executor can do them together.
  bool is_behind_sum(const Chain& chain) const {
    const std::size_t position = chain.members.front();
    if (instructions_[position].phase != Phase::update || position == 0) return false;
    const Instruction& before = instructions_[position - 1];
    const std::vector<BufferId>& operands = instructions_[position].operands;
    return before.kind == Instruction::Kind::collective &&
           before.collective->kind == CollectiveKind::all_reduce &&
           readers_[index_of(before.results.front())] == 1 &&
           std::find(operands.begin(), operands.end(), before.results.front()) != operands.end();
  }

  bool is_step(const Instruction& instruction) const {
    return fusion_role(instruction.op) != FusionRole::none && !instruction.results.empty();
  }

  void close(std::size_t chain) {
    chains_[chain].is_open = false;
    std::erase(open_, chain);
  }

  void close_all() {
    for (const std::size_t chain : open_) chains_[chain].is_open = false;
    open_.clear();
  }

  /// Another phase or iteration begins.
  void close_others(const Instruction& instruction) {
    std::erase_if(open_, [&](std::size_t chain) {
      const Instruction& last = instructions_[chains_[chain].members.back()];
      const bool goes_on =
          last.phase == instruction.phase && last.iteration == instruction.iteration;
      if (!goes_on) chains_[chain].is_open = false;
      return !goes_on;
    });
  }

  std::size_t open_chain_of(BufferId id) const {
    const std::size_t chain = chain_of_buffer_[index_of(id)];
    return chain != nowhere && chains_[chain].is_open ? chain : nowhere;
  }

  /// The chain the instruction is in now: with those it reads, or those that read what it reads, or
  /// a new one; nothing where it cannot be a step.
  std::size_t join(std::size_t position) {
    const std::vector<std::size_t> near = neighbours(instructions_[position]);
    for (std::size_t first = 0; first < near.size(); ++first) {
      const std::span<const std::size_t> some = std::span(near).subspan(first);
      if (auto space = joined_space(position, some)) return merge(position, some, *space);
    }
    const auto space = space_with(position, {});
    if (!space) return nowhere;
    chains_.push_back({{position}, *space, true});
    open_.push_back(chains_.size() - 1);
    return chains_.size() - 1;
  }

  /// The open chains it reads from, without any those whose operands it shares; latest last.
  std::vector<std::size_t> neighbours(const Instruction& instruction) const {
    std::vector<std::size_t> near;
    for (const BufferId id : instruction.operands) {
      if (const std::size_t chain = open_chain_of(id); chain != nowhere) near.push_back(chain);
    }
    if (near.empty()) {
      for (const BufferId id : instruction.operands) {
        const std::size_t chain = reader_of_buffer_[index_of(id)];
        const bool shares = chain != nowhere && chains_[chain].is_open &&
                            program_.buffer(id).type.shape == chains_[chain].space.shape;
        if (shares) near.push_back(chain);
      }
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    return near;
  }

  /// What the instruction asks for as a step of these chains.
  std::optional<spmd::FusedSpace> space_with(std::size_t position,
                                             std::span<const std::size_t> chains) {
    const Instruction& instruction = instructions_[position];
    operands_.resize(instruction.operands.size());
    inside_.resize(instruction.operands.size());
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const BufferId id = instruction.operands[i];
      operands_[i] = program_.buffer(id).type;
      const std::size_t from = open_chain_of(id);
      inside_[i] = std::find(chains.begin(), chains.end(), from) != chains.end() ? 1 : 0;
    }
    return spmd::space_of(instruction.op, instruction.attributes, operands_,
                          program_.buffer(instruction.results.front()).type, inside_);
  }

  std::optional<spmd::FusedSpace> joined_space(std::size_t position,
                                               std::span<const std::size_t> chains) {
    auto space = space_with(position, chains);
    std::size_t steps = 1;
    for (const std::size_t chain : chains) {
      if (space) space = spmd::joined(*space, chains_[chain].space);
      steps += chains_[chain].members.size();
    }
    if (!space || steps > most_steps) return std::nullopt;
    const FusedForm form{space->shape, space->row_dims, space->group_dims, {}, {}, {}};
    if (space->row_dims >= 0 && form.columns() > widest_row) return std::nullopt;
    return space;
  }

  std::size_t merge(std::size_t position, std::span<const std::size_t> chains,
                    const spmd::FusedSpace& space) {
    const std::size_t target = chains.front();
    std::vector<std::size_t> members;
    for (const std::size_t chain : chains) {
      for (const std::size_t member : chains_[chain].members) {
        members.push_back(member);
        for (const BufferId id : instructions_[member].results)
          chain_of_buffer_[index_of(id)] = target;
        for (const BufferId id : instructions_[member].operands)
          reader_of_buffer_[index_of(id)] = target;
      }
      if (chain != target) {
        chains_[chain].members.clear();
        close(chain);
      }
    }
    members.push_back(position);
    std::sort(members.begin(), members.end());
    chains_[target].members = std::move(members);
    chains_[target].space = space;
    return target;
  }

  const Program& program_;
  const std::vector<Instruction>& instructions_;
  const std::vector<int>& readers_;            ///< by buffer
  std::vector<std::size_t> chain_of_buffer_;   ///< that makes it
  std::vector<std::size_t> reader_of_buffer_;  ///< that read it last
  std::vector<Chain> chains_;
  std::vector<std::size_t> open_;
  // Of the instruction at hand; kept for their memory.
  std::vector<TensorType> operands_;
  std::vector<char> inside_;
};

/// False when there is nothing to fuse.
bool fuse_body(const Program& program, Body& body, const std::vector<int>& readers) {
  const std::vector<Chain> chains = ChainFinder(program, body, readers).run();
  if (chains.empty()) return false;
  std::vector<int> chain_at(body.instructions.size(), -1);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    for (const std::size_t member : chains[i].members) chain_at[member] = static_cast<int>(i);
  }
  spmd::FusedWriter writer(readers.size());
  std::vector<const Instruction*> steps;
  std::vector<Instruction> list;
  list.reserve(body.instructions.size());
  for (std::size_t i = 0; i < body.instructions.size(); ++i) {
    if (chain_at[i] < 0) {
      list.push_back(std::move(body.instructions[i]));
      continue;
    }
    const Chain& chain = chains[static_cast<std::size_t>(chain_at[i])];
    if (chain.members.back() != i) continue;
    steps.clear();
    for (const std::size_t member : chain.members) steps.push_back(&body.instructions[member]);
    list.push_back(writer.write(
        steps, [&](BufferId id, int reads) { return readers[index_of(id)] != reads; }));
  }
  body.instructions = std::move(list);
  return true;
}

/// No result has a place yet. What a loop hands to its body keeps its own.
void forget_places(Program& program) {
  for (const Body& body : program.bodies) {
    for (const Instruction& instruction : body.instructions) {
      for (const BufferId id : instruction.results) {
        Buffer& buffer = program.buffers[index_of(id)];
        buffer.alias_of = buffer.stacked_of = BufferId::none;
        buffer.loop_body = -1;
        buffer.stride = Bytes();
      }
    }
  }
}

}  // namespace

Program fused(Program program, Offsets offsets) {
  bool has_chains = spmd::fuse_attention(program);
  has_chains |= spmd::spread_again(program);
  const std::vector<int> readers = spmd::count_readers(program);
  for (Body& body : program.bodies) has_chains |= fuse_body(program, body, readers);
  if (!has_chains) return program;
  forget_places(program);
  spmd::share_places(program);
  spmd::renumber(program);
  spmd::categorize(program);
  if (offsets == Offsets::planned) plan_memory(program);
  return program;
}

Program with_fusion(Program program, Fusion fusion) {
  return fusion == Fusion::on ? fused(std::move(program)) : program;
}

}  // namespace shard
