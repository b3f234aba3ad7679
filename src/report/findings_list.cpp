#include "report/findings_list.h"

#include <fmt/format.h>

#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

const char* level_of(const FindingKind& kind) {
  constexpr const char* words[] = {"error", "warn", "note"};
  return words[static_cast<std::size_t>(kind.severity)];
}

/// `id  level  help`, what to do below.
void add_row(Table& table, const FindingKind& kind) {
  const char* also = kind.is_on_request                      ? " (on request)"
                     : kind.find != nullptr && kind.may_stop ? " (or stops planning)"
                                                             : "";
  table.add({std::string(kind.id), std::string(level_of(kind)) + also, std::string(kind.help)});
  table.add({"", "", "-> " + std::string(kind.act)});
}

}  // namespace

std::string findings_list_text(const Layout& layout) {
  Table plans({{"FOUND IN A PLAN"}, {"usual level"}, {"what it is, what to do"}});
  Table stops({{"STOPS PLANNING"}, {"always"}, {"what it is, what to do"}});
  for (const FindingKind& kind : finding_table()) {
    add_row(kind.find != nullptr ? plans : stops, kind);
  }
  return plans.render(layout.width, layout.color) + '\n' +
         stops.render(layout.width, layout.color) +
         "\nlevels: off, note, warn, error; in a rules file `findings: {axis-unused: error}`, on "
         "the command line\n--finding axis-unused=error, which comes last. An error makes the exit "
         "code 1.\n";
}

std::string findings_text(const Plan& plan, const Layout& layout) {
  return findings_section(plan, layout) + verdict_line(plan, layout);
}

}  // namespace shard
