#pragma once
// Worker threads that stay: the caller is worker 0, the others wait for the next task with a short
// spin and then asleep, so that a step that follows another finds them awake.

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace shard {

/// Tells the processor that this is a spin loop.
void spin_pause();

class WorkerPool {
 public:
  /// Throws `Error` `too-many-workers` when the system refuses a thread.
  explicit WorkerPool(int workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Runs `task(worker)` once on every worker and waits for all. The first exception is rethrown.
  void run(const std::function<void(int)>& task);

  /// Runs `body(i)` for every i below `count`; workers take the next i when they are free.
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& body);

 private:
  void serve(int worker);
  void end();
  void execute(int worker);

  const std::function<void(int)>* task_ = nullptr;
  std::atomic<std::uint32_t> generation_{0};  ///< raised for every task, and to end
  std::atomic<std::uint32_t> busy_{0};        ///< threads that have not finished the task
  std::atomic<bool> ends_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace shard
