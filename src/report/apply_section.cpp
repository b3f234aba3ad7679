#include <fmt/format.h>

#include "report/rows.h"
#include "report/sections.h"

namespace shard {
namespace {

std::string outputs_text(const PlannedFunction& apply) {
  std::string text;
  for (const ArrayRow& row : output_rows(apply)) {
    text += fmt::format("{}{} {} {} local {}", text.empty() ? "" : ", ", row.name,
                        to_string(row.type), row.spec, to_string(row.local));
  }
  return text;
}

std::string collectives_text(const PlannedFunction& apply, const Layout& layout) {
  std::string text;
  for (const CollectiveCount& one : apply.collectives) {
    if (one.kind == CollectiveKind::all_slice) continue;
    text += fmt::format("{}{} {} {} x {}", text.empty() ? "" : ", ", name_of(one.kind),
                        axes_text(apply.program.mesh, one.axes), with_commas(one.count),
                        bytes_text(layout, one.payload));
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::string apply_section(const Plan& plan, const Layout& layout) {
  if (!plan.train_step) return "";
  return fmt::format("{} (inference) returns {}\ncollectives: {}   peak per device: {}\n",
                     emphasised(layout, "APPLY", "1"), outputs_text(plan.apply),
                     collectives_text(plan.apply, layout),
                     bytes_text(layout, plan.apply.program.memory.peak));
}

}  // namespace shard
