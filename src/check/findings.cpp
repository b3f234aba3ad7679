#include "check/findings.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "check/finders.h"

namespace shard {
namespace {

constexpr std::array<FindingKind, 7> kinds = {{
    {"axis-unused", Severity::warning,
     "a mesh axis that splits no array: its devices all do the same work", find_axes_unused},
    {"no-input-split", Severity::warning,
     "no input is split, so every device computes the whole batch", find_no_input_split},
    {"replicated-large", Severity::warning,
     "large state held several times; a note when only axes that split the batch are concerned",
     find_replicated_large},
    {"unmatched-name", Severity::note,
     "logical axes that no rule names; a warning when an unused rule has nearly the same name",
     find_unmatched_names},
    {"rule-never-used", Severity::note, "a rule whose logical axis no array has",
     find_rules_never_used},
    {"rule-shadowed", Severity::note,
     "a rule that never decides anything: earlier rules or taken mesh axes always win",
     find_rules_shadowed},
    {"size-1-axis", Severity::note, "a mesh axis of one device, which splits nothing",
     find_axes_of_size_one},
}};

}  // namespace

std::span<const FindingKind> finding_table() { return kinds; }

std::vector<Finding> find_all(const Model& model, const ShardedGraph& sharded,
                              const Program& program, const RulesConfig& rules) {
  const PlanFacts facts{model, sharded, program, rules};
  std::vector<Finding> all;
  for (const Diagnostic& note : model.notes) {
    all.push_back({note.severity, note.id, note.at, note.message, note.hint, Bytes(0)});
  }
  for (const FindingKind& kind : kinds) {
    std::vector<Finding> found = kind.find(facts, kind);
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity < b.severity : a.cost > b.cost;
  });
  return all;
}

}  // namespace shard
