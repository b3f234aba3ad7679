#pragma once
// Plain values as bytes, to be sent to a host that runs the same program.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace shard {

class Packer {
 public:
  template <class Value>
  void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  template <class Value>
  void put_all(std::span<const Value> values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put(static_cast<std::uint64_t>(values.size()));
    put_bytes(std::as_bytes(values));
  }
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> bytes() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes out what a Packer put in, in the same order.
class Unpacker {
 public:
  Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}  // NOLINT: a view of the bytes

  template <class Value>
  Value take() {
    Value value;
    copy_to(&value, sizeof value);
    return value;
  }
  template <class Value>
  std::vector<Value> take_all() {
    std::vector<Value> values(take<std::uint64_t>());
    copy_to(values.data(), values.size() * sizeof(Value));
    return values;
  }
  std::span<const std::byte> take_bytes(std::size_t count) {
    SHARD_CHECK(count <= rest_.size(), "what is taken out was put in");
    const std::span<const std::byte> taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

 private:
  void copy_to(void* to, std::size_t count) {
    const std::span<const std::byte> taken = take_bytes(count);
    if (count > 0) std::memcpy(to, taken.data(), count);
  }

  std::span<const std::byte> rest_;
};

}  // namespace shard
