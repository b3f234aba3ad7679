#pragma once
// Placement by path: which of the globs of a rules file an array has, asked before the rules.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/rules_config.h"

namespace shard {

class PathRules {
 public:
  /// Keeps a reference.
  explicit PathRules(const std::vector<PathRuleConfig>& rules)
      : rules_(rules), arrays_(rules.size(), 0) {}

  /// Position of the first glob that matches the path, or -1. An optimizer's slot that no glob has
  /// by its own path goes where the parameter it mirrors (`followed`, may be empty) goes.
  int find(const std::string& path, const std::string& followed) const;
  /// The same, and counts the arrays for the glob.
  const PathRuleConfig* take(const std::string& path, const std::string& followed,
                             std::int64_t arrays);

  /// By glob: arrays that were placed by it.
  const std::vector<std::int64_t>& arrays() const { return arrays_; }

 private:
  const std::vector<PathRuleConfig>& rules_;
  std::vector<std::int64_t> arrays_;
};

/// Which parameter an optimizer's slot or a gradient mirrors, told by the paths: `params/W2` for
/// `opt_state/0/mu/W2`.
class MirroredParameters {
 public:
  void add(const std::string& parameter);
  /// Empty when the path mirrors none; of several the one with the longest path in common.
  std::string find(const std::string& path) const;

 private:
  std::unordered_map<std::string, std::string> by_tail_;  ///< paths without their first folder
};

}  // namespace shard
