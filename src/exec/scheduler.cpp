#include "exec/scheduler.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/check.h"

namespace shard {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr int spins = 2000;

bool is_done(const DeviceState& device) {
  return static_cast<std::size_t>(device.counter) == device.stream->instructions.size();
}

std::string place_name(const DeviceState& device, int number) {
  const StreamInstruction& at =
      device.stream->instructions[static_cast<std::size_t>(device.counter)];
  return "device " + std::to_string(number) + " at instruction " + std::to_string(device.counter) +
         " (" + at.label + ")";
}

}  // namespace

Scheduler::Scheduler(WorkerPool& pool, std::vector<DeviceState> devices,
                     std::vector<CollectiveSite> sites, int kinds, int first_device)
    : pool_(pool),
      devices_(std::move(devices)),
      first_device_(first_device),
      sites_(std::move(sites)),
      whereabouts_(static_cast<std::size_t>(pool.size())),
      times_(devices_.size()) {
  for (int i = 0; i < pool.size(); ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->tally.kinds.resize(static_cast<std::size_t>(kinds));
    workers_.back()->tally.sites.resize(sites_.size());
    workers_.back()->queue.reserve(devices_.size());
    workers_.back()->whereabouts = &whereabouts_[static_cast<std::size_t>(i)];
  }
}

void Scheduler::bind_devices() {
  SHARD_CHECK(workers_.size() == devices_.size(), "each device has a worker of its own");
  is_bound_ = true;
}

void Scheduler::run() {
  if (devices_.empty()) return;
  for (CollectiveSite& site : sites_) {
    for (const std::unique_ptr<Rendezvous>& meeting : site.groups) {
      meeting->arrived = 0;
      meeting->finished = 0;
      meeting->elements = 0;
      meeting->is_dropped = false;
      meeting->is_skipped = false;
      meeting->stage = 0;
      meeting->ticket = meeting->segments;
    }
  }
  const std::size_t count = devices_.size(), workers = workers_.size();
  for (DeviceState& device : devices_) restart(device);
  for (std::size_t w = 0; w < workers; ++w) {  // neighbours start on one worker, lowest first
    Worker& worker = *workers_[w];
    worker.queue.clear();
    for (std::size_t d = (w + 1) * count / workers; d-- > w * count / workers;) {
      worker.queue.push_back(first_device_ + static_cast<int>(d));
    }
    worker.ready = static_cast<int>(worker.queue.size());
    worker.open = nullptr;
  }
  crossed_.clear();
  ready_crossed_ = 0;
  failure_ = nullptr;
  is_over_ = false;
  live_ = static_cast<int>(count);
  lost_ = -1;
  if (fault_) fault_->restart();
  if (watchdog_) watchdog_->begin();
  if (is_profiling_) begin_times();
  pool_.run([this](int number) { work(number); });
  if (is_profiling_) end_times();
  if (watchdog_) watchdog_->end();
  const bool are_done = std::all_of(devices_.begin(), devices_.end(), is_done);
  if (transport_ != nullptr && (failure_ || !are_done)) transport_->abandon();
  if (failure_) std::rethrow_exception(failure_);
  if (!are_done) throw deadlock();
}

void Scheduler::work(int number) {
  Worker& worker = *workers_[static_cast<std::size_t>(number)];
  while (!is_over_.load(std::memory_order_acquire)) {
    if (!step(worker)) idle(worker);
  }
}

/// One thing to do: an own device, an open segment, somebody's device.
bool Scheduler::step(Worker& worker) {
  if (const std::optional<int> device = pop(worker)) {
    try {
      advance(worker, *device);
    } catch (...) {  // a thread's entry point: kept and rethrown by `run`
      fail(*device);
    }
    worker.whereabouts->nowhere();
    return true;
  }
  return help(worker) || take_crossed(worker) || steal(worker);
}

std::optional<int> Scheduler::pop(Worker& worker) {
  if (worker.ready.load(std::memory_order_relaxed) == 0) return std::nullopt;
  const std::lock_guard lock(worker.mutex);
  if (worker.queue.empty()) return std::nullopt;
  const int device = worker.queue.back();
  worker.queue.pop_back();
  worker.to_next = worker.queue.empty() ? 0 : state(worker.queue.back()).base - state(device).base;
  worker.ready.store(static_cast<int>(worker.queue.size()));
  return device;
}

