#pragma once
// `plan` for people.

#include <string>

#include "report/plan.h"

namespace shard {

/// The whole screen: header, STATE, VALUES, COLLECTIVES, MEMORY, findings, verdict. Ends with a
/// newline.
std::string plan_text(const Plan& plan, const Layout& layout);

}  // namespace shard
