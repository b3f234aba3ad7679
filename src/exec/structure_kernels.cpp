#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/permute.h"
#include "exec/simd.h"
#include "exec/spread_walk.h"

namespace shard {
namespace {

std::size_t element_bytes(const TensorType& type) {
  return static_cast<std::size_t>(info(type.dtype).bytes);
}

std::size_t byte_count(const TensorType& type) {
  return static_cast<std::size_t>(bytes_of(type).count());
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
  if (size == 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, pattern, size);
    return elementwise_loops().fill(bits, reinterpret_cast<std::uint32_t*>(to), count);
  }
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
  const std::int64_t count = element_count(site.results[0].shape);
  return [walk = SpreadWalk(site), count](const KernelCall& call) {
    walk.copy(call.operands[0], 0, count, call.results[0]);
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
