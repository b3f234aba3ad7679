#include "report/json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "mesh/device_place.h"
#include "report/change_text.h"
#include "report/explain.h"
#include "report/findings_list.h"
#include "report/index_map.h"
#include "report/json_parts.h"
#include "report/piece_dim.h"
#include "report/semantics.h"
#include "shard/hlo_sharding.h"
#include "shard/sdy_text.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

std::string json_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json json_of_place(const Location& at) {
  if (!at.is_known()) return nullptr;
  return {{"file", at.file}, {"line", at.line}, {"column", at.column}};
}

Json json_head(const std::string& command, const Plan& plan) {
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
Json json_of_shape(const Shape& shape) {
  Json sizes = Json::array();
  for (const std::int64_t size : shape) {
    sizes.push_back(size == unknown_size ? Json(nullptr) : Json(size));
  }
  return sizes;
}

Json json_of_array(const ArrayRow& row) {
  const bool is_known = !has_unknown_size(row.type.shape);
  const auto bytes = [&](Bytes count) { return is_known ? Json(count.count()) : Json(nullptr); };
  return {{"path", row.name},
          {"role", name_of(row.role)},
          {"dtype", info(row.type.dtype).name},
          {"shape", json_of_shape(row.type.shape)},
          {"spec", row.spec},
          {"local_shape", json_of_shape(row.local)},
          {"bytes", bytes(bytes_of(row.type))},
          {"bytes_per_device", bytes(row.bytes)},
          {"copies", row.copies},
          {"why", join({row.why})},
          {"at", json_of_place(row.at)}};
}

Json json_of_arrays(const std::vector<ArrayRow>& rows) {
  Json all = Json::array();
  for (const ArrayRow& row : unfolded(rows)) all.push_back(json_of_array(row));
  return all;
}

/// By member of a group, as JAX's `ppermute` takes them: only where they say it all.
Json pairs_json(const CollectiveRow& row) {
  const std::vector<int>& senders = row.instruction->collective->senders;
  if (senders.empty()) return nullptr;
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t to = 0; to < senders.size(); ++to) {
    if (senders[to] >= 0) pairs.emplace_back(senders[to], static_cast<int>(to));
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Json collective_json(const CollectiveRow& row) {
  return {{"number", row.number},
          {"instructions", row.instances},
          {"kind", name_of(row.kind)},
          {"mesh_axes", row.axes},
          {"group_size", row.group},
          {"pairs", pairs_json(row)},
          {"count_per_step", row.count},
          {"payload_bytes", row.payload.count()},
          {"wire_bytes_per_step", row.wire.count()},
          {"phase", name_of(row.phase)},
          {"implicit", row.is_implicit},
          {"why", join({row.why})},
          {"at", json_of_place(row.at)}};
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
          {"values", json_of_arrays(value_rows(function))},
          {"outputs", json_of_arrays(output_rows(function))},
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
  return {{"arrays", json_of_arrays(rows)},
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
                   {"at", json_of_place(finding.at)}});
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
    std::vector<std::int64_t> parts;
    for (const DimSharding& dim : row.sharding.dims) {
      parts.push_back(plan.mesh.linear_coordinate(position, dim.axes));
    }
    Json& devices = devices_of.try_emplace(parts, Json::array()).first->second;
    devices.push_back(plan.mesh.device_id(position));
  }
  Json pieces = Json::array();
  const std::vector<PieceDim> dims = piece_dims(row.sharding, row.type.shape, row.cut);
  for (const auto& [parts, devices] : devices_of) {
    Shape start;
    Shape shape;
    for (std::size_t dim = 0; dim < dims.size(); ++dim) {
      start.push_back(dims[dim].start(parts[dim]));
      shape.push_back(dims[dim].stop(parts[dim]) - start.back());
    }
    pieces.push_back({{"start", start}, {"shape", shape}, {"devices", devices}});
  }
  return pieces;
}

/// Which indices every device holds, in the order of the mesh.
Json indices_json(const Plan& plan, const ArrayRow& row) {
  Json all = Json::array();
  for (const IndexRow& one : index_rows(plan.mesh, row.sharding, row.type.shape, 0, row.cut)) {
    all.push_back({{"device", one.device}, {"copy", one.copy}, {"ranges", one.ranges}});
  }
  return all;
}

