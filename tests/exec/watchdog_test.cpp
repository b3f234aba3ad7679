#include "exec/watchdog.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

using namespace shard;

namespace {

/// False when it takes longer than anything here can take.
bool await(const std::atomic<int>& count, int least) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (count < least && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return count >= least;
}

}  // namespace

TEST_CASE("a worker that came back just in time is looked at again and nothing is given up") {
  std::array<Whereabouts, 1> workers;
  std::atomic<int> asked = 0, given_up = 0;
  Watchdog watchdog(
      workers, Seconds{0.001}, Seconds{0}, [&](std::size_t) { return ++asked < 0; },
      [&] { ++given_up; });
  watchdog.begin();
  workers[0].at(0, 7);
  CHECK(await(asked, 3));
  watchdog.end();
  CHECK(given_up == 0);
}

TEST_CASE("a stuck worker is told of once in a run and the run is given up") {
  std::array<Whereabouts, 2> workers;
  std::atomic<int> asked = 0, given_up = 0, last = -1;
  Watchdog watchdog(
      workers, Seconds{0.001}, Seconds{0},
      [&](std::size_t worker) {
        last = static_cast<int>(worker);
        ++asked;
        return true;
      },
      [&] { ++given_up; });
  watchdog.begin();
  workers[1].at(3, 7);
  CHECK(await(given_up, 1));
  watchdog.end();
  CHECK(asked == 1);
  CHECK(last == 1);
  watchdog.begin();  // the next run is watched anew
  CHECK(await(given_up, 2));
  watchdog.end();
  CHECK(asked == 2);
}
