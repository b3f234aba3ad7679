#pragma once
// What a worker counts while it works. Each worker has its own, so counting needs no atomics; they
// are summed when somebody asks.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "exec/packed.h"

namespace shard {

/// Of one kind of instruction.
struct KindTally {
  std::int64_t calls = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;

  void add(const KindTally& other) {
    calls += other.calls;
    seconds += other.seconds;
    flops += other.flops;
    bytes += other.bytes;
  }
};

/// Of one device's sending to another.
struct LinkTally {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  void add(const LinkTally& other) {
    messages += other.messages;
    bytes += other.bytes;
  }
};

/// By sender and receiver.
using LinkTallies = std::map<std::pair<int, int>, LinkTally>;

inline void add(LinkTallies& links, const LinkTallies& others) {
  for (const auto& [link, tally] : others) links[link].add(tally);
}

/// Of one collective of the stream.
struct SiteTally {
  std::int64_t collectives = 0;  ///< completed, all groups
  std::int64_t wire = 0;         ///< bytes device 0 sent
  std::int64_t copied = 0;       ///< bytes read and written for all devices
  LinkTallies links;             ///< where the algorithm sends messages
  double seconds = 0;            ///< worker time
  double meeting = 0;            ///< seconds that members waited for the last, all members

  void add(const SiteTally& other) {
    collectives += other.collectives;
    wire += other.wire;
    copied += other.copied;
    shard::add(links, other.links);
    seconds += other.seconds;
    meeting += other.meeting;
  }
};

/// Of one worker, of all workers of a host, or of all hosts.
struct WorkerTally {
  std::vector<KindTally> kinds;
  std::vector<SiteTally> sites;
  double waiting = 0;  ///< seconds with nothing runnable

  void put_into(Packer& packer) const;
  /// Of the same program.
  static WorkerTally taken_from(Unpacker& packed);

  void add(const WorkerTally& other) {
    for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i].add(other.kinds[i]);
    for (std::size_t i = 0; i < sites.size(); ++i) sites[i].add(other.sites[i]);
    waiting += other.waiting;
  }
};

}  // namespace shard
