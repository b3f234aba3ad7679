#include <algorithm>

#include "report/change_text.h"
#include "report/check_report.h"

namespace shard {
namespace {

Location place_of(const ArrayChange& change, bool is_revision) {
  if (!is_revision) return change.before_at.is_known() ? change.before_at : change.at;
  if (change.decided_at.is_known()) return change.decided_at;
  return change.before_at.is_known() ? Location{change.before_at.file, 1, 1} : change.at;
}

CheckCause cause_of(const ArrayChange& change, bool is_revision) {
  CheckCause cause;
  cause.id = !change.before ? "new" : !change.after ? "gone" : "changed";
  cause.at = place_of(change, is_revision);
  cause.related = change.decided_at.is_known() ? change.decided_at : change.at;
  cause.subject = change_name(change);
  cause.text = change_specs(change);
  if (!change.before) cause.text = change.after->spec;
  if (!change.after) cause.text = "was " + change.before->spec;
  cause.amount = change_bytes(change);
  return cause;
}

CheckCause cause_of(const std::vector<CollectiveChange>& changes, const std::string& model_file) {
  CheckCause cause;
  cause.id = "collectives";
  for (const CollectiveChange& change : changes) {
    cause.text += (cause.text.empty() ? "" : ";  ") + change_text(change);
    if (!cause.at.is_known()) cause.at = change.at;
  }
  if (!cause.at.is_known()) cause.at = {model_file, 1, 1};
  return cause;
}

CheckCause peak_cause(const LayoutDiff& diff, const LayoutRecord& after) {
  CheckCause cause;
  cause.id = "peak";
  cause.at = after.at;
  cause.text = with_commas(*diff.peak.before) + " -> " + with_commas(*diff.peak.after) +
               " B per device, with the same arrays and collectives";
  return cause;
}

/// Bytes and counts are not the same on another mesh; the words are.
std::string without_numbers(const std::string& text) {
  std::string words;
  for (const char c : text) {
    if (c != ',' && (c < '0' || c > '9')) words += c;
  }
  return words;
}

}  // namespace

bool CheckCause::is_like(const CheckCause& other) const {
  return id == other.id && subject == other.subject &&
         without_numbers(text) == without_numbers(other.text);
}

CheckVerdict CheckOutcome::verdict() const {
  if (!mistakes.empty()) return CheckVerdict::broken;
  return causes.empty() ? CheckVerdict::ok : CheckVerdict::failed;
}

std::size_t CheckReport::count(CheckVerdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(outcomes.begin(), outcomes.end(),
                    [&](const CheckOutcome& outcome) { return outcome.verdict() == verdict; }));
}

CheckCause cause_of(const Breach& breach) {
  CheckCause cause;
  cause.id = breach.rule;
  cause.at = breach.at;
  cause.text = breach.message;
  cause.fix = breach.fix;
  return cause;
}

std::vector<CheckCause> causes_of(const LayoutDiff& diff, const LayoutRecord& after,
                                  const std::string& model_file, bool is_revision) {
  std::vector<CheckCause> causes;
  for (const ArrayChange& change : diff.arrays) causes.push_back(cause_of(change, is_revision));
  if (!diff.collectives.empty()) causes.push_back(cause_of(diff.collectives, model_file));
  // A peak that follows from other changes is none of its own.
  const bool both_know = diff.peak.before && diff.peak.after;
  if (causes.empty() && both_know && diff.peak.is_change()) {
    causes.push_back(peak_cause(diff, after));
  }
  return causes;
}

std::string place_text(const Location& at) {
  return at.is_known() ? at.file + ':' + std::to_string(at.line) : at.file;
}

std::string cause_text(const CheckCause& cause) {
  std::string text = cause.id;
  for (const std::string& part : {cause.subject, cause.text, cause.amount}) {
    if (!part.empty()) text += "  " + part;
  }
  return text;
}

}  // namespace shard
