#pragma once
// `run` for people.

#include <string>

#include "report/run_report.h"

namespace shard {

/// Header, verification, times, where the time goes, bytes moved, memory, verdict.
std::string run_text(const RunReport& report, const Layout& layout);

}  // namespace shard
