#include "base/check.h"
#include "spmd/program.h"

namespace shard {

Bytes place_of(const Program& program, BufferId id, std::span<const std::int64_t> slice_of_body) {
  Bytes moved;
  for (;;) {
    const Buffer& buffer = program.buffer(id);
    if (buffer.stacked_of != BufferId::none) {
      SHARD_CHECK(static_cast<std::size_t>(buffer.loop_body) < slice_of_body.size(),
                  "a view is asked for inside its loop");
      moved += slice_of_body[static_cast<std::size_t>(buffer.loop_body)] * buffer.stride;
      id = buffer.stacked_of;
    } else if (buffer.alias_of != BufferId::none) {
      id = buffer.alias_of;
    } else {
      return buffer.offset + moved;
    }
  }
}

}  // namespace shard
