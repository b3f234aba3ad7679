#pragma once
// A job file as plain structs: which models under which rules on which meshes, the lock file that
// has what they should give, and what is asked of all of them.

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "config/finding_levels.h"
#include "config/layered_rules.h"
#include "config/spec.h"
#include "text/files.h"

namespace shard {

/// A text and where it stands.
struct PlacedText {
  std::string text;
  Location at;

  friend bool operator==(const PlacedText&, const PlacedText&) = default;
};

/// Limits on bytes that several devices hold. An array of 8 B that two devices hold has 4 B too
/// many on each.
struct ReplicationPolicy {
  std::optional<Bytes> per_array;
  std::optional<Bytes> total;
  std::vector<std::string> except;  ///< globs of arrays that do not count
  Location at;
};

/// Collectives that must not be there: of this kind, over this axis, or both.
struct CollectivePolicy {
  std::string kind;  ///< `all_gather`; empty: any
  std::string axis;  ///< empty: any
  Location at;
};

/// What arrays have to be.
struct SpecPolicy {
  std::string path;  ///< a name or a glob
  PartitionSpec spec;
  Location at;
  std::string tiles{};  ///< XLA's text in place of the spec; may be empty
  Location tiles_at{};
};

struct PolicyConfig {
  std::optional<Bytes> max_bytes_per_device;
  Location max_bytes_at;
  std::optional<ReplicationPolicy> max_replicated;
  std::vector<CollectivePolicy> forbidden;
  std::vector<SpecPolicy> required;
  std::vector<FindingLevelConfig> findings;
  std::optional<PlacedText> fits;  ///< a chip's name or bytes

  bool is_empty() const;
};

/// `upper` with what it does not say from `lower`; levels of findings are put behind each other.
PolicyConfig laid_over(const PolicyConfig& lower, const PolicyConfig& upper);

struct JobConfig {
  std::string name;  ///< empty: the model's and the rules' names
  PlacedText model;
  std::vector<PlacedText> rules;  ///< files, the later laid over the earlier
  RuleMerge merge = RuleMerge::prepend;
  std::vector<PlacedText> meshes;  ///< as --mesh takes them; empty: the rules' own
  std::vector<std::string> set;    ///< `PATH=VALUE`
  std::string size_set;
  PolicyConfig policy;  ///< the file's where the job says nothing
  Location at;
};

struct JobsConfig {
  std::string file;
  std::vector<JobConfig> jobs;
  std::optional<PlacedText> lock;  ///< relative to the job file
};

/// Reads a job file; all mistakes in one `Error`: those of `read_yaml`, `missing-file`,
/// `unknown-key`, `missing-key`, `wrong-type`, `unknown-word`, `wrong-file`, `spec-syntax`,
/// `bad-value` (bytes), `no-jobs`.
JobsConfig read_jobs(const std::string& path, Sources& sources);

/// Whether the file's keys are those of a job file.
bool is_job_file(const std::string& path, Sources& sources);

/// JSON Schema (draft 2020-12) of a job file.
std::string jobs_schema();

}  // namespace shard