bool Scheduler::help(Worker& worker) {
  for (const std::unique_ptr<Worker>& other : workers_) {
    Rendezvous* meeting = other->open.load(std::memory_order_acquire);
    if (meeting == nullptr) continue;
    if (meeting->ticket.load(std::memory_order_acquire) >= meeting->segments) continue;
    try {
      take_segments(worker, *meeting);
    } catch (...) {
      fail(meeting->devices.front());
    }
    return true;
  }
  return false;
}

bool Scheduler::steal(Worker& worker) {
  if (is_bound_) return false;
  for (const std::unique_ptr<Worker>& other : workers_) {
    if (other.get() == &worker || other->ready.load(std::memory_order_relaxed) == 0) continue;
    std::vector<int> taken;
    {
      const std::lock_guard lock(other->mutex);
      const std::size_t half = (other->queue.size() + 1) / 2;  // the oldest
      taken.assign(other->queue.begin(), other->queue.begin() + static_cast<std::ptrdiff_t>(half));
      other->queue.erase(other->queue.begin(),
                         other->queue.begin() + static_cast<std::ptrdiff_t>(half));
      other->ready.store(static_cast<int>(other->queue.size()));
    }
    if (taken.empty()) continue;
    const std::lock_guard lock(worker.mutex);
    worker.queue.insert(worker.queue.end(), taken.begin(), taken.end());
    worker.ready.store(static_cast<int>(worker.queue.size()));
    return true;
  }
  return false;
}

bool Scheduler::has_work(const Worker& worker) const {
  if (ready_crossed_.load() != 0) return true;
  return std::any_of(workers_.begin(), workers_.end(), [&](const std::unique_ptr<Worker>& other) {
    if (other->ready.load() != 0 && (!is_bound_ || other.get() == &worker)) return true;
    const Rendezvous* meeting = other->open.load();
    return meeting != nullptr && meeting->ticket.load() < meeting->segments;
  });
}

void Scheduler::idle(Worker& worker) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < spins; ++i) {
    if (is_over_.load(std::memory_order_acquire) || has_work(worker)) {
      worker.tally.waiting += seconds_since(start);
      return;
    }
    spin_pause();
  }
  sleepers_.fetch_add(1);
  const std::uint32_t seen = calls_.load();
  // Whoever makes work after this look sees the sleeper and raises `calls_`.
  if (!is_over_.load() && !has_work(worker)) calls_.wait(seen);
  sleepers_.fetch_sub(1);
  worker.tally.waiting += seconds_since(start);
}

void Scheduler::push(Worker& worker, std::span<const int> devices) {
  if (!is_bound_) {
    enqueue(worker, devices);
    if (devices.size() > 1) wake(false);
    return;
  }
  for (const int& device : devices) {
    enqueue(*workers_[static_cast<std::size_t>(device - first_device_)], std::span(&device, 1));
  }
  wake(true);
}

void Scheduler::enqueue(Worker& worker, std::span<const int> devices) {
  const std::lock_guard lock(worker.mutex);
  worker.queue.insert(worker.queue.end(), devices.rbegin(), devices.rend());
  worker.ready.store(static_cast<int>(worker.queue.size()));
}

void Scheduler::wake(bool all) {
  if (!all && sleepers_.load() == 0) return;
  calls_.fetch_add(1);
  if (all) {
    calls_.notify_all();
  } else {
    calls_.notify_one();
  }
}

void Scheduler::advance(Worker& worker, int number) {
  DeviceState& device = state(number);
  const std::vector<StreamInstruction>& code = device.stream->instructions;
  while (static_cast<std::size_t>(device.counter) < code.size()) {
    const StreamInstruction& instruction = code[static_cast<std::size_t>(device.counter)];
    worker.whereabouts->at(number, device.counter);
    if (observer_ && instruction.position >= 0) {
      observer_(number, device, instruction.body, instruction.position);
    }
    if (fault_ && fault_->fault().device == number) {
      const Course course = meet_fault(worker, number, instruction);
      if (course == Course::none) return;
      if (course == Course::next) continue;
    }
    if (instruction.kind == StreamInstruction::Kind::compute) {
      compute(worker, number, instruction);
      ++device.counter;
      if (is_over_.load(std::memory_order_relaxed)) return;
    } else if (instruction.kind == StreamInstruction::Kind::collective) {
      return arrive(worker, number, instruction);
    } else {
      step_loop(device, instruction);
    }
  }
  if (observer_) observer_(number, device, 0, device.stream->positions);
  leave(1);
}

