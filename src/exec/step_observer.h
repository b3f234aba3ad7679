#pragma once
// Looking on while a step is done.

#include <functional>

#include "exec/stream.h"

namespace shard {

/// Called on a worker for each device, in its order: all instructions of the body before `position`
/// are done there, in this iteration, and nothing since. At the end of a body, and at the end of
/// the step in the main body, `position` is the number of its instructions; it may come twice.
using StepObserver =
    std::function<void(int number, const DeviceState& device, int body, int position)>;

}  // namespace shard
