#pragma once
// The memory of a virtual device: a mapped region, between guard pages or beside those of other
// small devices, filled before anything is timed. And what the machine has left for such regions.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"

namespace shard {

/// A mapped region of at least `size` bytes, zero-filled and populated by `populate`. Large ones
/// are rounded to 2 MiB and use huge pages. Regions start at different distances from a page
/// boundary (by `colour`), so that equal places of many devices do not fall on the same cache sets.
class Arena {
 public:
  Arena() = default;
  Arena(std::int64_t size, int colour);
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `count` arenas of `size` bytes, with the colours from `first` on. Small ones lie side by side
  /// and share huge pages, unless `are_guarded` asks for guard pages around each.
  static std::vector<Arena> row_of(std::int64_t size, int count, int first, bool are_guarded);

  /// Touches every page. May be called from any thread.
  void populate();

  /// 64-byte aligned.
  std::byte* base() const { return base_; }

  /// What of the region is in memory right now.
  Bytes resident() const;
  /// What the region takes from the machine when all of it is.
  Bytes footprint() const { return Bytes(static_cast<std::int64_t>(usable_)); }
  /// The pages before and behind the region cannot be read.
  bool is_guarded() const;
  /// Nothing was written to the region outside of its `size` bytes.
  bool is_clean_outside() const;

  /// What a region for `size` bytes takes from the machine.
  static Bytes footprint(std::int64_t size);

 private:
  /// In `memory` from byte `start` on.
  Arena(std::shared_ptr<std::byte> memory, std::int64_t start, std::int64_t size, int colour);

  std::shared_ptr<std::byte> memory_;  ///< with those that lie beside it
  std::size_t usable_ = 0;
  std::byte* base_ = nullptr;
  std::byte* region_ = nullptr;  ///< `usable_` bytes between the guards
  std::size_t size_ = 0;         ///< from `base_` on
};

/// What this process may still allocate: the kernel's estimate of available memory, or what is left
/// of the control group's limit or of its own (`ulimit -v`, `-d`) if that is less.
Bytes available_memory();

/// Throws `Error` `not-enough-memory` when `devices` arenas of `size` bytes do not fit into
/// `available`.
void check_memory(std::int64_t devices, Bytes size, Bytes available);

}  // namespace shard
