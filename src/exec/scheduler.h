#pragma once
// Many devices on few workers. A device that waits for its partners is in no queue and costs
// nothing; the last one to arrive at a collective opens its segments to all workers, and who
// finishes the last segment makes the members runnable. Each worker keeps its own queue and runs
// the newest entry first (its data is still in cache); a worker without work helps with open
// segments, then takes devices from the others, then spins briefly, then sleeps.
//
// With a transport these are the devices of one of several hosts. A collective whose group is on
// others too crosses between two stages: its members stay live meanwhile, and the transport's
// thread puts it among the crossed, which any worker takes.
//
// `live_` counts devices that are runnable, running or in an open collective. When it reaches zero
// the run is over: either all devices are done, or those that are not wait for each other.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/block_pool.h"
#include "exec/fault.h"
#include "exec/rendezvous.h"
#include "exec/run_failure.h"
#include "exec/scratch.h"
#include "exec/step_observer.h"
#include "exec/stream.h"
#include "exec/tally.h"
#include "exec/timeline.h"
#include "exec/transport.h"
#include "exec/watchdog.h"
#include "exec/worker_pool.h"

namespace shard {

/// `2.5 s`.
std::string limit_text(Seconds limit);

class Scheduler {
 public:
  /// `kinds` is the number of counters that instructions refer to; the devices are numbered from
  /// `first_device` on.
  Scheduler(WorkerPool& pool, std::vector<DeviceState> devices, std::vector<CollectiveSite> sites,
            int kinds, int first_device = 0);

  /// Runs every stream to its end. Throws `RunFailure` `deadlock` when the devices that are left
  /// wait for partners that never come, `device-lost` when they wait for one that stopped,
  /// `device-stuck` (see `watch`); a failure on a device stops all and is rethrown with the device
  /// and the instruction named.
  void run();

  /// From now on a device that is at one instruction for `limit` ends the run. `given_up` is
  /// called with the failure when its worker has not come back `grace` later: nobody can end a
  /// thread from outside.
  void watch(Seconds limit, Seconds grace, std::function<void(const RunFailure&)> given_up);
  /// Where what crosses goes; an exchange that takes longer than `limit` (0: none) ends the run
  /// with `host-stuck`. When a run fails the transport is abandoned.
  void connect(Transport& transport, Seconds limit);
  /// Called from the next run on; empty: nobody looks.
  void observe(StepObserver observer) { observer_ = std::move(observer); }
  /// The fault happens in every run.
  void inject(const Fault& fault);

  /// From now on worker d alone runs device d, as if each device were a thread of its own; whoever
  /// has time still helps with collectives. There are as many workers as devices.
  void bind_devices();

  void set_profiling(bool on) { is_profiling_ = on; }
  bool is_profiling() const { return is_profiling_; }
  /// From the next run on, if it is profiled, what every device does is kept.
  void set_recording(bool on) { is_recording_ = on; }
  /// What was kept of the last run; afterwards nothing is. Spans of a collective have the first
  /// device of its group as their meeting: see `number_meetings`.
  Timeline take_timeline();

  std::span<const DeviceState> devices() const { return devices_; }
  std::span<const CollectiveSite> sites() const { return sites_; }

  WorkerTally tally() const;
  /// By device, of profiled runs.
  std::vector<DeviceTally> device_tallies() const;
  void reset_tally();
  /// The most scratch memory each worker had in use, and the sum of that.
  std::vector<Bytes> scratch_peaks() const;
  Bytes scratch_peak() const;
  /// Of memory for what crosses between hosts.
  Bytes crossing_bytes() const { return crossing_blocks_.held(); }

 private:
  /// One worker's own things, apart from others' on cache lines.
  struct alignas(64) Worker {
    std::mutex mutex;                        ///< of `queue`
    std::vector<int> queue;                  ///< runnable devices, newest last
    std::atomic<int> ready{0};               ///< size of `queue`, for a look without the lock
    std::atomic<Rendezvous*> open{nullptr};  ///< a collective whose segments others may take
    Scratch scratch;
    WorkerTally tally;
    std::vector<const std::byte*> operands;
    std::vector<std::byte*> results;
    std::ptrdiff_t to_next = 0;  ///< bytes from the memory of the device at hand to that of the one
                                 ///< behind it in `queue`; 0: there is none
    Whereabouts* whereabouts = nullptr;
    std::vector<TimelineSpan> spans;
  };

