#include <unistd.h>
#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/pipeline.h"
#include "dialects/export_plan.h"
#include "shard/resolve_state.h"

namespace shard {
namespace {

/// Whether the rules alone gave the spec, so that Flax' resolver gives the same.
bool is_by_rules(const ValueReasons& reasons) {
  const auto is_answer = [](const std::vector<Reason>& dim) {
    return dim.size() == 1 && dim.front().decision >= 0;
  };
  return std::all_of(reasons.begin(), reasons.end(), is_answer);
}

ExportedArray exported(const ShardedGraph& sharded, const GraphInput& input) {
  ExportedArray array;
  array.path = input.path;
  array.type = sharded.given_type(input.value);
  array.part = part_of(input.role);
  array.spec = spec_text(sharded.mesh, sharded.sharding(input.value));
  const LogicalSpec* names = input.placement.logical();
  if (names != nullptr && is_by_rules(sharded.reasons[index_of(input.value)])) array.names = *names;
  return array;
}

ExportedPlan exported(const Plan& plan) {
  const ShardedGraph& sharded = plan.main().sharded;
  ExportedPlan result{plan.model.name, plan.rules.name, plan.rules, plan.mesh, {}};
  for (const GraphInput& input : sharded.graph.inputs) {
    result.arrays.push_back(exported(sharded, input));
  }
  for (std::size_t i = 0; i < sharded.graph.outputs.size(); ++i) {
    const GraphOutput& output = sharded.graph.outputs[i];
    if (output.state_leaf >= 0) continue;
    result.arrays.push_back({output.path,
                             sharded.given_output_type(i),
                             part_of(output.role),
                             spec_text(sharded.mesh, sharded.output_shardings[i]),
                             {}});
  }
  return result;
}

struct ExportForm {
  const char* word;
  std::string (*write)(const ExportedPlan& plan, Diagnostics& diagnostics);
};
constexpr std::array<ExportForm, 3> forms = {{
    {"python", [](const ExportedPlan& plan, Diagnostics&) { return export_python(plan); }},
    {"flax", [](const ExportedPlan& plan, Diagnostics&) { return export_flax(plan); }},
    {"maxtext", export_maxtext},
}};

const ExportForm& form_named(const std::string& word) {
  std::vector<std::string> words;
  for (const ExportForm& form : forms) {
    if (word == form.word) return form;
    words.emplace_back(form.word);
  }
  throw Error("bad-value", {"--to"},
              word.empty() ? "export needs --to" : "'" + word + "' is not one of its values",
              did_you_mean(word, words, "forms"));
}

}  // namespace

int export_command(const Options& options, Sources& sources) {
  const ExportForm& form = form_named(options.export_form);
  const Plan plan = make_plan(options, sources, false);
  Diagnostics diagnostics;
  const std::string text = form.write(exported(plan), diagnostics);
  for (const Diagnostic& warning : diagnostics.all()) {
    if (!options.quiet) write_fully(STDERR_FILENO, render(warning, sources));
  }
  write_answer(options, text);
  return 0;
}

}  // namespace shard