void Scheduler::compute(Worker& worker, int number, const StreamInstruction& instruction) {
  DeviceState& device = state(number);
  const std::size_t operands = instruction.operands.size(), results = instruction.results.size();
  if (worker.operands.size() < operands) worker.operands.resize(operands);
  if (worker.results.size() < results) worker.results.resize(results);
  for (std::size_t i = 0; i < operands; ++i) {
    worker.operands[i] = address(device, instruction.operands[i]);
  }
  for (std::size_t i = 0; i < results; ++i) {
    worker.results[i] = address(device, instruction.results[i]);
  }
  if (instruction.is_done_later && !is_looked_at()) return;
  const KernelCall call{std::span(worker.operands).first(operands),
                        std::span(worker.results).first(results), worker.scratch, number,
                        worker.to_next};
  if (instruction.counter < 0) {
    instruction.kernel(call);
    worker.scratch.release();
    return;
  }
  const Clock::time_point start = is_profiling_ ? Clock::now() : Clock::time_point();
  instruction.kernel(call);
  KindTally& tally = worker.tally.kinds[static_cast<std::size_t>(instruction.counter)];
  if (is_profiling_) {
    const Clock::time_point end = Clock::now();
    tally.seconds += std::chrono::duration<double>(end - start).count();
    note_compute(worker, number, start, end);
  }
  ++tally.calls;
  tally.flops += instruction.flops;
  tally.bytes += instruction.bytes;
  worker.scratch.release();
}

Rendezvous& Scheduler::meeting_of(int number, const StreamInstruction& instruction) {
  const CollectiveSite& site = sites_[static_cast<std::size_t>(instruction.site)];
  const int group = site.group_of[static_cast<std::size_t>(number)];
  SHARD_CHECK(group >= 0, "a device belongs to a group of the collective it runs");
  return *site.groups[static_cast<std::size_t>(group)];
}

void Scheduler::arrive(Worker& worker, int number, const StreamInstruction& instruction) {
  DeviceState& device = state(number);
  const CollectiveSite& site = sites_[static_cast<std::size_t>(instruction.site)];
  Rendezvous& meeting = meeting_of(number, instruction);
  const int member = site.member_of[static_cast<std::size_t>(number)];
  MemberPlace& place = meeting.places[static_cast<std::size_t>(member)];
  place.operand = address(device, instruction.operands.front());
  place.result = address(device, instruction.results.front());
  place.also_read.clear();
  place.also_written.clear();
  for (std::size_t i = 1; i < instruction.operands.size(); ++i)
    place.also_read.push_back(address(device, instruction.operands[i]));
  for (std::size_t i = 1; i < instruction.results.size(); ++i)
    place.also_written.push_back(address(device, instruction.results[i]));
  if (is_profiling_) note_arrival(number, meeting, member);
  const int members = static_cast<int>(meeting.here.size());
  // From here on another worker may run this device: nothing of it is touched any more.
  if (meeting.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < members) {
    return leave(1);
  }
  meeting.arrived.store(0, std::memory_order_relaxed);
  live_.fetch_add(members - 1);
  if (meeting.hosted) meeting.hosted->begin(crossing_blocks_);
  if (is_profiling_) {
    meeting.met = *std::max_element(meeting.arrivals.begin(), meeting.arrivals.end());
  }
  meeting.is_skipped = std::exchange(meeting.is_dropped, false);
  if (meeting.is_skipped) return end_stage(worker, meeting);
  open(worker, meeting);
}

void Scheduler::open(Worker& worker, Rendezvous& meeting) {
  meeting.ticket.store(0, std::memory_order_release);
  if (meeting.segments == 1 || workers_.size() == 1) return take_segments(worker, meeting);
  worker.open.store(&meeting);
  wake(true);
  take_segments(worker, meeting);
  worker.open.store(nullptr);
}

void Scheduler::take_segments(Worker& worker, Rendezvous& meeting) {
  const CollectiveSite& site = sites_[static_cast<std::size_t>(meeting.site)];
  KindTally& kind = worker.tally.kinds[static_cast<std::size_t>(site.counter)];
  const Clock::time_point start = is_profiling_ ? Clock::now() : Clock::time_point();
  std::int64_t copied = 0;
  bool is_last = false;
  while (!is_last) {
    const std::int64_t segment = meeting.ticket.fetch_add(1, std::memory_order_acq_rel);
    if (segment >= meeting.segments) break;
    const SegmentWork done = meeting.run(segment, {worker.scratch, is_looked_at()});
    copied += done.copied;
    kind.bytes += static_cast<double>(done.beside);
    for (const SegmentWork::Sent& sent : done.links) {
      const auto device = [&](int member) {
        return meeting.devices[static_cast<std::size_t>(member)];
      };
      worker.tally.sites[static_cast<std::size_t>(meeting.site)]
          .links[{device(sent.from), device(sent.to)}]
          .add({sent.messages, sent.bytes});
    }
    meeting.elements.fetch_add(done.elements, std::memory_order_relaxed);
    is_last = meeting.finished.fetch_add(1, std::memory_order_acq_rel) + 1 == meeting.segments;
  }
  SiteTally& tally = worker.tally.sites[static_cast<std::size_t>(meeting.site)];
  if (is_profiling_) {
    const double seconds = seconds_since(start);
    kind.seconds += seconds;
    tally.seconds += seconds;
  }
  kind.bytes += static_cast<double>(copied);
  tally.copied += copied;
  if (is_last) end_stage(worker, meeting);
}

