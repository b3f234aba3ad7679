#pragma once
// How hosts that run one program together talk. Each has some of the devices; a collective whose
// group is on several hosts is done within each, then across, then within each again.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"

namespace shard {

/// Bytes for, or from, another host.
struct Parcel {
  int host = 0;
  std::byte* bytes = nullptr;
  std::int64_t count = 0;
};

/// Parcels that go both ways. With every host that one is sent to or received from, the other side
/// starts an exchange with the same tag and the same sizes; exchanges of one tag follow each other.
struct Exchange {
  int tag = 0;
  std::vector<Parcel> sent;
  std::vector<Parcel> received;
  std::shared_ptr<const void> keeps;  ///< what owns the bytes
  std::function<void()> done;         ///< called once, on the transport's own thread
  Seconds limit{};                    ///< 0: none
  std::function<void(int)> late;      ///< called once with a host that has not done its part
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual int hosts() const = 0;
  virtual int self() const = 0;  ///< this host, counted from 0
  /// Hosts, this one included, that share this machine's memory.
  virtual int hosts_on_machine() const = 0;
  virtual std::string description() const = 0;  ///< `Open MPI 4.1.4`
  virtual int largest_tag() const = 0;

  /// Returns at once. May be called from any thread.
  virtual void start(Exchange exchange) = 0;

  /// After this nothing that was started calls `done` or `late` any more.
  virtual void abandon() = 0;

  /// Ends the process on every host with `exit_code`; `text` is told once, by one of them.
  virtual void fail(const std::string& text, int exit_code) = 0;
};

/// The hosts' devices are numbered through: host h has the h-th part of them.
struct HostDevices {
  int first = 0;
  int count = 0;
  bool has(int device) const { return device >= first && device < first + count; }
};

/// What every host says, by host; returns when all have said it. All hosts call it in the same
/// order, while none of them runs a step. Without a transport there is one host.
std::vector<std::vector<std::byte>> gather(Transport* transport, std::vector<std::byte> own);

/// Tags below are used by `gather`.
constexpr int first_free_tag = 2;

}  // namespace shard
