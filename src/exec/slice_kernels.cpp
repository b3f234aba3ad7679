// Kernels of ops that move elements: slices, pads, concatenations, reversals, iota.

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/strided_copy.h"
#include "exec/whole_numbers.h"
#include "ops/local_form.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

std::size_t element_width(const TensorType& type) {
  return static_cast<std::size_t>(info(type.dtype).bytes);
}

/// A copy with the position, in bytes, of its first element on either side.
struct PlacedCopy {
  StridedCopy copy;
  std::int64_t from = 0;
  std::int64_t to = 0;

  void run(const std::byte* in, std::byte* out) const { copy.run(in + from, out + to); }
};

/// Every element of a contiguous array of `shape` to a box in one of `result`: element i of dim d
/// goes to start[d] + i * step[d].
PlacedCopy copy_into(const TensorType& type, const Shape& result, const Dims& start,
                     const Dims& step) {
  const Dims in = row_major_strides(type.shape), out = row_major_strides(result);
  std::vector<CopyDim> dims;
  std::int64_t first = 0;
  for (std::size_t d = 0; d < in.size(); ++d) {
    dims.push_back({type.shape[d], in[d], out[d] * step[d]});
    first += start[d] * out[d];
  }
  const std::size_t width = element_width(type);
  return {StridedCopy(dims, width), 0, first * static_cast<std::int64_t>(width)};
}

/// The other way round: a contiguous array of `result` filled from a box.
PlacedCopy copy_from(const TensorType& type, const Shape& result, const Dims& start,
                     const Dims& step) {
  const Dims in = row_major_strides(type.shape), out = row_major_strides(result);
  std::vector<CopyDim> dims;
  std::int64_t first = 0;
  for (std::size_t d = 0; d < in.size(); ++d) {
    dims.push_back({result[d], in[d] * step[d], out[d]});
    first += start[d] * in[d];
  }
  const std::size_t width = element_width(type);
  return {StridedCopy(dims, width), first * static_cast<std::int64_t>(width), 0};
}

/// The elements of the array that stay when it is padded, and where the first of them goes.
struct KeptRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t to = 0;
};

KeptRange kept_range(std::int64_t size, std::int64_t low, std::int64_t step, std::int64_t result) {
  KeptRange kept;
  if (low < 0) kept.first = (-low + step - 1) / step;
  kept.to = low + kept.first * step;
  const std::int64_t room = result - kept.to;
  const std::int64_t fits = room <= 0 ? 0 : (room + step - 1) / step;
  kept.count = std::max<std::int64_t>(0, std::min(size - kept.first, fits));
  return kept;
}

PlacedCopy plan_pad(const KernelSite& site) {
  const TensorType& type = site.operands[0];
  const Shape& result = site.results[0].shape;
  const Dims in = row_major_strides(type.shape), out = row_major_strides(result);
  std::vector<CopyDim> dims;
  std::int64_t from = 0, to = 0;
  for (std::size_t d = 0; d < in.size(); ++d) {
    const std::int64_t step = site.attributes.integers("interior")[d] + 1;
    const KeptRange kept =
        kept_range(type.shape[d], site.attributes.integers("low")[d], step, result[d]);
    dims.push_back({kept.count, in[d], out[d] * step});
    from += kept.first * in[d];
    to += kept.to * out[d];
  }
  const std::size_t width = element_width(type);
  const auto bytes = static_cast<std::int64_t>(width);
  return {StridedCopy(dims, width), from * bytes, to * bytes};
}

/// The starts of a dynamic slice, read from the operands after `arrays` of them.
class StartReader {
 public:
  StartReader(const KernelSite& site, std::size_t arrays) : arrays_(arrays) {
    for (std::size_t i = arrays; i < site.operands.size(); ++i) {
      dtypes_.push_back(site.operands[i].dtype);
    }
  }
  std::int64_t start(const KernelCall& call, std::size_t dim, std::int64_t most) const {
    std::int64_t start = 0;
    to_integers(dtypes_[dim], call.operands[arrays_ + dim], &start, 1);
    return std::clamp<std::int64_t>(start, 0, most);
  }

 private:
  std::size_t arrays_;
  std::vector<DType> dtypes_;
};

/// The part of an update that this device has, along one dim.
struct Overlap {
  std::int64_t first = 0;  ///< of the update
  std::int64_t to = 0;     ///< in the local array
  std::int64_t count = 0;
};

Overlap part_of_update(std::int64_t start, std::int64_t size, std::int64_t offset,
                       std::int64_t local) {
  const std::int64_t begin = std::max(start, offset), end = std::min(start + size, offset + local);
  return {begin - start, begin - offset, std::max<std::int64_t>(0, end - begin)};
}

void write_update(const KernelSite& site, const StartReader& starts, const LocalParts& parts,
                  const KernelCall& call) {
  const Shape &shape = site.operands[0].shape, &update = site.operands[1].shape;
  const Dims in = row_major_strides(update), out = row_major_strides(shape);
  std::vector<CopyDim> dims;
  std::int64_t from = 0, to = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto dim = static_cast<std::int64_t>(d);
    const std::int64_t most = shape[d] * parts.count(dim) - update[d];
    const Overlap here = part_of_update(starts.start(call, d, most), update[d],
                                        parts.part(dim, call.device) * shape[d], shape[d]);
    dims.push_back({here.count, in[d], out[d]});
    from += here.first * in[d];
    to += here.to * out[d];
  }
  const std::size_t width = element_width(site.operands[0]);
  const auto bytes = static_cast<std::int64_t>(width);
  StridedCopy(dims, width).run(call.operands[1] + from * bytes, call.results[0] + to * bytes);
}

Dims all_of(std::size_t rank, std::int64_t number) { return Dims(rank, number); }

