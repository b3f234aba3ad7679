#pragma once
// A whole array put together from the pieces that devices hold, on one host or several.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "exec/shard_layout.h"
#include "exec/transport.h"

namespace shard {

class GatheredArray {
 public:
  /// `local` gives where a device of this host has its piece. Every host has as many devices as
  /// `here` has. `layout` outlives this.
  GatheredArray(const TensorType& type, const ShardLayout& layout, const HostDevices& here,
                const std::function<const std::byte*(int device)>& local);

  /// What this host tells the others: its pieces, once each, and whether its copies differ.
  std::vector<std::byte> told() const;

  /// The whole, from what every host told. Copies of a piece that differ in any bit throw
  /// `RunFailure` (`replicas-differ`), the same on every host; `name` is the array's.
  HostTensor whole(const std::vector<std::vector<std::byte>>& by_host,
                   const std::string& name) const;

 private:
  /// Two devices' copies, and the first element of the whole that differs.
  struct Mismatch {
    int first = -1, second = -1;
    std::int64_t index = 0;
  };
  int host_of(int device) const { return device / here_.count; }
  /// The first device of each host that holds the piece.
  std::vector<int> tellers(std::int64_t piece) const;
  Mismatch mismatch_here() const;
  void refuse(const Mismatch& mismatch, const std::string& name) const;

  TensorType type_;
  const ShardLayout& layout_;
  HostDevices here_;
  std::function<const std::byte*(int)> local_;
  std::int64_t width_;
};

}  // namespace shard
