#include "mpi/peers.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace shard {

ProcessName own_process_name() {
  struct stat status {};
  const bool is_known = stat("/proc/self/ns/pid", &status) == 0;
  return {getpid(), is_known ? static_cast<std::uint64_t>(status.st_ino) : 0};
}

Peers::~Peers() {
  for (const Peer& peer : peers_) close(peer.descriptor);
}

void Peers::add(int host, const ProcessName& process) {
  const ProcessName own = own_process_name();
  if (process.numbers_of == 0 || process.numbers_of != own.numbers_of) return;
  if (process.number == own.number) return;
  const auto number = static_cast<pid_t>(process.number);
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, number, 0));
  if (descriptor >= 0) peers_.push_back({host, number, descriptor});
}

bool Peers::has_ended(const Peer& peer) {
  pollfd asked{peer.descriptor, POLLIN, 0};
  return poll(&asked, 1, 0) == 1;
}

int Peers::ended() const {
  for (const Peer& peer : peers_) {
    if (has_ended(peer)) return peer.host;
  }
  return -1;
}

bool Peers::has_living_before(int host) const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [&](const Peer& peer) { return peer.host < host && !has_ended(peer); });
}

pid_t Peers::process_of(int host) const {
  const auto found = std::find_if(peers_.begin(), peers_.end(),
                                  [&](const Peer& peer) { return peer.host == host; });
  return found == peers_.end() ? 0 : found->process;
}

}  // namespace shard
