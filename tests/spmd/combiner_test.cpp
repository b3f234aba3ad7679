// XLA's combiner against a plain model of it: sets of instructions and paths by search.
#include "spmd/combiner.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace shard::spmd;

namespace {

struct Step {
  std::vector<int> needs;
  int key = -1;  ///< -1: no collective
  bool alone = false;
};

/// Tries every merged collective in order and searches for a path between it and the instruction.
class PlainCombiner {
 public:
  int add(const Step& step) {
    const int number = static_cast<int>(steps_.size());
    steps_.push_back(step);
    merged_of_.push_back(-1);
    if (step.key < 0) return -1;
    for (std::size_t merged = 0; merged < members_.size(); ++merged) {
      if (step.alone || alone_[merged] || keys_[merged] != step.key) continue;
      if (reaches(number, static_cast<int>(merged))) continue;
      members_[merged].push_back(number);
      return merged_of_.back() = static_cast<int>(merged);
    }
    members_.push_back({number});
    keys_.push_back(step.key);
    alone_.push_back(step.alone);
    return merged_of_.back() = static_cast<int>(members_.size()) - 1;
  }

 private:
  /// What `from` needs, directly or not, counting a merged collective as one.
  bool reaches(int from, int merged) const {
    std::vector<int> work = steps_[static_cast<std::size_t>(from)].needs;
    std::set<int> seen;
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      if (!seen.insert(at).second) continue;
      const int in = merged_of_[static_cast<std::size_t>(at)];
      if (in == merged) return true;
      const auto follow = [&](int one) {
        const std::vector<int>& needs = steps_[static_cast<std::size_t>(one)].needs;
        work.insert(work.end(), needs.begin(), needs.end());
      };
      follow(at);
      if (in < 0) continue;
      for (const int member : members_[static_cast<std::size_t>(in)]) follow(member);
    }
    return false;
  }

  std::vector<Step> steps_;
  std::vector<int> merged_of_;
  std::vector<std::vector<int>> members_;
  std::vector<int> keys_;
  std::vector<bool> alone_;
};

Step random_step(std::mt19937& random, int number) {
  const auto below = [&](int limit) {
    return std::uniform_int_distribution<int>(0, limit - 1)(random);
  };
  Step step;
  for (int i = below(3); i > 0 && number > 0; --i) {
    // Mostly a recent one, as in programs.
    step.needs.push_back(below(4) == 0 ? below(number) : std::max(0, number - 1 - below(5)));
  }
  if (below(2) == 0) step.key = below(3);
  step.alone = below(8) == 0;
  return step;
}

}  // namespace

TEST_CASE("collectives are merged as by searching for paths") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Combiner combiner;
    PlainCombiner plain;
    const int count = 5 + static_cast<int>(seed % 60);
    for (int number = 0; number < count; ++number) {
      const Step step = random_step(random, number);
      const Combiner::Collective collective{step.key, step.alone};
      const int merged = combiner.add(step.needs, step.key < 0 ? nullptr : &collective);
      REQUIRE_MESSAGE(merged == plain.add(step), "seed " << seed << ", step " << number);
    }
  }
}

TEST_CASE("runs of numbers are a set") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    NumberRuns runs, others;
    std::set<int> plain, plain_others;
    const auto number = [&] { return std::uniform_int_distribution<int>(0, 40)(random); };
    for (int i = 0; i < 25; ++i) {
      const int one = number(), other = number();
      CHECK(runs.add(one) == plain.insert(one).second);
      if (i % 3 == 0) CHECK(others.add(other) == plain_others.insert(other).second);
    }
    const std::size_t before = plain.size();
    plain.insert(plain_others.begin(), plain_others.end());
    CHECK(runs.add(others) == (plain.size() > before));
    for (int i = 0; i <= 41; ++i) {
      CHECK(runs.has(i) == plain.contains(i));
      int absent = i;
      while (plain.contains(absent)) ++absent;
      CHECK(runs.next_absent(i) == absent);
    }
  }
}
