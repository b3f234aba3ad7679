#include "spmd/course.h"

namespace shard::spmd {

std::optional<std::vector<Instance>> Course::order(std::span<const std::size_t> things,
                                                   std::span<const Line> positions) const {
  std::int64_t count = 0;
  for (const std::size_t thing : things) count += instances(thing);
  std::vector<Instance> order(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < things.size(); ++i) {
    for (std::int64_t number = 0; number < instances(things[i]); ++number) {
      const std::int64_t position = positions[i].at(number);
      if (position < 0 || position >= count) return std::nullopt;
      Instance& place = order[static_cast<std::size_t>(position)];
      if (place.number >= 0) return std::nullopt;
      place = {things[i], number};
    }
  }
  return order;  // as many as there are places, so all are taken
}

}  // namespace shard::spmd
