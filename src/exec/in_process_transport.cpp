#include "exec/in_process_transport.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "exec/run_failure.h"

namespace shard {
namespace {

using LinkClock = std::chrono::steady_clock;

/// Messages on their way, by sender, receiver and tag, in the order they were sent.
class Post {
 public:
  struct Address {
    int from = 0, to = 0, tag = 0;
    auto operator<=>(const Address&) const = default;
  };

  void put(const Address& address, const Parcel& parcel) {
    const std::lock_guard lock(mutex_);
    messages_[address].emplace_back(parcel.bytes, parcel.bytes + parcel.count);
  }

  std::optional<std::vector<std::byte>> take(const Address& address) {
    const std::lock_guard lock(mutex_);
    const auto place = messages_.find(address);
    if (place == messages_.end() || place->second.empty()) return std::nullopt;
    std::vector<std::byte> bytes = std::move(place->second.front());
    place->second.pop_front();
    return bytes;
  }

 private:
  std::mutex mutex_;
  std::map<Address, std::deque<std::vector<std::byte>>> messages_;
};

class InProcessTransport : public Transport {
 public:
  InProcessTransport(std::shared_ptr<Post> post, int hosts, int self)
      : post_(std::move(post)), hosts_(hosts), self_(self), thread_([this] { serve(); }) {}

  ~InProcessTransport() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wakes_.notify_one();
    thread_.join();
  }

  int hosts() const override { return hosts_; }
  int self() const override { return self_; }
  int hosts_on_machine() const override { return hosts_; }
  std::string description() const override { return "threads of one process"; }
  int largest_tag() const override { return 32767; }

  void start(Exchange exchange) override {
    for (const Parcel& parcel : exchange.sent) {
      post_->put({self_, parcel.host, exchange.tag}, parcel);
    }
    {
      const std::lock_guard lock(mutex_);
      open_.push_back({std::move(exchange), LinkClock::now()});
    }
    wakes_.notify_one();
  }

  void abandon() override {
    const std::lock_guard lock(mutex_);
    open_.clear();
  }

  void fail(const std::string& text, int) override { throw RunFailure("host-failed", {}, text); }

 private:
  struct Open {
    Exchange exchange;
    LinkClock::time_point start;
    bool is_late = false;
  };

  /// Calls are made under the lock, so that none is made after `abandon`; they start nothing.
  void serve() {
    constexpr std::chrono::microseconds pause{50};
    std::unique_lock lock(mutex_);
    while (!ends_) {
      if (open_.empty()) {
        wakes_.wait(lock);
      } else {
        wakes_.wait_for(lock, pause);
      }
      for (auto at = open_.begin(); at != open_.end();) {
        if (has_arrived(at->exchange)) {
          at->exchange.done();
          at = open_.erase(at);
        } else {
          look_at_clock(*at);
          ++at;
        }
      }
    }
  }

  bool has_arrived(Exchange& exchange) {
    std::erase_if(exchange.received, [&](const Parcel& parcel) {
      const auto bytes = post_->take({parcel.host, self_, exchange.tag});
      if (!bytes) return false;
      SHARD_CHECK(static_cast<std::int64_t>(bytes->size()) == parcel.count,
                  "both sides of an exchange have the same sizes");
      if (parcel.count > 0) std::memcpy(parcel.bytes, bytes->data(), bytes->size());
      return true;
    });
    return exchange.received.empty();
  }

  void look_at_clock(Open& open) const {
    const double limit = open.exchange.limit.value;
    if (open.is_late || limit <= 0) return;
    if (std::chrono::duration<double>(LinkClock::now() - open.start).count() < limit) return;
    open.is_late = true;
    open.exchange.late(open.exchange.received.front().host);
  }

  std::shared_ptr<Post> post_;
  int hosts_;
  int self_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::list<Open> open_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> in_process_transports(int hosts) {
  const auto post = std::make_shared<Post>();
  std::vector<std::unique_ptr<Transport>> transports;
  for (int host = 0; host < hosts; ++host) {
    transports.push_back(std::make_unique<InProcessTransport>(post, hosts, host));
  }
  return transports;
}

}  // namespace shard
