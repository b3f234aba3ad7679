#pragma once
// The names of arrays that are treated alike. A model has them once, however many rule sets are
// laid over it, so that 160 layouts of 10,000 arrays hold 10,000 names.

#include <memory>
#include <string>
#include <vector>

namespace shard {

/// Names that differ in numbers only: `params/B_0/W2`, `params/B_1/W2`.
struct NameFamily {
  std::string pattern;                 ///< numbers as `#`: `params/B_#/W#`
  std::vector<std::size_t> positions;  ///< in the list of names, ascending
};

struct ArrayNames {
  std::vector<std::string> list;
  std::vector<NameFamily> families;  ///< in order of first appearance; every name is in one
};

/// Shared by all layouts of one model, on whatever thread they were made; never changed.
using SharedNames = std::shared_ptr<const ArrayNames>;

SharedNames shared_names(std::vector<std::string> list);

/// `params/B_#/W#`
std::string number_pattern(const std::string& name);

/// One pattern for names of one family: each part between slashes or dots in which they differ is
/// `*`. The name itself when there is only one; empty when they have different numbers of parts.
std::string glob_of(const std::vector<std::string>& names);

}  // namespace shard
