#include "report/explain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "check/annotations.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/delta_input.h"
#include "cli/layout.h"
#include "cli/pipeline.h"
#include "report/explain_collective.h"

namespace shard {
namespace {

/// What an edit makes of the main function, or why it cannot be planned.
struct Edited {
  std::optional<Plan> plan;
  std::string refusal;
};

Edited planned_with(const ModelInput& model, const RulesConfig& rules, const Options& options) {
  try {
    return {make_plan(model, rules, options, may_fold(options)), ""};
  } catch (const Error& error) {
    return {{}, error.diagnostics().front().id};
  }
}

Bytes state_of(const Plan& plan) {
  Bytes bytes;
  for (const ArrayRow& row : state_rows(plan)) bytes += row.instances * row.bytes;
  return bytes;
}

/// How often collectives of the row's kind run over its axes.
std::int64_t executions_of(const PlannedFunction& function, const CollectiveRow& row) {
  std::int64_t count = 0;
  for (const CollectiveCount& one : function.collectives) {
    if (one.kind == row.kind && one.axes == row.mesh_axes) count += one.count;
  }
  return count;
}

Alternative without_rule(const Plan& plan, const ModelInput& model, const Options& options,
                         const CollectiveRow& row, int rule) {
  Alternative alternative{"drop rule " + std::to_string(rule), ""};
  RulesConfig rules = plan.rules;
  rules.rules.erase(rules.rules.begin() + (rule - 1));
  const Edited edited = planned_with(model, rules, options);
  alternative.effect = edited.plan ? effect_of(plan, row, edited.plan->main(), state_of(plan),
                                               state_of(*edited.plan))
                                   : "cannot be planned (" + edited.refusal + ')';
  return alternative;
}

/// The main function with every constraint written at that place changed.
PlannedFunction with_constraint(const Plan& plan, const OtherConstraint& other) {
  Graph graph = plan.main().sharded.given();
  for (SpecConfig& placement : graph.placements) {
    if (placement.at == other.at) placement = other.spec;
  }
  PlannedFunction edited;
  edited.sharded = shard_graph(std::move(graph), plan.rules, plan.mesh);
  edited.program = partition(edited.sharded);
  edited.collectives = count_collectives(edited.program);
  return edited;
}

Alternative with_other_constraint(const Plan& plan, const CollectiveRow& row,
                                  const OtherConstraint& other) {
  Alternative alternative{"constrain " + to_string(other.spec), ""};
  try {
    const PlannedFunction edited = with_constraint(plan, other);
    alternative.effect = effect_of(plan, row, edited, state_of(plan), state_of(plan));
  } catch (const Error& error) {
    alternative.effect = "cannot be planned (" + error.diagnostics().front().id + ')';
  }
  return alternative;
}

/// What places a value otherwise where the collective is part of a reshard, as far as it helps.
void add_annotations(const Plan& plan, const ModelInput& model, const Options& options,
                     CollectiveAnswer& answer) {
  const PlannedFunction& main = plan.main();
  const std::vector<Reshard> reshards = reshards_of(main.sharded, main.program);
  const auto own = std::find_if(reshards.begin(), reshards.end(),
                                [&](const Reshard& one) { return one.why == answer.row.reason; });
  if (own == reshards.end()) return;
  const std::int64_t before = executions_of(main, answer.row);
  for (Annotation& one : annotations_against(model.config, main.sharded, *own)) {
    ModelInput edited{model.file, std::move(one.config), {}};
    const Edited other = planned_with(edited, plan.rules, options);
    if (!other.plan || executions_of(other.plan->main(), answer.row) >= before) continue;
    answer.instead.push_back({one.words, effect_of(plan, answer.row, other.plan->main(),
                                                   state_of(plan), state_of(*other.plan))});
  }
}

void add_alternatives(const Plan& plan, const ModelInput& model, const Options& options,
                      CollectiveAnswer& answer) {
  for (const int rule : rules_behind(plan, answer.row)) {
    answer.instead.push_back(without_rule(plan, model, options, answer.row, rule));
  }
  if (const auto other = other_constraint(plan, answer.row)) {
    answer.instead.push_back(with_other_constraint(plan, answer.row, *other));
  }
  add_annotations(plan, model, options, answer);
}

/// The answers to all words together.
Explanation explain_words(const Plan& plan, const std::vector<std::string>& words) {
  Explanation all;
  Diagnostics diagnostics;
  for (const std::string& word : words) {
    try {
      Explanation one = explain(plan, word);
      all.arrays.insert(all.arrays.end(), std::make_move_iterator(one.arrays.begin()),
                        std::make_move_iterator(one.arrays.end()));
      std::move(one.collectives.begin(), one.collectives.end(),
                std::back_inserter(all.collectives));
      std::move(one.lines.begin(), one.lines.end(), std::back_inserter(all.lines));
    } catch (const Error& error) {
      diagnostics.append(error.diagnostics());
    }
  }
  diagnostics.throw_if_errors();
  return all;
}

}  // namespace

int explain_command(const Options& options, Sources& sources) {
  const ModelInput model = read_model_input(options.arguments[0], options, sources);
  const RulesConfig rules = read_rules_input(options.arguments[1], options, sources);
  const Plan plan = make_plan(model, rules, options, may_fold(options));
  Explanation explanation =
      explain_words(plan, {options.arguments.begin() + 2, options.arguments.end()});
  for (CollectiveAnswer& answer : explanation.collectives) {
    add_alternatives(plan, model, options, answer);
  }
  const std::optional<Delta> delta = delta_of(plan, options, sources);
  const Layout layout = layout_of(options);
  const std::string text =
      options.format == Format::json
          ? explain_json(plan, explanation, delta)
          : explain_text(explanation, layout) + (delta ? '\n' + delta_text(*delta, layout) : "");
  write_answer(options, text);
  return 0;
}

}  // namespace shard
