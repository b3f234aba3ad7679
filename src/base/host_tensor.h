#pragma once
// A whole array in host memory: what checkpoints hold, references compute and runs are fed with.

#include <cstddef>
#include <string>
#include <vector>

#include "base/tensor_type.h"

namespace shard {

/// Row-major data of `type`; `bytes.size() == bytes_of(type).count()`.
struct HostTensor {
  TensorType type;
  std::vector<std::byte> bytes;

  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

/// A zero-filled tensor of `type`.
inline HostTensor zeros(const TensorType& type) {
  return {type, std::vector<std::byte>(static_cast<std::size_t>(bytes_of(type).count()))};
}

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

}  // namespace shard
