#include <algorithm>
#include <optional>
#include <set>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/compare_arrays.h"
#include "cli/compare_run.h"
#include "cli/layout.h"
#include "cli/pipeline.h"
#include "model/arrays_model.h"
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
        model_(read_model_input(options.arguments[0], options, sources)) {
    if (model_.has_program() || options.run) return;
    classes_ = one_leaf_per_class(build_arrays_model(*model_.arrays));
  }

  Comparison compare();

 private:
  ComparedMesh compare_on(const std::string& mesh, bool is_first);
  std::optional<ComparedSet> set_of(const std::string& word, const Options& asked);
  LayoutRecord record_under(const RulesConfig& rules, const Options& asked);
  void set_titles(ComparedMesh& mesh) const;

  const Options& options_;
  Sources& sources_;
  ModelInput model_;
  std::optional<ClassModel> classes_;  ///< of a list of arrays
  std::vector<Plan> plans_;            ///< of the sets of a mesh, where they are run
  Diagnostics mistakes_;
};

LayoutRecord Comparer::record_under(const RulesConfig& rules, const Options& asked) {
  if (classes_ && rules.paths.empty()) return record_of_classes(*classes_, rules, asked);
  Plan plan = make_plan(model_, rules, asked, may_fold(asked) && !asked.run);
  LayoutRecord record = record_of(plan);
  if (asked.run) plans_.push_back(std::move(plan));
  return record;
}

/// The mistakes of all sets are told in one run, each once.
std::optional<ComparedSet> Comparer::set_of(const std::string& word, const Options& asked) {
  try {
    return ComparedSet{"", record_under(read_rules_input(word, asked, sources_), asked), {}, {}};
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

ComparedMesh Comparer::compare_on(const std::string& mesh, bool is_first) {
  Options asked = options_;
  if (!mesh.empty()) asked.overrides.mesh = mesh;
  asked.quiet = asked.quiet || !is_first;  // what the files remark is said once
  ComparedMesh compared{mesh, {}};
  plans_.clear();
  for (std::size_t i = 1; i < options_.arguments.size(); ++i) {
    if (auto set = set_of(options_.arguments[i], asked)) compared.sets.push_back(std::move(*set));
  }
  mistakes_.throw_if_errors();
  set_titles(compared);
  for (std::size_t i = 1; i < compared.sets.size(); ++i) {
    compared.sets[i].against_base = diff(compared.sets[0].record, compared.sets[i].record);
  }
  if (!options_.run) return compared;
  const std::vector<Timing> times = time_alternating(plans_, options_);
  for (std::size_t i = 0; i < times.size(); ++i) compared.sets[i].step_time = times[i];
  return compared;
}

Comparison Comparer::compare() {
  Comparison comparison;
  comparison.fail_on_change = options_.fail_on_change;
  comparison.allowed_percent = options_.allowed_percent;
  const std::vector<std::string> own = {""};
  for (const std::string& mesh : options_.meshes.empty() ? own : options_.meshes) {
    comparison.meshes.push_back(compare_on(mesh, comparison.meshes.empty()));
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
