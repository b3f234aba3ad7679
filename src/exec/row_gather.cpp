#include "exec/row_gather.h"

#include <cstring>

#include "exec/element.h"

namespace shard {

RowGather::RowGather(const TensorType& type, const std::vector<std::int64_t>& groups,
                     const std::vector<std::int64_t>& items,
                     const std::vector<std::int64_t>& numbers)
    : dtype_(type.dtype) {
  std::vector<std::int64_t> strides(type.shape.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * type.shape[i];
  const auto dims_of = [&](const std::vector<std::int64_t>& chosen) {
    std::vector<Dim> dims;
    for (const std::int64_t number : chosen) {
      const Dim dim{type.shape[static_cast<std::size_t>(number)],
                    strides[static_cast<std::size_t>(number)]};
      if (dim.size == 1) continue;
      if (!dims.empty() && dims.back().stride == dim.size * dim.stride) {
        dims.back() = {dims.back().size * dim.size, dim.stride};
      } else {
        dims.push_back(dim);
      }
    }
    return dims;
  };
  group_dims_ = dims_of(groups);
  item_dims_ = dims_of(items);
  number_dims_ = dims_of(numbers);
  for (const Dim& dim : item_dims_) items_ *= dim.size;
  for (const Dim& dim : number_dims_) numbers_ *= dim.size;
  number_stride_ = number_dims_.empty() ? 1 : number_dims_.back().stride;
}

std::int64_t RowGather::offset(const std::vector<Dim>& dims, std::int64_t index) {
  std::int64_t offset = 0;
  for (std::size_t i = dims.size(); i-- > 0;) {
    offset += index % dims[i].size * dims[i].stride;
    index /= dims[i].size;
  }
  return offset;
}

void RowGather::run(const std::byte* array, std::int64_t group, std::int64_t first,
                    std::int64_t count, float* to) const {
  const auto width = static_cast<std::int64_t>(info(dtype_).bytes);
  const std::byte* const start = array + offset(group_dims_, group) * width;
  for (std::int64_t i = 0; i < count; ++i) {
    gather(start + offset(item_dims_, first + i) * width, to + i * numbers_);
  }
}

/// Runs of the innermost dim.
void RowGather::gather(const std::byte* from, float* to) const {
  const auto width = static_cast<std::int64_t>(info(dtype_).bytes);
  const std::int64_t run = number_dims_.empty() ? 1 : number_dims_.back().size;
  for (std::int64_t done = 0; done < numbers_; done += run) {
    const std::byte* const part = from + offset(number_dims_, done) * width;
    float* const place = to + done;
    if (number_stride_ == 1 && dtype_ == DType::f32) {
      std::memcpy(place, part, static_cast<std::size_t>(run * width));
    } else if (number_stride_ == 1) {
      widen_floats(dtype_, part, place, static_cast<std::size_t>(run));
    } else {
      for (std::int64_t i = 0; i < run; ++i)
        widen_floats(dtype_, part + i * number_stride_ * width, place + i, 1);
    }
  }
}

}  // namespace shard
