#include "shard/projection.h"

#include <numeric>

namespace shard {
namespace {

/// Axes of a dim that are not handed out yet; the first may be what is left of a split axis.
class Waiting {
 public:
  explicit Waiting(const Axes& axes) : axes_(axes), first_(axes.empty() ? AxisRef{} : axes[0]) {}

  bool empty() const { return next_ == axes_.size(); }
  const AxisRef& front() const { return first_; }

  /// Takes the leading sub-axis of the first axis.
  AxisRef take(std::int64_t size) {
    const AxisRef taken = leading_part(first_, size);
    const AxisRef rest = trailing_part(first_, size);
    if (rest.size > 1) {
      first_ = rest;
    } else if (++next_ < axes_.size()) {
      first_ = axes_[next_];
    }
    return taken;
  }

  void move_to(Axes& target) {
    while (!empty()) target.push_back(take(first_.size));
  }

 private:
  const Axes& axes_;
  AxisRef first_;
  std::size_t next_ = 0;
};

/// Moves the leading axes that fit a factor of `size`; returns what is left of the size.
std::int64_t take_fitting(Waiting& waiting, std::int64_t size, Axes& taken) {
  while (!waiting.empty() && size > 1) {
    const std::int64_t common = std::gcd(size, waiting.front().size);
    if (common == 1 && waiting.front().size > 1) break;
    taken.push_back(waiting.take(common));
    size /= common;
  }
  return size;
}

/// A dim that is one factor, as most are.
void project_whole(const DimSharding& dim, FactorShare& share) {
  share.axes = dim.axes;
  share.overflow.clear();
  share.is_open = dim.is_open;
  share.is_minor_most = true;
  share.is_present = true;
}

void project_dim(const DimSharding& dim, const std::vector<int>& dim_factors,
                 const std::vector<Factor>& factors, std::vector<FactorShare>& shares) {
  if (dim_factors.size() == 1)
    return project_whole(dim, shares[static_cast<std::size_t>(dim_factors.front())]);
  Waiting waiting(dim.axes);
  bool is_open = dim.is_open;
  for (const int factor : dim_factors) {
    FactorShare& share = shares[static_cast<std::size_t>(factor)];
    share.axes.clear();
    share.overflow.clear();
    share.is_present = true;
    share.is_open = is_open;
    share.is_minor_most = factor == dim_factors.back();
    if (share.is_minor_most) {
      waiting.move_to(share.axes);
      continue;
    }
    const std::int64_t size = factors[static_cast<std::size_t>(factor)].size;
    const std::int64_t left = take_fitting(waiting, size, share.axes);
    if (left > 1 && !waiting.empty()) {
      waiting.move_to(share.overflow);
      is_open = false;
    }
  }
}

}  // namespace

void project(const Sharding& sharding, const TensorFactors& layout,
             const std::vector<Factor>& factors, std::vector<FactorShare>& shares) {
  for (FactorShare& share : shares) share.is_present = false;
  for (std::size_t dim = 0; dim < layout.size(); ++dim) {
    project_dim(sharding.dims[dim], layout[dim], factors, shares);
  }
}

void unproject(const std::vector<FactorShare>& shares, const std::vector<int>& dim_factors,
               const std::vector<Factor>& factors, Axes& axes) {
  axes.clear();
  for (const int factor : dim_factors) {
    const FactorShare& share = shares[static_cast<std::size_t>(factor)];
    for (const AxisRef& axis : share.axes) append_joined(axes, axis);
    for (const AxisRef& axis : share.overflow) append_joined(axes, axis);
    if (!share.overflow.empty()) break;
    if (product(share.axes) < factors[static_cast<std::size_t>(factor)].size) break;
  }
}

}  // namespace shard
