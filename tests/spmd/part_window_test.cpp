// What parts fetch of each other.

#include "spmd/part_window.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace shard;

namespace {

/// Element by element: which part sends how many to others.
std::int64_t counted_most_sent(const PartWindow& window, std::int64_t part_size,
                               std::int64_t parts) {
  std::vector<std::int64_t> sent(static_cast<std::size_t>(parts), 0);
  for (std::int64_t to = 0; to < parts; ++to) {
    for (std::int64_t i = 0; i < window.size; ++i) {
      const std::int64_t at = window.begin(to) + i;
      if (at < 0 || at >= part_size * parts || at / part_size == to) continue;
      ++sent[static_cast<std::size_t>(at / part_size)];
    }
  }
  std::int64_t most = 0;
  for (const std::int64_t count : sent) most = std::max(most, count);
  return most;
}

}  // namespace

TEST_CASE("a halo of one element on either side is sent by every inner part twice") {
  const PartWindow halo{-1, 4, 6};
  CHECK(most_sent(halo, 4, 4) == 2);
  CHECK(most_sent(halo, 4, 2) == 1);
  CHECK(most_sent(halo, 4, 1) == 0);
  CHECK(fetched(halo, 4, 1, 2).first == 7);
  CHECK(fetched(halo, 4, 1, 2).last == 8);
  CHECK(fetched(halo, 4, 0, 2).count() == 0);
}

TEST_CASE("the busiest part sends what counting every element finds") {
  for (const std::int64_t parts : {1, 2, 3, 5, 8}) {
    for (const std::int64_t part_size : {1, 3, 4}) {
      for (const std::int64_t step : {-4, -3, 0, 1, 2, 3, 4, 6}) {
        for (const std::int64_t start : {-7, -1, 0, 2, 11}) {
          for (const std::int64_t size : {1, 3, 9}) {
            const PartWindow window{start, step, size};
            CAPTURE(parts);
            CAPTURE(part_size);
            CAPTURE(start);
            CAPTURE(step);
            CAPTURE(size);
            CHECK(most_sent(window, part_size, parts) ==
                  counted_most_sent(window, part_size, parts));
          }
        }
      }
    }
  }
}

TEST_CASE("a window reaches beyond the array before its first or behind its last part") {
  CHECK(reaches_beyond({-1, 4, 6}, 16, 4));
  CHECK(reaches_beyond({0, 4, 6}, 16, 4));
  CHECK_FALSE(reaches_beyond({0, 4, 4}, 16, 4));
  CHECK_FALSE(reaches_beyond({12, -4, 4}, 16, 4));
  CHECK(reaches_beyond({13, -4, 4}, 16, 4));
}
