#include "cli/by_rule_input.h"

#include <utility>

#include "check/used_rules.h"
#include "report/plan_record.h"

namespace shard {
namespace {

/// The rules up to some number.
class GrowingRules {
 public:
  explicit GrowingRules(const RulesConfig& all) : all_(all), now_(all) {
    now_.rules.clear();
    now_.rules_for.clear();
    if (now_.unmatched == Unmatched::error) now_.unmatched = Unmatched::unsharded;
  }

  const RulesConfig& now() const { return now_; }

  /// Every rule in turn with the step that it makes.
  template <class Visit>
  void each(const Visit& visit) {
    int number = 0;
    for (const RuleConfig& rule : all_.rules) {
      now_.rules.push_back(rule);
      visit(++number, rule, "");
    }
    for (const PartRulesConfig& part : all_.rules_for) {
      now_.rules_for.push_back({part.part, {}});
      for (const RuleConfig& rule : part.rules) {
        now_.rules_for.back().rules.push_back(rule);
        visit(++number, rule, " for " + std::string(word_of(part.part)));
      }
    }
  }

 private:
  const RulesConfig& all_;
  RulesConfig now_;
};

void plan_step(RuleStep& step, const ModelInput& model, const RulesConfig& rules,
               const Options& options) {
  try {
    step.after = record_of(make_plan(model, rules, options, may_fold(options)));
  } catch (const Error& error) {
    step.refusal = error.diagnostics().front().id;
  }
}

}  // namespace

std::vector<RuleStep> rule_steps(const ModelInput& model, const Plan& full,
                                 const Options& options) {
  Options quiet = options;
  quiet.dump_stages.clear();
  GrowingRules rules(full.rules);
  std::vector<RuleStep> steps;
  RuleStep first;
  first.words = "no rule";
  plan_step(first, model, rules.now(), quiet);
  steps.push_back(std::move(first));
  rules.each([&](int number, const RuleConfig& rule, const std::string& part) {
    RuleStep step;
    step.rule = number;
    step.words = rule_text(number, rule.logical, rule.target) + part;
    step.at = rule.at;
    plan_step(step, model, rules.now(), quiet);
    for (auto before = steps.rbegin(); step.after && before != steps.rend(); ++before) {
      if (!before->after) continue;
      step.diff = diff(*before->after, *step.after);
      break;
    }
    steps.push_back(std::move(step));
  });
  return steps;
}

}  // namespace shard
