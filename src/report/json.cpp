#include "report/json.h"

#include <map>
#include <nlohmann/json.hpp>

#include "report/semantics.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

constexpr int indent = 2;

std::string finish(const Json& document) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json place_json(const Location& at) {
  if (!at.is_known()) return nullptr;
  return {{"file", at.file}, {"line", at.line}, {"column", at.column}};
}

Json head_json(const std::string& command, const Plan& plan) {
  Json axes = Json::array();
  for (const MeshAxisInfo& axis : plan.mesh.axes()) {
    axes.push_back({{"name", axis.name.text()}, {"size", axis.size}});
  }
  Json head;
  head["schema"] = json_schema_number;
  head["command"] = command;
  head["semantics"] = semantics_name;
  head["model"] = {{"name", plan.model.name},
                   {"file", plan.model_file},
                   {"parameters", plan.model.parameter_count},
                   {"has_program", plan.model.has_program}};
  head["rules"] = {{"name", plan.rules.name}, {"file", plan.rules.file}};
  head["mesh"] = {{"axes", axes}, {"devices", plan.mesh.device_count()}};
  return head;
}

/// A size that is unknown is null.
Json shape_json(const Shape& shape) {
  Json sizes = Json::array();
  for (const std::int64_t size : shape) {
    sizes.push_back(size == unknown_size ? Json(nullptr) : Json(size));
  }
  return sizes;
}

Json array_json(const ArrayRow& row) {
  const bool is_known = !has_unknown_size(row.type.shape);
  const auto bytes = [&](Bytes count) { return is_known ? Json(count.count()) : Json(nullptr); };
  return {{"path", row.name},
          {"role", name_of(row.role)},
          {"dtype", info(row.type.dtype).name},
          {"shape", shape_json(row.type.shape)},
          {"spec", row.spec},
          {"local_shape", shape_json(row.local)},
          {"bytes", bytes(bytes_of(row.type))},
          {"bytes_per_device", bytes(row.bytes)},
          {"copies", row.copies},
          {"why", join({row.why})},
          {"at", place_json(row.at)}};
}

Json arrays_json(const std::vector<ArrayRow>& rows) {
  Json all = Json::array();
  for (const ArrayRow& row : unfolded(rows)) all.push_back(array_json(row));
  return all;
}

Json collective_json(const CollectiveRow& row) {
  return {{"number", row.number},
          {"instructions", row.instances},
          {"kind", name_of(row.kind)},
          {"mesh_axes", row.axes},
          {"group_size", row.group},
          {"count_per_step", row.count},
          {"payload_bytes", row.payload.count()},
          {"wire_bytes_per_step", row.wire.count()},
          {"phase", name_of(row.phase)},
          {"why", join({row.why})},
          {"at", place_json(row.at)}};
}

Json merged_json(const PlannedFunction& function) {
  Json all = Json::array();
  for (const MergeCount& one : function.merged) {
    all.push_back({{"kind", name_of(one.kind)},
                   {"mesh_axes", axes_text(function.program.mesh, one.axes)},
                   {"members", one.members},
                   {"count_per_step", one.times}});
  }
  return all;
}

Json memory_json(const PlannedFunction& function) {
  const MemoryPlan& memory = function.program.memory;
  Json categories = Json::array();
  for (const CategoryBytes& one : memory.by_category) {
    categories.push_back({{"category", name_of(one.category)}, {"bytes", one.bytes.count()}});
  }
  Json live = Json::array();
  for (const LiveRow& row : live_rows(function.program)) {
    live.push_back({{"name", row.name},
                    {"category", name_of(row.category)},
                    {"arrays", row.instances},
                    {"bytes_each", row.bytes.count()}});
  }
  return {{"peak_bytes", memory.peak.count()},
          {"live_bytes_at_peak", memory.peak_live.count()},
          {"categories_at_peak", categories},
          {"live_at_peak", live}};
}

Json function_json(const PlannedFunction& function) {
  Json collectives = Json::array();
  for (const CollectiveRow& row : collective_rows(function)) {
    collectives.push_back(collective_json(row));
  }
  Json wire = Json::array();
  for (const AxisWire& one : wire_per_axis(function)) {
    wire.push_back({{"mesh_axes", one.axes}, {"wire_bytes_per_step", one.wire.count()}});
  }
  return {{"name", function.sharded.graph.name},
          {"values", arrays_json(value_rows(function))},
          {"outputs", arrays_json(output_rows(function))},
          {"collectives", collectives},
          {"wire_per_device", wire},
          {"xla_merged", merged_json(function)},
          {"memory_per_device", memory_json(function)}};
}

Json state_json(const Plan& plan) {
  const std::vector<ArrayRow> rows = state_rows(plan);
  Bytes local;
  Bytes whole;
  std::int64_t unknown = 0;
  for (const ArrayRow& row : rows) {
    unknown += has_unknown_size(row.type.shape) ? row.instances : 0;
    local += row.instances * row.bytes;
    whole += row.instances * bytes_of(row.type);
  }
  return {{"arrays", arrays_json(rows)},
          {"bytes", whole.count()},
          {"bytes_per_device", local.count()},
          {"arrays_of_unknown_size", unknown}};
}

