#include "spmd/combiner.h"

#include <algorithm>
#include <utility>

namespace shard::spmd {

int Combiner::add(std::span<const int> needs, const Collective* collective) {
  note_waits(needs);
  if (collective == nullptr) return -1;
  const NumberRuns before = closed(pool_[static_cast<std::size_t>(waits_of_.back())]);
  const int merged = place(*collective, before);
  // It waits for everything else that its operands wait for.
  waits_of_.back() = new_waits({merged});
  return merged;
}

/// Most instructions wait for what one of their operands waits for.
void Combiner::note_waits(std::span<const int> needs) {
  int known = 0;
  for (const int need : needs) {
    const int waits = waits_of_[static_cast<std::size_t>(need)];
    if (waits == known || waits == 0) continue;
    if (known == 0) {
      known = waits;
      continue;
    }
    const Waits& one = pool_[static_cast<std::size_t>(known)];
    const Waits& other = pool_[static_cast<std::size_t>(waits)];
    all_.clear();
    std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(all_));
    keep_latest();
    known = latest_ == one ? known : latest_ == other ? waits : new_waits(latest_);
  }
  waits_of_.push_back(known);
}

/// Of `all_` what no other one waits for. That stays so: what a collective waits for only grows.
void Combiner::keep_latest() {
  latest_.clear();
  for (const int one : all_) {
    const bool is_earlier = std::any_of(all_.begin(), all_.end(), [&](int other) {
      return other != one && before_[static_cast<std::size_t>(other)].has(one);
    });
    if (!is_earlier) latest_.push_back(one);
  }
}

NumberRuns Combiner::closed(const Waits& waits) const {
  NumberRuns all;
  for (const int one : waits) {
    all.add(before_[static_cast<std::size_t>(one)]);
    all.add(one);
  }
  return all;
}

int Combiner::place(const Collective& collective, const NumberRuns& before) {
  for (const int one : pool_[static_cast<std::size_t>(waits_of_.back())]) {
    has_followers_[static_cast<std::size_t>(one)] = true;
  }
  const int number = merged_count();
  if (!collective.alone) {
    const auto key = static_cast<std::size_t>(collective.key);
    if (candidates_.size() <= key) candidates_.resize(key + 1);
    const int found = candidate(candidates_[key], before);
    if (found >= 0) {
      join(found, before);
      return found;
    }
    candidates_[key].push_back(number);
  }
  before_.push_back(before);
  has_followers_.push_back(false);
  return number;
}

/// The first that is not waited for; whole runs that are, are skipped.
int Combiner::candidate(const std::vector<int>& candidates, const NumberRuns& before) const {
  for (auto at = candidates.begin(); at != candidates.end();) {
    const int absent = before.next_absent(*at);
    if (absent == *at) return *at;
    at = std::lower_bound(at, candidates.end(), absent);
  }
  return -1;
}

/// The merged collective now waits for more, and so does all that waits for it.
void Combiner::join(int merged, const NumberRuns& before) {
  const auto position = static_cast<std::size_t>(merged);
  if (!before_[position].add(before) || !has_followers_[position]) return;
  for (NumberRuns& other : before_) {
    if (other.has(merged)) other.add(before_[position]);
  }
}

int Combiner::new_waits(Waits waits) {
  pool_.push_back(std::move(waits));
  return static_cast<int>(pool_.size()) - 1;
}

}  // namespace shard::spmd
