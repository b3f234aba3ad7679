#pragma once
// Random models, rules and meshes as the text a user would write, from a seed.

#include <cstdint>
#include <string>

namespace shard::test {

struct RandomCase {
  std::string model;  ///< YAML
  std::string rules;  ///< YAML
};

/// MLP-like: dense, products, activations, residuals, expressions, constraints in both spellings,
/// repeats scanned and unrolled; up to 16 devices on up to three mesh axes; every dim divides by
/// every product of axis sizes that occurs.
RandomCase random_case(std::uint64_t seed);

/// The same with sizes that few of the axes divide, and rules that pad (`misfit: pad`).
RandomCase padded_case(std::uint64_t seed);

}  // namespace shard::test
