#pragma once
// The memory of one device from instruction to instruction, as text and as SVG.

#include <string>
#include <string_view>

#include "report/plan.h"

namespace shard {

/// A row per instruction, or per several of a long program: then that of them where most is held.
std::string memory_picture_text(const PlannedFunction& function, std::string_view title,
                                const Layout& layout);

/// Areas of the categories on top of each other, the peak marked.
std::string memory_picture_svg(const PlannedFunction& function, std::string_view title);

}  // namespace shard
