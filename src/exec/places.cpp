#include "exec/places.h"

#include <algorithm>
#include <string>

namespace shard {

Places::Places(const Program& program) : program_(program), times_(program.bodies.size(), 1) {
  for (const Body& body : program.bodies) {
    for (const Instruction& instruction : body.instructions) {
      if (instruction.kind != Instruction::Kind::loop) continue;
      times_[static_cast<std::size_t>(instruction.body)] = instruction.attributes.integer("times");
    }
  }
}

Place Places::of(BufferId id) const {
  Place place;
  place.bytes = bytes_of(program_.buffer(id).type).count();
  while (true) {
    const Buffer& buffer = program_.buffer(id);
    if (buffer.stacked_of != BufferId::none) {
      place.moves.push_back({buffer.loop_body, buffer.stride.count()});
      id = buffer.stacked_of;
    } else if (buffer.alias_of != BufferId::none) {
      id = buffer.alias_of;
    } else {
      place.offset = buffer.offset.count();
      return place;
    }
  }
}

Place Places::slice(BufferId id, int body, std::int64_t bytes) const {
  Place place = of(id);
  place.bytes = bytes;
  place.moves.insert(place.moves.begin(), {body, bytes});
  return place;
}

void Places::check_bounds(Diagnostics& diagnostics) const {
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    const Place place = of(id_at<BufferId>(i));
    const std::int64_t end = end_of(place);
    if (place.offset >= 0 && end <= program_.memory.peak.count()) continue;
    diagnostics.error("bad-program", {},
                      "buffer " + std::to_string(i) + " '" + program_.buffers[i].name +
                          "' reaches to byte " + std::to_string(end) +
                          " of the arena, the planned peak is " +
                          std::to_string(program_.memory.peak.count()));
  }
}

bool Places::may_overlap(const Place& a, const Place& b) const {
  if (a.moves == b.moves) return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  return a.offset < end_of(b) && b.offset < end_of(a);
}

std::int64_t Places::end_of(const Place& place) const {
  std::int64_t end = place.offset + place.bytes;
  for (const Place::Move& move : place.moves) {
    end += (times_[static_cast<std::size_t>(move.loop)] - 1) * move.stride;
  }
  return end;
}

}  // namespace shard
