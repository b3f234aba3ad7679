#pragma once
// What checking found: one outcome per job and mesh, with its causes.

#include <optional>
#include <string>
#include <vector>

#include "check/diff.h"
#include "check/layout_record.h"
#include "check/policy.h"
#include "report/plan.h"

namespace shard {

/// One thing that is wrong; a cause that concerns many arrays is one.
struct CheckCause {
  std::string id;       ///< `changed`, `new`, `gone`, `collectives`, `peak`, `not-in-lock`,
                        ///< `not-checked`, a policy's key or the id of a finding
  Location at;          ///< where to look first: the lock file's line, the rule, the policy
  Location related;     ///< what decides now; may be unknown
  std::string subject;  ///< `params/*/Dense_0/kernel (4, and mu, nu)`; may be empty
  std::string text;     ///< `P(None, 'model') -> P()`
  std::string amount;   ///< `+3,145,728 B each`; may be empty
  std::string fix;      ///< may be empty

  /// The same on another mesh, whatever the bytes are there.
  bool is_like(const CheckCause& other) const;
};

enum class CheckVerdict { ok, failed, broken };

/// One job on one mesh.
struct CheckOutcome {
  std::string model;
  std::string rules;
  std::string job;   ///< as in the lock file
  std::string mesh;  ///< `data=2,model=4`
  Location at;       ///< of the job
  std::vector<CheckCause> causes;
  std::optional<BeforeAfter<Bytes>> state;  ///< where there is something to compare with
  std::optional<LayoutRecord> record;       ///< nothing when it could not be planned
  std::vector<Diagnostic> mistakes;         ///< why not

  CheckVerdict verdict() const;
};

struct CheckReport {
  std::string asked;    ///< the command line behind `shard-plan check`, for the hint
  std::string against;  ///< lock file or revision; empty: policies alone
  bool can_update = false;
  std::string written;  ///< the lock file that --update wrote
  std::vector<CheckOutcome> outcomes;

  std::size_t count(CheckVerdict verdict) const;
};

/// The causes that a difference is, worst first. The older side's lines are those of a lock file,
/// or, with `is_revision`, of files that may have changed since: then what decides now is the place
/// to look, or else the file that decided before.
std::vector<CheckCause> causes_of(const LayoutDiff& diff, const LayoutRecord& after,
                                  const std::string& model_file, bool is_revision);
CheckCause cause_of(const Breach& breach);

/// `rules/fsdp.yaml:12`, or the file alone.
std::string place_text(const Location& at);

/// Everything that is printed for one cause but for its place: `changed  NAME  P() -> P('x')`.
std::string cause_text(const CheckCause& cause);

std::string check_text(const CheckReport& report, const Layout& layout);
/// For a pull request.
std::string check_markdown(const CheckReport& report);
std::string check_json(const CheckReport& report);
/// JUnit's XML: one case per job and mesh, a failure with the causes, an error where it could not
/// be planned.
std::string check_junit(const CheckReport& report);
/// SARIF 2.1.0: one result per cause, at its line of the YAML.
std::string check_sarif(const CheckReport& report, const std::string& version);

}  // namespace shard
