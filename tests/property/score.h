#pragma once
// Numbers held against recorded ones.

#include <map>
#include <string>
#include <vector>

#include "base/host_tensor.h"

namespace shard::tests {

/// Matched and total of one recording, with every miss listed.
struct Score {
  std::string name;
  int matched = 0;
  int total = 0;
  std::vector<std::string> misses;

  explicit Score(std::string recording) : name(std::move(recording)) {}

  void check(const std::string& what, double difference, double bound);
  /// Prints the conformance line; fails the test unless there were checks and all matched.
  void report() const;
};

/// The largest absolute value.
double largest(const HostTensor& tensor);
/// Largest difference over `expected`'s largest value; the types must be equal.
double relative_difference(const HostTensor& actual, const HostTensor& expected);

/// A parameter after `step` adam steps: elements whose gradients were all well above zero must
/// agree; the others may be off by two learning rates a step, because adam's first step is the
/// gradient's sign. In units of `bound`.
double worst_clear_element(const HostTensor& actual, const HostTensor& expected,
                           const std::vector<const HostTensor*>& grads, int step,
                           double learning_rate, double bound);

/// The tensors of a recording by name; nothing when the folder of recordings is not there.
std::map<std::string, HostTensor> recorded_tensors(const std::string& file);
/// Whether there are tensors `NAME/...`: a recording may have some of the cases only.
bool has_case(const std::map<std::string, HostTensor>& recorded, const std::string& name);

}  // namespace shard::tests
