#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/check.h"
#include "spmd/partition.h"

namespace shard {
namespace {

/// A set of merged collectives, by number.
class NumberSet {
 public:
  bool has(std::size_t number) const {
    return number / 64 < words_.size() && ((words_[number / 64] >> (number % 64)) & 1) != 0;
  }
  void add(std::size_t number) {
    if (words_.size() <= number / 64) words_.resize(number / 64 + 1);
    words_[number / 64] |= std::uint64_t{1} << (number % 64);
  }
  void add(const NumberSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  template <class Function>
  void for_each(const Function& function) const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1)
        function(word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits)));
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Merges the collectives of one body. A collective joins the first merged one that it may join:
/// same key, and no path between it and any member, counting a merged collective as one node.
class BodyMerge {
 public:
  BodyMerge(const Program& program, int body, std::int64_t times)
      : program_(program), body_(body), times_(times) {}

  std::vector<MergedCollective> run() {
    const std::vector<Instruction>& list =
        program_.bodies[static_cast<std::size_t>(body_)].instructions;
    std::map<BufferId, NumberSet> needs;  // by buffer: the merged collectives it waits for
    for (std::size_t i = 0; i < list.size(); ++i) {
      NumberSet before;
      for (const BufferId operand : list[i].operands) {
        const auto found = needs.find(operand);
        if (found != needs.end()) before.add(found->second);
      }
      if (list[i].kind == Instruction::Kind::collective &&
          list[i].collective->kind != CollectiveKind::all_slice)
        before.add(place(list[i], static_cast<int>(i), closed(before)));
      for (const BufferId result : list[i].results) needs[result] = before;
    }
    return std::move(merged_);
  }

 private:
  /// Everything the set waits for, itself included.
  NumberSet closed(const NumberSet& set) const {
    NumberSet all = set;
    set.for_each([&](std::size_t number) { all.add(before_[number]); });
    return all;
  }

  std::size_t place(const Instruction& instruction, int position, const NumberSet& before) {
    const Collective& collective = *instruction.collective;
    const Key key{collective.kind,
                  collective.axes,
                  collective.reduction,
                  collective.dim,
                  program_.buffer(instruction.operands.front()).type.dtype,
                  instruction.iteration.count()};
    std::vector<std::size_t>& candidates = by_key_[key];
    for (const std::size_t number : candidates) {
      if (!can_merge(collective.kind) || before.has(number)) continue;
      merged_[number].members.push_back(position);
      join(number, before);
      return number;
    }
    candidates.push_back(merged_.size());
    merged_.push_back({collective.kind,
                       collective.axes,
                       body_,
                       {position},
                       times_ * instruction.iteration.count()});
    before_.push_back(before);
    return merged_.size() - 1;
  }

  /// The merged collective now waits for more, and so does all that waits for it.
  void join(std::size_t number, const NumberSet& before) {
    before_[number].add(before);
    for (std::size_t other = 0; other < before_.size(); ++other) {
      if (before_[other].has(number)) before_[other].add(before_[number]);
    }
  }

  static bool can_merge(CollectiveKind kind) {
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
           kind == CollectiveKind::reduce_scatter;
  }

  using Key = std::tuple<CollectiveKind, std::vector<AxisRef>, Reduction, int, DType, std::int64_t>;
  const Program& program_;
  int body_;
  std::int64_t times_;
  std::vector<MergedCollective> merged_;
  std::vector<NumberSet> before_;  ///< by merged collective, closed
  std::map<Key, std::vector<std::size_t>> by_key_;
};

void merge_body(const Program& program, int body, std::int64_t times,
                std::vector<MergedCollective>& all) {
  for (MergedCollective& merged : BodyMerge(program, body, times).run())
    all.push_back(std::move(merged));
  for (const Instruction& instruction :
       program.bodies[static_cast<std::size_t>(body)].instructions) {
    if (instruction.kind == Instruction::Kind::loop) {
      const std::int64_t trips = instruction.attributes.integer("times");
      merge_body(program, instruction.body, times * instruction.iteration.count() * trips, all);
    }
  }
}

}  // namespace

std::vector<MergedCollective> xla_merge(const Program& program) {
  std::vector<MergedCollective> all;
  merge_body(program, 0, 1, all);
  return all;
}

}  // namespace shard
