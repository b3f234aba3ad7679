#pragma once
// The jobs of a check, planned.

#include <string>
#include <vector>

#include "check/layout_record.h"
#include "cli/options.h"
#include "config/jobs_config.h"
#include "text/files.h"

namespace shard {

/// One job on one mesh.
struct CheckTask {
  const JobConfig* job = nullptr;
  std::string mesh;   ///< empty: the rules' own
  std::string rules;  ///< `fsdp_tp + site`
  Location at;
};

/// Every job on every mesh, in order. Throws `Error` `duplicate-job` where two would have one entry
/// in the lock file.
std::vector<CheckTask> tasks_of(const JobsConfig& jobs);

/// What the lock file calls the job; `model` is the model's name.
std::string job_name(const CheckTask& task, const std::string& model);

/// Reads the task's files, which are beside the job file or shipped, and plans them. `folder` is
/// the job file's. Throws `Error`: `missing-file` at the job's line, what reading and planning
/// throw.
LayoutRecord plan_task(const CheckTask& task, const std::string& folder, const Options& options,
                       Sources& sources);

/// `check MODEL RULES` as a job file of one job would have it. The folder of its files is ".".
JobsConfig job_of_words(const Options& options);

}  // namespace shard
