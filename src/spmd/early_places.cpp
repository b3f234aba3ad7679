#include "spmd/early_places.h"

#include <unordered_map>
#include <utility>

namespace shard::spmd {
namespace {

class Mover {
 public:
  Mover(Body& body, const std::set<BufferId>& early) : instructions_(body.instructions) {
    followers_.resize(instructions_.size());
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const Instruction& instruction = instructions_[i];
      const auto producer = producers_.find(
          instruction.operands.empty() ? BufferId::none : instruction.operands.front());
      const bool is_early =
          instruction.results.size() == 1 && early.count(instruction.results.front()) > 0;
      if (is_early && producer != producers_.end()) {
        followers_[producer->second].push_back(i);
      } else {
        leaders_.push_back(i);
      }
      for (const BufferId result : instruction.results) producers_[result] = i;
    }
  }

  void run() {
    for (const std::size_t leader : leaders_) emit(leader);
    instructions_ = std::move(ordered_);
  }

 private:
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
  std::unordered_map<BufferId, std::size_t> producers_;
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<std::size_t> leaders_;
  std::vector<Instruction> ordered_;
};

}  // namespace

void EarlyPlaces::place(Body& body) const { Mover(body, results_).run(); }

}  // namespace shard::spmd
