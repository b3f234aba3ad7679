#include "cli/delta_input.h"

#include "cli/pipeline.h"
#include "report/plan_record.h"

namespace shard {
namespace {

/// The options without what the user changes by them.
Options base_options(const Options& options) {
  Options base = options;
  base.overrides.add_rules.clear();
  base.overrides.drop_rules.clear();
  base.dump_stages.clear();
  if (options.delta) base.overrides = Overrides{};
  return base;
}

}  // namespace

std::optional<Delta> delta_of(const Plan& plan, const Options& options, Sources& sources) {
  const Overrides& edits = options.overrides;
  if (!options.delta && edits.add_rules.empty() && edits.drop_rules.empty()) return {};
  Delta delta;
  delta.base = options.delta ? "the files as they are" : "the rules as they are";
  try {
    const Options base = base_options(options);
    delta.diff = diff(record_of(make_plan(base, sources, may_fold(options))), record_of(plan));
  } catch (const Error& error) {
    delta.refusal = to_string(error.diagnostics().front());
  }
  return delta;
}

}  // namespace shard
