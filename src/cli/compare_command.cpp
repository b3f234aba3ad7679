#include <algorithm>
#include <set>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/compare_run.h"
#include "cli/layout.h"
#include "cli/pipeline.h"
#include "report/comparison.h"
#include "report/plan_record.h"

namespace shard {
namespace {

/// Plans of all sets on all meshes; mistakes of all of them are reported in one run.
class Comparer {
 public:
  Comparer(const Options& options, Sources& sources)
      : options_(options),
        sources_(sources),
        model_(read_model_input(options.arguments[0], options, sources)) {}

  Comparison compare();

 private:
  ComparedMesh compare_on(const std::string& mesh);
  std::optional<Plan> plan_of(const std::string& rules, const Options& asked);
  void set_titles(ComparedMesh& mesh) const;

  const Options& options_;
  Sources& sources_;
  ModelInput model_;
  Diagnostics mistakes_;
};

/// Also says for which rule set and mesh; the same mistake of the next mesh is left out.
std::optional<Plan> Comparer::plan_of(const std::string& rules, const Options& asked) {
  try {
    return make_plan(model_, read_rules_input(rules, asked, sources_), asked,
                     may_fold(asked) && !asked.run);
  } catch (const Error& error) {
    for (const Diagnostic& one : error.diagnostics()) {
      const auto& all = mistakes_.all();
      if (std::find(all.begin(), all.end(), one) == all.end()) mistakes_.append({one});
    }
    return {};
  }
}

void Comparer::set_titles(ComparedMesh& mesh) const {
  std::multiset<std::string> names;
  for (const ComparedSet& set : mesh.sets) names.insert(set.record.rules);
  for (std::size_t i = 0; i < mesh.sets.size(); ++i) {
    const std::string& name = mesh.sets[i].record.rules;
    mesh.sets[i].title = names.count(name) > 1 ? options_.arguments[i + 1] : name;
  }
}

ComparedMesh Comparer::compare_on(const std::string& mesh) {
  Options asked = options_;
  if (!mesh.empty()) asked.overrides.mesh = mesh;
  ComparedMesh compared{mesh, {}};
  std::vector<Plan> plans;
  for (std::size_t i = 1; i < options_.arguments.size(); ++i) {
    std::optional<Plan> plan = plan_of(options_.arguments[i], asked);
    if (!plan) continue;
    compared.sets.push_back({"", record_of(*plan), {}, {}});
    if (options_.run) plans.push_back(std::move(*plan));
  }
  mistakes_.throw_if_errors();
  set_titles(compared);
  for (std::size_t i = 1; i < compared.sets.size(); ++i) {
    compared.sets[i].against_base = diff(compared.sets[0].record, compared.sets[i].record);
  }
  if (!options_.run) return compared;
  const std::vector<Timing> times = time_alternating(plans, options_);
  for (std::size_t i = 0; i < times.size(); ++i) compared.sets[i].step_time = times[i];
  return compared;
}

Comparison Comparer::compare() {
  Comparison comparison;
  comparison.fail_on_change = options_.fail_on_change;
  comparison.allowed_percent = options_.allowed_percent;
  const std::vector<std::string> own = {""};
  for (const std::string& mesh : options_.meshes.empty() ? own : options_.meshes) {
    comparison.meshes.push_back(compare_on(mesh));
    sort_sets(comparison.meshes.back(), options_.order);
  }
  comparison.model = comparison.meshes.front().sets.front().record.model;
  return comparison;
}

std::string answer_of(const Comparison& comparison, const Options& options) {
  if (options.format == Format::json) return comparison_json(comparison);
  const Layout layout = layout_of(options);
  return options.format == Format::markdown ? comparison_markdown(comparison, layout)
                                            : comparison_text(comparison, layout);
}

}  // namespace

int compare_command(const Options& options, Sources& sources) {
  const Comparison comparison = Comparer(options, sources).compare();
  write_answer(options, answer_of(comparison, options));
  return failures_of(comparison).empty() ? 0 : 1;
}

}  // namespace shard
