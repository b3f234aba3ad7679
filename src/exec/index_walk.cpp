#include "exec/index_walk.h"

#include <algorithm>

#include "exec/whole_numbers.h"

namespace shard {
namespace {

std::int64_t entry_of(const std::vector<std::int64_t>& dims, std::int64_t dim) {
  const auto found = std::find(dims.begin(), dims.end(), dim);
  return found == dims.end() ? -1 : found - dims.begin();
}

}  // namespace

IndexWalk::IndexWalk(const Attributes& attributes, const TensorType& array,
                     const TensorType& indices, const Shape& slices,
                     std::vector<std::int64_t> sizes)
    : index_dtype_(indices.dtype),
      clips_(attributes.text("mode") == "clip"),
      index_count_(element_count(indices.shape)),
      parts_(attributes) {
  const IndexDims dims(attributes);
  const auto array_strides = row_major_strides(array.shape),
             index_strides = row_major_strides(indices.shape),
             slices_strides = row_major_strides(slices);
  const auto index_dims = dims.index_dims(indices.rank());
  const auto slice_batch = dims.slice_batch(static_cast<int>(slices.size()));
  for (std::size_t i = 0; i < index_dims.size(); ++i) {
    const auto d = static_cast<std::size_t>(index_dims[i]);
    BatchDim batch{indices.shape[d], index_strides[d],
                   slices_strides[static_cast<std::size_t>(slice_batch[i])], 0};
    const std::int64_t pair = entry_of(dims.index_batch, index_dims[i]);
    if (pair >= 0) {
      const std::int64_t dim = dims.batch[static_cast<std::size_t>(pair)];
      batch.array_stride = array_strides[static_cast<std::size_t>(dim)];
    }
    count_ *= batch.size;
    batch_.push_back(batch);
  }
  if (dims.vector < indices.rank()) {
    vector_stride_ = index_strides[static_cast<std::size_t>(dims.vector)];
  }
  std::size_t window = 0;
  for (std::int64_t dim = 0; dim < array.rank(); ++dim) {
    const auto d = static_cast<std::size_t>(dim);
    if (dims.is_window(dim)) {
      const auto slices_dim = static_cast<std::size_t>(dims.window[window++]);
      window_.push_back({sizes[d], array_strides[d], slices_strides[slices_dim]});
    }
    // An array that is padded says how many elements it has without.
    const std::int64_t whole = dims.is_started(dim) && attributes.has("counts")
                                   ? attributes.integers("counts")[d]
                                   : array.shape[d] * parts_.count(dim);
    const bool is_paired = entry_of(dims.batch, dim) >= 0;
    if (is_paired || (whole == sizes[d] && !dims.is_started(dim))) continue;
    starts_.push_back(
        {dim, array.shape[d], whole - sizes[d], array_strides[d], entry_of(dims.start, dim)});
  }
}

bool IndexWalk::is_first_part(int device) const {
  return std::all_of(starts_.begin(), starts_.end(),
                     [&](const StartDim& start) { return parts_.part(start.dim, device) == 0; });
}

std::vector<std::int64_t> IndexWalk::read_indices(const std::byte* indices) const {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(index_count_));
  to_integers(index_dtype_, indices, numbers.data(), numbers.size());
  return numbers;
}

SlicePlace IndexWalk::place(const std::vector<std::int64_t>& numbers,
                            const std::vector<std::int64_t>& at, int device) const {
  SlicePlace place;
  std::int64_t vector = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    vector += at[i] * batch_[i].index_stride;
    place.in_slices += at[i] * batch_[i].slices_stride;
    place.in_array += at[i] * batch_[i].array_stride;
  }
  for (const StartDim& start : starts_) {
    const std::int64_t index =
        start.entry < 0 ? 0
                        : numbers[static_cast<std::size_t>(vector + start.entry * vector_stride_)];
    add_start(place, start, index, device);
  }
  return place;
}

void IndexWalk::add_start(SlicePlace& place, const StartDim& start, std::int64_t index,
                          int device) const {
  if (clips_) {
    index = std::clamp<std::int64_t>(index, 0, start.most);
  } else if (index < 0 || index > start.most) {
    place.is_inside = false;
  }
  // Along a split dim a slice is one element, so it lies in one part.
  const std::int64_t local = index - parts_.part(start.dim, device) * start.local;
  if (local < 0 || local >= start.local) place.is_here = false;
  place.in_array += local * start.stride;
}

void IndexWalk::advance(std::vector<std::int64_t>& at) const {
  for (std::size_t d = at.size(); d-- > 0;) {
    if (++at[d] < batch_[d].size) return;
    at[d] = 0;
  }
}

}  // namespace shard
