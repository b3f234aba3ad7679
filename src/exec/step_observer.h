#pragma once
// Looking on while a step is done.

#include <cstddef>
#include <functional>

namespace shard {

/// Called on a worker for each device, in its order: all instructions of the main body before
/// `position` are done there, and nothing since. `base` is the device's arena. At the end of a step
/// `position` is the number of instructions; it may come twice.
using StepObserver = std::function<void(int device, int position, const std::byte* base)>;

}  // namespace shard