void Scheduler::end_stage(Worker& worker, Rendezvous& meeting) {
  meeting.finished.store(0, std::memory_order_relaxed);
  if (meeting.stage + 1 < meeting.stages()) return cross(meeting);
  meeting.stage = 0;
  meeting.is_skipped = false;
  if (meeting.hosted) meeting.hosted->end(crossing_blocks_);
  complete(worker, meeting);
}

void Scheduler::complete(Worker& worker, Rendezvous& meeting) {
  const CollectiveSite& site = sites_[static_cast<std::size_t>(meeting.site)];
  const std::int64_t members = static_cast<std::int64_t>(meeting.devices.size());
  const std::int64_t each = meeting.elements.exchange(0, std::memory_order_relaxed) / members;
  SiteTally& tally = worker.tally.sites[static_cast<std::size_t>(meeting.site)];
  if (meeting.is_counted_here()) {
    ++tally.collectives;
    if (meeting.devices[static_cast<std::size_t>(meeting.order.front())] == 0) {
      tally.wire += wire_of(site.kind, Bytes(each * site.element_bytes), members).count();
    }
  }
  KindTally& kind = worker.tally.kinds[static_cast<std::size_t>(site.counter)];
  kind.calls += static_cast<std::int64_t>(meeting.here.size());
  kind.flops += static_cast<double>(meeting.here.size()) * site.flops;
  // The members are still: nobody runs them until they are pushed.
  if (is_profiling_) note_collective(worker, meeting);
  for (const int device : meeting.here) ++state(device).counter;
  push(worker, meeting.here);
}

void Scheduler::leave(int devices) {
  if (live_.fetch_sub(devices) != devices) return;
  is_over_.store(true);
  wake(true);
}

void Scheduler::fail(int device) { fail_with(named(device, std::current_exception())); }

void Scheduler::fail_with(std::exception_ptr failure) {
  {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  is_over_.store(true);
  wake(true);
}

std::exception_ptr Scheduler::named(int device, const std::exception_ptr& failure) const {
  const std::string where = place_name(state(device), device);
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& diagnostic : diagnostics) {
      diagnostic.message = where + ": " + diagnostic.message;
    }
    const DeviceState& state_of = state(device);
    const StreamInstruction& failed =
        state_of.stream->instructions[static_cast<std::size_t>(state_of.counter)];
    return std::make_exception_ptr(RunFailure(std::move(diagnostics), {failed.body, failed.index}));
  } catch (const InternalError& error) {
    return std::make_exception_ptr(InternalError(where + ": " + error.what()));
  } catch (const std::exception& error) {
    return std::make_exception_ptr(
        RunFailure("device-failed", {}, where + " failed: " + error.what()));
  }
}

RunFailure Scheduler::deadlock() const {
  constexpr std::size_t most_named = 8;
  std::string names;
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const int number = first_device_ + static_cast<int>(i);
    if (is_done(devices_[i]) || number == lost_) continue;
    if (++waiting > most_named) continue;
    names += (names.empty() ? "" : ", ") + place_name(devices_[i], number);
  }
  if (waiting > most_named) names += " and " + std::to_string(waiting - most_named) + " more";
  if (lost_ >= 0) {
    return lost(waiting == 0
                    ? "; nobody waits for it"
                    : "; " + std::to_string(waiting) + " of " + std::to_string(devices_.size()) +
                          " devices wait and never go on: " + names);
  }
  return RunFailure(
      "deadlock", {},
      std::to_string(waiting) + " of " + std::to_string(devices_.size()) +
          " devices wait for partners that never come: " + names,
      "all members of a replica group must reach the same collectives in the same order");
}

RunFailure Scheduler::lost(const std::string& others) const {
  const std::string where = place_name(state(lost_), lost_);
  return RunFailure("device-lost", {}, where + " stopped and does not come back" + others);
}

}  // namespace shard
