#include "exec/fault.h"

#include <algorithm>
#include <cstddef>

namespace shard {

const std::vector<std::string>& fault_words() {
  static const std::vector<std::string> words = {"drop-collective", "late-device", "kill-device",
                                                 "bit-flip"};
  return words;
}

std::string to_string(const Fault& fault) {
  const bool drops = fault.kind == FaultKind::drop_collective;
  const std::string at = (drops ? "collective " : "instruction ") + std::to_string(fault.at);
  const std::string element =
      fault.kind == FaultKind::bit_flip ? ", element " + std::to_string(fault.element) : "";
  return fault_words()[static_cast<std::size_t>(fault.kind)] + " on device " +
         std::to_string(fault.device) + " (" + at + element + " of every step)";
}

void flip_bit(const Fault& fault, std::byte* array, std::int64_t bytes,
              std::int64_t element_bytes) {
  const std::int64_t elements = bytes / std::max<std::int64_t>(1, element_bytes);
  if (elements == 0) return;
  const std::int64_t bits = 8 * element_bytes;
  // Of a byte the lowest: a bool stays one.
  const std::int64_t usual = element_bytes == 1 ? 0 : bits - 2;
  const std::int64_t bit = fault.bit < 0 ? usual : fault.bit % bits;
  std::byte& place = array[fault.element % elements * element_bytes + bit / 8];
  place ^= std::byte{1} << static_cast<int>(bit % 8);
}

}  // namespace shard