Json functions_json(const Plan& plan) {
  if (!plan.model.has_program) return nullptr;
  Json all = Json::array();
  if (plan.train_step) all.push_back(function_json(*plan.train_step));
  all.push_back(function_json(plan.apply));
  return all;
}

std::string_view word(Severity severity) {
  constexpr std::string_view words[] = {"error", "warning", "note"};
  return words[static_cast<std::size_t>(severity)];
}

Json findings_json(const std::vector<Finding>& findings) {
  Json all = Json::array();
  for (const Finding& finding : findings) {
    all.push_back({{"severity", word(finding.severity)},
                   {"id", finding.id},
                   {"message", finding.message},
                   {"fix", finding.fix},
                   {"bytes_per_device", finding.cost.count()},
                   {"at", place_json(finding.at)}});
  }
  return all;
}

Json fit_json(const Plan& plan) {
  if (!plan.fit) return nullptr;
  return {{"device", plan.device},
          {"capacity_bytes", plan.fit->capacity.count()},
          {"peak_bytes", plan.fit->peak.count()},
          {"fits", plan.fit->fits()}};
}

/// Which devices hold which index ranges, pieces in row-major order.
Json pieces_json(const Plan& plan, const ArrayRow& row) {
  if (has_unknown_size(row.type.shape)) return nullptr;
  std::map<std::vector<std::int64_t>, Json> devices_of;
  for (std::int64_t position = 0; position < plan.mesh.device_count(); ++position) {
    std::vector<std::int64_t> start;
    for (std::size_t dim = 0; dim < row.local.size(); ++dim) {
      start.push_back(row.local[dim] *
                      plan.mesh.linear_coordinate(position, row.sharding.dims[dim].axes));
    }
    Json& devices = devices_of.try_emplace(start, Json::array()).first->second;
    devices.push_back(plan.mesh.device_id(position));
  }
  Json pieces = Json::array();
  for (const auto& [start, devices] : devices_of) {
    pieces.push_back({{"start", start}, {"shape", row.local}, {"devices", devices}});
  }
  return pieces;
}

Json timing_json(const std::optional<Timing>& timing) {
  if (!timing) return nullptr;
  return {{"runs", timing->runs},
          {"steps_per_run", timing->loops},
          {"mean_seconds", timing->mean.value},
          {"deviation_seconds", timing->deviation.value},
          {"median_seconds", timing->median.value},
          {"minimum_seconds", timing->minimum.value},
          {"cores_busy_elsewhere", timing->others_cpu}};
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

Json counted_json(const FunctionRun& run) {
  const Counters& counters = run.counters;
  Json moved = Json::array();
  for (const MovedRow& row : moved_rows(run)) {
    moved.push_back({{"mesh_axes", row.axes},
                     {"planned_wire_bytes_per_step", row.planned.count()},
                     {"counted_wire_bytes_per_step", row.counted.count()},
                     {"copied_bytes_of_all_devices_per_step", row.copied.count()}});
  }
  Json peaks = Json::array();
  for (const Bytes peak : counters.peak) peaks.push_back(peak.count());
  return {{"steps", counters.steps},
          {"wall_seconds", counters.wall.value},
          {"waiting_seconds", counters.waiting.value},
          {"kinds", kinds_json(counters)},
          {"moved_per_device", moved},
          {"planned_peak_bytes", run.function->program.memory.peak.count()},
          {"measured_peak_bytes_by_device", peaks}};
}

Json run_function_json(const FunctionRun& run) {
  Json differences = Json::array();
  for (const Difference& one : run.differences) differences.push_back(difference_json(one));
  return {{"name", run.function->sharded.graph.name},
          {"compared_steps", run.compared_steps},
          {"undetermined_elements", run.undetermined},
          {"differences", differences},
          {"outputs", arrays_json(output_rows(*run.function))},
          {"timing", timing_json(run.timing)},
          {"counted", counted_json(run)},
          {"results_equal", run.results_equal()},
          {"bytes_equal", run.bytes_equal()},
          {"memory_equal", run.memory_equal()}};
}

}  // namespace

std::string plan_json(const Plan& plan) {
  Json document = head_json("plan", plan);
  document["returns"] = plan.model.returns;
  document["state"] = state_json(plan);
  document["functions"] = functions_json(plan);
  document["left_out"] = plan.model.dropped;
  document["findings"] = findings_json(plan.findings);
  document["fit"] = fit_json(plan);
  return finish(document);
}

std::string show_json(const Plan& plan, const std::vector<ArrayRow>& chosen) {
  Json document = head_json("show", plan);
  Json arrays = Json::array();
  for (const ArrayRow& row : chosen) {
    Json array = array_json(row);
    array["pieces"] = pieces_json(plan, row);
    arrays.push_back(std::move(array));
  }
  document["arrays"] = std::move(arrays);
  return finish(document);
}

std::string run_json(const RunReport& report) {
  Json document = head_json("run", *report.plan);
  document["workers"] = report.workers;
  document["seed"] = report.seed;
  Json functions = Json::array();
  for (const FunctionRun& run : report.functions) functions.push_back(run_function_json(run));
  document["functions"] = std::move(functions);
  document["ok"] = report.is_ok();
  return finish(document);
}

}  // namespace shard
