#pragma once
// What findings there are, and those of one plan alone.

#include <string>

#include "report/plan.h"

namespace shard {

/// Every row of the finding table: id, usual level, what it is, what to do. Ends with a newline.
std::string findings_list_text(const Layout& layout);
std::string findings_list_json();

/// The findings of the plan and the verdict.
std::string findings_text(const Plan& plan, const Layout& layout);
std::string findings_json(const Plan& plan);

}  // namespace shard
