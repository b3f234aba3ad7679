#pragma once
// Watches that workers get on. A thread of its own looks from time to time at what every worker is
// doing; one that has been at the same instruction for longer than the limit is named.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/units.h"

namespace shard {

/// What a worker is at; written by the worker, read by the watchdog.
struct alignas(64) Whereabouts {
  std::atomic<int> device{-1};  ///< -1: none
  std::atomic<int> counter{0};  ///< of the device's instructions
  std::atomic<std::uint64_t> progress{0};

  void at(int device_number, int instruction) {
    counter.store(instruction, std::memory_order_relaxed);
    device.store(device_number, std::memory_order_relaxed);
    progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void nowhere() { at(-1, 0); }
};

class Watchdog {
 public:
  /// `stuck(worker)` is called, on the watchdog's thread, for a worker that is at one instruction
  /// for `limit`, until it says once in a run that the worker is stuck; `given_up()` when the run
  /// has not ended `grace` later.
  Watchdog(std::span<const Whereabouts> workers, Seconds limit, Seconds grace,
           std::function<bool(std::size_t)> stuck, std::function<void()> given_up);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Watches between these two; after `end` nothing is called for that run.
  void begin() { turn(); }
  void end() { turn(); }

 private:
  void turn();
  void watch();
  bool tell(std::size_t worker, std::uint64_t run);
  /// Waits; false when the watchdog is to end.
  bool sleep(double seconds);
  void await_end(std::uint64_t run);

  std::span<const Whereabouts> workers_;
  double limit_;
  double grace_;
  std::function<bool(std::size_t)> stuck_;
  std::function<void()> given_up_;
  std::atomic<std::uint64_t> run_{0};  ///< odd while a run goes on
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace shard
