#pragma once
// Parts of an array in the order in which a product wants them, as float32.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/tensor_type.h"

namespace shard {

/// An array as groups of items, each a list of numbers: [b, t, h, e] keys as, by (b, h), items t of
/// e numbers.
class RowGather {
 public:
  /// The dims of the groups, items and numbers, major first; each dim of the array is one of them.
  RowGather(const TensorType& type, const std::vector<std::int64_t>& groups,
            const std::vector<std::int64_t>& items, const std::vector<std::int64_t>& numbers);

  std::int64_t items() const { return items_; }      ///< of a group
  std::int64_t numbers() const { return numbers_; }  ///< of an item

  /// Items `first` to `first + count` of a group to `to`, [count, numbers()].
  void run(const std::byte* array, std::int64_t group, std::int64_t first, std::int64_t count,
           float* to) const;

 private:
  struct Dim {
    std::int64_t size = 1;
    std::int64_t stride = 0;  ///< elements
  };
  static std::int64_t offset(const std::vector<Dim>& dims, std::int64_t index);
  void gather(const std::byte* from, float* to) const;

  DType dtype_;
  std::vector<Dim> group_dims_, item_dims_, number_dims_;
  std::int64_t items_ = 1, numbers_ = 1;
  std::int64_t number_stride_ = 1;  ///< of neighbours; the numbers are one dim
};

}  // namespace shard
