#include "exec/worker_pool.h"

#include <string>
#include <system_error>

#include "base/diagnostic.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace shard {
namespace {

/// About 50 microseconds; waking a sleeping thread costs as much.
constexpr int spins_for_work = 2000;

/// Waits until `word` is no longer `old`: first awake, then asleep.
void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  for (int i = 0; i < spins_for_work; ++i) {
    if (word.load(std::memory_order_acquire) != old) return;
    spin_pause();
  }
  word.wait(old, std::memory_order_acquire);
}

}  // namespace

void spin_pause() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

WorkerPool::WorkerPool(int workers) {
  for (int worker = 1; worker < workers; ++worker) {
    try {
      threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error& error) {
      end();
      throw Error("too-many-workers", {},
                  "the system starts no more than " + std::to_string(worker) + " of " +
                      std::to_string(workers) + " worker threads: " + error.code().message(),
                  "`--workers N` with fewer workers: more than there are cores gain nothing");
    }
  }
}

WorkerPool::~WorkerPool() { end(); }

void WorkerPool::end() {
  ends_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::serve(int worker) {
  std::uint32_t seen = 0;
  while (true) {
    while (generation_.load(std::memory_order_acquire) == seen) wait_while(generation_, seen);
    ++seen;
    if (ends_.load()) return;
    execute(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
  }
}

void WorkerPool::execute(int worker) {
  try {
    (*task_)(worker);
  } catch (...) {  // an entry point of a thread: kept for the caller
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void WorkerPool::run(const std::function<void(int)>& task) {
  task_ = &task;
  failure_ = nullptr;
  busy_.store(static_cast<std::uint32_t>(threads_.size()));
  generation_.fetch_add(1, std::memory_order_acq_rel);
  generation_.notify_all();
  execute(0);
  while (const std::uint32_t left = busy_.load(std::memory_order_acquire)) wait_while(busy_, left);
  if (failure_) std::rethrow_exception(failure_);
}

void WorkerPool::for_each(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  run([&](int) {
    while (true) {
      const std::int64_t i = next.fetch_add(1);
      if (i >= count) return;
      try {
        body(i);
      } catch (...) {
        next.store(count);
        throw;
      }
    }
  });
}

}  // namespace shard