/// What is drawn of an array: more than other answers say of it.
Json shown_json(const Plan& plan, const ArrayRow& row, bool has_indices) {
  Json array = json_of_array(row);
  if (row.name.empty()) {  // a spec of the command line
    for (const char* key : {"path", "role", "dtype", "bytes", "bytes_per_device"})
      array[key] = nullptr;
  }
  array["hlo_sharding"] = to_string(hlo_sharding(plan.mesh, row.sharding));
  array["sdy_sharding"] = sdy_sharding(plan.mesh, row.sharding);
  if (row.cut == UnevenCut::nested) array["uneven"] = "nested";
  array["pieces"] = pieces_json(plan, row);
  if (has_indices) array["indices"] = indices_json(plan, row);
  return array;
}

/// The devices of the mesh in its order, with their places where the hardware is named.
Json devices_json(const Mesh& mesh) {
  Json all = Json::array();
  for (std::int64_t position = 0; position < mesh.device_count(); ++position) {
    Json coordinates = Json::array();
    for (int axis = 0; axis < static_cast<int>(mesh.axes().size()); ++axis) {
      coordinates.push_back(mesh.coordinate(position, mesh.full(axis)));
    }
    Json device = {{"id", mesh.device_id(position)}, {"coordinates", coordinates}};
    if (mesh.hardware() != nullptr) {
      const DevicePlace place = place_of(mesh.hardware()->topology, mesh.device_id(position));
      device["slice"] = place.slice;
      device["host"] = place.host;
      device["chip"] = place.chip;
      device["core"] = place.core;
    }
    all.push_back(std::move(device));
  }
  return all;
}

Json before_after_json(const std::optional<Bytes>& before, const std::optional<Bytes>& after) {
  const auto number = [](const std::optional<Bytes>& side) {
    return side ? Json(side->count()) : Json(nullptr);
  };
  return {{"before", number(before)}, {"after", number(after)}};
}

Json changes_json(const LayoutDiff& diff) {
  Json all = Json::array();
  for (const ArrayChange& change : diff.arrays) {
    const auto each = change.each();
    all.push_back({{"names", change.names},
                   {"slots", change.slots},
                   {"before", change.before ? Json(change.before->spec) : Json(nullptr)},
                   {"after", change.after ? Json(change.after->spec) : Json(nullptr)},
                   {"more_bytes_per_device_each", each ? Json(each->count()) : Json(nullptr)}});
  }
  return all;
}

Json delta_json(const std::optional<Delta>& delta) {
  if (!delta) return nullptr;
  Json json = {{"against", delta->base},
               {"refused", nullptr},
               {"arrays", Json::array()},
               {"collectives", Json::array()},
               {"state_bytes_per_device", nullptr},
               {"peak_bytes_per_device", nullptr},
               {"wire_bytes_per_step", nullptr}};
  if (!delta->diff) {
    json["refused"] = delta->refusal;
    return json;
  }
  json["arrays"] = changes_json(*delta->diff);
  for (const CollectiveChange& one : delta->diff->collectives) {
    json["collectives"].push_back(change_text(one));
  }
  json["state_bytes_per_device"] =
      before_after_json(delta->diff->state.before, delta->diff->state.after);
  json["peak_bytes_per_device"] =
      before_after_json(delta->diff->peak.before, delta->diff->peak.after);
  json["wire_bytes_per_step"] =
      before_after_json(delta->diff->wire.before, delta->diff->wire.after);
  return json;
}

Json dims_json(const ArrayAnswer& answer) {
  Json all = Json::array();
  for (const DimAnswer& one : answer.dims) {
    all.push_back({{"name", one.name},
                   {"size", one.size == unknown_size ? Json(nullptr) : Json(one.size)},
                   {"split", one.split},
                   {"why", one.why},
                   {"lost", one.lost}});
  }
  return all;
}

