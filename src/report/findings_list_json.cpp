#include <nlohmann/json.hpp>

#include "report/findings_list.h"
#include "report/semantics.h"

namespace shard {

std::string findings_list_json() {
  using Json = nlohmann::ordered_json;
  constexpr int indent = 2;
  constexpr const char* levels[] = {"error", "warning", "note"};
  Json all = Json::array();
  for (const FindingKind& kind : finding_table()) {
    all.push_back({{"id", kind.id},
                   {"severity", levels[static_cast<std::size_t>(kind.severity)]},
                   {"is_found_in_plans", kind.find != nullptr},
                   {"is_on_request", kind.is_on_request},
                   {"stops_planning", kind.find == nullptr || kind.may_stop},
                   {"help", kind.help},
                   {"act", kind.act}});
  }
  const Json document = {{"schema", json_schema_number}, {"command", "findings"}, {"kinds", all}};
  return document.dump(indent) + '\n';
}

}  // namespace shard
