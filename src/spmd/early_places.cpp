#include "spmd/early_places.h"

#include <unordered_map>
#include <utility>

namespace shard::spmd {
namespace {

class Mover {
 public:
  Mover(Body& body, const std::unordered_set<BufferId>& early)
      : instructions_(body.instructions), is_early_(body.instructions.size()) {
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const Instruction& instruction = instructions_[i];
      is_early_[i] =
          instruction.results.size() == 1 && early.count(instruction.results.front()) > 0;
      if (is_early_[i]) producers_.emplace(instruction.operands.front(), nowhere);
    }
  }

  void run() {
    if (producers_.empty()) return;
    find_followers();
    ordered_.reserve(instructions_.size());
    for (const std::size_t leader : leaders_) emit(leader);
    instructions_ = std::move(ordered_);
  }

 private:
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);  ///< in this body

  void find_followers() {
    followers_.resize(instructions_.size());
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const Instruction& instruction = instructions_[i];
      const std::size_t producer =
          is_early_[i] ? producers_.at(instruction.operands.front()) : nowhere;
      (producer == nowhere ? leaders_ : followers_[producer]).push_back(i);
      for (const BufferId result : instruction.results) {
        const auto found = producers_.find(result);
        if (found != producers_.end()) found->second = i;
      }
    }
  }

  /// With what follows it, and what follows that.
  void emit(std::size_t first) {
    std::vector<std::size_t> work{first};
    while (!work.empty()) {
      const std::size_t at = work.back();
      work.pop_back();
      ordered_.push_back(std::move(instructions_[at]));
      work.insert(work.end(), followers_[at].rbegin(), followers_[at].rend());
    }
  }

  std::vector<Instruction>& instructions_;
  std::vector<bool> is_early_;
  std::unordered_map<BufferId, std::size_t> producers_;  ///< of what early instructions read
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<std::size_t> leaders_;
  std::vector<Instruction> ordered_;
};

}  // namespace

void EarlyPlaces::place(Body& body) const { Mover(body, results_).run(); }

}  // namespace shard::spmd
