#include <cmath>
#include <nlohmann/json.hpp>

#include "report/change_text.h"
#include "report/comparison.h"
#include "report/rows.h"
#include "report/semantics.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

constexpr int indent = 2;

std::string finish(const Json& document) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json bytes_json(const std::optional<Bytes>& bytes) {
  if (!bytes) return nullptr;
  return bytes->count();
}

Json collectives_json(const LayoutRecord& record) {
  if (!record.collectives) return nullptr;
  Json all = Json::array();
  for (const CollectiveUse& use : *record.collectives) {
    Json one = {{"kind", name_of(use.kind)},
                {"mesh_axes", use.axes},
                {"count_per_step", use.count},
                {"payload_bytes", use.payload.count()},
                {"wire_bytes_per_step", use.wire.count()},
                {"link", nullptr}};
    if (use.link) one["link"] = name_of(*use.link);
    all.push_back(std::move(one));
  }
  return all;
}

Json roles_json(const LayoutRecord& record) {
  Json all = Json::array();
  for (const auto& [role, bytes] : bytes_by_role(record)) {
    all.push_back({{"role", name_of(role)}, {"bytes_per_device", bytes.count()}});
  }
  return all;
}

Json record_json(const LayoutRecord& record) {
  return {{"rules", record.rules},
          {"mesh", record.mesh},
          {"devices", record.devices},
          {"state_bytes_per_device", state_bytes(record).bytes.count()},
          {"bytes_by_role", roles_json(record)},
          {"replicated_bytes_per_device", replicated_bytes(record).count()},
          {"wire_bytes_per_step", bytes_json(wire_bytes(record))},
          {"collectives", collectives_json(record)},
          {"peak_bytes", bytes_json(record.peak)},
          {"errors", count_findings(record, Severity::error)},
          {"warnings",
           count_findings(record, Severity::warning) - count_findings(record, Severity::error)},
          {"fits", record.fit ? Json(record.fit->fits()) : Json(nullptr)}};
}

Json state_json(const std::optional<ArrayState>& state) {
  if (!state) return nullptr;
  return {
      {"type", state->type}, {"spec", state->spec}, {"bytes_per_device", bytes_json(state->bytes)}};
}

Json amounts_json(const std::vector<CollectiveAmount>& amounts) {
  Json all = Json::array();
  for (const CollectiveAmount& amount : amounts) {
    all.push_back({{"count_per_step", amount.count}, {"payload_bytes", amount.payload.count()}});
  }
  return all;
}

Json diff_json(const LayoutDiff& diff) {
  Json arrays = Json::array();
  for (const ArrayChange& change : diff.arrays) {
    arrays.push_back({{"arrays", change.names},
                      {"with_slots", change.slots},
                      {"before", state_json(change.before)},
                      {"after", state_json(change.after)},
                      {"more_bytes_per_device", change.total().count()}});
  }
  Json collectives = Json::array();
  for (const CollectiveChange& change : diff.collectives) {
    collectives.push_back({{"kind", name_of(change.kind)},
                           {"mesh_axes", change.axes},
                           {"before", amounts_json(change.before)},
                           {"after", amounts_json(change.after)}});
  }
  return {{"is_change", diff.is_change()}, {"arrays", arrays}, {"collectives", collectives}};
}

Json set_json(const ComparedSet& set) {
  Json json = {{"title", set.title}};
  json.update(record_json(set.record));
  json["step_seconds"] = nullptr;
  if (set.step_time) {
    json["step_seconds"] = {
        {"mean", set.step_time->mean.value},     {"deviation", set.step_time->deviation.value},
        {"median", set.step_time->median.value}, {"minimum", set.step_time->minimum.value},
        {"runs", set.step_time->runs},           {"steps_per_run", set.step_time->loops}};
  }
  json["against_base"] = diff_json(set.against_base);
  return json;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json meshes = Json::array();
  for (const ComparedMesh& mesh : comparison.meshes) {
    Json sets = Json::array();
    for (const ComparedSet& set : mesh.sets) sets.push_back(set_json(set));
    meshes.push_back(
        {{"mesh", mesh.mesh.empty() ? Json(nullptr) : Json(mesh.mesh)}, {"sets", std::move(sets)}});
  }
  const std::vector<std::string> failures = failures_of(comparison);
  Json document = {{"schema", json_schema_number}, {"command", "compare"},
                   {"semantics", semantics_name},  {"model", comparison.model},
                   {"meshes", std::move(meshes)},  {"failures", failures},
                   {"ok", failures.empty()}};
  return finish(document);
}

}  // namespace shard
