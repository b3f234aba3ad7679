#pragma once
// Memory for what crosses between hosts, used again: a fresh page costs more than filling it, and
// a collective needs its bytes only while it goes on.

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/units.h"

namespace shard {

/// At least as many bytes as were asked for, not cleared; nothing where that is 0.
struct Block {
  std::unique_ptr<std::byte[]> bytes;
  std::int64_t size = 0;

  std::byte* data() const { return bytes.get(); }
};

/// May be used from any thread.
class BlockPool {
 public:
  Block take(std::int64_t size);
  void give_back(Block block);

  /// Of all blocks, in use or not.
  Bytes held() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Block> free_;
  std::int64_t held_ = 0;
};

}  // namespace shard
