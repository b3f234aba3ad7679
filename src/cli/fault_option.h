#pragma once
// The value of --inject.

#include <string>

#include "exec/fault.h"

namespace shard {

/// `bit-flip`, `kill-device:device=3,at=7`, `late-device:device=1,seconds=0.2`. Throws `Error`
/// `bad-value` with the nearest word, or all mistakes of the settings.
Fault read_fault(const std::string& text);

/// Throws `Error` `bad-value` when the mesh has no such device.
void check_fault(const Fault& fault, std::int64_t device_count);

}  // namespace shard
