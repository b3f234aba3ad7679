#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/diagnostic.h"
#include "checkpoint/write_file.h"
#include "cli/answer.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/git_reader.h"
#include "cli/layout.h"
#include "cli/lock_file.h"
#include "cli/version.h"
#include "report/check_report.h"

namespace shard {
namespace {

namespace fs = std::filesystem;

/// What layouts are compared with: a lock file, a revision, or nothing.
class Checker {
 public:
  Checker(const Options& options, Sources& sources);

  CheckReport check();

 private:
  void read_expectations();
  void open_revision();
  CheckOutcome check_task(const CheckTask& task);
  std::optional<LayoutRecord> before_of(const CheckTask& task, const CheckOutcome& outcome);
  void compare(const CheckTask& task, CheckOutcome& outcome);
  void add_stale(CheckReport& report) const;
  PolicyConfig policy_of(const CheckTask& task) const;
  bool is_pair() const { return options_.arguments.size() == 2; }

  const Options& options_;
  Sources& sources_;
  JobsConfig jobs_;
  std::string folder_;
  std::string lock_file_;  ///< empty: none
  LockConfig lock_;
  LockConfig found_;  ///< what --update writes
  std::optional<GitReader> git_;
  std::optional<Sources> revision_;
};

Checker::Checker(const Options& options, Sources& sources) : options_(options), sources_(sources) {
  if (is_pair()) {
    jobs_ = job_of_words(options);
    lock_file_ = "layouts.lock";
  } else {
    jobs_ = read_jobs(options.arguments[0], sources);
    folder_ = fs::path(options.arguments[0]).parent_path().string();
    if (jobs_.lock) {
      lock_file_ = (fs::path(folder_) / jobs_.lock->text).lexically_normal().string();
    }
  }
  if (!options.lock.empty()) lock_file_ = options.lock;
  if (!options.against.empty()) lock_file_.clear();
}

void Checker::read_expectations() {
  if (!options_.against.empty()) open_revision();
  if (!lock_file_.empty()) lock_ = read_lock(lock_file_, sources_);
  const bool has_policy =
      options_.capacity || std::any_of(jobs_.jobs.begin(), jobs_.jobs.end(),
                                       [](const auto& job) { return !job.policy.is_empty(); });
  if (options_.update && lock_file_.empty()) {
    throw Error("usage", {"command line"}, "--update has no lock file to write",
                "name it in the job file (lock: layouts.lock) or with --lock FILE");
  }
  if (lock_file_.empty() && !revision_ && !has_policy) {
    throw Error("nothing-to-check", {jobs_.file},
                "the job file has neither a lock nor a policy, and there is no --against",
                "lock: layouts.lock says what layouts have to be; --update writes that file");
  }
}

void Checker::open_revision() {
  git_.emplace(folder_, options_.against);
  revision_.emplace(*git_);
}

PolicyConfig Checker::policy_of(const CheckTask& task) const {
  PolicyConfig policy = task.job->policy;
  if (!options_.capacity) return policy;
  const std::string text =
      options_.device.empty() ? std::to_string(options_.capacity->count()) : options_.device;
  policy.fits = PlacedText{text, {options_.device.empty() ? "--hbm" : "--device"}};
  return policy;
}

/// Mistakes in files of a revision are told with its name, since the files here may be right.
std::vector<Diagnostic> of_revision(std::vector<Diagnostic> mistakes, const std::string& revision) {
  if (revision.empty()) return mistakes;
  for (Diagnostic& one : mistakes) {
    one.at.file = revision + ':' + one.at.file;
  }
  return mistakes;
}

std::optional<LayoutRecord> Checker::before_of(const CheckTask& task, const CheckOutcome& outcome) {
  if (revision_) {
    Options quiet = options_;
    quiet.quiet = true;
    return plan_task(task, folder_, quiet, *revision_);
  }
  const LockSection* const section = lock_.find(outcome.job, outcome.mesh);
  if (section == nullptr) return {};
  return record_of(*section);
}

int rank_of(const CheckCause& cause) {
  if (cause.id == "changed" || cause.id == "new" || cause.id == "gone") return 0;
  if (finding_kind(cause.id) != nullptr) return 1;
  return cause.id == "collectives" || cause.id == "peak" ? 2 : 3;
}

CheckCause missing_cause(const CheckTask& task, const std::string& lock_file) {
  CheckCause cause;
  cause.id = "not-in-lock";
  cause.at = task.at.is_known() ? task.at : Location{lock_file};
  cause.text = lock_file + " has no entry for it";
  cause.fix = "--update writes one";
  return cause;
}

void Checker::compare(const CheckTask& task, CheckOutcome& outcome) {
  const bool compares = revision_ || (!lock_file_.empty() && !options_.update);
  if (!compares) return;
  const std::optional<LayoutRecord> before = before_of(task, outcome);
  if (!before) {
    outcome.causes.push_back(missing_cause(task, lock_file_));
    return;
  }
  const LayoutDiff found = diff(*before, *outcome.record);
  outcome.state = found.state;
  outcome.causes = causes_of(found, *outcome.record, task.job->model.text, revision_.has_value());
}

CheckOutcome Checker::check_task(const CheckTask& task) {
  CheckOutcome outcome;
  outcome.model = fs::path(task.job->model.text).stem().string();
  outcome.rules = task.rules;
  outcome.mesh = task.mesh;
  outcome.at = task.at.is_known() ? task.at : Location{jobs_.file};
  outcome.job = job_name(task, outcome.model);
  try {
    outcome.record = plan_task(task, folder_, options_, sources_);
    outcome.model = outcome.record->model;
    if (outcome.mesh.empty()) outcome.mesh = outcome.record->mesh;
    outcome.job = job_name(task, outcome.model);
    found_.sections.push_back(section_of(*outcome.record, outcome.job, outcome.mesh));
  } catch (const Error& error) {
    outcome.mistakes = error.diagnostics();
    return outcome;
  }
  try {
    compare(task, outcome);
  } catch (const Error& error) {
    outcome.mistakes = of_revision(error.diagnostics(), options_.against);
    return outcome;
  }
  for (const Breach& breach : breaches_of(*outcome.record, policy_of(task))) {
    outcome.causes.push_back(cause_of(breach));
    // What an option or a job's mesh brought has no line; the rules it was laid over have.
    Location& at = outcome.causes.back().at;
    if (at.file.empty() || at.file.starts_with("--")) at = outcome.record->at;
  }
  std::stable_sort(
      outcome.causes.begin(), outcome.causes.end(),
      [](const CheckCause& a, const CheckCause& b) { return rank_of(a) < rank_of(b); });
  return outcome;
}

/// Entries of the lock file that no job makes: somebody took a job out and not its entry.
void Checker::add_stale(CheckReport& report) const {
  if (is_pair() || lock_file_.empty() || options_.update) return;
  const bool all_named = report.count(CheckVerdict::broken) == 0;
  for (const LockSection& section : lock_.sections) {
    const bool is_made = std::any_of(report.outcomes.begin(), report.outcomes.end(),
                                     [&](const CheckOutcome& outcome) {
                                       return lock_.find(outcome.job, outcome.mesh) == &section;
                                     });
    if (is_made || !all_named) continue;
    CheckOutcome outcome;
    outcome.model = outcome.job = section.job;
    outcome.mesh = section.mesh;
    outcome.at = section.at;
    CheckCause cause;
    cause.id = "not-checked";
    cause.at = section.at;
    cause.text = "it is in the lock file, and no job makes it";
    cause.fix = "--update takes it out";
    outcome.causes.push_back(std::move(cause));
    report.outcomes.push_back(std::move(outcome));
  }
}

/// The lock file with what was found; entries of other pairs stay.
void write_update(const std::string& path, LockConfig kept, const LockConfig& found, bool is_pair) {
  if (!is_pair) kept.sections.clear();
  for (const LockSection& section : found.sections) {
    const LockSection* const old = kept.find(section.job, section.mesh);
    if (old == nullptr) {
      kept.sections.push_back(section);
    } else {
      kept.sections[static_cast<std::size_t>(old - kept.sections.data())] = section;
    }
  }
  write_file(path, write_lock(kept), true);
}

CheckReport Checker::check() {
  read_expectations();
  CheckReport report;
  for (const std::string& word : options_.arguments) {
    report.asked += (report.asked.empty() ? "" : " ") + word;
  }
  for (const std::string& mesh : options_.meshes) report.asked += " --mesh " + mesh;
  if (!options_.lock.empty()) report.asked += " --lock " + options_.lock;
  report.against = options_.against.empty() ? lock_file_ : options_.against;
  report.can_update = !lock_file_.empty() && !options_.update;
  for (const CheckTask& task : tasks_of(jobs_)) report.outcomes.push_back(check_task(task));
  add_stale(report);
  if (options_.update && report.count(CheckVerdict::broken) == 0) {
    write_update(lock_file_, lock_, found_, is_pair());
    report.written = lock_file_;
  }
  return report;
}

std::string answer_of(const CheckReport& report, const Options& options) {
  switch (options.format) {
    case Format::json:
      return check_json(report);
    case Format::markdown:
      return check_markdown(report);
    case Format::junit:
      return check_junit(report);
    case Format::sarif:
      return check_sarif(report, std::string(version_number()));
    case Format::text:
      break;
  }
  return check_text(report, layout_of(options));
}

void refuse(const char* option) {
  throw Error("usage", {"command line"}, std::string(option) + " cannot go with a job file",
              "its jobs say what is checked");
}

void check_options(const Options& options) {
  if (options.update && !options.against.empty()) {
    throw Error("usage", {"command line"}, "--update cannot go with --against");
  }
  if (!options.lock.empty() && !options.against.empty()) {
    throw Error("usage", {"command line"}, "--lock cannot go with --against");
  }
  if (options.arguments.size() == 2) return;
  if (!options.meshes.empty()) refuse("--mesh");
  if (!options.overrides.set.empty()) refuse("--set");
  if (!options.overrides.size_set.empty()) refuse("--sizes");
}

}  // namespace

int check_command(const Options& options, Sources& sources) {
  check_options(options);
  const CheckReport report = Checker(options, sources).check();
  for (const CheckOutcome& outcome : report.outcomes) {
    for (const Diagnostic& one : outcome.mistakes) {
      write_fully(STDERR_FILENO, render(one, sources));
    }
  }
  write_answer(options, answer_of(report, options));
  if (report.count(CheckVerdict::broken) > 0) return 2;
  return report.count(CheckVerdict::failed) > 0 ? 1 : 0;
}

}  // namespace shard
