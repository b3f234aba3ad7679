// What was counted and when it happened.

#include <algorithm>
#include <chrono>
#include <iterator>
#include <tuple>
#include <utility>

#include "exec/scheduler.h"

namespace shard {
namespace {

double seconds_between(std::chrono::steady_clock::time_point begin,
                       std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

std::int64_t nanoseconds_between(std::chrono::steady_clock::time_point begin,
                                 std::chrono::steady_clock::time_point end) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
}

std::vector<TimelineInstruction> timeline_instructions(const Stream& stream) {
  std::vector<TimelineInstruction> made;
  for (const StreamInstruction& one : stream.instructions) {
    made.push_back({one.label, one.kind == StreamInstruction::Kind::collective, one.body, one.index,
                    one.flops, one.bytes});
  }
  return made;
}

}  // namespace

void Scheduler::begin_times() {
  run_begin_ = std::chrono::steady_clock::now();
  for (DeviceTimes& times : times_) times.since = run_begin_;
  for (const std::unique_ptr<Worker>& worker : workers_) worker->spans.clear();
}

/// Devices that came to their end early waited for the others.
void Scheduler::end_times() {
  const Instant end = std::chrono::steady_clock::now();
  for (DeviceTimes& times : times_) times.tally.meeting += seconds_between(times.since, end);
}

TimelineSpan Scheduler::span_of(const Worker& worker, int number, Instant begin) const {
  const DeviceState& device = state(number);
  const StreamInstruction& at =
      device.stream->instructions[static_cast<std::size_t>(device.counter)];
  TimelineSpan span;
  span.device = number;
  span.worker = static_cast<int>(worker.whereabouts - whereabouts_.data());
  span.instruction = device.counter;
  if (at.body > 0) span.iteration = device.iteration[static_cast<std::size_t>(at.body)];
  span.begin = span.met = nanoseconds_between(run_begin_, begin);
  return span;
}

void Scheduler::note_compute(Worker& worker, int number, Instant begin, Instant end) {
  DeviceTimes& times = times_of(number);
  times.tally.queued += seconds_between(times.since, begin);
  times.tally.computing += seconds_between(begin, end);
  times.since = end;
  if (!is_recording_) return;
  TimelineSpan span = span_of(worker, number, begin);
  span.end = nanoseconds_between(run_begin_, end);
  worker.spans.push_back(span);
}

void Scheduler::note_arrival(int number, Rendezvous& meeting, int member) {
  const Instant now = std::chrono::steady_clock::now();
  DeviceTimes& times = times_of(number);
  times.tally.queued += seconds_between(times.since, now);
  times.since = now;
  meeting.arrivals[static_cast<std::size_t>(member)] = now;
}

void Scheduler::note_collective(Worker& worker, const Rendezvous& meeting) {
  const Instant end = std::chrono::steady_clock::now();
  const CollectiveSite& site = sites_[static_cast<std::size_t>(meeting.site)];
  for (const int device : meeting.here) {
    DeviceTimes& times = times_of(device);
    const double waited = seconds_between(times.since, meeting.met);
    times.tally.meeting += waited;
    worker.tally.sites[static_cast<std::size_t>(meeting.site)].meeting += waited;
    times.tally.collecting += seconds_between(meeting.met, end);
    times.since = end;
    if (!is_recording_) continue;
    const auto member = static_cast<std::size_t>(site.member_of[static_cast<std::size_t>(device)]);
    TimelineSpan span = span_of(worker, device, meeting.arrivals[member]);
    span.met = nanoseconds_between(run_begin_, meeting.met);
    span.end = nanoseconds_between(run_begin_, end);
    span.meeting = meeting.devices[static_cast<std::size_t>(meeting.order.front())];
    worker.spans.push_back(span);
  }
}

Timeline Scheduler::take_timeline() {
  Timeline timeline;
  timeline.devices = static_cast<int>(devices_.size());
  timeline.workers = static_cast<int>(workers_.size());
  if (!devices_.empty()) {
    timeline.instructions = timeline_instructions(*devices_.front().stream);
  }
  for (const std::unique_ptr<Worker>& worker : workers_) {
    timeline.spans.insert(timeline.spans.end(), worker->spans.begin(), worker->spans.end());
    std::vector<TimelineSpan>().swap(worker->spans);
  }
  std::stable_sort(timeline.spans.begin(), timeline.spans.end(),
                   [](const TimelineSpan& a, const TimelineSpan& b) {
                     return std::tuple(a.device, a.begin) < std::tuple(b.device, b.begin);
                   });
  return timeline;
}

WorkerTally Scheduler::tally() const {
  WorkerTally sum = workers_.front()->tally;
  for (std::size_t i = 1; i < workers_.size(); ++i) sum.add(workers_[i]->tally);
  return sum;
}

std::vector<DeviceTally> Scheduler::device_tallies() const {
  std::vector<DeviceTally> tallies;
  for (const DeviceTimes& times : times_) tallies.push_back(times.tally);
  return tallies;
}

void Scheduler::reset_tally() {
  for (DeviceTimes& times : times_) times.tally = {};
  for (const std::unique_ptr<Worker>& worker : workers_) {
    WorkerTally& tally = worker->tally;
    std::fill(tally.kinds.begin(), tally.kinds.end(), KindTally());
    std::fill(tally.sites.begin(), tally.sites.end(), SiteTally());
    tally.waiting = 0;
  }
}

std::vector<Bytes> Scheduler::scratch_peaks() const {
  std::vector<Bytes> peaks;
  for (const std::unique_ptr<Worker>& worker : workers_) peaks.push_back(worker->scratch.peak());
  return peaks;
}

Bytes Scheduler::scratch_peak() const {
  Bytes sum;
  for (const std::unique_ptr<Worker>& worker : workers_) sum += worker->scratch.peak();
  return sum;
}

}  // namespace shard
