#include <fmt/format.h>

#include <algorithm>

#include "report/change_text.h"
#include "report/check_report.h"
#include "report/markdown.h"
#include "report/sections.h"
#include "report/table.h"
#include "report/words.h"

namespace shard {
namespace {

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

/// A job of its own name is called by it.
std::string title_of(const CheckOutcome& outcome, const char* separator) {
  const bool is_usual = outcome.job == outcome.model + ' ' + outcome.rules;
  const std::string job = is_usual ? outcome.model + separator + outcome.rules : outcome.job;
  return job + separator + outcome.mesh;
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

void widen(std::size_t& width, const std::string& text) {
  width = std::max(width, static_cast<std::size_t>(text_width(text)));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - static_cast<std::size_t>(text_width(text)), ' ') + "  ";
}

/// How wide the columns of the causes are; only arrays have the last two.
struct CauseColumns {
  std::size_t place = 0;
  std::size_t id = 0;
  std::size_t subject = 0;
  std::size_t change = 0;
};

CauseColumns columns_of(const std::vector<CheckCause>& causes) {
  CauseColumns columns;
  for (const CheckCause& cause : causes) {
    widen(columns.place, place_text(cause.at));
    widen(columns.id, cause.id);
    if (cause.subject.empty()) continue;
    widen(columns.subject, cause.subject);
    widen(columns.change, cause.text);
  }
  return columns;
}

/// A line per cause. Arrays stand in columns; what is said about a layout as a whole is a sentence.
std::string causes_text(const CheckOutcome& outcome, const Layout& layout) {
  const CauseColumns columns = columns_of(outcome.causes);
  std::string text;
  for (const CheckCause& cause : outcome.causes) {
    std::string line =
        "  " + padded(place_text(cause.at), columns.place) + padded(cause.id, columns.id);
    if (cause.subject.empty()) {
      line += cause.text + (cause.fix.empty() ? "" : "; " + cause.fix);
    } else {
      line += padded(cause.subject, columns.subject) + padded(cause.text, columns.change) +
              cause.amount;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += (layout.width > 0 ? cut_text(line, layout.width) : line) + '\n';
  }
  return text;
}

std::string outcome_text(const CheckReport& report, std::size_t position, const Layout& layout) {
  const CheckOutcome& outcome = report.outcomes[position];
  const std::string names = title_of(outcome, "  ");
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
  return is_told ? text : text + causes_text(outcome, layout);
}

std::string verdict_text(const CheckReport& report) {
  const std::size_t failed = report.count(CheckVerdict::failed);
  const std::size_t broken = report.count(CheckVerdict::broken);
  std::string text;
  if (!report.written.empty()) {
    text = fmt::format("wrote {}: {}\n", report.written,
                       counted(std::ssize(report.outcomes), "layout"));
  }
  if (failed + broken == 0) return text;
  text += fmt::format("check failed: {} of {}.", failed + broken, report.outcomes.size());
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
  const std::string names = title_of(outcome, " / ");
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
    text += "* :white_check_mark: " + title_of(outcome, " / ") + ": " + summary_of(outcome) + '\n';
  }
  return text;
}

}  // namespace shard
