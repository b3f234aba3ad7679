#include "exec/spread_walk.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"

namespace shard {
namespace {

constexpr std::size_t most_dims = 64;

}  // namespace

SpreadWalk::SpreadWalk(const KernelSite& site) : width_(info(site.operands[0].dtype).bytes) {
  const Shape& from = site.operands[0].shape;
  const Shape& to = site.results[0].shape;
  const std::vector<std::int64_t>& places = site.attributes.integers("dims");
  std::vector<std::int64_t> strides(to.size(), 0);
  std::int64_t stride = width_;
  for (std::size_t i = from.size(); i-- > 0;) {
    if (from[i] != 1) strides[static_cast<std::size_t>(places[i])] = stride;
    stride *= from[i];
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1) continue;
    if (!dims_.empty() && dims_.back().stride == strides[i] * (strides[i] == 0 ? 0 : to[i])) {
      dims_.back() = {dims_.back().size * to[i], strides[i]};
    } else {
      dims_.push_back({to[i], strides[i]});
    }
  }
  if (dims_.empty()) dims_.push_back({});
  SHARD_CHECK(dims_.size() <= most_dims, "arrays have few dims");
}

void SpreadWalk::copy(const std::byte* from, std::int64_t first, std::int64_t count,
                      std::byte* to) const {
  const std::size_t outer = dims_.size() - 1;
  const Dim& inner = dims_.back();
  std::array<std::int64_t, most_dims> index;
  std::int64_t rest = first / inner.size, at = first % inner.size;
  for (std::size_t d = outer; d-- > 0;) {
    index[d] = rest % dims_[d].size;
    rest /= dims_[d].size;
    from += index[d] * dims_[d].stride;
  }
  while (count > 0) {
    const std::int64_t run = std::min(count, inner.size - at);
    if (inner.stride == 0) {
      fill_elements(to, from, static_cast<std::size_t>(width_), static_cast<std::size_t>(run));
    } else {
      std::memcpy(to, from + at * width_, static_cast<std::size_t>(run * width_));
    }
    to += run * width_;
    count -= run;
    at = 0;
    for (std::size_t d = outer; d-- > 0;) {
      from += dims_[d].stride;
      if (++index[d] < dims_[d].size) break;
      from -= dims_[d].size * dims_[d].stride;
      index[d] = 0;
    }
  }
}

}  // namespace shard
