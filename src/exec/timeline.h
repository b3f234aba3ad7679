#pragma once
// What every device did in one step, and when; and where each device's time went.

#include <cstdint>
#include <string>
#include <vector>

namespace shard {

/// Seconds of one device. A device whose turn it is may still wait for a worker: there are often
/// more devices than cores.
struct DeviceTally {
  double computing = 0;
  double collecting = 0;  ///< in collectives, from the moment when all members are there
  double meeting = 0;     ///< waiting for other devices: members of a collective, the step's end
  double queued = 0;      ///< could go on, but no worker had time
};

/// An instruction of the stream that devices run.
struct TimelineInstruction {
  std::string label;  ///< `dot`, `all_reduce model`, `copy`
  bool is_collective = false;
  int body = 0;    ///< of the program
  int index = -1;  ///< in the body; -1: a copy that no instruction of the program asks for
  double flops = 0;
  double bytes = 0;  ///< of operands and results
};

/// One execution of an instruction by one device. Times are nanoseconds since the step began.
struct TimelineSpan {
  int device = 0;
  int worker = 0;               ///< that did it; of a collective the one that finished it
  int instruction = 0;          ///< of the timeline's
  std::int64_t iteration = -1;  ///< of the innermost loop; -1: in none
  std::int64_t begin = 0;       ///< of a collective: when the device arrived
  std::int64_t met = 0;         ///< of a collective: when its last member arrived; else `begin`
  std::int64_t end = 0;
  std::int64_t meeting = -1;  ///< the same number for the members of one collective; -1: none
};

struct Timeline {
  int devices = 0;
  int workers = 0;
  std::vector<TimelineInstruction> instructions;
  std::vector<TimelineSpan> spans;  ///< by device, then in order
};

/// Gives meetings their numbers: of spans by device and in order, whose meeting is so far the first
/// device of the group. Members on different hosts get the same number too.
void number_meetings(std::vector<TimelineSpan>& spans);

}  // namespace shard
