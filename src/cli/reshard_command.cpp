#include <fmt/format.h>

#include "base/diagnostic.h"
#include "cli/answer.h"
#include "cli/cluster_choice.h"
#include "cli/commands.h"
#include "cli/layout.h"
#include "cli/reshard_input.h"
#include "report/reshard_report.h"
#include "spmd/axes.h"

namespace shard {
namespace {

constexpr std::int64_t most_layouts = 200'000;

std::optional<ReshardPlan> plan_within(const ReshardInput& input, Bytes memory) {
  return cheapest_reshard(input.mesh, input.type, input.from, input.to, {memory, most_layouts});
}

ReshardPlan plan_or_refuse(const ReshardInput& input, const Options& options) {
  const std::optional<ReshardPlan> any = plan_within(input, Bytes(0));
  if (!options.memory || any->peak <= *options.memory) return *any;
  if (const std::optional<ReshardPlan> plan = plan_within(input, *options.memory)) return *plan;
  const ReshardPlan least = leanest_reshard(input.mesh, input.type, input.from, input.to,
                                            {*options.memory, most_layouts});
  throw Error("memory-limit", {"--memory"},
              fmt::format("no sequence of collectives stays within {} B of operand and result",
                          with_commas(*options.memory)),
              fmt::format("the least that suffices is {} B; the cheapest sequence needs {} B",
                          with_commas(least.peak), with_commas(any->peak)));
}

/// Shardy's own pass, and what XLA falls back to: replicate, then slice.
std::vector<ReshardAlternative> alternatives(const ReshardInput& input) {
  std::vector<ReshardAlternative> all;
  const bool is_even =
      divides_evenly(input.type.shape, input.from) && divides_evenly(input.type.shape, input.to);
  if (is_even && input.to.unreduced.empty()) {
    all.push_back(
        {"Shardy's own pass", weighed(input.type, spmd::canonical(input.from),
                                      plan_reshard(input.mesh, input.type, input.from, input.to))});
  }
  Sharding whole = replicated_sharding(input.type.rank());
  whole.unreduced = input.to.unreduced;
  const auto gather = cheapest_reshard(input.mesh, input.type, input.from, whole);
  const auto slice = cheapest_reshard(input.mesh, input.type, whole, input.to);
  std::vector<ReshardStep> steps = gather->steps;
  steps.insert(steps.end(), slice->steps.begin(), slice->steps.end());
  all.push_back(
      {"replicate and slice", weighed(input.type, spmd::canonical(input.from), std::move(steps))});
  return all;
}

}  // namespace

int reshard_command(const Options& options, Sources& sources) {
  const ReshardInput input = read_reshard_input(options, sources);
  if (options.run && !input.from.unreduced.empty()) {
    throw Error("not-yet", {"FROM", 1, 1},
                "an array that is still a sum cannot be split over virtual devices",
                "leave --run out, or plan the sum's reduction alone");
  }
  ReshardReport report{input.mesh,
                       input.type,
                       input.from,
                       input.to,
                       plan_or_refuse(input, options),
                       options.memory.value_or(Bytes(0)),
                       alternatives(input),
                       std::nullopt};
  if (options.run) {
    report.run = run_reshard(input.mesh, input.type, input.from, report.plan.steps,
                             cluster_choice(options, input.mesh.device_count()));
  }
  write_answer(options, options.format == Format::json ? reshard_json(report)
                                                       : reshard_text(report, layout_of(options)));
  return report.run && !report.run->is_right() ? 1 : 0;
}

}  // namespace shard
