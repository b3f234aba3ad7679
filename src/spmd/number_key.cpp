#include "spmd/number_key.h"

namespace shard::spmd {

void NumberKey::add(std::int64_t number) {
  text_.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void NumberKey::add(const std::vector<AxisRef>& axes) {
  add(static_cast<std::int64_t>(axes.size()));
  for (const AxisRef& axis : axes) {
    add(static_cast<std::int64_t>(axis.axis));
    add(axis.pre_size);
    add(axis.size);
  }
}

void NumberKey::add(const TensorType& type) {
  add(static_cast<std::int64_t>(type.dtype));
  add(static_cast<std::int64_t>(type.shape.size()));
  for (const std::int64_t size : type.shape) add(size);
}

void NumberKey::add(const Sharding& sharding) {
  add(static_cast<std::int64_t>(sharding.dims.size()));
  for (const DimSharding& dim : sharding.dims) add(dim.axes);
  add(sharding.unreduced);
}

}  // namespace shard::spmd
