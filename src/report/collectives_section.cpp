#include <fmt/format.h>

#include <map>

#include "report/fold.h"
#include "report/rows.h"
#include "report/sections.h"
#include "report/table.h"
#include "spmd/reshard_memory.h"

namespace shard {
namespace {

std::string number_range(const CollectiveRow& first, const CollectiveRow& last) {
  const std::int64_t end = last.number + last.instances - 1;
  if (first.number == end) return fmt::format("#{}", end);
  return fmt::format("#{}-{}", first.number, end);
}

std::vector<std::string> table_row(const Layout& layout, const std::vector<CollectiveRow>& rows,
                                   const std::vector<std::size_t>& group) {
  std::vector<Clauses> whys;
  std::int64_t count = 0;
  for (const std::size_t position : group) {
    whys.push_back(rows[position].why);
    count += rows[position].count;
  }
  const CollectiveRow& first = rows[group.front()];
  return {number_range(first, rows[group.back()]),
          std::string(name_of(first.kind)),
          first.axes,
          with_commas(first.group),
          with_commas(count),
          bytes_text(layout, first.payload),
          at_most_text(may_send_less(first.kind), bytes_text(layout, first.wire_each)),
          join(whys)};
}

std::string wire_line(const Plan& plan, const Layout& layout) {
  std::string text;
  for (const AxisWire& wire : wire_per_axis(plan.main())) {
    text += fmt::format("   {} {}", wire.axes,
                        at_most_text(wire.is_bound, bytes_text(layout, wire.wire)));
  }
  if (text.empty()) return "";
  return "wire per device and step:" + text.substr(2) + '\n';
}

/// What the limit of reshards leaves unused; only said where there is one.
std::string reshard_line(const PlannedFunction& function, const Layout& layout) {
  const Bytes limit = function.sharded.reshard_memory;
  if (limit == Bytes(0)) return "";
  return fmt::format("reshards: {} B of operand and result in the largest step, {} B allowed\n",
                     bytes_text(layout, largest_reshard(function.program)),
                     bytes_text(layout, limit));
}

/// Why a loop has collectives that the unrolled form would not have.
std::string loop_line(const std::vector<CollectiveRow>& rows) {
  std::string numbers;
  for (const auto& group : collective_groups(rows)) {
    if (rows[group.front()].loop_times == 1) continue;
    numbers +=
        (numbers.empty() ? "" : ", ") + number_range(rows[group.front()], rows[group.back()]);
  }
  if (numbers.empty()) return "";
  return fmt::format(
      "in loops: {} run in every iteration; a scanned body runs whole, also where nobody needs "
      "what "
      "its last iteration gives (unrolled, that is left out)\n",
      numbers);
}

/// `left out: W2 of ... (nothing returned needs it)`
std::string left_out_line(const Plan& plan) {
  if (plan.model.dropped.empty()) return "";
  return fmt::format("left out: {} (nothing returned needs it)\n", join_folded(plan.model.dropped));
}

/// How many of each kind XLA's combiner would issue; only said where it differs from ours.
std::string merged_line(const PlannedFunction& function) {
  struct Tally {
    std::int64_t ours = 0;
    std::int64_t merged = 0;
  };
  std::map<std::string, Tally> tallies;
  for (const MergeCount& one : function.merged) {
    Tally& tally = tallies[fmt::format("{} {}", name_of(one.kind),
                                       axes_text(function.program.mesh, one.axes))];
    tally.merged += one.times;
    tally.ours += one.times * one.members;
  }
  std::string text;
  for (const auto& [name, tally] : tallies) {
    if (tally.ours == tally.merged) continue;
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", name, tally.ours, tally.merged);
  }
  return text.empty() ? "" : "XLA's combiner would merge: " + text + '\n';
}

/// Which of them nothing asks for.
std::string implicit_line(const std::vector<CollectiveRow>& rows, const Layout& layout) {
  std::string numbers;
  Bytes wire;
  for (const auto& group : collective_groups(rows)) {
    if (!rows[group.front()].is_implicit) continue;
    numbers +=
        (numbers.empty() ? "" : ", ") + number_range(rows[group.front()], rows[group.back()]);
    for (const std::size_t position : group) wire += rows[position].wire;
  }
  if (numbers.empty()) return "";
  return fmt::format(
      "implicit, no constraint asks for them: {}, {} B of the wire (--strict says "
      "what removes them)\n",
      numbers, bytes_text(layout, wire));
}

}  // namespace

std::string collectives_section(const Plan& plan, const Layout& layout) {
  const std::vector<CollectiveRow> rows = collective_rows(plan.main());
  const std::string left_out = left_out_line(plan);
  if (rows.empty()) return "COLLECTIVES  none\n" + left_out;
  Table table({{"COLLECTIVES"},
               {"kind"},
               {"axis"},
               {"group", true, 3},
               {"count", true},
               {"payload B", true},
               {"wire B", true},
               {"why"}});
  for (const auto& group : collective_groups(rows)) table.add(table_row(layout, rows, group));
  return table.render(layout.width, layout.color) + wire_line(plan, layout) +
         reshard_line(plan.main(), layout) + implicit_line(rows, layout) +
         merged_line(plan.main()) + loop_line(rows) + left_out;
}

}  // namespace shard
