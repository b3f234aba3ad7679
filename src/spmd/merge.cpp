#include "spmd/merge.h"

#include <algorithm>
#include <tuple>

namespace shard {
namespace spmd {
namespace {

bool can_merge(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
         kind == CollectiveKind::reduce_scatter;
}

}  // namespace

std::optional<Combiner::Collective> MergeKeys::of(const Instruction& instruction) {
  const bool is_one = instruction.kind == Instruction::Kind::collective &&
                      instruction.collective->kind != CollectiveKind::all_slice;
  if (!is_one) return std::nullopt;
  const Collective& collective = *instruction.collective;
  const DType dtype = program_.buffer(instruction.operands.front()).type.dtype;
  const Key key{collective.kind, collective.axes, collective.reduction, collective.dim, dtype};
  const int number = numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
  return Combiner::Collective{number, !can_merge(collective.kind)};
}

}  // namespace spmd

namespace {

/// Merges the collectives of one body, which runs `times` times.
class BodyMerge {
 public:
  BodyMerge(const Program& program, int body, std::int64_t times)
      : keys_(program), body_(body), times_(times), producer_(program.buffers.size(), -1) {
    list_ = &program.bodies[static_cast<std::size_t>(body)].instructions;
  }

  std::vector<MergedCollective> run() {
    for (std::size_t i = 0; i < list_->size(); ++i) add(static_cast<int>(i), (*list_)[i]);
    return std::move(merged_);
  }

 private:
  void add(int position, const Instruction& instruction) {
    std::vector<int> needs;
    for (const BufferId operand : instruction.operands) {
      const int producer = producer_[index_of(operand)];
      if (producer >= 0) needs.push_back(producer);
    }
    for (const BufferId result : instruction.results) producer_[index_of(result)] = position;
    const auto collective = keys_.of(instruction);
    const int merged = combiner_.add(needs, collective ? &*collective : nullptr);
    if (merged < 0) return;
    const auto number = static_cast<std::size_t>(merged);
    if (number == merged_.size()) {
      merged_.push_back(
          {instruction.collective->kind, instruction.collective->axes, body_, {}, times_});
    }
    merged_[number].members.push_back(position);
  }

  spmd::MergeKeys keys_;
  spmd::Combiner combiner_;
  int body_;
  std::int64_t times_;
  const std::vector<Instruction>* list_;
  std::vector<int> producer_;  ///< by buffer: position in the body
  std::vector<MergedCollective> merged_;
};

void merge_body(const Program& program, int body, std::int64_t times,
                std::vector<MergedCollective>& all) {
  for (MergedCollective& merged : BodyMerge(program, body, times).run())
    all.push_back(std::move(merged));
  spmd::merge_loops(program, body, times, all);
}

}  // namespace

void spmd::merge_loops(const Program& program, int body, std::int64_t times,
                       std::vector<MergedCollective>& all) {
  for (const Instruction& instruction :
       program.bodies[static_cast<std::size_t>(body)].instructions) {
    if (instruction.kind != Instruction::Kind::loop) continue;
    const std::int64_t trips = instruction.attributes.integer("times");
    merge_body(program, instruction.body, times * instruction.iteration.count() * trips, all);
  }
}

std::vector<MergedCollective> xla_merge(const Program& program) {
  std::vector<MergedCollective> all;
  merge_body(program, 0, 1, all);
  return all;
}

void add_merged(std::vector<MergeCount>& counts, const MergeCount& more) {
  const auto alike = std::find_if(counts.begin(), counts.end(), [&](const MergeCount& one) {
    return one.kind == more.kind && one.axes == more.axes && one.members == more.members;
  });
  if (alike == counts.end()) {
    counts.push_back(more);
  } else {
    alike->times += more.times;
  }
}

std::vector<MergeCount> count_merged(const std::vector<MergedCollective>& merged) {
  std::vector<MergeCount> counts;
  for (const MergedCollective& one : merged) {
    add_merged(counts,
               {one.kind, one.axes, static_cast<std::int64_t>(one.members.size()), one.times});
  }
  return counts;
}

}  // namespace shard
