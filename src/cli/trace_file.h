#pragma once
// The file of `run --trace`; its name says in which form.

#include <string>

#include "report/run_report.h"

namespace shard {

/// Throws `Error` `bad-value` at `option` for a name of no known form.
void check_trace_name(const std::string& option, const std::string& path);

/// The content of a file of that name: the timelines of the report's functions.
std::string trace_text_for(const std::string& path, const RunReport& report);

}  // namespace shard