std::size_t bytes_in(const TensorType& type) {
  return static_cast<std::size_t>(bytes_of(type).count());
}

}  // namespace

KernelResult make_reshape(const KernelSite& site) { return copy_kernel(bytes_in(site.results[0])); }

KernelResult make_slice(const KernelSite& site) {
  const PlacedCopy copy =
      copy_from(site.operands[0], site.results[0].shape, site.attributes.integers("start"),
                site.attributes.integers("stride"));
  return [copy](const KernelCall& call) { copy.run(call.operands[0], call.results[0]); };
}

KernelResult make_reverse(const KernelSite& site) {
  const Shape& shape = site.operands[0].shape;
  Dims start = all_of(shape.size(), 0), step = all_of(shape.size(), 1);
  for (const std::int64_t dim : site.attributes.integers("dims")) {
    const auto d = static_cast<std::size_t>(dim);
    start[d] = shape[d] - 1;
    step[d] = -1;
  }
  const PlacedCopy copy = copy_from(site.operands[0], shape, start, step);
  return [copy](const KernelCall& call) { copy.run(call.operands[0], call.results[0]); };
}

KernelResult make_ppermute(const KernelSite& site) {
  const Shape& shape = site.operands[0].shape;
  const auto dim = static_cast<std::size_t>(site.attributes.integer("dim"));
  const Dims strides = row_major_strides(shape);
  const std::size_t width =
      static_cast<std::size_t>(strides[dim]) * element_width(site.operands[0]);
  const std::size_t rows = static_cast<std::size_t>(
      element_count(Shape(shape.begin(), shape.begin() + site.attributes.integer("dim"))));
  return [=, source = site.attributes.integers("source")](const KernelCall& call) {
    const std::size_t row = source.size() * width;
    for (std::size_t i = 0; i < rows * source.size(); ++i) {
      const std::int64_t from = source[i % source.size()];
      std::byte* const to = call.results[0] + i * width;
      if (from < 0) {
        std::memset(to, 0, width);
      } else {
        std::memcpy(
            to, call.operands[0] + i / source.size() * row + static_cast<std::size_t>(from) * width,
            width);
      }
    }
  };
}

KernelResult make_concatenate(const KernelSite& site) {
  const auto dim = static_cast<std::size_t>(site.attributes.integer("dim"));
  const Shape& result = site.results[0].shape;
  std::vector<PlacedCopy> copies;
  Dims start = all_of(result.size(), 0);
  for (const TensorType& type : site.operands) {
    copies.push_back(copy_into(type, result, start, all_of(result.size(), 1)));
    start[dim] += type.shape[dim];
  }
  return [copies = std::move(copies)](const KernelCall& call) {
    for (std::size_t i = 0; i < copies.size(); ++i)
      copies[i].run(call.operands[i], call.results[0]);
  };
}

KernelResult make_pad(const KernelSite& site) {
  const PlacedCopy copy = plan_pad(site);
  const std::size_t width = element_width(site.results[0]);
  const auto count = static_cast<std::size_t>(element_count(site.results[0].shape));
  return [copy, width, count](const KernelCall& call) {
    fill_elements(call.results[0], call.operands[1], width, count);
    copy.run(call.operands[0], call.results[0]);
  };
}

KernelResult make_dynamic_slice(const KernelSite& site) {
  const Shape shape = site.operands[0].shape, sizes = site.results[0].shape;
  const PlacedCopy copy =
      copy_from(site.operands[0], sizes, all_of(sizes.size(), 0), all_of(sizes.size(), 1));
  const StartReader starts(site, 1);
  const auto width = static_cast<std::int64_t>(element_width(site.operands[0]));
  return [copy, starts, shape, sizes, width](const KernelCall& call) {
    const Dims strides = row_major_strides(shape);
    std::int64_t first = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      first += starts.start(call, d, shape[d] - sizes[d]) * strides[d];
    }
    copy.run(call.operands[0] + first * width, call.results[0]);
  };
}

KernelResult make_dynamic_update_slice(const KernelSite& site) {
  const StartReader starts(site, 2);
  const LocalParts parts(site.attributes);
  const std::size_t bytes = bytes_in(site.results[0]);
  return [site, starts, parts, bytes](const KernelCall& call) {
    if (call.results[0] != call.operands[0]) {
      std::memcpy(call.results[0], call.operands[0], bytes);
    }
    write_update(site, starts, parts, call);
  };
}

KernelResult make_iota(const KernelSite& site) {
  const TensorType type = site.results[0];
  const std::int64_t dim = site.attributes.integer("dim");
  const auto d = static_cast<std::size_t>(dim);
  const auto size = static_cast<std::size_t>(type.shape[d]);
  const auto inner = static_cast<std::size_t>(row_major_strides(type.shape)[d]);
  const auto count = static_cast<std::size_t>(element_count(type.shape));
  const std::size_t width = element_width(type);
  const LocalParts parts(site.attributes);
  return [=](const KernelCall& call) {
    if (count == 0) return;
    const std::int64_t first = parts.part(dim, call.device) * static_cast<std::int64_t>(size);
    double* numbers = call.scratch.take_array<double>(size);
    for (std::size_t i = 0; i < size; ++i) {
      numbers[i] = static_cast<double>(first + static_cast<std::int64_t>(i));
    }
    std::byte* values = call.scratch.take(size * width);
    from_doubles(numbers, type.dtype, values, size);
    const std::size_t period = size * inner;  // what the dims before `dim` repeat
    std::byte* once = inner == 1 ? values : call.scratch.take(period * width);
    for (std::size_t i = 0; inner > 1 && i < size; ++i) {
      fill_elements(once + i * inner * width, values + i * width, width, inner);
    }
    fill_elements(call.results[0], once, period * width, count / period);
  };
}

}  // namespace shard
