#pragma once
// The memory of a virtual device: one mapped region between guard pages, filled before anything is
// timed. And what the machine has left for such regions.

#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace shard {

/// A mapped region of at least `size` bytes, zero-filled and populated by `populate`. Large ones
/// are rounded to 2 MiB and use huge pages. Regions start at different distances from a page
/// boundary (by `colour`), so that equal places of many devices do not fall on the same cache sets.
class Arena {
 public:
  Arena() = default;
  Arena(std::int64_t size, int colour);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

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
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::size_t usable_ = 0;
  std::byte* base_ = nullptr;
  std::byte* region_ = nullptr;  ///< `usable_` bytes between the guards
  std::size_t size_ = 0;         ///< from `base_` on
};

/// What this process may still allocate: the kernel's estimate of available memory, or what is left
/// of the control group's limit if that is less.
Bytes available_memory();

/// Throws `Error` `not-enough-memory` when `devices` arenas of `size` bytes do not fit into
/// `available`.
void check_memory(std::int64_t devices, Bytes size, Bytes available);

}  // namespace shard
