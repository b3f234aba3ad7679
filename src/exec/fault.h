#pragma once
// Faults put into a run on purpose, to see that verification notices them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace shard {

enum class FaultKind {
  drop_collective,  ///< a collective of the device's group moves nothing; its members run on
  late_device,      ///< the device does nothing for a while
  kill_device,      ///< the device stops for good
  bit_flip          ///< one bit of what an instruction wrote is wrong on one device
};

/// Happens in every step. The device counts from 0 what it executes in a step: collectives for
/// `drop_collective`, what computes for `bit_flip`, both for the others.
struct Fault {
  FaultKind kind = FaultKind::bit_flip;
  int device = 0;
  std::int64_t at = 0;
  Seconds delay{0.05};       ///< late_device
  std::int64_t element = 0;  ///< bit_flip: of the instruction's first result
  int bit = -1;              ///< bit_flip: from the lowest; -1: the second highest
};

/// The words of the kinds, in enum order.
const std::vector<std::string>& fault_words();

/// `bit-flip on device 3 (instruction 0, element 0)`.
std::string to_string(const Fault& fault);

/// Whether the fault is due at a device's next thing to do, and the count of what it has done.
class FaultClock {
 public:
  explicit FaultClock(const Fault& fault) : fault_(fault) {}
  void restart() { seen_ = 0; }
  bool is_due(bool is_collective) {
    if (fault_.kind == FaultKind::drop_collective && !is_collective) return false;
    if (fault_.kind == FaultKind::bit_flip && is_collective) return false;
    return seen_++ == fault_.at;
  }
  const Fault& fault() const { return fault_; }

 private:
  Fault fault_;
  std::int64_t seen_ = 0;
};

/// Flips the fault's bit of an array of `bytes` bytes; elements beyond its end are taken from its
/// begin again.
void flip_bit(const Fault& fault, std::byte* array, std::int64_t bytes, std::int64_t element_bytes);

}  // namespace shard
