#pragma once
// Sets of devices as text: `0-3,8-11`. A set along mesh axes is arithmetic, so it is never listed
// where the mesh has its devices in order: one of a million devices costs what one of eight does.

#include <cstdint>
#include <string>
#include <vector>

#include "mesh/mesh.h"
#include "report/strokes.h"

namespace shard {

/// Devices first, first + 1, ..., last.
struct IdRun {
  std::int64_t first = 0;
  std::int64_t last = 0;

  friend bool operator==(const IdRun&, const IdRun&) = default;
};

/// The devices whose positions differ from one only along some axes, as runs of ids.
class DeviceIds {
 public:
  /// All devices that share `position`'s coordinates outside `axes`; the axes do not overlap, and
  /// `position` has coordinate 0 on them.
  DeviceIds(const Mesh& mesh, std::int64_t position, const std::vector<AxisRef>& axes);

  std::int64_t count() const { return count_; }
  std::int64_t run_count() const { return run_count_; }
  /// Runs are ordered by id.
  IdRun run(std::int64_t number) const;

 private:
  struct Digit {
    std::int64_t stride = 1;
    std::int64_t size = 1;
  };

  std::int64_t count_ = 1;
  std::int64_t run_count_ = 1;
  std::int64_t base_ = 0;
  std::int64_t run_length_ = 1;
  std::vector<Digit> digits_;  ///< of the number of a run, major first
  std::vector<IdRun> listed_;  ///< instead, where the mesh has an order of its own
};

/// Distance in positions of neighbours along an axis or a sub-axis.
std::int64_t stride_of(const Mesh& mesh, const AxisRef& axis);

/// `0-3,8-11`; runs of three or more are collapsed. Longer than `most` characters: the first two
/// runs, the last and the number of devices, `0-3,16-19,…,1008-1011 (256)`, or where that is twice
/// too long the first and the number, `0-3,… (256)`. 0: no limit.
std::string to_string(const DeviceIds& ids, std::size_t most, const Strokes& strokes);

}  // namespace shard
