#pragma once
// What else went on on the machine while something was timed.

#include <istream>

namespace shard {

/// CPU seconds since the machine started, of all cores together.
struct MachineLoad {
  double busy = 0;    ///< spent on anything; without idling and waiting for disks
  double stolen = 0;  ///< in which a virtual machine wanted to run and its host ran another
  bool is_known = false;
};

/// From the form of /proc/stat.
MachineLoad read_machine_load(std::istream& text);

/// Cores' worth of work, averaged between two moments, that was not this process's.
struct OtherLoad {
  double busy = 0;    ///< of other processes
  double stolen = 0;  ///< taken from this machine by its host
};

/// Watches from its making on.
class LoadWatch {
 public:
  LoadWatch();
  /// Of the time so far; nothing where the kernel does not tell.
  OtherLoad others() const;

 private:
  MachineLoad machine_;
  double own_;
  double start_;
};

}  // namespace shard
