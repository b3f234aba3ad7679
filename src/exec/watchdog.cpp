#include "exec/watchdog.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace shard {
namespace {

using WatchClock = std::chrono::steady_clock;

/// What was seen of a worker, and since when it has not changed.
struct Sight {
  std::uint64_t progress = 0;
  WatchClock::time_point since;
};

double age(const Sight& sight) {
  return std::chrono::duration<double>(WatchClock::now() - sight.since).count();
}

}  // namespace

Watchdog::Watchdog(std::span<const Whereabouts> workers, Seconds limit, Seconds grace,
                   std::function<bool(std::size_t)> stuck, std::function<void()> given_up)
    : workers_(workers),
      limit_(limit.value),
      grace_(grace.value),
      stuck_(std::move(stuck)),
      given_up_(std::move(given_up)),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wakes_.notify_all();
  thread_.join();
}

bool Watchdog::sleep(double seconds) {
  std::unique_lock lock(mutex_);
  return !wakes_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return ends_; });
}

void Watchdog::turn() {
  const std::lock_guard lock(mutex_);
  run_.fetch_add(1);
}

/// False when the run has ended meanwhile, or the worker has come back.
bool Watchdog::tell(std::size_t worker, std::uint64_t run) {
  const std::lock_guard lock(mutex_);
  return run_.load() == run && stuck_(worker);
}

void Watchdog::watch() {
  const double pause = std::clamp(limit_ / 8, 0.001, 0.25);
  std::vector<Sight> seen(workers_.size());
  std::uint64_t last_run = 0, told_run = 0;
  while (sleep(pause)) {
    const std::uint64_t run = run_.load();
    const bool is_new = std::exchange(last_run, run) != run;
    if (run % 2 == 0 || run == told_run) continue;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const std::uint64_t progress = workers_[i].progress.load(std::memory_order_acquire);
      if (is_new || seen[i].progress != progress) seen[i] = {progress, WatchClock::now()};
      if (workers_[i].device.load() < 0 || age(seen[i]) < limit_) continue;
      if (!tell(i, run)) break;
      told_run = run;
      await_end(run);
      break;
    }
  }
}

void Watchdog::await_end(std::uint64_t run) {
  const WatchClock::time_point start = WatchClock::now();
  while (run_.load() == run && sleep(0.001)) {
    if (std::chrono::duration<double>(WatchClock::now() - start).count() < grace_) continue;
    return given_up_();
  }
}

}  // namespace shard
