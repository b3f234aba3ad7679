#include "spmd/part_window.h"

#include <algorithm>

namespace shard {
std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

PositionRange fetched(const PartWindow& window, std::int64_t part_size, std::int64_t from,
                      std::int64_t to) {
  const std::int64_t begin = window.begin(to);
  return {std::max(begin, from * part_size), std::min(begin + window.size, (from + 1) * part_size)};
}

PositionRange receivers(const PartWindow& window, std::int64_t part_size, std::int64_t parts,
                        std::int64_t from) {
  if (window.step == 0) return {0, parts};
  // begin(q) lies above the first bound and up to the second.
  const std::int64_t above = from * part_size - window.size - window.start;
  const std::int64_t up_to = (from + 1) * part_size - 1 - window.start;
  PositionRange among;
  if (window.step > 0) {
    among = {floor_quotient(above, window.step) + 1, floor_quotient(up_to, window.step) + 1};
  } else {
    among = {-floor_quotient(up_to, -window.step), -floor_quotient(above, -window.step)};
  }
  return {std::max<std::int64_t>(0, among.first), std::min(parts, among.last)};
}

std::int64_t most_sent(const PartWindow& window, std::int64_t part_size, std::int64_t parts) {
  std::int64_t most = 0;
  for (std::int64_t from = 0; from < parts; ++from) {
    const PositionRange among = receivers(window, part_size, parts, from);
    std::int64_t sent = 0;
    for (std::int64_t to = among.first; to < among.last; ++to) {
      if (to != from) sent += fetched(window, part_size, from, to).count();
    }
    most = std::max(most, sent);
  }
  return most;
}

bool reaches_beyond(const PartWindow& window, std::int64_t array_size, std::int64_t parts) {
  const std::int64_t first = window.begin(0), last = window.begin(parts - 1);
  return std::min(first, last) < 0 || std::max(first, last) + window.size > array_size;
}

}  // namespace shard
