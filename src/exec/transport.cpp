#include "exec/transport.h"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

namespace shard {
namespace {

using HostBytes = std::vector<std::vector<std::byte>>;

constexpr int sizes_tag = 0;
constexpr int bytes_tag = 1;

/// Sends the host's own entry to all others while theirs arrive.
void exchange_all(Transport& transport, int tag, HostBytes& by_host) {
  std::mutex mutex;
  std::condition_variable wakes;
  bool is_done = false;
  Exchange exchange;
  exchange.tag = tag;
  std::vector<std::byte>& own = by_host[static_cast<std::size_t>(transport.self())];
  for (int host = 0; host < transport.hosts(); ++host) {
    if (host == transport.self()) continue;
    std::vector<std::byte>& theirs = by_host[static_cast<std::size_t>(host)];
    exchange.sent.push_back({host, own.data(), static_cast<std::int64_t>(own.size())});
    exchange.received.push_back({host, theirs.data(), static_cast<std::int64_t>(theirs.size())});
  }
  exchange.done = [&] {
    const std::lock_guard lock(mutex);
    is_done = true;
    wakes.notify_one();
  };
  transport.start(std::move(exchange));
  std::unique_lock lock(mutex);
  wakes.wait(lock, [&] { return is_done; });
}

}  // namespace

HostBytes gather(Transport* transport, std::vector<std::byte> own) {
  if (transport == nullptr) {
    HostBytes alone;
    alone.push_back(std::move(own));
    return alone;
  }
  const std::size_t hosts = static_cast<std::size_t>(transport->hosts());
  const std::size_t self = static_cast<std::size_t>(transport->self());
  const std::uint64_t size = own.size();
  HostBytes sizes(hosts, std::vector<std::byte>(sizeof size));
  const auto* const digits = reinterpret_cast<const std::byte*>(&size);
  sizes[self].assign(digits, digits + sizeof size);
  exchange_all(*transport, sizes_tag, sizes);
  HostBytes all(hosts);
  for (std::size_t host = 0; host < hosts; ++host) {
    std::uint64_t count = 0;
    std::memcpy(&count, sizes[host].data(), sizeof count);
    all[host].resize(count);
  }
  all[self] = std::move(own);
  exchange_all(*transport, bytes_tag, all);
  return all;
}

}  // namespace shard
