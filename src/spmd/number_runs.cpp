#include "spmd/number_runs.h"

#include <algorithm>

namespace shard::spmd {

int NumberRuns::next_absent(int from) const {
  const auto ends_later = [](int number, const Run& run) { return number < run.second; };
  const auto run = std::upper_bound(runs_.begin(), runs_.end(), from, ends_later);
  return run != runs_.end() && run->first <= from ? run->second : from;
}

bool NumberRuns::add(const NumberRuns& other) {
  if (runs_.empty()) {
    runs_ = other.runs_;
    return !runs_.empty();
  }
  bool is_new = false;
  for (const auto& [first, end] : other.runs_) is_new |= add_run(first, end);
  return is_new;
}

bool NumberRuns::add_run(int first, int end) {
  const auto touches = [](const Run& run, int number) { return run.second < number; };
  const auto from = std::lower_bound(runs_.begin(), runs_.end(), first, touches);
  if (from != runs_.end() && from->first <= first && end <= from->second) return false;
  auto to = from;
  for (; to != runs_.end() && to->first <= end; ++to) {
    first = std::min(first, to->first);
    end = std::max(end, to->second);
  }
  if (from == to) {
    runs_.insert(from, {first, end});
  } else {
    *from = {first, end};
    runs_.erase(from + 1, to);
  }
  return true;
}

}  // namespace shard::spmd
