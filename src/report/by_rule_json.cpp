#include <nlohmann/json.hpp>

#include "report/by_rule.h"
#include "report/change_text.h"
#include "report/semantics.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

Json bytes_or_null(const std::optional<Bytes>& bytes) {
  return bytes ? Json(bytes->count()) : Json(nullptr);
}

Json step_json(const RuleStep& step) {
  Json place = nullptr;
  if (step.at.is_known()) {
    place = {{"file", step.at.file}, {"line", step.at.line}, {"column", step.at.column}};
  }
  Json json = {{"rule", step.rule == 0 ? Json(nullptr) : Json(step.rule)},
               {"words", step.words},
               {"at", place},
               {"refused", step.refusal.empty() ? Json(nullptr) : Json(step.refusal)},
               {"collectives_per_step", nullptr},
               {"wire_bytes_per_step", nullptr},
               {"state_bytes_per_device", nullptr},
               {"peak_bytes_per_device", nullptr},
               {"changes", changes_of(step)}};
  if (!step.after) return json;
  const std::optional<std::int64_t> count = collective_count(*step.after);
  if (count) json["collectives_per_step"] = *count;
  json["wire_bytes_per_step"] = bytes_or_null(wire_bytes(*step.after));
  json["state_bytes_per_device"] = state_bytes(*step.after).bytes.count();
  json["peak_bytes_per_device"] = bytes_or_null(step.after->peak);
  return json;
}

}  // namespace

std::string by_rule_json(const Plan& plan, const std::vector<RuleStep>& steps) {
  Json all = Json::array();
  for (const RuleStep& step : steps) all.push_back(step_json(step));
  const Json document = {{"schema", json_schema_number}, {"command", "plan --by-rule"},
                         {"semantics", semantics_name},  {"model", plan.model.name},
                         {"rules", plan.rules.file},     {"by_rule", all}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace shard
