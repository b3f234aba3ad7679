#include <fmt/format.h>

#include <algorithm>

#include "report/change_text.h"
#include "report/check_report.h"
#include "report/markdown.h"
#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

std::string place_text(const Location& at) {
  return at.is_known() ? fmt::format("{}:{}", at.file, at.line) : at.file;
}

std::string summary_of(const CheckOutcome& outcome) {
  const LayoutRecord& record = *outcome.record;
  std::int64_t arrays = 0;
  for (const ArrayLayout& array : record.arrays) arrays += array.count();
  std::string text = counted(arrays, "array");
  if (record.collectives) {
    std::int64_t collectives = 0;
    for (const CollectiveUse& use : *record.collectives) collectives += use.count;
    text += ", " + counted(collectives, "collective");
  }
  return text + ", " + with_commas(state_bytes(record).bytes) + " B per device";
}

/// `state 25,165,832 -> 100,663,304 B per device (x4.0)`; empty when it stays.
std::string state_text(const CheckOutcome& outcome) {
  if (!outcome.state || !outcome.state->is_change()) return "";
  const auto& [before, after] = *outcome.state;
  const std::string ratio = ratio_text(before, after);
  return fmt::format("state {} -> {} B per device{}", with_commas(before), with_commas(after),
                     ratio.empty() ? "" : " (" + ratio + ")");
}

bool are_like(const std::vector<CheckCause>& a, const std::vector<CheckCause>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const CheckCause& x, const CheckCause& y) { return x.is_like(y); });
}

/// The same job on a mesh before, with the same causes.
bool is_told_before(const CheckReport& report, std::size_t position) {
  const CheckOutcome& outcome = report.outcomes[position];
  return std::any_of(report.outcomes.begin(),
                     report.outcomes.begin() + static_cast<std::ptrdiff_t>(position),
                     [&](const CheckOutcome& other) {
                       return other.job == outcome.job && !outcome.causes.empty() &&
                              are_like(other.causes, outcome.causes);
                     });
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : separator) + part;
  }
  return text;
}

std::string causes_table(const CheckOutcome& outcome, const Layout& layout) {
  Table table({{""}, {""}, {""}, {""}});
  for (const CheckCause& cause : outcome.causes) {
    const bool is_array = !cause.subject.empty();
    table.add({"  " + place_text(cause.at), cause.id,
               is_array ? cause.subject : cause.text + (cause.fix.empty() ? "" : "; " + cause.fix),
               is_array ? cause.text + "  " + cause.amount : ""});
  }
  const std::string text = table.render(layout.width, false);
  return text.substr(text.find('\n') + 1);  // without the empty titles
}

std::string outcome_text(const CheckReport& report, std::size_t position, const Layout& layout) {
  const CheckOutcome& outcome = report.outcomes[position];
  const std::string names = joined({outcome.model, outcome.rules, outcome.mesh}, "  ");
  switch (outcome.verdict()) {
    case CheckVerdict::ok:
      return emphasised(layout, "ok  ", "32") + ' ' + names + "   " + summary_of(outcome) + '\n';
    case CheckVerdict::broken:
      return emphasised(layout, "BAD ", "31") + ' ' + names +
             "   could not be planned: " + outcome.mistakes.front().message + '\n';
    case CheckVerdict::failed:
      break;
  }
  const std::size_t count = outcome.causes.size();
  const bool is_told = is_told_before(report, position);
  const std::string told =
      is_told ? fmt::format("the same {}", counted(static_cast<std::int64_t>(count), "cause")) : "";
  const std::string rest = joined({state_text(outcome), told}, ", ");
  std::string text =
      emphasised(layout, "FAIL", "31") + ' ' + names + (rest.empty() ? "" : "   ") + rest + '\n';
  return is_told ? text : text + causes_table(outcome, layout);
}

std::string verdict_text(const CheckReport& report) {
  const std::size_t failed = report.count(CheckVerdict::failed);
  const std::size_t broken = report.count(CheckVerdict::broken);
  if (failed + broken == 0) return "";
  std::string text =
      fmt::format("check failed: {} of {}.", failed + broken, report.outcomes.size());
  if (broken > 0) text += fmt::format(" {} could not be planned.", broken);
  if (failed > 0 && report.can_update) {
    text += "   wanted?  shard-plan check " + report.asked + " --update";
  }
  return text + '\n';
}

std::string cause_markdown(const CheckCause& cause) {
  std::string text = "* " + code_text(place_text(cause.at)) + " **" + cause.id + "**";
  if (!cause.subject.empty()) text += ' ' + code_text(cause.subject);
  text += ": " + (cause.subject.empty() ? cause.text : code_text(cause.text));
  if (!cause.amount.empty()) text += ", " + cause.amount;
  if (!cause.fix.empty()) text += "; " + cause.fix;
  return text + '\n';
}

std::string outcome_markdown(const CheckReport& report, std::size_t position) {
  const CheckOutcome& outcome = report.outcomes[position];
  const std::string names = joined({outcome.model, outcome.rules, outcome.mesh}, " / ");
  if (outcome.verdict() == CheckVerdict::broken) {
    std::string text = "\n#### :x: " + names + "\n\n";
    for (const Diagnostic& one : outcome.mistakes) text += "* " + to_string(one) + '\n';
    return text;
  }
  const std::string state = state_text(outcome);
  std::string text = "\n#### :x: " + names + "\n\n" + (state.empty() ? "" : state + "\n\n");
  if (is_told_before(report, position)) {
    return text +
           fmt::format("The same {} as above.\n", counted(std::ssize(outcome.causes), "cause"));
  }
  for (const CheckCause& cause : outcome.causes) text += cause_markdown(cause);
  return text;
}

}  // namespace

std::string check_text(const CheckReport& report, const Layout& layout) {
  std::string text;
  for (std::size_t i = 0; i < report.outcomes.size(); ++i) text += outcome_text(report, i, layout);
  return text + verdict_text(report);
}

std::string check_markdown(const CheckReport& report) {
  const std::size_t ok = report.count(CheckVerdict::ok);
  std::string text =
      fmt::format("### Layouts: {} of {} as {}\n", ok, report.outcomes.size(),
                  report.against.empty() ? "the policies ask" : "in " + code_text(report.against));
  for (std::size_t i = 0; i < report.outcomes.size(); ++i) {
    if (report.outcomes[i].verdict() != CheckVerdict::ok) text += outcome_markdown(report, i);
  }
  if (ok > 0) text += '\n';
  for (const CheckOutcome& outcome : report.outcomes) {
    if (outcome.verdict() != CheckVerdict::ok) continue;
    text += "* :white_check_mark: " + joined({outcome.model, outcome.rules, outcome.mesh}, " / ") +
            ": " + summary_of(outcome) + '\n';
  }
  return text;
}

}  // namespace shard
