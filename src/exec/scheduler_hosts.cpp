// Collectives that cross between hosts.

#include <string>
#include <utility>

#include "exec/scheduler.h"

namespace shard {

void Scheduler::connect(Transport& transport, Seconds limit) {
  transport_ = &transport;
  crossing_limit_ = limit;
}

void Scheduler::cross(Rendezvous& meeting) {
  Crossing crossing = meeting.hosted->crossing(meeting.stage);
  Exchange exchange;
  exchange.tag = meeting.tag + meeting.stage;
  exchange.sent = std::move(crossing.sent);
  exchange.received = std::move(crossing.received);
  exchange.keeps = meeting.hosted;
  exchange.done = [this, &meeting] { note_crossed(meeting); };
  exchange.limit = crossing_limit_;
  exchange.late = [this, &meeting](int host) { fail_late(meeting, host); };
  ++meeting.stage;
  transport_->start(std::move(exchange));
}

/// On the transport's thread.
void Scheduler::note_crossed(Rendezvous& meeting) {
  {
    const std::lock_guard lock(crossed_mutex_);
    crossed_.push_back(&meeting);
    ready_crossed_.store(static_cast<int>(crossed_.size()));
  }
  wake(false);
}

bool Scheduler::take_crossed(Worker& worker) {
  if (ready_crossed_.load() == 0) return false;
  Rendezvous* meeting = nullptr;
  {
    const std::lock_guard lock(crossed_mutex_);
    if (crossed_.empty()) return false;
    meeting = crossed_.front();
    crossed_.erase(crossed_.begin());
    ready_crossed_.store(static_cast<int>(crossed_.size()));
  }
  try {
    meeting->is_skipped ? end_stage(worker, *meeting) : open(worker, *meeting);
  } catch (...) {  // a thread's entry point: kept and rethrown by `run`
    fail(meeting->here.front());
  }
  return true;
}

/// On the transport's thread.
void Scheduler::fail_late(const Rendezvous& meeting, int host) {
  const std::string& label = sites_[static_cast<std::size_t>(meeting.site)].label;
  fail_with(std::make_exception_ptr(
      RunFailure("host-stuck", {},
                 "host " + std::to_string(host) + " has not done its part of " + label +
                     " within " + limit_text(crossing_limit_),
                 "`--timeout SECONDS` sets how long one instruction may take")));
}

}  // namespace shard
