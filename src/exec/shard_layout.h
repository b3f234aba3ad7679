#pragma once
// Which part of a whole array each device holds, and how its elements lie in the whole.

#include <cstdint>
#include <functional>
#include <vector>

#include "spmd/program.h"

namespace shard {

/// Pieces are numbered row-major by their position in each dim; several devices may hold the same
/// piece.
class ShardLayout {
 public:
  ShardLayout(const Mesh& mesh, const Sharding& sharding, const Shape& global);

  std::int64_t piece_count() const { return static_cast<std::int64_t>(holders_.size()); }
  /// Devices with that piece, ascending; never empty.
  const std::vector<int>& holders(std::int64_t piece) const {
    return holders_[static_cast<std::size_t>(piece)];
  }
  /// Elements of a piece.
  std::int64_t piece_size() const { return piece_size_; }

  /// A run of elements that is contiguous both in the piece and in the whole.
  struct Run {
    std::int64_t local = 0;
    std::int64_t global = 0;
    std::int64_t count = 0;
  };
  /// Calls `visit` for the runs that make up the local elements [begin, end) of a piece, in order.
  void for_each_run(std::int64_t piece, std::int64_t begin, std::int64_t end,
                    const std::function<void(const Run&)>& visit) const;

 private:
  Shape global_;
  Shape local_;
  std::vector<std::int64_t> parts_;  ///< per dim
  std::int64_t piece_size_ = 1;
  std::int64_t run_size_ = 1;  ///< elements of the longest contiguous runs
  std::vector<std::vector<int>> holders_;
};

}  // namespace shard
