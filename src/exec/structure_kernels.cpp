#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/permute.h"

namespace shard {
namespace {

std::size_t element_bytes(const TensorType& type) {
  return static_cast<std::size_t>(info(type.dtype).bytes);
}

std::size_t byte_count(const TensorType& type) {
  return static_cast<std::size_t>(bytes_of(type).count());
}

/// A dim of the result with the operand's stride in bytes, 0 where it is repeated.
struct BroadcastDim {
  std::int64_t size = 1;
  std::int64_t stride = 0;
};

std::vector<BroadcastDim> plan_broadcast(const KernelSite& site) {
  const Shape& from = site.operands[0].shape;
  const Shape& to = site.results[0].shape;
  const std::vector<std::int64_t>& dims = site.attributes.integers("dims");
  std::vector<std::int64_t> strides(to.size(), 0);
  std::int64_t stride = static_cast<std::int64_t>(element_bytes(site.operands[0]));
  for (std::size_t i = from.size(); i-- > 0;) {
    if (from[i] != 1) strides[static_cast<std::size_t>(dims[i])] = stride;
    stride *= from[i];
  }
  std::vector<BroadcastDim> merged;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1) continue;
    if (!merged.empty() && merged.back().stride == strides[i] * (strides[i] == 0 ? 0 : to[i])) {
      merged.back() = {merged.back().size * to[i], strides[i]};
    } else {
      merged.push_back({to[i], strides[i]});
    }
  }
  return merged;
}

void run_broadcast(const std::vector<BroadcastDim>& dims, std::size_t size, const std::byte* from,
                   std::byte* to) {
  const BroadcastDim inner = dims.empty() ? BroadcastDim{} : dims.back();
  const std::size_t outer = dims.empty() ? 0 : dims.size() - 1;
  const std::size_t run = static_cast<std::size_t>(inner.size) * size;
  std::vector<std::int64_t> index(outer, 0);
  while (true) {
    if (inner.stride == 0) {
      fill_elements(to, from, size, static_cast<std::size_t>(inner.size));
    } else {
      std::memcpy(to, from, run);
    }
    to += run;
    std::size_t d = outer;
    while (d > 0) {
      --d;
      from += dims[d].stride;
      if (++index[d] < dims[d].size) break;
      from -= dims[d].size * dims[d].stride;
      index[d] = 0;
      if (d == 0) return;
    }
    if (outer == 0) return;
  }
}

template <class T>
void fill_typed(std::byte* to, const std::byte* pattern, std::size_t count) {
  T value;
  std::memcpy(&value, pattern, sizeof(T));
  std::fill_n(reinterpret_cast<T*>(to), count, value);
}

}  // namespace

void fill_elements(std::byte* to, const std::byte* pattern, std::size_t size, std::size_t count) {
  if (count == 0) return;
  if (size == 4) return fill_typed<std::uint32_t>(to, pattern, count);
  if (size == 2) return fill_typed<std::uint16_t>(to, pattern, count);
  std::memcpy(to, pattern, size);
  std::size_t done = 1;
  while (done < count) {  // doubling: each memcpy copies all that is there
    const std::size_t more = std::min(done, count - done);
    std::memcpy(to + done * size, to, more * size);
    done += more;
  }
}

Kernel copy_kernel(std::size_t bytes) {
  return [bytes](const KernelCall& call) {
    if (call.operands[0] != call.results[0]) {
      std::memcpy(call.results[0], call.operands[0], bytes);
    }
  };
}

KernelResult make_constrain(const KernelSite& site) {
  return copy_kernel(byte_count(site.results[0]));
}

KernelResult make_transpose(const KernelSite& site) {
  Permutation permutation(site.operands[0].shape, site.attributes.integers("order"),
                          element_bytes(site.operands[0]));
  return [permutation = std::move(permutation)](const KernelCall& call) {
    permutation.run(call.operands[0], call.results[0]);
  };
}

KernelResult make_broadcast(const KernelSite& site) {
  const std::size_t size = element_bytes(site.operands[0]);
  return [dims = plan_broadcast(site), size](const KernelCall& call) {
    run_broadcast(dims, size, call.operands[0], call.results[0]);
  };
}

KernelResult make_constant(const KernelSite& site) {
  const TensorType& type = site.results[0];
  const double value = site.attributes.number("value");
  std::vector<std::byte> pattern(element_bytes(type));
  from_doubles(&value, type.dtype, pattern.data(), 1);
  const std::size_t count = static_cast<std::size_t>(element_count(type.shape));
  return [pattern = std::move(pattern), count](const KernelCall& call) {
    fill_elements(call.results[0], pattern.data(), pattern.size(), count);
  };
}

}  // namespace shard
