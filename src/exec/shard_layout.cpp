#include "exec/shard_layout.h"

#include <algorithm>

#include "base/check.h"

namespace shard {

ShardLayout::ShardLayout(const Mesh& mesh, const Sharding& sharding, const Shape& global)
    : global_(global), local_(global), parts_(global.size(), 1) {
  SHARD_CHECK(sharding.dims.size() == global.size(), "a sharding has an entry for every dim");
  SHARD_CHECK(sharding.unreduced.empty(), "an array that is read or written is no partial sum");
  std::int64_t pieces = 1;
  for (std::size_t dim = 0; dim < global.size(); ++dim) {
    parts_[dim] = product(sharding.dims[dim].axes);
    SHARD_CHECK(global[dim] % parts_[dim] == 0, "parts of a dim are equal");
    local_[dim] = global[dim] / parts_[dim];
    pieces *= parts_[dim];
  }
  piece_size_ = element_count(local_);
  for (std::size_t dim = global.size(); dim-- > 0;) {
    run_size_ *= local_[dim];
    if (parts_[dim] != 1) break;
  }
  holders_.resize(static_cast<std::size_t>(pieces));
  for (std::int64_t device = 0; device < mesh.device_count(); ++device) {
    std::int64_t piece = 0;
    for (std::size_t dim = 0; dim < global.size(); ++dim) {
      piece = piece * parts_[dim] + mesh.linear_coordinate(device, sharding.dims[dim].axes);
    }
    holders_[static_cast<std::size_t>(piece)].push_back(static_cast<int>(device));
  }
}

void ShardLayout::for_each_run(std::int64_t piece, std::int64_t begin, std::int64_t end,
                               const std::function<void(const Run&)>& visit) const {
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t inside = at % run_size_;
    const std::int64_t count = std::min(end - at, run_size_ - inside);
    // The global index of local element `at`: dim by dim, minor first.
    std::int64_t rest = at, part = piece, stride = 1, index = 0;
    for (std::size_t dim = global_.size(); dim-- > 0;) {
      index += (part % parts_[dim] * local_[dim] + rest % local_[dim]) * stride;
      rest /= local_[dim];
      part /= parts_[dim];
      stride *= global_[dim];
    }
    visit({at, index, count});
    at += count;
  }
}

}  // namespace shard
