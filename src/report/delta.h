#pragma once
// What an edit on the command line changes against the files as they are.

#include <optional>
#include <string>

#include "check/diff.h"
#include "report/plan.h"

namespace shard {

/// The difference, or why there is none: the files as they are cannot be planned.
struct Delta {
  std::string base;  ///< what it is against: `the files as they are`
  std::optional<LayoutDiff> diff;
  std::string refusal;  ///< the first mistake of the base, when it has no plan
};

/// Specs that differ, bytes, collectives and wire before and after, findings that came and went.
/// Ends with a newline.
std::string delta_text(const Delta& delta, const Layout& layout);

}  // namespace shard
