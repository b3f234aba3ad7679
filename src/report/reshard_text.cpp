#include <fmt/format.h>

#include <map>

#include "report/reshard_report.h"
#include "report/rows.h"
#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

std::string spec_with_sums(const ReshardReport& report, const Sharding& sharding) {
  const std::string spec = spec_text(report.mesh, sharding);
  if (sharding.unreduced.empty()) return spec;
  return fmt::format("{} summed over {}", spec, axes_text(report.mesh, sharding.unreduced));
}

std::string side_text(const ReshardReport& report, const Sharding& sharding, const Layout& layout) {
  const Shape local = local_shape(report.type.shape, sharding);
  return fmt::format("{}  local {} {}", spec_with_sums(report, sharding), to_string(local),
                     bytes_text(layout, bytes_of({report.type.dtype, local})));
}

std::string head(const ReshardReport& report, const Layout& layout) {
  return fmt::format("{} {} B   mesh {}, {}\nfrom  {}\nto    {}\n", to_string(report.type),
                     bytes_text(layout, bytes_of(report.type)), to_string(report.mesh),
                     counted(report.mesh.device_count(), "device"),
                     side_text(report, report.from, layout), side_text(report, report.to, layout));
}

/// `0`, or `0 -> 1` where one dim gets whole and another split.
std::string dims_text(const Collective& collective) {
  if (collective.dim < 0) return "";
  if (collective.split_dim < 0) return fmt::format("{}", collective.dim);
  return fmt::format("{} -> {}", collective.dim, collective.split_dim);
}

std::string steps_table(const ReshardReport& report, const Layout& layout) {
  if (report.plan.steps.empty()) return "STEPS  none\n";
  Table table({{"STEPS"},
               {"kind"},
               {"axis"},
               {"group", true, 3},
               {"dim", false, 2},
               {"payload B", true},
               {"wire B", true},
               {"after"},
               {"local", false, 1}});
  std::int64_t number = 0;
  for (const ReshardStep& step : report.plan.steps) {
    const Collective& collective = step.collective;
    table.add({fmt::format("#{}", ++number), std::string(name_of(collective.kind)),
               axes_text(report.mesh, collective.axes), with_commas(product(collective.axes)),
               dims_text(collective), bytes_text(layout, collective.payload),
               bytes_text(layout, collective.wire), spec_with_sums(report, step.after),
               to_string(step.local)});
  }
  return table.render(layout.width, layout.color);
}

std::string wire_line(const ReshardReport& report, const Layout& layout) {
  std::map<std::vector<AxisRef>, Bytes> per_axis;
  for (const ReshardStep& step : report.plan.steps) {
    if (step.collective.wire > Bytes(0)) per_axis[step.collective.axes] += step.collective.wire;
  }
  std::string text = "wire per device:";
  for (const auto& [axes, wire] : per_axis)
    text += fmt::format(" {} {}  ", axes_text(report.mesh, axes), bytes_text(layout, wire));
  if (per_axis.empty()) text += " none  ";
  const bool is_cheapest = report.plan.wire == report.plan.lower_bound;
  const std::string within =
      report.memory == Bytes(0) ? "" : fmt::format(" within {}", bytes_text(layout, report.memory));
  return text + (is_cheapest ? fmt::format(" no sequence of such steps{} sends less\n", within)
                             : fmt::format(" every sequence of such steps{} sends {} or more\n",
                                           within, bytes_text(layout, report.plan.lower_bound)));
}

std::string kinds_text(const ReshardReport& report, const ReshardPlan& plan) {
  std::string text;
  for (const ReshardStep& step : plan.steps)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(step.collective.kind),
                        axes_text(report.mesh, step.collective.axes));
  return text;
}

/// `3.50x`; nothing to compare with when nothing is sent.
std::string ratio(Bytes bytes, Bytes base) {
  if (base == Bytes(0)) return bytes == base ? "1.00x" : "";
  return fmt::format("{:.2f}x",
                     static_cast<double>(bytes.count()) / static_cast<double>(base.count()));
}

std::string alternatives_table(const ReshardReport& report, const Layout& layout) {
  if (report.alternatives.empty()) return "";
  Table table({{"INSTEAD"}, {"wire B", true}, {"", true, 1}, {"peak B", true}, {"steps"}});
  for (const ReshardAlternative& other : report.alternatives)
    table.add({other.name, bytes_text(layout, other.plan.wire),
               ratio(other.plan.wire, report.plan.wire), bytes_text(layout, other.plan.peak),
               kinds_text(report, other.plan)});
  return '\n' + table.render(layout.width, layout.color);
}

std::string run_line(const ReshardReport& report, const Layout& layout) {
  if (!report.run) return "";
  const ReshardRun& run = *report.run;
  const auto both = [&](Bytes planned, Bytes found) {
    return planned == found ? fmt::format("{} as planned", bytes_text(layout, found))
                            : fmt::format("{}, planned {}", bytes_text(layout, found),
                                          bytes_text(layout, planned));
  };
  return fmt::format(
      "\nrun on {}: {}   wire {}   peak of the arena {}\n", counted(run.devices, "virtual device"),
      run.wrong_bytes == 0 ? "every byte of every device is right"
                           : fmt::format("{} wrong", counted(run.wrong_bytes, "byte")),
      both(run.planned_wire, run.counted_wire), both(run.planned_peak, run.measured_peak));
}

}  // namespace

std::string reshard_text(const ReshardReport& report, const Layout& layout) {
  return head(report, layout) + '\n' + steps_table(report, layout) + wire_line(report, layout) +
         fmt::format("peak per device: {}, operand and result of a step\n",
                     bytes_text(layout, report.plan.peak)) +
         alternatives_table(report, layout) + run_line(report, layout);
}

}  // namespace shard
