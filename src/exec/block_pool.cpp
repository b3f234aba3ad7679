#include "exec/block_pool.h"

#include <algorithm>
#include <utility>

namespace shard {

Block BlockPool::take(std::int64_t size) {
  if (size == 0) return {};
  const std::lock_guard lock(mutex_);
  auto best = free_.end();
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    if (block->size >= size && (best == free_.end() || block->size < best->size)) best = block;
  }
  if (best != free_.end()) {
    Block taken = std::move(*best);
    free_.erase(best);
    return taken;
  }
  if (!free_.empty()) {  // none is large enough: the largest makes room for one that is
    const auto largest = std::max_element(
        free_.begin(), free_.end(), [](const Block& a, const Block& b) { return a.size < b.size; });
    held_ -= largest->size;
    free_.erase(largest);
  }
  held_ += size;
  return {std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(size)), size};
}

void BlockPool::give_back(Block block) {
  if (!block.bytes) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(block));
}

Bytes BlockPool::held() const {
  const std::lock_guard lock(mutex_);
  return Bytes(held_);
}

}  // namespace shard
