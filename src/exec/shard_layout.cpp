#include "exec/shard_layout.h"

#include <algorithm>

#include "base/check.h"

namespace shard {

ShardLayout::ShardLayout(const Mesh& mesh, const Sharding& sharding, const Shape& stored,
                         const Shape& whole)
    : whole_(whole), local_(stored), parts_(stored.size(), 1) {
  SHARD_CHECK(sharding.dims.size() == stored.size(), "a sharding has an entry for every dim");
  SHARD_CHECK(whole.size() == stored.size(), "padding adds no dims");
  SHARD_CHECK(sharding.unreduced.empty(), "an array that is read or written is no partial sum");
  std::int64_t pieces = 1;
  for (std::size_t dim = 0; dim < stored.size(); ++dim) {
    parts_[dim] = product(sharding.dims[dim].axes);
    SHARD_CHECK(stored[dim] % parts_[dim] == 0, "parts of a dim are equal");
    local_[dim] = stored[dim] / parts_[dim];
    pieces *= parts_[dim];
  }
  piece_size_ = element_count(local_);
  for (std::size_t dim = stored.size(); dim-- > 0;) {
    step_ = run_size_;
    run_dim_ = dim;
    run_size_ *= local_[dim];
    if (parts_[dim] != 1 || stored[dim] != whole[dim]) break;
  }
  holders_.resize(static_cast<std::size_t>(pieces));
  for (std::int64_t device = 0; device < mesh.device_count(); ++device) {
    std::int64_t piece = 0;
    for (std::size_t dim = 0; dim < stored.size(); ++dim) {
      piece = piece * parts_[dim] + mesh.linear_coordinate(device, sharding.dims[dim].axes);
    }
    holders_[static_cast<std::size_t>(piece)].push_back(static_cast<int>(device));
  }
}

ShardLayout::Run ShardLayout::run_at(std::int64_t piece, std::int64_t at) const {
  Run run{at, 0, run_size_ - at % run_size_};
  std::int64_t rest = at, part = piece, stride = 1;
  for (std::size_t dim = whole_.size(); dim-- > 0;) {  // minor first
    const std::int64_t index = part % parts_[dim] * local_[dim] + rest % local_[dim];
    const std::int64_t real = whole_[dim] - index;
    if (dim == run_dim_) {
      run.count = std::min(run.count, std::max<std::int64_t>(real, 0) * step_ - at % step_);
    }
    if (real <= 0) return {at, 0, 0};
    run.global += index * stride;
    rest /= local_[dim];
    part /= parts_[dim];
    stride *= whole_[dim];
  }
  return run;
}

void ShardLayout::for_each_run(std::int64_t piece, std::int64_t begin, std::int64_t end,
                               const std::function<void(const Run&)>& visit) const {
  for (std::int64_t at = begin; at < end;) {
    Run run = run_at(piece, at);
    run.count = std::min(run.count, end - at);
    if (run.count > 0) visit(run);
    at += std::min(end - at, run_size_ - at % run_size_);
  }
}

}  // namespace shard
