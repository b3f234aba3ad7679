#include "check/findings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "base/nearest.h"
#include "check/finders.h"

namespace shard {
namespace {

/// The last word about each id that a level was given for.
using Levels = std::map<std::string, FindingLevel, std::less<>>;

/// Whether the model's builder or a reader may say something under this id.
bool is_remark(std::string_view id, const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& one) { return one.id == id; });
}

Levels checked_levels(std::span<const FindingLevelConfig> levels,
                      const std::vector<Finding>& findings) {
  Levels last;
  std::vector<std::string> known;
  for (const FindingKind& kind : finding_table()) known.emplace_back(kind.id);
  Diagnostics diagnostics;
  for (const FindingLevelConfig& one : levels) {
    const FindingKind* kind = finding_kind(one.id);
    if (kind == nullptr && !is_remark(one.id, findings)) {
      const std::string hint = did_you_mean(one.id, known, "", 0);
      const std::string list = "`shard-plan findings --list` lists them";
      diagnostics.error("unknown-finding", one.at, "there is no finding called '" + one.id + "'",
                        hint.empty() ? list : hint + ' ' + list);
    } else if (kind != nullptr && kind->find == nullptr && one.level != FindingLevel::error) {
      diagnostics.error("fixed-level", one.at,
                        "'" + one.id + "' is always an error: there is no plan where it occurs",
                        std::string(kind->act));
    }
    last.insert_or_assign(one.id, one.level);
  }
  diagnostics.throw_if_errors();
  return last;
}

std::optional<Severity> severity_of(FindingLevel level) {
  switch (level) {
    case FindingLevel::off:
      return {};
    case FindingLevel::note:
      return Severity::note;
    case FindingLevel::warn:
      return Severity::warning;
    case FindingLevel::error:
      break;
  }
  return Severity::error;
}

/// The last word about it counts.
bool is_looked_for(const FindingKind& kind, std::span<const FindingLevelConfig> levels) {
  bool is_wanted = !kind.is_on_request;
  for (const FindingLevelConfig& one : levels) {
    if (one.id == kind.id) is_wanted = one.level != FindingLevel::off;
  }
  return is_wanted;
}

void add_remarks(const std::vector<Diagnostic>& remarks, std::vector<Finding>& all) {
  for (const Diagnostic& one : remarks) {
    all.push_back({one.severity, one.id, one.at, one.message, one.hint, Bytes(0)});
  }
}

}  // namespace

std::vector<Finding> find_all(const Model& model, const ShardedGraph& sharded,
                              const Program& program, const RulesConfig& rules,
                              std::span<const FindingLevelConfig> levels,
                              const ModelConfig* config) {
  const PlanFacts facts{model, sharded, program, rules, config};
  std::vector<FindingLevelConfig> all_levels = rules.findings;
  all_levels.insert(all_levels.end(), levels.begin(), levels.end());
  std::vector<Finding> all;
  add_remarks(model.notes, all);
  add_remarks(rules.remarks, all);
  for (const FindingKind& kind : finding_table()) {
    if (kind.find == nullptr || !is_looked_for(kind, all_levels)) continue;
    std::vector<Finding> found = kind.find(facts, kind);
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  return apply_levels(std::move(all), all_levels);
}

std::vector<Finding> apply_levels(std::vector<Finding> findings,
                                  std::span<const FindingLevelConfig> levels) {
  const Levels last = checked_levels(levels, findings);
  std::vector<Finding> heard;
  for (Finding& one : findings) {
    const auto level = last.find(one.id);
    if (level != last.end()) {
      const std::optional<Severity> severity = severity_of(level->second);
      if (!severity) continue;
      one.severity = *severity;
    }
    heard.push_back(std::move(one));
  }
  std::stable_sort(heard.begin(), heard.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity < b.severity : a.cost > b.cost;
  });
  return heard;
}

}  // namespace shard
