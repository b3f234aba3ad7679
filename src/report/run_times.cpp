#include "report/run_times.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

constexpr double to_milli = 1e3;
constexpr double to_giga = 1e-9;
/// Collectives and devices beyond these are summed up.
constexpr std::size_t most_collectives = 6;
constexpr std::size_t most_device_rows = 16;

/// Steps that were counted, never 0.
double counted_steps(const FunctionRun& run) {
  return static_cast<double>(std::max<std::int64_t>(1, run.counters.steps));
}

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", to_milli * seconds); }

bool is_arithmetic(const KindCounter& kind) {
  return kind.flops > 0 && !kind.is_collective && kind.flops > kind.bytes;
}

/// Of one worker.
std::string rate_text(const KindCounter& kind) {
  if (kind.busy.value <= 0) return "";
  if (is_arithmetic(kind)) {
    return fmt::format("{:.1f} GFLOP/s", kind.flops / kind.busy.value * to_giga);
  }
  return fmt::format("{:.1f} GB/s", kind.bytes / kind.busy.value * to_giga);
}

/// The share of what the machine can do, if all workers did this.
std::string limit_share(const KindCounter& kind, const RunReport& report) {
  if (!report.limits || kind.busy.value <= 0) return "";
  const double most =
      is_arithmetic(kind) ? report.limits->product_flops : report.limits->copy_bytes;
  const double done = is_arithmetic(kind) ? kind.flops : kind.bytes;
  return fmt::format("{:.0f} %", 100 * done / kind.busy.value * report.workers / most);
}

std::string kinds_table(const RunReport& report, const Layout& layout) {
  const FunctionRun& run = report.functions.front();
  const Counters& counters = run.counters;
  const double steps = counted_steps(run), all = counters.wall.value * report.workers;
  std::vector<Column> columns = {
      {"WHERE TIME GOES"}, {"ms/step", true}, {"share", true}, {"calls", true}, {"rate", true}};
  if (report.limits) columns.push_back({"of the limit", true});
  Table table(columns);
  const auto add = [&](std::vector<std::string> cells) {
    cells.resize(columns.size());
    table.add(std::move(cells));
  };
  const auto share = [&](double busy) { return fmt::format("{:.1f} %", 100 * busy / all); };
  const auto devices = static_cast<std::int64_t>(counters.peak.size());
  const std::int64_t each =
      std::max<std::int64_t>(1, devices * std::max<std::int64_t>(1, counters.steps));
  for (const KindCounter& kind : counters.kinds) {
    add({kind.kind, milliseconds(kind.busy.value / steps), share(kind.busy.value),
         with_commas(kind.calls / each), rate_text(kind), limit_share(kind, report)});
  }
  add({"waiting", milliseconds(counters.waiting.value / steps), share(counters.waiting.value)});
  return table.render(layout.width, layout.color) +
         "(worker time of the train step or, without one, of apply; calls per device and step; "
         "rates of one worker)\n";
}

std::string collectives_time_table(const FunctionRun& run, const Layout& layout) {
  std::vector<CollectiveTimeRow> rows = collective_time_rows(run);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CollectiveTimeRow& a, const CollectiveTimeRow& b) {
                     return a.busy.value > b.busy.value;
                   });
  Table table({{"COLLECTIVES, slowest first"},
               {"ms/step", true},
               {"waited", true},
               {"copied", true},
               {"rate", true}});
  for (std::size_t i = 0; i < std::min(rows.size(), most_collectives); ++i) {
    const CollectiveTimeRow& row = rows[i];
    const double rate =
        row.busy.value > 0 ? static_cast<double>(row.copied.count()) / row.busy.value : 0;
    table.add({fmt::format("#{} {}", row.number, row.name), milliseconds(row.busy.value),
               milliseconds(row.waiting.value), bytes_text(layout, row.copied),
               fmt::format("{:.1f} GB/s", rate * to_giga)});
  }
  if (table.empty()) return "";
  std::string rest;
  if (rows.size() > most_collectives) {
    double busy = 0;
    for (std::size_t i = most_collectives; i < rows.size(); ++i) busy += rows[i].busy.value;
    rest = fmt::format("{} more: {} ms/step\n", rows.size() - most_collectives, milliseconds(busy));
  }
  return table.render(layout.width, layout.color) + rest +
         "(worker time of all groups; waited: ms of each member for the last one)\n";
}

using TallyPart = double DeviceTally::*;
constexpr TallyPart tally_parts[] = {&DeviceTally::computing, &DeviceTally::collecting,
                                     &DeviceTally::meeting, &DeviceTally::queued};

std::string devices_table(const FunctionRun& run, const Layout& layout) {
  const std::vector<DeviceTally>& devices = run.counters.devices;
  const double steps = counted_steps(run);
  Table table({{"DEVICES, ms/step"},
               {"computing", true},
               {"in collectives", true},
               {"waiting for devices", true},
               {"waiting for a worker", true}});
  const auto add = [&](const std::string& name, const auto& value_of) {
    std::vector<std::string> cells = {name};
    for (const TallyPart part : tally_parts) cells.push_back(milliseconds(value_of(part) / steps));
    table.add(std::move(cells));
  };
  if (devices.size() <= most_device_rows) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      add(std::to_string(i), [&](TallyPart part) { return devices[i].*part; });
    }
    return table.empty() ? "" : table.render(layout.width, layout.color);
  }
  const auto ordered = [&](TallyPart part) {
    std::vector<double> values;
    for (const DeviceTally& one : devices) values.push_back(one.*part);
    std::sort(values.begin(), values.end());
    return values;
  };
  const std::string count = with_commas(static_cast<std::int64_t>(devices.size()));
  add("least of " + count, [&](TallyPart part) { return ordered(part).front(); });
  add("median", [&](TallyPart part) { return ordered(part)[devices.size() / 2]; });
  add("most", [&](TallyPart part) { return ordered(part).back(); });
  return table.render(layout.width, layout.color);
}

}  // namespace

std::string time_tables(const RunReport& report, const Layout& layout) {
  const FunctionRun& run = report.functions.front();
  if (run.counters.wall.value <= 0) return "";
  return kinds_table(report, layout) + collectives_time_table(run, layout) +
         devices_table(run, layout);
}

std::string limits_line(const RunReport& report) {
  if (!report.limits) return "";
  return fmt::format("limits   {:.1f} GFLOP/s of products, {:.1f} GB/s of copies, with {}\n",
                     report.limits->product_flops * to_giga, report.limits->copy_bytes * to_giga,
                     counted(report.workers, "worker"));
}

}  // namespace shard
