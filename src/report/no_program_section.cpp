#include <fmt/format.h>

#include "report/sections.h"

namespace shard {

std::string no_program_section(const Plan& plan, const Layout& layout) {
  std::string text = emphasised(layout, "VALUES, COLLECTIVES, MEMORY", "1") +
                     "  unknown: the model is a list of arrays and has no program\n";
  if (!plan.fit) return text;
  const Bytes capacity = plan.fit->capacity;
  const Bytes state = plan.fit->peak;
  const std::string where = plan.device.empty() ? "" : " of a " + plan.device;
  if (!plan.fit->fits()) {
    return text + fmt::format("does not fit: the state alone, {}, is {} above the {}{}\n",
                              bytes_text(layout, state), bytes_text(layout, state - capacity),
                              bytes_text(layout, capacity), where);
  }
  return text + fmt::format(
                    "the state alone, {}, leaves {} of the {}{} for what a step needs: whether "
                    "that fits is unknown\n",
                    bytes_text(layout, state), bytes_text(layout, capacity - state),
                    bytes_text(layout, capacity), where);
}

}  // namespace shard
