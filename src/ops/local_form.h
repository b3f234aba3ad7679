#pragma once
// The local form of an op: what its attributes become on a device that holds parts of the arrays.
// Most ops are the same op on local shapes. Those that count positions (iota, gather by an index,
// an update at a start) also need to know which part the device has; positions of devices in the
// mesh are numbers, so that a part is given by the digits of such a number.
//
// An example, a table of 8 rows split over model of a mesh data 2 x model 4: the part is digit
// `position / 1 % 4`, so strides [1] and sizes [4]. Split over (model, data) it is
// `position / 1 % 4 * 2 + position / 4 % 2`: strides [1,4] and sizes [4,2].

#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor_type.h"
#include "ops/attributes.h"

namespace shard {

/// Which part of something a device has, major digit first; no digits where nothing is split.
struct DimPart {
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> sizes;

  bool is_whole() const { return sizes.empty(); }
  /// Parts that there are.
  std::int64_t count() const;
  friend bool operator==(const DimPart&, const DimPart&) = default;
};

/// One op on one device.
struct LocalSite {
  const Attributes& attributes;                     ///< of the op on whole arrays
  std::span<const TensorType> operands;             ///< local
  std::span<const TensorType> results;              ///< local
  std::vector<std::vector<DimPart>> operand_parts;  ///< per operand and dim
  std::vector<std::vector<DimPart>> result_parts;
  DimPart summed;  ///< the device's share of what is combined over devices afterwards
};

using LocalForm = Attributes (*)(const LocalSite& site);

/// Attribute `shape` is that of the first result; the others stay.
Attributes shape_form(const LocalSite& site);
/// The same, with the part of the result's dim `dim`.
Attributes iota_form(const LocalSite& site);
/// Split dims are taken whole: their limit is the local size.
Attributes slice_form(const LocalSite& site);
/// Split dims are taken whole: their size is the local one.
Attributes dynamic_slice_form(const LocalSite& site);
/// With the parts of the array that is updated.
Attributes dynamic_update_slice_form(const LocalSite& site);
/// Windows over split dims have the local size; with the parts of the dims that are indexed.
Attributes gather_form(const LocalSite& site);
/// With the parts of all dims.
Attributes dropout_form(const LocalSite& site);
Attributes random_form(const LocalSite& site);
/// The groups that the device has.
Attributes convolution_form(const LocalSite& site);
/// With the parts of the dims that are indexed, and with the share of the updates.
Attributes scatter_form(const LocalSite& site);

/// The parts that a local form put into its attributes.
class LocalParts {
 public:
  explicit LocalParts(const Attributes& attributes);

  /// Parts that the dim is split into; 1 for a whole dim.
  std::int64_t count(std::int64_t dim) const;
  /// Number of the part that the device at this position has.
  std::int64_t part(std::int64_t dim, int device) const;
  /// The device has the first share of what is combined afterwards.
  bool is_first_share(int device) const;

 private:
  std::vector<std::int64_t> dims_, strides_, sizes_, share_strides_, share_sizes_;
};

}  // namespace shard
