#include "spmd/memory.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "spmd/packing.h"
#include "spmd/partition.h"
#include "spmd/places.h"

namespace shard {
namespace {

constexpr std::int64_t alignment = 64;

std::int64_t aligned_bytes(const TensorType& type) {
  return (bytes_of(type).count() + alignment - 1) / alignment * alignment;
}

bool is_view(const Buffer& buffer) { return buffer.stacked_of != BufferId::none; }

/// The buffer, of those that share a view's memory, whose offset the view has.
BufferId place_owner(const Program& program, BufferId id) {
  id = spmd::root_of(program, id);
  while (is_view(program.buffer(id))) id = spmd::root_of(program, program.buffer(id).stacked_of);
  return id;
}

}  // namespace

namespace spmd {

std::vector<Life> place_lives(const Program& program, const Liveness& liveness) {
  std::vector<Life> lives = liveness.lives;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    Life& place = lives[index_of(root_of(program, id_at<BufferId>(i)))];
    place.first = std::min(place.first, liveness.lives[i].first);
    place.last = std::max(place.last, liveness.lives[i].last);
  }
  return lives;
}

namespace {

/// The first moment with most live bytes.
int busiest_moment(const Program& program, const std::vector<Life>& places, int end) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(end) + 2);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const BufferId id = id_at<BufferId>(i);
    if (root_of(program, id) != id || is_view(program.buffer(id))) continue;
    const std::int64_t bytes = bytes_of(program.buffer(id).type).count();
    change[static_cast<std::size_t>(places[i].first)] += bytes;
    change[static_cast<std::size_t>(places[i].last) + 1] -= bytes;
  }
  std::int64_t live = 0, most = -1;
  int moment = 0;
  for (int at = 0; at <= end; ++at) {
    live += change[static_cast<std::size_t>(at)];
    if (live <= most) continue;
    most = live;
    moment = at;
  }
  return moment;
}

/// For each place live at the moment the buffer that has it then: the last one written so far.
std::vector<BufferId> holders_at(const Program& program, const Liveness& liveness,
                                 const std::vector<Life>& places, int moment) {
  std::vector<BufferId> holder(program.buffers.size(), BufferId::none);
  std::vector<BufferId> live;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const BufferId id = id_at<BufferId>(i), root = root_of(program, id);
    const Life& place = places[index_of(root)];
    if (is_view(program.buffer(root)) || place.first > moment || place.last < moment) continue;
    BufferId& now = holder[index_of(root)];
    const auto since = [&](BufferId one) { return liveness.lives[index_of(one)].first; };
    if (now == BufferId::none || (since(id) <= moment && since(id) >= since(now))) now = id;
    if (id == root) live.push_back(root);
  }
  for (BufferId& id : live) id = holder[index_of(id)];
  std::sort(live.begin(), live.end(), [&](BufferId a, BufferId b) {
    const Bytes one = bytes_of(program.buffer(a).type), other = bytes_of(program.buffer(b).type);
    return one != other ? one > other : a < b;
  });
  return live;
}

}  // namespace

MemoryPlan measure_memory(const Program& program, const Liveness& liveness) {
  const std::vector<Life> places = place_lives(program, liveness);
  MemoryPlan memory;
  for (const Buffer& buffer : program.buffers) {
    if (!is_view(buffer))
      memory.peak = std::max(memory.peak, buffer.offset + bytes_of(buffer.type));
  }
  const int moment = busiest_moment(program, places, liveness.end);
  memory.peak_instruction = liveness.main_position[static_cast<std::size_t>(moment)];
  memory.live_at_peak = holders_at(program, liveness, places, moment);
  std::array<std::int64_t, static_cast<std::size_t>(Category::output) + 1> bytes{};
  for (const BufferId id : memory.live_at_peak) {
    const Buffer& buffer = program.buffer(id);
    bytes[static_cast<std::size_t>(buffer.category)] += bytes_of(buffer.type).count();
    memory.peak_live += bytes_of(buffer.type);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] > 0) memory.by_category.push_back({static_cast<Category>(i), Bytes(bytes[i])});
  }
  return memory;
}

}  // namespace spmd

void plan_memory(Program& program) {
  const spmd::Liveness liveness = spmd::find_lives(program);
  const std::vector<spmd::Life> places = spmd::place_lives(program, liveness);
  std::vector<spmd::Block> blocks;
  std::vector<BufferId> owners;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const BufferId id = id_at<BufferId>(i);
    if (place_owner(program, id) != id) continue;
    owners.push_back(id);
    blocks.push_back({aligned_bytes(program.buffers[i].type), places[i]});
  }
  const std::vector<std::int64_t> offsets = spmd::pack(blocks);
  for (std::size_t i = 0; i < owners.size(); ++i)
    program.buffers[index_of(owners[i])].offset = Bytes(offsets[i]);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const BufferId owner = place_owner(program, id_at<BufferId>(i));
    program.buffers[i].offset = program.buffer(owner).offset;
  }
  program.memory = spmd::measure_memory(program, liveness);
}

}  // namespace shard
