#include "spmd/memory_course.h"

#include <array>
#include <utility>

#include "spmd/liveness.h"
#include "spmd/memory.h"
#include "spmd/places.h"

namespace shard {
namespace {

constexpr std::size_t category_count = static_cast<std::size_t>(Category::output) + 1;
using CategorySums = std::array<std::int64_t, category_count>;

/// Where each moment of the line stands in the program; a loop's begin and end are the loop.
std::vector<std::pair<int, int>> moment_places(const Program& program,
                                               const spmd::Liveness& liveness) {
  const int last = static_cast<int>(program.main().instructions.size());
  std::vector<std::pair<int, int>> places(static_cast<std::size_t>(liveness.end) + 1, {0, last});
  places.front() = {0, -1};
  for (std::size_t body = 0; body < liveness.moments.size(); ++body) {
    for (std::size_t position = 0; position < liveness.moments[body].size(); ++position) {
      const spmd::Life& at = liveness.moments[body][position];
      for (const int moment : {at.first, at.last}) {
        places[static_cast<std::size_t>(moment)] = {static_cast<int>(body),
                                                    static_cast<int>(position)};
      }
    }
  }
  return places;
}

}  // namespace

std::vector<MemoryMoment> memory_course(const Program& program) {
  const spmd::Liveness liveness = spmd::find_lives(program);
  const std::vector<BufferId> roots = spmd::roots_of(program);
  const std::vector<spmd::Life> places = spmd::place_lives(liveness, roots);
  const std::vector<spmd::Life> held = spmd::tenancies(program, liveness, roots, places);
  std::vector<CategorySums> change(static_cast<std::size_t>(liveness.end) + 2);
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i].last < held[i].first) continue;
    const Buffer& buffer = program.buffers[i];
    const auto category = static_cast<std::size_t>(buffer.category);
    const std::int64_t bytes = bytes_of(buffer.type).count();
    change[static_cast<std::size_t>(held[i].first)][category] += bytes;
    change[static_cast<std::size_t>(held[i].last) + 1][category] -= bytes;
  }
  const std::vector<std::pair<int, int>> where = moment_places(program, liveness);
  CategorySums live{};
  std::vector<MemoryMoment> course;
  for (std::size_t at = 0; at < where.size(); ++at) {
    spmd::BytesByCategory sums;
    MemoryMoment moment;
    moment.body = where[at].first;
    moment.position = where[at].second;
    for (std::size_t category = 0; category < category_count; ++category) {
      live[category] += change[at][category];
      sums.add(static_cast<Category>(category), Bytes(live[category]));
      moment.live += Bytes(live[category]);
    }
    moment.by_category = sums.list();
    course.push_back(std::move(moment));
  }
  return course;
}

}  // namespace shard
