#include "report/by_rule.h"

#include "report/change_text.h"
#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

/// `8,536,064`, and what is more or less than before: ` -25,018,368`.
std::string figure(const Layout& layout, const std::optional<Bytes>& after,
                   const std::optional<Bytes>& before) {
  if (!after) return "-";
  const std::string text = bytes_text(layout, *after);
  if (!before || *before == *after) return text;
  const bool is_more = *after > *before;
  const Bytes change = is_more ? *after - *before : *before - *after;
  return text + (is_more ? " +" : " -") + bytes_text(layout, change);
}

std::vector<std::string> row_of(const RuleStep& step, const RuleStep* before,
                                const Layout& layout) {
  if (!step.after) return {step.words, "refused: " + step.refusal, "", "", ""};
  const bool has_before = before != nullptr;
  const auto state = [](const RuleStep& one) {
    return std::optional<Bytes>(state_bytes(*one.after).bytes);
  };
  const std::optional<std::int64_t> count = collective_count(*step.after);
  return {step.words, count ? with_commas(*count) : "-",
          figure(layout, wire_bytes(*step.after),
                 has_before ? wire_bytes(*before->after) : std::nullopt),
          figure(layout, state(step), has_before ? state(*before) : std::nullopt),
          figure(layout, step.after->peak, has_before ? before->after->peak : std::nullopt)};
}

}  // namespace

std::optional<std::int64_t> collective_count(const LayoutRecord& record) {
  if (!record.collectives) return {};
  std::int64_t count = 0;
  for (const CollectiveUse& one : *record.collectives) count += one.count;
  return count;
}

std::vector<std::string> changes_of(const RuleStep& step) {
  std::vector<std::string> changes;
  if (!step.diff) return changes;
  std::int64_t arrays = 0;
  for (const ArrayChange& one : step.diff->arrays) arrays += one.count();
  if (arrays > 0) {
    changes.push_back(counted(arrays, "array") + " placed otherwise, first " +
                      change_name(step.diff->arrays.front()) + ' ' +
                      change_specs(step.diff->arrays.front()));
  }
  for (const CollectiveChange& one : step.diff->collectives) changes.push_back(change_text(one));
  return changes;
}

std::string by_rule_text(const Plan& plan, const std::vector<RuleStep>& steps,
                         const Layout& layout) {
  Table table({{"BY RULE"},
               {"collectives", true},
               {"wire B/device", true},
               {"state B/device", true},
               {"peak B/device", true}});
  const RuleStep* before = nullptr;
  for (const RuleStep& step : steps) {
    table.add(row_of(step, before, layout));
    if (step.after) before = &step;
  }
  std::string text = header_line(plan, layout) + table.render(layout.width, layout.color);
  text += "figures of one device and step, each with its difference from the line above\n";
  for (const RuleStep& step : steps) {
    const std::vector<std::string> changes = changes_of(step);
    if (step.rule == 0 || !step.after) continue;
    text +=
        '\n' + step.words + (step.at.is_known() ? ", " + to_string(step.at) : std::string()) + '\n';
    if (changes.empty()) text += "  changes nothing\n";
    for (const std::string& change : changes) text += "  " + change + '\n';
  }
  return text;
}

}  // namespace shard
