#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/json.h"
#include "report/json_parts.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no numbers for infinities and NaN: they are texts.
Json number_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json timing_json(const std::optional<Timing>& timing) {
  if (!timing) return nullptr;
  return {{"runs", timing->runs},
          {"steps_per_run", timing->loops},
          {"mean_seconds", timing->mean.value},
          {"deviation_seconds", timing->deviation.value},
          {"median_seconds", timing->median.value},
          {"minimum_seconds", timing->minimum.value},
          {"cores_busy_elsewhere", timing->others_cpu},
          {"cores_stolen", timing->stolen_cpu}};
}

Json difference_json(const Difference& one) {
  return {
      {"path", one.name},           {"largest_relative", one.largest},      {"at_index", one.index},
      {"tolerance", one.tolerance}, {"has_non_finite", one.has_non_finite}, {"ok", one.is_ok()}};
}

Json kinds_json(const Counters& counters) {
  Json all = Json::array();
  for (const KindCounter& kind : counters.kinds) {
    all.push_back({{"kind", kind.kind},
                   {"is_collective", kind.is_collective},
                   {"calls_on_all_devices", kind.calls},
                   {"busy_seconds", kind.busy.value},
                   {"flops", kind.flops},
                   {"bytes", kind.bytes}});
  }
  return all;
}

Json collective_times_json(const FunctionRun& run) {
  Json all = Json::array();
  for (const CollectiveTimeRow& row : collective_time_rows(run)) {
    all.push_back({{"number", row.number},
                   {"name", row.name},
                   {"busy_seconds_per_step", row.busy.value},
                   {"waiting_seconds_per_step", row.waiting.value},
                   {"copied_bytes_per_step", row.copied.count()}});
  }
  return all;
}

Json device_times_json(const Counters& counters) {
  Json all = Json::array();
  for (const DeviceTally& one : counters.devices) {
    all.push_back({{"computing_seconds", one.computing},
                   {"collecting_seconds", one.collecting},
                   {"waiting_for_devices_seconds", one.meeting},
                   {"waiting_for_worker_seconds", one.queued}});
  }
  return all;
}

Json limits_json(const std::optional<MachineLimits>& limits) {
  if (!limits) return nullptr;
  return {{"product_flops_per_second", limits->product_flops},
          {"copy_bytes_per_second", limits->copy_bytes}};
}

Json memory_check_json(const std::optional<MemoryCheck>& check) {
  if (!check) return nullptr;
  Json scratch = Json::array();
  for (const Bytes one : check->scratch) scratch.push_back(one.count());
  return {{"planned_bytes", check->planned.count()},
          {"resident_bytes", check->resident.count()},
          {"unguarded_devices", check->unguarded},
          {"devices_that_wrote_outside", check->written_outside},
          {"scratch_bytes_by_worker", scratch},
          {"ok", check->is_ok()}};
}

Json counted_json(const FunctionRun& run) {
  const Counters& counters = run.counters;
  Json moved = Json::array();
  for (const MovedRow& row : moved_rows(run)) {
    moved.push_back({{"mesh_axes", row.axes},
                     {"planned_wire_bytes_per_step", row.planned.count()},
                     {"planned_is_bound", row.is_bound},
                     {"counted_wire_bytes_per_step", row.counted.count()},
                     {"copied_bytes_of_all_devices_per_step", row.copied.count()}});
  }
  Json links = Json::array();
  const std::int64_t steps = std::max<std::int64_t>(1, counters.steps);
  for (const CollectiveLinks& one : counters.links) {
    for (const auto& [link, tally] : one.links) {
      links.push_back({{"collective", one.collective},
                       {"from_device", link.first},
                       {"to_device", link.second},
                       {"messages_per_step", tally.messages / steps},
                       {"bytes_per_step", tally.bytes / steps}});
    }
  }
  Json peaks = Json::array();
  for (const Bytes peak : counters.peak) peaks.push_back(peak.count());
  return {{"steps", counters.steps},
          {"wall_seconds", counters.wall.value},
          {"waiting_seconds", counters.waiting.value},
          {"kinds", kinds_json(counters)},
          {"collectives", collective_times_json(run)},
          {"devices", device_times_json(counters)},
          {"moved_per_device", moved},
          {"links", links},
          {"planned_peak_bytes", run.function->program.memory.peak.count()},
          {"measured_peak_bytes_by_device", peaks}};
}

Json fault_json(const std::optional<Fault>& fault) {
  if (!fault) return nullptr;
  return {{"kind", fault_words()[static_cast<std::size_t>(fault->kind)]},
          {"device", fault->device},
          {"at", fault->at},
          {"text", to_string(*fault)}};
}

/// Where a run begins to differ.
Json first_json(const FunctionRun& run) {
  if (!run.first) return nullptr;
  const FirstDifference& first = *run.first;
  return {{"value", first.name},
          {"dtype", info(first.type.dtype).name},
          {"shape", first.type.shape},
          {"spec", first.spec},
          {"iterations", first.iterations},
          {"instruction", first.instruction},
          {"label", first.label},
          {"devices", first.devices},
          {"elements", first.elements},
          {"at_index", first.index},
          {"found", number_json(first.found)},
          {"expected", number_json(first.expected)},
          {"is_non_finite", first.is_non_finite},
          {"is_in_reference_too", first.is_shared}};
}

Json run_function_json(const FunctionRun& run) {
  Json differences = Json::array();
  for (const Difference& one : run.differences) differences.push_back(difference_json(one));
  return {{"name", run.function->sharded.graph.name},
          {"compared_steps", run.compared_steps},
          {"why_not_compared",
           run.why_not_compared.empty() ? Json(nullptr) : Json(run.why_not_compared)},
          {"undetermined_elements", run.undetermined},
          {"elements_rounded_otherwise", run.rounded_otherwise},
          {"differences", differences},
          {"first_difference", first_json(run)},
          {"why_no_first_difference",
           run.why_no_first.empty() ? Json(nullptr) : Json(run.why_no_first)},
          {"outputs", Json::parse(array_rows_json(output_rows(*run.function)))},
          {"timing", timing_json(run.timing)},
          {"counted", counted_json(run)},
          {"memory_check", memory_check_json(run.memory_check)},
          {"results_equal", run.results_equal()},
          {"bytes_equal", run.bytes_equal()},
          {"memory_equal", run.memory_equal()}};
}

}  // namespace

std::string run_json(const RunReport& report) {
  Json document = Json::parse(plan_head_json("run", *report.plan));
  document["backend"] = report.network.empty() ? "threads" : "mpi";
  document["workers"] = report.workers;
  document["seed"] = report.seed;
  document["collectives"] = to_string(report.collectives.algorithm);
  document["hosts"] = report.collectives.hosts;
  document["injected"] = fault_json(report.fault);
  document["trace"] = report.trace_file.empty() ? Json(nullptr) : Json(report.trace_file);
  document["limits"] = limits_json(report.limits);
  Json functions = Json::array();
  for (const FunctionRun& run : report.functions) functions.push_back(run_function_json(run));
  document["functions"] = std::move(functions);
  document["ok"] = report.is_ok();
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace shard
