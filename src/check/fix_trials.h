#pragma once
// Annotations that are planned before they are proposed.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check/annotations.h"
#include "check/findings.h"

namespace shard {

/// What a function of an edited model sends and holds.
struct Trial {
  bool is_planned = false;
  std::vector<Reshard> reshards;
  std::vector<std::string> names;  ///< by reshard: the op and the tensor
  Bytes wire;                      ///< of all collectives, per device and step
  Bytes state;                     ///< of one device
};

/// Plans the main function of edited models, each once.
class FixTrials {
 public:
  /// Which reshards are to go.
  using Is = std::function<bool(const Reshard&)>;

  /// `facts.config` says what is edited; without it there are no fixes.
  FixTrials(const PlanFacts& facts, Is is_bad);

  const std::vector<Reshard>& reshards() const { return now_.reshards; }

  /// The annotation with which the reshard is gone and the bad ones together send less than now;
  /// of several the one with the least state, then the one with which all collectives send least:
  /// its words, and what it makes of wire and state. Empty when none of those known does.
  std::string fix(std::size_t reshard);

 private:
  const Trial& planned(const Annotation& annotation);
  Bytes bad_wire(const Trial& trial) const;

  const PlanFacts& facts_;
  Is is_bad_;
  Trial now_;                           ///< the rest is filled in when the first fix is asked for
  std::map<std::string, Trial> tried_;  ///< by the annotation's words
};

}  // namespace shard