  using Instant = std::chrono::steady_clock::time_point;
  /// Of one device; written by the worker that has it.
  struct alignas(64) DeviceTimes {
    DeviceTally tally;
    Instant since;  ///< all before is in the tally
  };

  void work(int number);
  bool step(Worker& worker);
  std::optional<int> pop(Worker& worker);
  bool help(Worker& worker);
  bool steal(Worker& worker);
  bool take_crossed(Worker& worker);
  bool has_work(const Worker& worker) const;
  void idle(Worker& worker);
  void push(Worker& worker, std::span<const int> devices);
  void enqueue(Worker& worker, std::span<const int> devices);
  void wake(bool all);

  /// How a device goes on after its fault: with the instruction, with the next, or not at all.
  enum class Course { same, next, none };

  void advance(Worker& worker, int device);
  Course meet_fault(Worker& worker, int device, const StreamInstruction& instruction);
  Course drop(Worker& worker, int device, const StreamInstruction& instruction);
  Course come_late(Worker& worker, int device, const StreamInstruction& instruction);
  Course die(Worker& worker, int device, const StreamInstruction& instruction);
  Course flip(Worker& worker, int device, const StreamInstruction& instruction);
  void compute(Worker& worker, int device, const StreamInstruction& instruction);
  Rendezvous& meeting_of(int device, const StreamInstruction& instruction);
  void arrive(Worker& worker, int device, const StreamInstruction& instruction);
  void take_segments(Worker& worker, Rendezvous& meeting);
  void open(Worker& worker, Rendezvous& meeting);
  void end_stage(Worker& worker, Rendezvous& meeting);
  void cross(Rendezvous& meeting);
  void note_crossed(Rendezvous& meeting);
  void complete(Worker& worker, Rendezvous& meeting);
  void leave(int devices);

  void begin_times();
  void end_times();
  void note_compute(Worker& worker, int device, Instant begin, Instant end);
  void note_arrival(int device, Rendezvous& meeting, int member);
  void note_collective(Worker& worker, const Rendezvous& meeting);
  TimelineSpan span_of(const Worker& worker, int device, Instant begin) const;

  /// Operands and results of every instruction are wanted: by an observer, or to spoil one.
  bool is_looked_at() const { return observer_ != nullptr || fault_.has_value(); }

  DeviceTimes& times_of(int device) {
    return times_[static_cast<std::size_t>(device - first_device_)];
  }
  DeviceState& state(int device) {
    return devices_[static_cast<std::size_t>(device - first_device_)];
  }
  const DeviceState& state(int device) const {
    return devices_[static_cast<std::size_t>(device - first_device_)];
  }
  void fail(int device);
  void fail_late(const Rendezvous& meeting, int host);
  void fail_with(std::exception_ptr failure);
  bool report_stuck(std::size_t worker, Seconds limit);
  std::exception_ptr named(int device, const std::exception_ptr& failure) const;
  RunFailure deadlock() const;
  RunFailure lost(const std::string& others) const;

  WorkerPool& pool_;
  std::vector<DeviceState> devices_;
  int first_device_;
  std::vector<CollectiveSite> sites_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Whereabouts> whereabouts_;  ///< by worker
  std::optional<FaultClock> fault_;
  StepObserver observer_;
  std::atomic<int> lost_{-1};  ///< the device that stopped
  bool is_profiling_ = true;
  bool is_recording_ = false;
  std::vector<DeviceTimes> times_;  ///< by device
  Instant run_begin_;
  bool is_bound_ = false;  ///< a device stays on its worker

  std::atomic<int> live_{0};
  std::atomic<bool> is_over_{false};  ///< all done, deadlocked or failed
  std::atomic<int> sleepers_{0};
  std::atomic<std::uint32_t> calls_{0};  ///< raised to wake sleepers
  Transport* transport_ = nullptr;
  Seconds crossing_limit_;
  BlockPool crossing_blocks_;
  std::mutex crossed_mutex_;
  std::vector<Rendezvous*> crossed_;  ///< whose next stage can be done; oldest first
  std::atomic<int> ready_crossed_{0};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::optional<Watchdog> watchdog_;  ///< last: it looks at the others
};

}  // namespace shard
