// What goes wrong on purpose, and what is done about a worker that does not come back.

#include <array>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "base/check.h"
#include "exec/scheduler.h"

namespace shard {

std::string limit_text(Seconds limit) {
  std::string text = std::to_string(limit.value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

void Scheduler::inject(const Fault& fault) {
  SHARD_CHECK(fault.device >= 0, "a fault has a device");
  fault_.emplace(fault);
}

void Scheduler::watch(Seconds limit, Seconds grace,
                      std::function<void(const RunFailure&)> given_up) {
  watchdog_.emplace(
      whereabouts_, limit, grace,
      [this, limit](std::size_t worker) { return report_stuck(worker, limit); },
      [this, given_up = std::move(given_up)] {
        std::exception_ptr found;
        {  // what is called may wait for others, who may fail meanwhile
          const std::lock_guard lock(failure_mutex_);
          found = failure_;
        }
        try {
          std::rethrow_exception(found);
        } catch (const RunFailure& failure) {
          given_up(failure);
        } catch (const std::exception& error) {  // of another worker, before
          given_up(RunFailure("device-failed", {}, error.what()));
        }
      });
}

bool Scheduler::report_stuck(std::size_t worker, Seconds limit) {
  const int number = whereabouts_[worker].device, counter = whereabouts_[worker].counter;
  if (number < 0) return false;  // it came back at this very moment
  const Stream& stream = *state(number).stream;
  const std::string& label = stream.instructions[static_cast<std::size_t>(counter)].label;
  fail_with(std::make_exception_ptr(
      RunFailure("device-stuck", {},
                 "device " + std::to_string(number) + " at instruction " + std::to_string(counter) +
                     " (" + label + ") has not come to its end within " + limit_text(limit),
                 "`--timeout SECONDS` sets how long one instruction may take")));
  return true;
}

Scheduler::Course Scheduler::meet_fault(Worker& worker, int number,
                                        const StreamInstruction& instruction) {
  using Kind = StreamInstruction::Kind;
  using Meeting = Course (Scheduler::*)(Worker&, int, const StreamInstruction&);
  constexpr std::array<Meeting, 4> by_kind = {&Scheduler::drop, &Scheduler::come_late,
                                              &Scheduler::die, &Scheduler::flip};
  if (instruction.kind != Kind::compute && instruction.kind != Kind::collective) {
    return Course::same;
  }
  if (!fault_->is_due(instruction.kind == Kind::collective)) return Course::same;
  const Meeting meeting = by_kind[static_cast<std::size_t>(fault_->fault().kind)];
  return (this->*meeting)(worker, number, instruction);
}

Scheduler::Course Scheduler::drop(Worker&, int number, const StreamInstruction& instruction) {
  meeting_of(number, instruction).is_dropped = true;
  return Course::same;
}

Scheduler::Course Scheduler::come_late(Worker&, int, const StreamInstruction&) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(fault_->fault().delay.value);
  while (!is_over_.load() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Course::same;
}

Scheduler::Course Scheduler::die(Worker&, int number, const StreamInstruction&) {
  lost_ = number;
  if (transport_ != nullptr) {  // others may wait for this host for ever
    fail_with(std::make_exception_ptr(lost("")));
    return Course::none;
  }
  leave(1);
  return Course::none;
}

Scheduler::Course Scheduler::flip(Worker& worker, int number,
                                  const StreamInstruction& instruction) {
  DeviceState& device = state(number);
  compute(worker, number, instruction);
  if (!instruction.results.empty()) {
    const Place& place = instruction.results.front();
    flip_bit(fault_->fault(), address(device, place), place.bytes, instruction.element_bytes);
  }
  ++device.counter;
  return Course::next;
}

}  // namespace shard
