#pragma once
// The answers as JSON: one document with a `schema` number, keys in a fixed order, numbers exact,
// units in the keys. `json_output_schema` documents every key.

#include <optional>
#include <string>
#include <vector>

#include "report/delta.h"
#include "report/plan.h"
#include "report/rows.h"
#include "report/run_report.h"
#include "report/show_text.h"

namespace shard {

std::string plan_json(const Plan& plan, const std::optional<Delta>& delta = {});
/// `options` say whether the devices of the mesh and the indices of each device are listed.
std::string show_json(const Plan& plan, const std::vector<ArrayRow>& chosen,
                      const ShowOptions& options);
std::string run_json(const RunReport& report);

/// JSON Schema (draft 2020-12) of these three.
std::string json_output_schema();

}  // namespace shard
