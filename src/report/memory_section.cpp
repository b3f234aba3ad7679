#include <fmt/format.h>

#include <algorithm>

#include "model/range_names.h"
#include "report/fold.h"
#include "report/rows.h"
#include "report/sections.h"
#include "spmd/fused_form.h"

namespace shard {
namespace {

constexpr std::size_t most_live_shown = 3;

std::string peak_instruction_text(const PlannedFunction& function) {
  const int position = function.program.memory.peak_instruction;
  if (position < 0) return "the start";
  const Instruction& at = function.program.main().instructions[static_cast<std::size_t>(position)];
  std::string text = at.kind == Instruction::Kind::loop    ? "repeat"
                     : at.kind == Instruction::Kind::fused ? fused_name(at)
                     : at.collective ? std::string(name_of(at.collective->kind))
                                     : std::string(def(at.op).name);
  if (at.node == NodeId::none) return text;
  const std::string layer =
      narrowed(function.sharded.graph.node(at.node).name, function.program.memory.peak_instance, 1);
  if (layer.empty()) return text;
  return fmt::format("{} of {} ({})", text, layer, name_of(at.phase));
}

/// What is not always there: everything but the state and the inputs.
std::vector<LiveRow> passing_rows(const Program& program) {
  std::vector<LiveRow> rows = live_rows(program);
  std::erase_if(rows, [](const LiveRow& row) {
    return row.category == Category::parameter || row.category == Category::optimizer ||
           row.category == Category::input;
  });
  return rows;
}

std::string live_text(const PlannedFunction& function, const Layout& layout) {
  const std::vector<LiveRow> rows = passing_rows(function.program);
  if (rows.empty()) return "the state and the inputs";
  std::vector<FoldItem> items;
  std::int64_t hidden = 0;
  for (const LiveRow& row : rows) {
    items.push_back({row.name, std::to_string(row.bytes.count())});
    hidden += row.instances;
  }
  std::string text = "the state, the inputs";
  std::size_t groups = 0;
  for (const auto& group : fold_groups(items)) {
    if (groups++ == most_live_shown) break;
    std::vector<std::string> names;
    std::int64_t count = 0;
    for (const std::size_t item : group) {
      names.push_back(rows[item].name);
      count += rows[item].instances;
    }
    text +=
        fmt::format(", {} {}{}", fold_names(names), count == 1 ? "" : with_commas(count) + " x ",
                    bytes_text(layout, rows[group.front()].bytes));
    hidden -= count;
  }
  if (hidden > 0) text += " and " + with_commas(hidden) + " more";
  return text;
}

std::string fit_line(const Plan& plan, const Layout& layout) {
  if (!plan.fit) return "";
  const Bytes capacity = plan.fit->capacity;
  const Bytes peak = plan.fit->peak;
  const std::string where = plan.device.empty() ? "" : " of a " + plan.device;
  const Bytes margin = plan.fit->fits() ? capacity - peak : peak - capacity;
  const double share =
      100.0 * static_cast<double>(margin.count()) / static_cast<double>(capacity.count());
  return fmt::format("{}: the peak {} is {} {} the {}{} ({:.1f} %)\n",
                     plan.fit->fits() ? "fits" : "does not fit", bytes_text(layout, peak),
                     bytes_text(layout, margin), plan.fit->fits() ? "below" : "above",
                     bytes_text(layout, capacity), where, share);
}

}  // namespace

std::string memory_at_peak(const PlannedFunction& function, const Layout& layout) {
  const MemoryPlan& memory = function.program.memory;
  std::string categories;
  for (const CategoryBytes& one : memory.by_category) {
    categories += fmt::format("  {} {}", name_of(one.category), bytes_text(layout, one.bytes));
  }
  const Bytes gaps = memory.peak - memory.peak_live;
  if (gaps > Bytes(0)) categories += fmt::format("  gaps {}", bytes_text(layout, gaps));
  std::string text =
      emphasised(layout, "MEMORY", "1") + " per device at the peak:" + categories + '\n';
  text += fmt::format("peak {} at {}, live: {}\n", bytes_text(layout, memory.peak),
                      peak_instruction_text(function), live_text(function, layout));
  return text;
}

std::string memory_section(const Plan& plan, const Layout& layout) {
  std::string text = memory_at_peak(plan.main(), layout);
  text +=
      "this is the peak of our executor's plan; XLA's fusion, layout padding, fragmentation and "
      "runtime buffers are not modelled\n";
  return text + fit_line(plan, layout);
}

}  // namespace shard
