#pragma once
// Values of a forward pass under the names that its gradient knows them by.
//
// In one body these are the same buffers. A loop keeps what it makes in each iteration as a stacked
// result, of which the loop that goes back is given a slice: there the gradient's body has a
// parameter for it.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "spmd/program.h"
#include "spmd/score_region.h"

namespace shard::spmd {

/// Two loops of one body, the second given slices of what the first keeps.
struct LoopPair {
  std::size_t outer = 0;  ///< the body that has both
  std::size_t first = 0;  ///< positions there
  std::size_t second = 0;
};

struct KeptValues {
  std::size_t body = 0;                     ///< the gradient's
  std::optional<LoopPair> loops;            ///< where that is another one
  std::map<BufferId, BufferId> parameters;  ///< of that body, by the value of the first

  /// In the gradient's body; none where it is not known there.
  BufferId named_there(BufferId id) const;
  /// In the body of the forward pass; itself where it has no other name.
  BufferId named_here(BufferId id) const;
};

/// How these values of body `number` get to where they are read; nothing where they go to several
/// places, or are wanted whole.
std::optional<KeptValues> kept_values(const Program& program, std::size_t number,
                                      const BodyUses& uses, std::span<const BufferId> values);

/// Takes the parameters of `kept`, which nobody reads any more, from both loops.
void drop_kept(Program& program, const KeptValues& kept);

/// Finds what the gradient can read in place of buffers of the forward pass: what it is given, and
/// what it gathers again. What is not there and costs little (positions and what is compared of
/// them, a device's own part) is made once more.
class Remaker {
 public:
  /// For instructions of the phase and iteration of `like`. Adds buffers to the program.
  Remaker(Program& program, std::size_t number, const BodyUses& uses, const KeptValues& kept,
          const BodyUses& later_uses, const Instruction& like);

  std::optional<BufferId> there(BufferId id);
  /// What makes them, in order.
  const std::vector<Instruction>& instructions() const { return made_; }
  /// Of the forward pass: what is made once more.
  std::vector<BufferId> copied() const;

 private:
  std::optional<BufferId> found(BufferId id) const;
  std::optional<BufferId> found_in_loop(BufferId id) const;
  std::optional<BufferId> again(BufferId id);
  std::optional<BufferId> moved_there(const Instruction& wanted) const;
  bool is_near(BufferId id) const;

  Program& program_;
  std::size_t number_;
  const BodyUses& uses_;
  const KeptValues& kept_;
  const BodyUses& later_uses_;
  Phase phase_;
  Iteration iteration_;
  std::map<BufferId, BufferId> copies_;
  std::vector<Instruction> made_;
};

}  // namespace shard::spmd
