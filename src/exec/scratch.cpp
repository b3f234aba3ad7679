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
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    if (chunks_[i].size - chunks_[i].used >= size) return take_from(i, size);
  }
  Chunk chunk;
  chunk.size = std::max(size, smallest_chunk);
  chunk.memory.reset(new (std::align_val_t(alignment)) std::byte[chunk.size]);
  chunks_.push_back(std::move(chunk));
  return take_from(chunks_.size() - 1, size);
}

std::byte* Scratch::take_from(std::size_t number, std::size_t size) {
  Chunk& chunk = chunks_[number];
  taken_.push_back({number, size});
  chunk.used += size;
  return chunk.memory.get() + chunk.used - size;
}

void Scratch::rewind(std::size_t mark) {
  for (; taken_.size() > mark; taken_.pop_back()) {
    chunks_[taken_.back().chunk].used -= taken_.back().size;
    in_use_ -= taken_.back().size;
  }
}

void Scratch::release_all() {
  in_use_ = 0;
  taken_.clear();
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
