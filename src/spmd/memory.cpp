#include "spmd/memory.h"

#include <algorithm>

#include "spmd/partition.h"
#include "spmd/places.h"

namespace shard {
namespace spmd {

constexpr std::int64_t alignment = 64;

std::int64_t aligned_bytes(Bytes bytes) {
  return (bytes.count() + alignment - 1) / alignment * alignment;
}

bool is_view(const Buffer& buffer) { return buffer.stacked_of != BufferId::none; }

std::vector<BufferId> place_owners(const Program& program, std::span<const BufferId> roots) {
  std::vector<BufferId> owners(roots.begin(), roots.end());
  for (BufferId& owner : owners) {
    while (is_view(program.buffer(owner)))
      owner = roots[index_of(program.buffer(owner).stacked_of)];
  }
  return owners;
}

std::vector<Life> place_lives(const Liveness& liveness, std::span<const BufferId> roots) {
  std::vector<Life> lives = liveness.lives;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    Life& place = lives[index_of(roots[i])];
    place.first = std::min(place.first, liveness.lives[i].first);
    place.last = std::max(place.last, liveness.lives[i].last);
  }
  return lives;
}

namespace {

/// The buffers of each place that has its own memory, in the order they are written. The first by
/// number has it from the start: a loop's result, say, which is where the loop's carry is. What was
/// written before that one is never seen.
std::vector<std::vector<BufferId>> tenants(const Program& program, const Liveness& liveness,
                                           std::span<const BufferId> roots) {
  std::vector<std::vector<BufferId>> by_root(program.buffers.size());
  const auto since = [&](BufferId id) { return liveness.lives[index_of(id)].first; };
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const BufferId id = id_at<BufferId>(i), root = roots[i];
    if (is_view(program.buffer(root))) continue;
    std::vector<BufferId>& place = by_root[index_of(root)];
    if (place.empty() || since(place.front()) <= since(id)) place.push_back(id);
  }
  for (std::vector<BufferId>& place : by_root) {
    std::stable_sort(place.begin(), place.end(),
                     [&](BufferId a, BufferId b) { return since(a) < since(b); });
  }
  return by_root;
}

}  // namespace

std::vector<Life> tenancies(const Program& program, const Liveness& liveness,
                            std::span<const BufferId> roots, const std::vector<Life>& places) {
  std::vector<Life> held(program.buffers.size(), Life{0, -1});
  const std::vector<std::vector<BufferId>> by_root = tenants(program, liveness, roots);
  for (std::size_t root = 0; root < by_root.size(); ++root) {
    int until = places[root].last;
    for (std::size_t i = by_root[root].size(); i-- > 0;) {
      const std::size_t buffer = index_of(by_root[root][i]);
      held[buffer] = {i == 0 ? places[root].first : liveness.lives[buffer].first, until};
      until = std::min(until, held[buffer].first - 1);
    }
  }
  return held;
}

int busiest_moment(std::span<const Block> places, int end) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(end) + 2);
  for (const Block& place : places) {
    change[static_cast<std::size_t>(place.life.first)] += place.bytes;
    change[static_cast<std::size_t>(place.life.last) + 1] -= place.bytes;
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

BytesByCategory::BytesByCategory() : bytes_(static_cast<std::size_t>(Category::output) + 1) {}

void BytesByCategory::add(Category category, Bytes bytes) {
  bytes_[static_cast<std::size_t>(category)] += bytes;
}

std::vector<CategoryBytes> BytesByCategory::list() const {
  std::vector<CategoryBytes> all;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] > Bytes(0)) all.push_back({static_cast<Category>(i), bytes_[i]});
  }
  return all;
}

MemoryPlan measure_memory(const Program& program, const Liveness& liveness) {
  const std::vector<BufferId> roots = roots_of(program);
  const std::vector<Life> places = place_lives(liveness, roots);
  const std::vector<Life> held = tenancies(program, liveness, roots, places);
  MemoryPlan memory;
  for (const Buffer& buffer : program.buffers) {
    if (!is_view(buffer))
      memory.peak = std::max(memory.peak, buffer.offset + bytes_of(buffer.type));
  }
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const BufferId id = id_at<BufferId>(i);
    if (roots[i] != id || is_view(program.buffer(id))) continue;
    blocks.push_back({bytes_of(program.buffer(id).type).count(), places[i]});
  }
  const int moment = busiest_moment(blocks, liveness.end);
  memory.peak_instruction = liveness.main_position[static_cast<std::size_t>(moment)];
  BytesByCategory bytes;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (moment < held[i].first || held[i].last < moment) continue;
    const Buffer& buffer = program.buffers[i];
    memory.live_at_peak.push_back(id_at<BufferId>(i));
    memory.peak_live += bytes_of(buffer.type);
    bytes.add(buffer.category, bytes_of(buffer.type));
  }
  std::stable_sort(memory.live_at_peak.begin(), memory.live_at_peak.end(),
                   [&](BufferId a, BufferId b) {
                     return bytes_of(program.buffer(a).type) > bytes_of(program.buffer(b).type);
                   });
  memory.by_category = bytes.list();
  return memory;
}

}  // namespace spmd

void plan_memory(Program& program) {
  const spmd::Liveness liveness = spmd::find_lives(program);
  const std::vector<BufferId> roots = spmd::roots_of(program);
  const std::vector<BufferId> owners = spmd::place_owners(program, roots);
  const std::vector<spmd::Life> places = spmd::place_lives(liveness, roots);
  std::vector<spmd::Block> blocks;
  std::vector<BufferId> packed;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (index_of(owners[i]) != i) continue;
    packed.push_back(owners[i]);
    blocks.push_back({spmd::aligned_bytes(bytes_of(program.buffers[i].type)), places[i]});
  }
  const std::vector<std::int64_t> offsets = spmd::pack(blocks);
  for (std::size_t i = 0; i < packed.size(); ++i)
    program.buffers[index_of(packed[i])].offset = Bytes(offsets[i]);
  for (std::size_t i = 0; i < owners.size(); ++i)
    program.buffers[i].offset = program.buffer(owners[i]).offset;
  program.memory = spmd::measure_memory(program, liveness);
}

}  // namespace shard
