#pragma once
// The other hosts of a job that are processes of this machine: the kernel tells when one has ended,
// also one that was killed and cannot say so itself.

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace shard {

/// How processes that share a machine know each other: numbers mean the same processes only within
/// one namespace of them, and containers have namespaces of their own.
struct ProcessName {
  std::int64_t number = 0;
  std::uint64_t numbers_of = 0;  ///< the namespace; 0: not known
};
ProcessName own_process_name();

class Peers {
 public:
  Peers() = default;
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  /// Does nothing for this process, and for one that cannot be seen from here.
  void add(int host, const ProcessName& process);

  /// The first host that has ended; -1 while all that are seen go on. Async-signal-safe.
  int ended() const;
  /// A host with a smaller number than `host` is seen and goes on.
  bool has_living_before(int host) const;
  /// 0 for one that is not seen.
  pid_t process_of(int host) const;

 private:
  struct Peer {
    int host = 0;
    pid_t process = 0;
    int descriptor = -1;
  };
  static bool has_ended(const Peer& peer);

  std::vector<Peer> peers_;  ///< by host
};

}  // namespace shard
