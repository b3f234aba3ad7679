#include <nlohmann/json.hpp>

#include "report/semantics.h"
#include "report/trace.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

Json trace_place(const Location& at) {
  if (!at.is_known()) return nullptr;
  return {{"file", at.file}, {"line", at.line}, {"column", at.column}};
}

Json events_json(const RuleTrace& rule) {
  Json events = Json::array();
  for (const RuleEvent& event : rule.events) {
    events.push_back({{"axes", event.names},
                      {"dim", event.dim},
                      {"first_array", event.first},
                      {"arrays", event.arrays},
                      {"lost", event.lost.empty() ? Json(nullptr) : Json(event.lost)}});
  }
  return events;
}

}  // namespace

std::string trace_json(const Trace& trace, const std::string& function) {
  Json rules = Json::array(), gains = Json::array(), conflicts = Json::array();
  for (const RuleTrace& rule : trace.rules) {
    rules.push_back(
        {{"rule", rule.rule}, {"at", trace_place(rule.at)}, {"events", events_json(rule)}});
  }
  for (const GainTrace& one : trace.gains) {
    gains.push_back({{"step", one.step},
                     {"priority", one.priority},
                     {"value", one.value},
                     {"dim", one.dim},
                     {"mesh_axes", one.axes},
                     {"along", one.label},
                     {"through", one.op},
                     {"from", one.from}});
  }
  for (const ConflictTrace& one : trace.conflicts) {
    conflicts.push_back({{"value", one.value},
                         {"dim", one.dim},
                         {"mesh_axes", one.axes},
                         {"along", one.label},
                         {"at_op", one.op},
                         {"from", one.from},
                         {"why", one.why}});
  }
  const Json document = {{"schema", json_schema_number}, {"command", "trace"},
                         {"function", function},         {"rules", rules},
                         {"propagation", gains},         {"stayed_apart", conflicts}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace shard
