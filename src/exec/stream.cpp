#include "exec/stream.h"

namespace shard {

void restart(DeviceState& device) {
  device.counter = 0;
  device.iteration.assign(static_cast<std::size_t>(device.stream->loops), 0);
  device.slice.assign(static_cast<std::size_t>(device.stream->loops), 0);
}

void step_loop(DeviceState& device, const StreamInstruction& instruction) {
  const std::size_t loop = static_cast<std::size_t>(instruction.loop);
  const bool begins = instruction.kind == StreamInstruction::Kind::loop_begin;
  std::int64_t& iteration = device.iteration[loop];
  iteration = begins ? 0 : iteration + 1;
  const bool is_left_out =
      begins && instruction.guard && *address(device, *instruction.guard) == std::byte{0};
  const bool goes_on = !is_left_out && iteration < instruction.times;
  if (goes_on) {
    device.slice[loop] = instruction.is_reverse ? instruction.times - 1 - iteration : iteration;
  }
  if (begins == goes_on) {
    ++device.counter;
  } else {
    device.counter = instruction.target;
  }
}

}  // namespace shard
