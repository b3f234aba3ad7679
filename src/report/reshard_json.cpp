#include <nlohmann/json.hpp>

#include "report/reshard_report.h"
#include "report/rows.h"
#include "report/semantics.h"

namespace shard {
namespace {

using ReshardJson = nlohmann::ordered_json;

ReshardJson axes_json(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  ReshardJson names = ReshardJson::array();
  for (const AxisRef& axis : axes) names.push_back(to_string(mesh, axis));
  return names;
}

ReshardJson dim_json(int dim) { return dim < 0 ? ReshardJson(nullptr) : ReshardJson(dim); }

ReshardJson side_json(const ReshardReport& report, const Sharding& sharding) {
  const Shape local = local_shape(report.type.shape, sharding);
  return {{"spec", spec_text(report.mesh, sharding)},
          {"local_shape", local},
          {"bytes_per_device", bytes_of({report.type.dtype, local}).count()}};
}

ReshardJson steps_json(const ReshardReport& report, const ReshardPlan& plan) {
  ReshardJson steps = ReshardJson::array();
  for (const ReshardStep& step : plan.steps) {
    const Collective& collective = step.collective;
    steps.push_back({{"kind", name_of(collective.kind)},
                     {"mesh_axes", axes_json(report.mesh, collective.axes)},
                     {"group", product(collective.axes)},
                     {"dim", dim_json(collective.dim)},
                     {"split_dim", dim_json(collective.split_dim)},
                     {"payload_bytes", collective.payload.count()},
                     {"wire_bytes", collective.wire.count()},
                     {"spec", spec_text(report.mesh, step.after)},
                     {"local_shape", step.local}});
  }
  return steps;
}

ReshardJson plan_json(const ReshardReport& report, const ReshardPlan& plan) {
  return {{"steps", steps_json(report, plan)},
          {"wire_bytes", plan.wire.count()},
          {"peak_bytes", plan.peak.count()}};
}

ReshardJson run_json(const std::optional<ReshardRun>& run) {
  if (!run) return nullptr;
  return {{"devices", run->devices},
          {"is_right", run->is_right()},
          {"wrong_bytes", run->wrong_bytes},
          {"planned_wire_bytes", run->planned_wire.count()},
          {"counted_wire_bytes", run->counted_wire.count()},
          {"planned_peak_bytes", run->planned_peak.count()},
          {"measured_peak_bytes", run->measured_peak.count()}};
}

ReshardJson mesh_json(const Mesh& mesh) {
  ReshardJson axes = ReshardJson::array();
  for (const MeshAxisInfo& axis : mesh.axes())
    axes.push_back({{"name", axis.name.text()}, {"size", axis.size}});
  return {{"axes", axes}, {"devices", mesh.device_count()}};
}

}  // namespace

std::string reshard_json(const ReshardReport& report) {
  ReshardJson document = {{"schema", json_schema_number},
                          {"command", "reshard"},
                          {"semantics", semantics_name},
                          {"mesh", mesh_json(report.mesh)},
                          {"dtype", info(report.type.dtype).name},
                          {"shape", report.type.shape},
                          {"from", side_json(report, report.from)},
                          {"to", side_json(report, report.to)}};
  document.update(plan_json(report, report.plan));
  document["memory_limit_bytes"] =
      report.memory == Bytes(0) ? ReshardJson(nullptr) : ReshardJson(report.memory.count());
  document["lower_bound_bytes"] = report.plan.lower_bound.count();
  document["alternatives"] = ReshardJson::array();
  for (const ReshardAlternative& other : report.alternatives) {
    ReshardJson one = {{"name", other.name}};
    one.update(plan_json(report, other.plan));
    document["alternatives"].push_back(std::move(one));
  }
  document["run"] = run_json(report.run);
  return document.dump(2, ' ', false, ReshardJson::error_handler_t::replace) + '\n';
}

}  // namespace shard
