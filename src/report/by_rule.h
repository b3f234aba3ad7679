#pragma once
// What each rule does: plans with the first rule, with the first two, and so on, one line each.
//
// On the guide's mesh the rule [batch, data] brings 8 all_reduces of gradients over data, and
// [hidden, model] makes them a quarter of the size and brings 6 all_reduces over model.

#include <optional>
#include <string>
#include <vector>

#include "check/diff.h"
#include "report/plan.h"

namespace shard {

/// The plan with all rules up to this one.
struct RuleStep {
  int rule = 0;       ///< from 1; 0: without any rule
  std::string words;  ///< `rule 2 [hidden, model]`, `no rule`
  Location at;
  std::string refusal;                ///< id of the first mistake where there is no plan
  std::optional<LayoutRecord> after;  ///< nothing when it is refused
  std::optional<LayoutDiff> diff;     ///< against the last step that has a plan; not of the first
};

std::string by_rule_text(const Plan& plan, const std::vector<RuleStep>& steps,
                         const Layout& layout);

/// A document of its own, command `plan --by-rule`, with a `by_rule` list.
std::string by_rule_json(const Plan& plan, const std::vector<RuleStep>& steps);

/// Executions of all collectives per step; nothing where they are not known.
std::optional<std::int64_t> collective_count(const LayoutRecord& record);

/// `all_reduce data none -> 8 x 4,194,304`, and how many arrays are placed otherwise.
std::vector<std::string> changes_of(const RuleStep& step);

}  // namespace shard
