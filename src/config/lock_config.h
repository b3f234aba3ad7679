#pragma once
// A lock file as plain structs: what layouts were when somebody last agreed to them.
//
//   version: 1
//   layouts:
//     mlp flax_guide:
//       data=2,model=4:
//         state:
//           params/DotReluDot_{0..3}/W2: f32[1024,1024] P('model', None) 1048576 B
//         collectives:
//           all_reduce model: 6 x 16384 B
//         peak_bytes: 27300032

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "text/files.h"

namespace shard {

/// Arrays of one line; `name` may have ranges in it.
struct LockArray {
  std::string name;
  std::string type;  ///< empty: not known
  std::string spec;
  std::optional<Bytes> bytes;  ///< of each, on one device
  Location at;
};

struct LockCollective {
  std::string kind;  ///< `all_reduce`
  std::string axes;  ///< `data,model`
  std::int64_t count = 0;
  Bytes payload;
  Location at;
};

/// What one job gave on one mesh.
struct LockSection {
  std::string job;
  std::string mesh;
  std::vector<LockArray> state;
  std::vector<LockArray> inputs;
  std::vector<LockArray> outputs;
  std::vector<LockArray> activations;
  std::optional<std::vector<LockCollective>> collectives;  ///< nothing: not known
  std::optional<Bytes> peak;
  Location at;
};

struct LockConfig {
  std::string file;
  std::vector<LockSection> sections;

  /// The section of a job on a mesh, where axes of one device do not count, or nullptr.
  const LockSection* find(const std::string& job, const std::string& mesh) const;
};

/// `data=1,fsdp=8` as `fsdp=8`.
std::string without_single_axes(const std::string& mesh);

/// Reads a lock file; one that is not there is empty. Throws `Error` with all of `unknown-key`,
/// `missing-key`, `wrong-type`, `bad-lock` (a line that does not read, another version).
LockConfig read_lock(const std::string& path, Sources& sources);

/// The file's text; reads back to the same.
std::string write_lock(const LockConfig& lock);

}  // namespace shard
