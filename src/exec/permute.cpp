#include "exec/permute.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace shard {
namespace {

/// Calls `visit(in_offset, out_offset)` for every index of the dims [0, count).
template <class Dims, class Visit>
void for_each_index(const Dims& dims, std::size_t count, const Visit& visit) {
  std::vector<std::int64_t> index(count, 0);
  std::int64_t in = 0, out = 0;
  while (true) {
    visit(in, out);
    std::size_t d = count;
    while (d > 0) {
      --d;
      in += dims[d].in_stride;
      out += dims[d].out_stride;
      if (++index[d] < dims[d].size) break;
      in -= dims[d].size * dims[d].in_stride;
      out -= dims[d].size * dims[d].out_stride;
      index[d] = 0;
      if (d == 0) return;
    }
    if (count == 0) return;
  }
}

}  // namespace

Permutation::Permutation(std::span<const std::int64_t> shape, std::span<const std::int64_t> order,
                         std::size_t element_bytes)
    : element_bytes_(element_bytes) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  std::int64_t count = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = count;
    count *= shape[i];
  }
  bytes_ = static_cast<std::size_t>(count) * element_bytes;
  for (const std::int64_t position : order) {
    const std::size_t i = static_cast<std::size_t>(position);
    if (shape[i] == 1) continue;
    if (!dims_.empty() && dims_.back().in_stride == strides[i] * shape[i]) {
      dims_.back().size *= shape[i];
      dims_.back().in_stride = strides[i];
    } else {
      dims_.push_back({shape[i], strides[i], 1});
    }
  }
  std::int64_t out_stride = 1;
  for (std::size_t i = dims_.size(); i-- > 0;) {
    dims_[i].out_stride = out_stride;
    out_stride *= dims_[i].size;
  }
  // The dim that is contiguous in the operand goes next to the one contiguous in the result.
  const auto inner =
      std::find_if(dims_.begin(), dims_.end(), [](const Dim& dim) { return dim.in_stride == 1; });
  if (dims_.size() >= 2 && inner != dims_.end() - 1) std::rotate(inner, inner + 1, dims_.end() - 1);
}

template <class T>
void Permutation::run_elements(const T* from, T* to) const {
  const Dim rows = dims_[dims_.size() - 2];
  const Dim columns = dims_.back();
  if (columns.in_stride == 1) {
    for_each_index(dims_, dims_.size() - 1, [&](std::int64_t in, std::int64_t out) {
      std::memcpy(to + out, from + in, static_cast<std::size_t>(columns.size) * sizeof(T));
    });
    return;
  }
  constexpr std::int64_t tile = 16;
  for_each_index(dims_, dims_.size() - 2, [&](std::int64_t in, std::int64_t out) {
    for (std::int64_t r0 = 0; r0 < rows.size; r0 += tile) {
      const std::int64_t r1 = std::min(rows.size, r0 + tile);
      for (std::int64_t c0 = 0; c0 < columns.size; c0 += tile) {
        const std::int64_t c1 = std::min(columns.size, c0 + tile);
        for (std::int64_t r = r0; r < r1; ++r) {
          for (std::int64_t c = c0; c < c1; ++c) {
            to[out + r * rows.out_stride + c] =
                from[in + r * rows.in_stride + c * columns.in_stride];
          }
        }
      }
    }
  });
}

void Permutation::run(const std::byte* from, std::byte* to) const {
  if (bytes_ == 0) return;
  if (is_identity()) {
    std::memcpy(to, from, bytes_);
  } else if (element_bytes_ == 8) {
    run_elements(reinterpret_cast<const std::uint64_t*>(from),
                 reinterpret_cast<std::uint64_t*>(to));
  } else if (element_bytes_ == 4) {
    run_elements(reinterpret_cast<const std::uint32_t*>(from),
                 reinterpret_cast<std::uint32_t*>(to));
  } else if (element_bytes_ == 2) {
    run_elements(reinterpret_cast<const std::uint16_t*>(from),
                 reinterpret_cast<std::uint16_t*>(to));
  } else {
    SHARD_CHECK(element_bytes_ == 1, "elements are 1, 2, 4 or 8 bytes");
    run_elements(reinterpret_cast<const std::uint8_t*>(from), reinterpret_cast<std::uint8_t*>(to));
  }
}

}  // namespace shard
