#pragma once
// How gather and scatter pair the dims of an array, of the indices and of the slices (XLA's
// GatherDimensionNumbers, with one set of words for both).
//
// Gather makes, for every index vector, a slice of the array; scatter puts slices there. The
// slices' array (gather's result, scatter's updates) has *window* dims, that run inside a slice,
// and *batch* dims, one for every dim of the indices but the vector's. Rows of a table [v, e] by
// i32[b, s] to [b, s, e]: window_dims [2], collapsed_dims [0], start_dims [0], index_vector_dim 2
// (which is no dim: every index is a vector of one), slice_sizes [1, e].

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/tensor_type.h"
#include "ops/attributes.h"
#include "ops/dims.h"

namespace shard {

struct IndexDims {
  std::vector<std::int64_t> window;       ///< dims of the slices' array that run inside a slice
  std::vector<std::int64_t> collapsed;    ///< dims of the array that slices have not (size 1)
  std::vector<std::int64_t> batch;        ///< dims of the array paired with ...
  std::vector<std::int64_t> index_batch;  ///< ... these dims of the indices
  std::vector<std::int64_t> start;        ///< dim of the array that each index counts along
  std::int64_t vector = 0;                ///< dim of the indices that holds the vector, or its rank

  explicit IndexDims(const Attributes& attributes)
      : window(attributes.integers("window_dims")),
        collapsed(attributes.integers("collapsed_dims")),
        batch(attributes.integers("batch_dims")),
        index_batch(attributes.integers("index_batch_dims")),
        start(attributes.integers("start_dims")),
        vector(attributes.integer("index_vector_dim")) {}
  IndexDims() = default;

  /// Whether these are attributes of a gather or a scatter. Their attribute `counts` is the shape
  /// of the array without its padding, if it has any: the limits of the indices.
  static bool are_in(const Attributes& attributes) { return attributes.has("index_vector_dim"); }

  /// This dim of the array has a window dim.
  bool is_window(std::int64_t dim) const {
    return !contains(collapsed, dim) && !contains(batch, dim);
  }
  /// Slices start at an index along this dim of the array.
  bool is_started(std::int64_t dim) const { return contains(start, dim); }

  /// The dims of an array of `rank` that have window dims, in order.
  std::vector<std::int64_t> windowed(int rank) const {
    std::vector<std::int64_t> dims;
    for (std::int64_t dim = 0; dim < rank; ++dim) {
      if (is_window(dim)) dims.push_back(dim);
    }
    return dims;
  }
  /// The dims of indices of `rank` that are not the vector's, in order.
  std::vector<std::int64_t> index_dims(int rank) const {
    std::vector<std::int64_t> dims;
    for (std::int64_t dim = 0; dim < rank; ++dim) {
      if (dim != vector) dims.push_back(dim);
    }
    return dims;
  }
  /// The batch dims of a slices' array of `rank`, in order.
  std::vector<std::int64_t> slice_batch(int rank) const {
    std::vector<std::int64_t> dims;
    for (std::int64_t dim = 0; dim < rank; ++dim) {
      if (!contains(window, dim)) dims.push_back(dim);
    }
    return dims;
  }

  /// As attributes of gather or scatter, without `slice_sizes` and `mode`.
  Attributes attributes() const {
    return Attributes{{"window_dims", window}, {"collapsed_dims", collapsed},
                      {"batch_dims", batch},   {"index_batch_dims", index_batch},
                      {"start_dims", start},   {"index_vector_dim", vector}};
  }
};

/// Per dim of an array of `rank` the size of a slice, from the shape of the array of slices; 1 for
/// dims that slices have not.
std::vector<std::int64_t> window_sizes(const IndexDims& dims, int rank, const Shape& slices);

}  // namespace shard
