#include "cli/check_jobs.h"

#include <filesystem>
#include <set>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "cli/find_file.h"
#include "cli/pipeline.h"
#include "cli/rules_input.h"
#include "report/plan_record.h"

namespace shard {
namespace {

namespace fs = std::filesystem;

/// Beside the job file, with or without `.yaml`; a bare name may also be a shipped one's.
std::string file_of(const std::string& word, const Location& at, const FileKind& kind,
                    const std::string& folder, Sources& sources) {
  const fs::path beside = (fs::path(folder) / word).lexically_normal();
  for (const std::string& path : {beside.string(), beside.string() + ".yaml"}) {
    if (sources.has(path)) return path;
  }
  if (word.find('/') == std::string::npos) {
    try {
      return find_file(word, kind, shipped_roots());
    } catch (const Error& error) {
      const Diagnostic& one = error.diagnostics().front();
      throw Error(one.id, at, one.message, one.hint);
    }
  }
  throw Error("missing-file", at,
              std::string("there is no ") + kind.word + " '" + beside.string() + "'",
              "paths are relative to the job file");
}

/// `decode.yaml#tuned`: the file and the rules in it.
RulesFile rules_file_of(const PlacedText& word, const std::string& folder, Sources& sources) {
  const fs::path whole = (fs::path(folder) / word.text).lexically_normal();
  const std::size_t mark = sources.has(whole.string()) ? std::string::npos : word.text.rfind('#');
  const std::string selected = mark == std::string::npos ? "" : word.text.substr(mark + 1);
  return {file_of(word.text.substr(0, mark), word.at, rules_files, folder, sources), selected};
}

std::string rules_title(const JobConfig& job) {
  std::string title;
  for (const PlacedText& word : job.rules) {
    const std::size_t mark = word.text.rfind('#');
    const std::string selected = mark == std::string::npos ? "" : word.text.substr(mark);
    title += (title.empty() ? "" : " + ") + fs::path(word.text.substr(0, mark)).stem().string() +
             selected;
  }
  return title;
}

Options options_of(const CheckTask& task, const Options& given) {
  Options options = given;
  if (!task.mesh.empty()) options.overrides.mesh = task.mesh;
  options.overrides.set.insert(options.overrides.set.begin(), task.job->set.begin(),
                               task.job->set.end());
  // What is only looked for on request has to be asked for when the job is planned.
  for (const FindingLevelConfig& level : task.job->policy.findings) {
    const FindingKind* kind = finding_kind(level.id);
    if (kind != nullptr && kind->is_on_request) {
      options.finding_levels.insert(options.finding_levels.begin(), level);
    }
  }
  if (!task.job->size_set.empty()) options.overrides.size_set = task.job->size_set;
  return options;
}

}  // namespace

std::vector<CheckTask> tasks_of(const JobsConfig& jobs) {
  std::vector<CheckTask> tasks;
  std::set<std::string> seen;
  Diagnostics diagnostics;
  const std::vector<PlacedText> own = {{"", {}}};
  for (const JobConfig& job : jobs.jobs) {
    for (const PlacedText& mesh : job.meshes.empty() ? own : job.meshes) {
      CheckTask task{&job, mesh.text, rules_title(job), mesh.at.is_known() ? mesh.at : job.at};
      const std::string key = job_name(task, job.model.text) + '\n' + mesh.text;
      if (!seen.insert(key).second) {
        diagnostics.error("duplicate-job", task.at, "the same job on the same mesh is there before",
                          "give one of them a name of its own: name: ...");
      }
      tasks.push_back(std::move(task));
    }
  }
  diagnostics.throw_if_errors();
  return tasks;
}

std::string job_name(const CheckTask& task, const std::string& model) {
  return task.job->name.empty() ? model + ' ' + task.rules : task.job->name;
}

LayoutRecord plan_task(const CheckTask& task, const std::string& folder, const Options& given,
                       Sources& sources) {
  const Options options = options_of(task, given);
  const PlacedText& model = task.job->model;
  const std::string file = file_of(model.text, model.at, model_files, folder, sources);
  std::vector<RulesFile> files;
  for (const PlacedText& word : task.job->rules) {
    files.push_back(rules_file_of(word, folder, sources));
  }
  const ModelInput input = read_model_input(file, options, sources);
  const RulesConfig rules = read_rules_files(files, task.job->merge, options, sources);
  return record_of(make_plan(input, rules, options, may_fold(options)));
}

JobsConfig job_of_words(const Options& options) {
  JobConfig job;
  job.model.text = options.arguments[0];
  for (const RulesFile& file : rules_files_of(options.arguments[1])) {
    job.rules.push_back({file.selected.empty() ? file.file : file.file + '#' + file.selected, {}});
  }
  job.merge = options.rule_merge;
  for (const std::string& mesh : options.meshes) job.meshes.push_back({mesh, {}});
  JobsConfig jobs;
  jobs.jobs.push_back(std::move(job));
  return jobs;
}

}  // namespace shard
