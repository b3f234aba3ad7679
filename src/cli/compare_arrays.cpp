#include "cli/compare_arrays.h"

#include "report/plan_record.h"
#include "shard/resolve_state.h"

namespace shard {

LayoutRecord record_of_classes(const ClassModel& classes, const RulesConfig& rules,
                               const Options& options) {
  Plan plan;
  plan.model = classes.model;
  plan.rules = rules;
  plan.mesh = make_mesh(rules);
  plan.apply.sharded = shard_state(plan.model, rules, plan.mesh);
  plan.apply.program.mesh = plan.mesh;
  plan.findings =
      find_all(plan.model, plan.apply.sharded, plan.apply.program, rules, options.finding_levels);
  LayoutRecord record = record_of(plan);
  for (std::size_t leaf = 0; leaf < record.arrays.size(); ++leaf) {
    record.arrays[leaf].names = classes.names[leaf];
  }
  if (options.capacity) record.fit = Fit{*options.capacity, state_bytes(record).bytes};
  return record;
}

}  // namespace shard
