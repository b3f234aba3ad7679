#include "exec/scratch.h"

#include <algorithm>
#include <new>

namespace shard {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t smallest_chunk = std::size_t{1} << 16;

}  // namespace

void Scratch::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t(alignment));
}

std::byte* Scratch::take(std::size_t bytes) {
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  for (Chunk& chunk : chunks_) {
    if (chunk.size - chunk.used < size) continue;
    chunk.used += size;
    return chunk.memory.get() + chunk.used - size;
  }
  Chunk chunk;
  chunk.size = std::max(size, smallest_chunk);
  chunk.memory.reset(new (std::align_val_t(alignment)) std::byte[chunk.size]);
  chunk.used = size;
  chunks_.push_back(std::move(chunk));
  return chunks_.back().memory.get();
}

void Scratch::release() {
  in_use_ = 0;
  if (chunks_.size() > 1) {  // one chunk that holds it all serves the next time
    chunks_.clear();
    Chunk chunk;
    chunk.size = peak_;
    chunk.memory.reset(new (std::align_val_t(alignment)) std::byte[chunk.size]);
    chunks_.push_back(std::move(chunk));
  }
  for (Chunk& chunk : chunks_) chunk.used = 0;
}

}  // namespace shard
