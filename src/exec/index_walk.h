#pragma once
// Where the slices of gather and scatter lie: one step per index vector, with the place of its
// slice in the array and in the array of slices.

#include <cstdint>
#include <vector>

#include "exec/kernel.h"
#include "exec/strided_copy.h"
#include "ops/index_dims.h"
#include "ops/local_form.h"

namespace shard {

/// Positions are in elements; `is_inside` is false where the whole array has no such slice, and
/// `is_here` where another device has it.
struct SlicePlace {
  std::int64_t in_array = 0;
  std::int64_t in_slices = 0;
  bool is_inside = true;
  bool is_here = true;
};

class IndexWalk {
 public:
  /// `sizes` are those of a slice, per dim of the array.
  IndexWalk(const Attributes& attributes, const TensorType& array, const TensorType& indices,
            const Shape& slices, std::vector<std::int64_t> sizes);

  /// Slices that there are.
  std::int64_t count() const { return count_; }
  /// The dims that run inside a slice: strides in the array, then in the array of slices.
  const std::vector<CopyDim>& window() const { return window_; }
  bool is_first_share(int device) const { return parts_.is_first_share(device); }
  /// The device has the first part of every dim that is split: it answers for what is nowhere.
  bool is_first_part(int device) const;

  /// Calls `visit` with the place of every slice, in the order of the array of slices.
  template <class Visit>
  void each(const std::byte* indices, int device, Visit visit) const {
    std::vector<std::int64_t> numbers = read_indices(indices);
    std::vector<std::int64_t> at(batch_.size(), 0);
    for (std::int64_t i = 0; i < count_; ++i) {
      visit(place(numbers, at, device));
      advance(at);
    }
  }

 private:
  /// A dim of the indices beside the vector's: its strides in them, in the array of slices and,
  /// when it is paired with one, in the array.
  struct BatchDim {
    std::int64_t size = 1;
    std::int64_t index_stride = 0;
    std::int64_t slices_stride = 0;
    std::int64_t array_stride = 0;
  };
  /// A dim of the array along which a slice starts at an index, or at 0.
  struct StartDim {
    std::int64_t dim = 0;
    std::int64_t local = 1;  ///< size on this device
    std::int64_t most = 0;   ///< last start in the whole array
    std::int64_t stride = 1;
    std::int64_t entry = -1;  ///< of the index vector; -1: starts at 0
  };

  std::vector<std::int64_t> read_indices(const std::byte* indices) const;
  SlicePlace place(const std::vector<std::int64_t>& numbers, const std::vector<std::int64_t>& at,
                   int device) const;
  void advance(std::vector<std::int64_t>& at) const;
  void add_start(SlicePlace& place, const StartDim& start, std::int64_t index, int device) const;

  DType index_dtype_;
  bool clips_;
  std::int64_t count_ = 1;
  std::int64_t index_count_ = 1;
  std::int64_t vector_stride_ = 0;
  std::vector<BatchDim> batch_;
  std::vector<StartDim> starts_;
  std::vector<CopyDim> window_;
  LocalParts parts_;
};

}  // namespace shard
