#include "ops/local_form.h"

#include <algorithm>

#include "ops/index_dims.h"
#include "ops/window_dims.h"

namespace shard {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Adds the parts of the dims of one array, three lists of equal length with an entry per digit.
void set_parts(Attributes& attributes, const std::vector<DimPart>& dims) {
  Numbers numbers, strides, sizes;
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    numbers.insert(numbers.end(), dims[dim].sizes.size(), static_cast<std::int64_t>(dim));
    strides.insert(strides.end(), dims[dim].strides.begin(), dims[dim].strides.end());
    sizes.insert(sizes.end(), dims[dim].sizes.begin(), dims[dim].sizes.end());
  }
  if (numbers.empty()) return;
  attributes.set("part_dims", std::move(numbers));
  attributes.set("part_strides", std::move(strides));
  attributes.set("part_sizes", std::move(sizes));
}

/// The parts of the dims in `chosen`; the others count as whole.
std::vector<DimPart> parts_of(const std::vector<DimPart>& dims, const Numbers& chosen) {
  std::vector<DimPart> kept(dims.size());
  for (const std::int64_t dim : chosen) {
    kept[static_cast<std::size_t>(dim)] = dims[static_cast<std::size_t>(dim)];
  }
  return kept;
}

/// `sizes` with the local size where a dim is split.
Numbers local_sizes(Numbers sizes, const std::vector<DimPart>& parts, const Shape& local) {
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    if (!parts[dim].is_whole()) sizes[dim] = local[dim];
  }
  return sizes;
}

/// The dims along which a slice lies in one part or another: neither paired with a dim of the
/// indices nor covered whole. `sizes` are those of a slice of the whole array.
Numbers counted_dims(const IndexDims& dims, const Numbers& sizes, const std::vector<DimPart>& parts,
                     const Shape& local) {
  Numbers counted;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    const auto number = static_cast<std::int64_t>(dim);
    const bool is_paired =
        std::find(dims.batch.begin(), dims.batch.end(), number) != dims.batch.end();
    const bool is_covered = dims.is_window(number) && sizes[dim] == local[dim] * parts[dim].count();
    if (!is_paired && !is_covered) counted.push_back(number);
  }
  return counted;
}

}  // namespace

std::int64_t DimPart::count() const {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

Attributes shape_form(const LocalSite& site) {
  Attributes local = site.attributes;
  local.set("shape", site.results[0].shape);
  return local;
}

Attributes iota_form(const LocalSite& site) {
  Attributes local = shape_form(site);
  set_parts(local, parts_of(site.result_parts[0], {site.attributes.integer("dim")}));
  return local;
}

Attributes dropout_form(const LocalSite& site) {
  Attributes local = site.attributes;
  set_parts(local, site.result_parts[0]);
  return local;
}

Attributes random_form(const LocalSite& site) {
  Attributes local = shape_form(site);
  set_parts(local, site.result_parts[0]);
  return local;
}

Attributes convolution_form(const LocalSite& site) {
  Attributes local = site.attributes;
  const ConvolutionDims dims = convolution_dims(site.attributes);
  const auto size = [](const TensorType& type, std::int64_t dim) {
    return type.shape[static_cast<std::size_t>(dim)];
  };
  local.set("feature_groups",
            size(site.operands[0], dims.lhs[1]) / size(site.operands[1], dims.rhs[1]));
  local.set("batch_groups",
            size(site.operands[0], dims.lhs[0]) / size(site.results[0], dims.out[0]));
  return local;
}

Attributes slice_form(const LocalSite& site) {
  Attributes local = site.attributes;
  local.set("limit", local_sizes(site.attributes.integers("limit"), site.operand_parts[0],
                                 site.operands[0].shape));
  return local;
}

Attributes dynamic_slice_form(const LocalSite& site) {
  Attributes local = site.attributes;
  local.set("sizes", local_sizes(site.attributes.integers("sizes"), site.operand_parts[0],
                                 site.operands[0].shape));
  return local;
}

Attributes dynamic_update_slice_form(const LocalSite& site) {
  Attributes local = site.attributes;
  // A dim that the update covers whole is split in both, and starts at 0 on every device.
  std::vector<DimPart> parts = site.operand_parts[0];
  for (std::size_t dim = 0; dim < parts.size(); ++dim) {
    if (!site.operand_parts[1][dim].is_whole()) parts[dim] = {};
  }
  set_parts(local, parts);
  return local;
}

Attributes gather_form(const LocalSite& site) {
  Attributes local = site.attributes;
  const IndexDims dims(site.attributes);
  const std::vector<DimPart>& parts = site.operand_parts[0];
  Numbers sizes = site.attributes.integers("slice_sizes");
  const Numbers counted = counted_dims(dims, sizes, parts, site.operands[0].shape);
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    const bool is_counted =
        std::find(counted.begin(), counted.end(), static_cast<std::int64_t>(dim)) != counted.end();
    if (!parts[dim].is_whole() && !is_counted) {
      sizes[dim] = dims.is_window(static_cast<std::int64_t>(dim)) ? site.operands[0].shape[dim] : 1;
    }
  }
  local.set("slice_sizes", std::move(sizes));
  set_parts(local, parts_of(parts, counted));
  return local;
}

Attributes scatter_form(const LocalSite& site) {
  Attributes local = site.attributes;
  const IndexDims dims(site.attributes);
  const std::vector<DimPart>& parts = site.operand_parts[0];
  Numbers sizes(parts.size(), 1);
  const Numbers windowed = dims.windowed(site.operands[0].rank());
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    const auto window = static_cast<std::size_t>(dims.window[i]);
    sizes[static_cast<std::size_t>(windowed[i])] =
        site.operands[2].shape[window] * site.operand_parts[2][window].count();
  }
  set_parts(local, parts_of(parts, counted_dims(dims, sizes, parts, site.operands[0].shape)));
  if (site.summed.is_whole()) return local;
  local.set("share_strides", site.summed.strides);
  local.set("share_sizes", site.summed.sizes);
  return local;
}

LocalParts::LocalParts(const Attributes& attributes) {
  if (attributes.has("part_dims")) {
    dims_ = attributes.integers("part_dims");
    strides_ = attributes.integers("part_strides");
    sizes_ = attributes.integers("part_sizes");
  }
  if (attributes.has("share_sizes")) {
    share_strides_ = attributes.integers("share_strides");
    share_sizes_ = attributes.integers("share_sizes");
  }
}

std::int64_t LocalParts::count(std::int64_t dim) const {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] == dim) count *= sizes_[i];
  }
  return count;
}

std::int64_t LocalParts::part(std::int64_t dim, int device) const {
  std::int64_t part = 0;
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] == dim) part = part * sizes_[i] + device / strides_[i] % sizes_[i];
  }
  return part;
}

bool LocalParts::is_first_share(int device) const {
  for (std::size_t i = 0; i < share_sizes_.size(); ++i) {
    if (device / share_strides_[i] % share_sizes_[i] != 0) return false;
  }
  return true;
}

}  // namespace shard
