#pragma once
// The sections of `plan`'s screen, each with its title and a final newline; empty when there is
// nothing to say.

#include <string>

#include "report/plan.h"

namespace shard {

std::string header_line(const Plan& plan, const Layout& layout);
std::string state_section(const Plan& plan, const Layout& layout);
/// Every value's type as JAX prints it.
std::string types_section(const Plan& plan, const Layout& layout);
std::string values_section(const Plan& plan, const Layout& layout);
std::string collectives_section(const Plan& plan, const Layout& layout);
/// What inference gives and costs, beside the train step; empty when it is the main function.
std::string apply_section(const Plan& plan, const Layout& layout);
std::string memory_section(const Plan& plan, const Layout& layout);
/// What a device holds where it holds most: by category, the instruction, the largest arrays.
std::string memory_at_peak(const PlannedFunction& function, const Layout& layout);
/// What a list of arrays cannot tell, and whether its state fits; instead of all that is about a
/// program.
std::string no_program_section(const Plan& plan, const Layout& layout);
std::string finding_text(const Finding& finding, const Layout& layout);
std::string findings_section(const Plan& plan, const Layout& layout);
std::string verdict_line(const Plan& plan, const Layout& layout);

/// Exact with commas, or with a binary unit for --human.
std::string bytes_text(const Layout& layout, Bytes bytes);

/// `at most 1,024` for a bound, else the text itself.
std::string at_most_text(bool is_bound, std::string text);

/// SGR bold or colour around `text` when the layout has colour.
std::string emphasised(const Layout& layout, const std::string& text, const char* code);

/// `1 error`, `2 errors`.
std::string counted(std::int64_t count, const std::string& noun);

}  // namespace shard
