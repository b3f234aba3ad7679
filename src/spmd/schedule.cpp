#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "spmd/passes.h"

namespace shard::spmd {
namespace {

class Scheduler {
 public:
  explicit Scheduler(Program& program)
      : program_(program),
        instructions_(program.bodies.front().instructions),
        producer_(program.buffers.size(), -1),
        is_emitted_(instructions_.size()),
        waits_(instructions_.size(), 0),
        followers_(instructions_.size()),
        is_donated_(program.buffers.size()) {
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      for (const BufferId result : instructions_[i].results)
        producer_[index_of(result)] = static_cast<int>(i);
    }
    find_waits();
  }

  void run() {
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      if (is_update(i) && waits_[i] == 0) emit(i);
    }
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      if (!is_update(i)) emit(i);
    }
    for (std::size_t i = 0; i < instructions_.size(); ++i) emit(i);
    std::vector<Instruction> ordered;
    ordered.reserve(order_.size());
    for (const std::size_t i : order_) ordered.push_back(std::move(instructions_[i]));
    instructions_ = std::move(ordered);
  }

 private:
  bool is_update(std::size_t i) const { return instructions_[i].phase == Phase::update; }

  /// An update waits for what it reads to be made, and for everybody else who reads the donated
  /// state it reads: only then can it write over it.
  void find_waits() {
    std::vector<std::vector<int>> readers(program_.buffers.size());  // of donated state
    for (const ProgramOutput& output : program_.outputs) {
      if (output.donates < 0) continue;
      const ProgramInput& input = program_.inputs[static_cast<std::size_t>(output.donates)];
      is_donated_[index_of(input.buffer)] = true;
    }
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      if (is_update(i)) continue;
      for (const BufferId operand : instructions_[i].operands) {
        if (is_donated_[index_of(operand)])
          readers[index_of(operand)].push_back(static_cast<int>(i));
      }
    }
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      if (!is_update(i)) continue;
      for (const BufferId operand : instructions_[i].operands) {
        const int producer = producer_[index_of(operand)];
        if (producer >= 0) wait(i, producer);
        for (const int reader : readers[index_of(operand)]) wait(i, reader);
      }
    }
    order_followers();
  }

  /// What becomes ready at once (all updates, behind a global norm) runs by iteration: in the order
  /// of paths the tenth layer is the second, which a folded repeat cannot continue.
  void order_followers() {
    const auto by_iteration = [&](std::size_t a, std::size_t b) {
      const Iteration &one = instructions_[a].iteration, &other = instructions_[b].iteration;
      return std::tie(one.repeat, one.first) < std::tie(other.repeat, other.first);
    };
    for (std::vector<std::size_t>& followers : followers_)
      std::stable_sort(followers.begin(), followers.end(), by_iteration);
  }

  void wait(std::size_t update, int before) {
    ++waits_[update];
    followers_[static_cast<std::size_t>(before)].push_back(update);
  }

  /// Emits an instruction after whatever makes its operands, then the updates that became ready.
  void emit(std::size_t first) {
    if (is_emitted_[first]) return;
    std::vector<std::size_t> stack{first};
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      const std::size_t depth = stack.size();
      for (const BufferId operand : instructions_[at].operands) {
        const int producer = producer_[index_of(operand)];
        if (producer >= 0 && !is_emitted_[static_cast<std::size_t>(producer)])
          stack.push_back(static_cast<std::size_t>(producer));
      }
      if (stack.size() > depth) continue;
      stack.pop_back();
      if (is_emitted_[at]) continue;
      is_emitted_[at] = true;
      order_.push_back(at);
      // Pushed last to first, so that the first is emitted first.
      for (std::size_t k = followers_[at].size(); k-- > 0;) {
        const std::size_t follower = followers_[at][k];
        if (--waits_[follower] == 0 && !is_emitted_[follower]) stack.push_back(follower);
      }
    }
  }

  Program& program_;
  std::vector<Instruction>& instructions_;
  std::vector<int> producer_;  ///< by buffer
  std::vector<bool> is_emitted_;
  std::vector<int> waits_;
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<bool> is_donated_;  ///< by buffer
  std::vector<std::size_t> order_;
};

}  // namespace

void schedule_updates(Program& program) { Scheduler(program).run(); }

}  // namespace shard::spmd