Json trials_json(const ArrayAnswer& answer) {
  Json all = Json::array();
  for (const RuleTrial& one : answer.trials) {
    const bool is_refused = !one.refusal.empty();
    all.push_back(
        {{"rule", one.rule},
         {"instead_of_rule", one.instead_of > 0 ? Json(one.instead_of) : Json(nullptr)},
         {"mesh_axis", one.axis},
         {"refused", is_refused ? Json(one.refusal) : Json(nullptr)},
         {"spec", is_refused ? Json(nullptr) : Json(one.spec)},
         {"bytes_per_device", is_refused ? Json(nullptr) : Json(one.array.count())},
         {"state_bytes_per_device", is_refused ? Json(nullptr) : Json(one.state.count())}});
  }
  return all;
}

Json answers_json(const std::vector<ArrayAnswer>& answers) {
  Json all = Json::array();
  for (const ArrayAnswer& one : answers) {
    Json answer = json_of_array(one.row);
    answer["names"] = one.names;
    answer["placed"] = one.placed;
    answer["dims"] = dims_json(one);
    answer["unused_rules"] = one.unused_rules;
    answer["free_axes"] = one.free_axes;
    answer["rules_that_would_split"] = trials_json(one);
    answer["other_resolver"] = one.other_resolver;
    all.push_back(std::move(answer));
  }
  return all;
}

Json collective_answer_json(const CollectiveAnswer& answer) {
  Json instead = Json::array();
  for (const Alternative& one : answer.instead) {
    instead.push_back({{"edit", one.edit}, {"effect", one.effect}});
  }
  Json json = collective_json(answer.row);
  json["asked_number"] = answer.number;
  json["groups"] = answer.groups;
  json["operand"] = answer.type;
  json["because"] = answer.because;
  json["asked_by"] = answer.asked_by;
  json["instead"] = instead;
  return json;
}

Json line_json(const LineAnswer& answer) {
  Json collectives = Json::array();
  for (const CollectiveRow& row : answer.collectives) collectives.push_back(collective_json(row));
  return {{"place", answer.place},
          {"rules", answer.rules},
          {"arrays", answers_json(answer.arrays)},
          {"collectives", collectives},
          {"findings", findings_json(answer.findings)}};
}

}  // namespace

std::string plan_json(const Plan& plan, const std::optional<Delta>& delta) {
  Json document = json_head("plan", plan);
  document["returns"] = plan.model.returns;
  document["state"] = state_json(plan);
  document["functions"] = functions_json(plan);
  document["left_out"] = plan.model.dropped;
  document["findings"] = findings_json(plan.findings);
  document["fit"] = fit_json(plan);
  document["delta"] = delta_json(delta);
  return json_text(document);
}

std::string explain_json(const Plan& plan, const Explanation& explanation,
                         const std::optional<Delta>& delta) {
  Json document = json_head("explain", plan);
  document["arrays"] = answers_json(explanation.arrays);
  document["collectives"] = Json::array();
  for (const CollectiveAnswer& one : explanation.collectives) {
    document["collectives"].push_back(collective_answer_json(one));
  }
  document["lines"] = Json::array();
  for (const LineAnswer& one : explanation.lines) document["lines"].push_back(line_json(one));
  document["delta"] = delta_json(delta);
  return json_text(document);
}

std::string findings_json(const Plan& plan) {
  Json document = json_head("findings", plan);
  document["findings"] = findings_json(plan.findings);
  return json_text(document);
}

std::string show_json(const Plan& plan, const std::vector<ArrayRow>& chosen,
                      const ShowOptions& options) {
  Json document = json_head("show", plan);
  if (plan.model_file.empty()) document["model"] = nullptr;
  if (options.mesh || options.chips) document["mesh_devices"] = devices_json(plan.mesh);
  Json arrays = Json::array();
  for (const ArrayRow& row : chosen) arrays.push_back(shown_json(plan, row, options.indices));
  document["arrays"] = std::move(arrays);
  return json_text(document);
}

std::string plan_head_json(const std::string& command, const Plan& plan) {
  return json_head(command, plan).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string array_rows_json(const std::vector<ArrayRow>& rows) {
  return json_of_arrays(rows).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace shard
