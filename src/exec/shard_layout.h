#pragma once
// Which part of a whole array each device holds, and how its elements lie in the whole.

#include <cstdint>
#include <functional>
#include <vector>

#include "spmd/program.h"

namespace shard {

/// Pieces are numbered row-major by their position in each dim; several devices may hold the same
/// piece. Pieces may reach over the end of the whole: what lies there is padding.
class ShardLayout {
 public:
  /// `stored` is what the sharding divides: the whole, or larger.
  ShardLayout(const Mesh& mesh, const Sharding& sharding, const Shape& stored, const Shape& whole);

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
  /// Calls `visit` for the runs that make up the local elements [begin, end) of a piece, in order,
  /// without those of padding.
  void for_each_run(std::int64_t piece, std::int64_t begin, std::int64_t end,
                    const std::function<void(const Run&)>& visit) const;

 private:
  /// Local element `at` in the whole, and how many from it on are no padding (0: it is).
  Run run_at(std::int64_t piece, std::int64_t at) const;

  Shape whole_;
  Shape local_;
  std::vector<std::int64_t> parts_;  ///< per dim
  std::int64_t piece_size_ = 1;
  std::int64_t run_size_ = 1;  ///< elements of the longest contiguous runs
  std::size_t run_dim_ = 0;    ///< the major-most dim of a run, the only one that may be padded
  std::int64_t step_ = 1;      ///< elements of a run that have one index along it
  std::vector<std::vector<int>> holders_;
};

}  // namespace shard
