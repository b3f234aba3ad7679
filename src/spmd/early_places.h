#pragma once
// Collectives that come right behind what they read, wherever they were asked for: a sum is of no
// use to anybody before it is reduced, and takes more room.

#include <unordered_set>

#include "spmd/program.h"

namespace shard::spmd {

class EarlyPlaces {
 public:
  /// The instruction that makes this buffer reads one other, and may follow it at once.
  void add(BufferId result) { results_.insert(result); }

  /// Moves such instructions of a body; those that read a parameter of the body stay.
  void place(Body& body) const;

 private:
  std::unordered_set<BufferId> results_;
};

}  // namespace shard::spmd
