// JUnit's XML, in the form that Jenkins, GitLab and GitHub's viewers read.

#include <fmt/format.h>

#include "report/check_report.h"
#include "report/sections.h"
#include "report/xml.h"

namespace shard {
namespace {

std::string causes_of(const CheckOutcome& outcome) {
  std::string text;
  for (const CheckCause& cause : outcome.causes) {
    text += place_text(cause.at) + ": " + cause_text(cause) + '\n';
  }
  for (const Diagnostic& one : outcome.mistakes) text += to_string(one) + '\n';
  return text;
}

std::string case_text(const CheckOutcome& outcome) {
  std::string text =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" time=\"0\"",
                  xml_text(outcome.job), xml_text(outcome.mesh), xml_text(outcome.at.file));
  if (outcome.verdict() == CheckVerdict::ok) return text + "/>\n";
  const bool is_broken = outcome.verdict() == CheckVerdict::broken;
  const char* const element = is_broken ? "error" : "failure";
  const std::string message =
      is_broken ? outcome.mistakes.front().message : counted(std::ssize(outcome.causes), "cause");
  const std::string type = is_broken ? outcome.mistakes.front().id : "layout";
  return text +
         fmt::format(">\n      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n    </testcase>\n",
                     element, xml_text(message), xml_text(type), xml_text(causes_of(outcome)));
}

}  // namespace

std::string check_junit(const CheckReport& report) {
  const std::string counts =
      fmt::format("name=\"shard-plan check\" tests=\"{}\" failures=\"{}\" errors=\"{}\"",
                  report.outcomes.size(), report.count(CheckVerdict::failed),
                  report.count(CheckVerdict::broken));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts +
                     " time=\"0\">\n  <testsuite " + counts + " skipped=\"0\" time=\"0\">\n";
  for (const CheckOutcome& outcome : report.outcomes) text += case_text(outcome);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace shard
