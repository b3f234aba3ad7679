#pragma once
// Where the time of a run goes: by kind of instruction, by collective, by device.

#include <string>

#include "report/run_report.h"

namespace shard {

/// The tables of the main function.
std::string time_tables(const RunReport& report, const Layout& layout);

/// What the machine can do, where it is known.
std::string limits_line(const RunReport& report);

}  // namespace shard
