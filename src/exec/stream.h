#pragma once
// What a device executes: a flat list of instructions with places in its arena, and a program
// counter. Loops are a begin and an end with an iteration count; a collective names a rendezvous.
// All devices of a Program share one stream; the scheduler accepts a different one per device.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/kernel.h"

namespace shard {

/// A place in a device's arena. In loops it may move: by `stride` per slice of loop `loop`.
struct Place {
  struct Move {
    int loop = 0;
    std::int64_t stride = 0;
    friend bool operator==(const Move&, const Move&) = default;
  };
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::vector<Move> moves;
  friend bool operator==(const Place&, const Place&) = default;
};

struct StreamInstruction {
  enum class Kind { compute, collective, loop_begin, loop_end };
  Kind kind = Kind::compute;
  std::vector<Place> operands;
  std::vector<Place> results;
  Kernel kernel;            ///< of compute
  int site = -1;            ///< of collective: index into the scheduler's sites
  int loop = -1;            ///< of loop_begin and loop_end: number of the loop
  std::int64_t times = 0;   ///< of loops
  bool is_reverse = false;  ///< of loops
  std::optional<Place>
      guard{};       ///< of loop_begin: a truth value without which the body is left out
  int target = -1;   ///< begin: after the loop's end; end: the first of the body
  int counter = -1;  ///< index into the kinds that are counted; -1: not counted
  double flops = 0;
  double bytes = 0;
  /// A collective after it makes what it needs of the result itself: this is only done where
  /// somebody looks at the result.
  bool is_done_later = false;
  /// The first of those that do its body's instruction of this number; -1: another.
  int position = -1;
  int body = 0;    ///< of the program that it stands in; loops have the number of their body
  int index = -1;  ///< of the program's instruction in its body; -1: none says it
  std::int64_t element_bytes = 1;  ///< of the first result
  std::string label;               ///< `dot`, `all_reduce model`: for messages
};

struct Stream {
  std::vector<StreamInstruction> instructions;
  int loops = 0;      ///< loops are numbered below this
  int positions = 0;  ///< instructions of the main body
};

/// Where one device stands.
struct DeviceState {
  const Stream* stream = nullptr;
  std::byte* base = nullptr;
  int counter = 0;
  std::vector<std::int64_t> iteration;  ///< per loop
  std::vector<std::int64_t> slice;      ///< per loop: the iteration, from the end if in reverse
  std::int64_t high_water = 0;          ///< highest byte of the arena touched so far
};

/// Begins the stream again; the high-water mark stays.
void restart(DeviceState& device);

/// The address of a place right now; raises the device's high-water mark. Asked for every operand
/// of every instruction.
inline std::byte* address(DeviceState& device, const Place& place) {
  std::int64_t offset = place.offset;
  for (const Place::Move& move : place.moves) {
    offset += device.slice[static_cast<std::size_t>(move.loop)] * move.stride;
  }
  device.high_water = std::max(device.high_water, offset + place.bytes);
  return device.base + offset;
}

/// Executes loop_begin or loop_end: moves the program counter.
void step_loop(DeviceState& device, const StreamInstruction& instruction);

}  // namespace shard
