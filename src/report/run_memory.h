#pragma once
// What a run found about memory, where it was asked to look closely.

#include <string>

#include "report/run_report.h"

namespace shard {

/// Pages and guards, what is held at the peak, scratch of kernels, the course of the main function;
/// empty for a run that did not look.
std::string memory_check_section(const RunReport& report, const Layout& layout);

}  // namespace shard
