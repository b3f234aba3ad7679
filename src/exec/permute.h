#pragma once
// Reordering the dimensions of a contiguous array, planned once and run many times.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shard {

/// `out` has dims `shape[order[0]], shape[order[1]], ...`. Neighbouring dims that stay together are
/// merged; a run that stays contiguous is copied whole, else the two innermost dims are walked in
/// tiles.
class Permutation {
 public:
  Permutation(std::span<const std::int64_t> shape, std::span<const std::int64_t> order,
              std::size_t element_bytes);

  /// True when the order changes nothing but dims of size 1.
  bool is_identity() const { return dims_.size() <= 1; }
  std::size_t bytes() const { return bytes_; }
  void run(const std::byte* from, std::byte* to) const;

 private:
  struct Dim {
    std::int64_t size = 1;
    std::int64_t in_stride = 1;   ///< elements
    std::int64_t out_stride = 1;  ///< elements
  };

  template <class T>
  void run_elements(const T* from, T* to) const;

  std::vector<Dim> dims_;  ///< outermost of the result first; the tile's two dims are the last
  std::size_t element_bytes_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace shard
