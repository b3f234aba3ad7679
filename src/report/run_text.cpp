#include "report/run_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/machine_load.h"
#include "report/run_memory.h"
#include "report/run_times.h"
#include "report/sections.h"
#include "report/semantics.h"
#include "report/table.h"

namespace shard {
namespace {

constexpr double milli = 1e3;
/// Another process that keeps this much of a core busy makes times worth a remark.
constexpr double busy_cores = 0.25;

std::string header(const RunReport& report, const Layout& layout) {
  const Plan& plan = *report.plan;
  const std::string hosts =
      report.network.empty()
          ? ""
          : fmt::format(" on {} by {}", counted(report.collectives.hosts, "host"), report.network);
  return fmt::format("{} on {} ({}), {}{}, seed {}   semantics {}\n",
                     emphasised(layout, plan.model.name, "1"),
                     counted(plan.mesh.device_count(), "virtual device"), to_string(plan.mesh),
                     counted(report.workers, "worker"), hosts, report.seed, semantics_name);
}

std::string verdict_word(const Layout& layout, bool ok) {
  return ok ? emphasised(layout, "ok", "1;32") : emphasised(layout, "NOT OK", "1;31");
}

std::string outputs_text(const FunctionRun& run) {
  const std::vector<ArrayRow> rows = output_rows(*run.function);
  if (rows.size() != 1) return counted(static_cast<std::int64_t>(run.differences.size()), "array");
  return fmt::format("{} {}  {}", rows.front().name, to_string(rows.front().type),
                     rows.front().spec);
}

std::string verify_line(const FunctionRun& run, const Layout& layout) {
  const Difference* const worst = run.worst();
  if (worst == nullptr) {
    return fmt::format("{:<11} not compared{}{}\n", run.title,
                       run.why_not_compared.empty() ? "" : ": ", run.why_not_compared);
  }
  const std::string what =
      run.function->sharded.graph.name == "apply"
          ? outputs_text(run)
          : counted(static_cast<std::int64_t>(run.differences.size()), "array");
  const std::string steps =
      run.compared_steps == 1 ? "" : fmt::format(" in each of {} steps", run.compared_steps);
  const std::string found = worst->has_non_finite
                                ? fmt::format("not a number at {}", worst->name)
                                : fmt::format("largest difference {:.1e} (tolerance {:.0e}, at {})",
                                              worst->largest, worst->tolerance, worst->name);
  std::string range;
  if (run.undetermined != 0) {
    range = fmt::format(", but for {} of an update whose gradient is 0 within rounding",
                        counted(run.undetermined, "element"));
  }
  if (run.rounded_otherwise != 0) {
    range += fmt::format(", {} {} that {} on how values of 16 bits are rounded",
                         range.empty() ? "but for" : "and for",
                         counted(run.rounded_otherwise, "element"),
                         run.rounded_otherwise == 1 ? "hangs" : "hang");
  }
  return fmt::format("{:<11} {} the unsharded run{}: {}, {}{}  {}\n", run.title,
                     run.results_equal() ? "equal to" : "DIFFERS FROM", steps, what, found, range,
                     verdict_word(layout, run.results_equal()));
}

/// Where the difference begins.
std::string first_line(const FunctionRun& run) {
  if (run.first) {
    return fmt::format(
        "{:<9}{:<11} {}{}\n", "", "  begins", to_string(*run.first),
        run.first->is_non_finite && !run.first->is_shared ? "; not finite from here on" : "");
  }
  if (run.why_no_first.empty()) return "";
  return fmt::format("{:<9}{:<11} {}\n", "", "  begins", run.why_no_first);
}

std::string time_line(const FunctionRun& run) {
  const Timing& timing = *run.timing;
  return fmt::format(
      "{:<11} {:.1f} ms ± {:.2f} ms per step (mean ± std. dev. of {}, {} each)   median {:.1f}  "
      "min {:.1f}\n",
      run.title, milli * timing.mean.value, milli * timing.deviation.value,
      counted(timing.runs, "run"), counted(timing.loops, "step"), milli * timing.median.value,
      milli * timing.minimum.value);
}

/// What disturbed the times.
std::string busy_line(const RunReport& report) {
  OtherLoad most;
  for (const FunctionRun& run : report.functions) {
    if (!run.timing) continue;
    most.busy = std::max(most.busy, run.timing->others_cpu);
    most.stolen = std::max(most.stolen, run.timing->stolen_cpu);
  }
  std::string text;
  if (most.busy >= busy_cores) {
    text += fmt::format(
        "         other processes kept {:.1f} cores busy meanwhile: times are worse "
        "than they would be alone\n",
        most.busy);
  }
  if (most.stolen >= busy_cores) {
    text += fmt::format(
        "         the host of this virtual machine gave {:.1f} cores to others meanwhile: times "
        "are "
        "worse than they would be alone\n",
        most.stolen);
  }
  return text;
}

/// The lines of all functions under one word.
template <class Line>
std::string block(const RunReport& report, const char* word, Line&& line) {
  std::string text;
  for (const FunctionRun& run : report.functions) {
    const std::string one = line(run);
    if (!one.empty()) text += fmt::format("{:<9}{}", text.empty() ? word : "", one);
  }
  return text;
}

std::string moved_table(const FunctionRun& run, const Layout& layout) {
  Table table({{"MOVED per device and step"},
               {"planned", true},
               {"counted", true},
               {"our copies, all devices", true}});
  for (const MovedRow& row : moved_rows(run)) {
    table.add({row.axes, at_most_text(row.is_bound, bytes_text(layout, row.planned)),
               bytes_text(layout, row.counted), bytes_text(layout, row.copied)});
  }
  if (table.empty()) return "MOVED per device and step  nothing\n";
  return table.render(layout.width, layout.color);
}

std::string links_table(const RunReport& report, const Layout& layout) {
  const CollectiveChoice& choice = report.collectives;
  const std::string hosts = choice.algorithm == CollectiveAlgorithm::hierarchical
                                ? fmt::format(" over {}", counted(choice.hosts, "host"))
                                : "";
  Table table({{fmt::format("LINKS of {}{}, per step", to_string(choice.algorithm), hosts)},
               {"links", true},
               {"messages", true},
               {"bytes", true},
               {"most on one link", true}});
  for (const LinkRow& row : link_rows(report.functions.front())) {
    table.add({row.collective, with_commas(row.links), with_commas(row.messages),
               bytes_text(layout, row.bytes), bytes_text(layout, row.most)});
  }
  return table.empty() ? "" : table.render(layout.width, layout.color);
}

std::string memory_line(const FunctionRun& run, const Layout& layout) {
  const auto& peaks = run.counters.peak;
  const Bytes planned = run.function->program.memory.peak;
  if (peaks.empty()) return "";
  const auto [least, most] = std::minmax_element(peaks.begin(), peaks.end());
  const std::string measured =
      *least == *most ? bytes_text(layout, *most) + " on all " +
                            counted(static_cast<std::int64_t>(peaks.size()), "device")
                      : bytes_text(layout, *least) + " to " + bytes_text(layout, *most);
  return fmt::format("{:<11} peak per device planned {}, measured {}  {}\n", run.title,
                     bytes_text(layout, planned), measured,
                     verdict_word(layout, run.memory_equal()));
}

std::string trace_line(const RunReport& report) {
  if (report.trace_file.empty()) return "";
  std::string functions;
  std::size_t spans = 0;
  for (const FunctionRun& run : report.functions) {
    functions += (functions.empty() ? "" : ", ") + run.title;
    spans += run.timeline->spans.size();
  }
  return fmt::format("trace    {}: one step of {} on {}, {} slices\n", report.trace_file, functions,
                     counted(report.plan->mesh.device_count(), "device"),
                     with_commas(static_cast<std::int64_t>(spans)));
}

std::string verdict(const RunReport& report, const Layout& layout) {
  const auto all = [&](bool (FunctionRun::*claim)() const) {
    return std::all_of(report.functions.begin(), report.functions.end(),
                       [&](const FunctionRun& run) { return (run.*claim)(); });
  };
  const auto compared =
      std::count_if(report.functions.begin(), report.functions.end(),
                    [](const FunctionRun& run) { return !run.differences.empty(); });
  const bool is_equal = all(&FunctionRun::results_equal);
  const auto any = [&](bool (FunctionRun::*fact)() const) {
    return std::any_of(report.functions.begin(), report.functions.end(),
                       [&](const FunctionRun& run) { return (run.*fact)(); });
  };
  const auto word = [](bool ok) { return ok ? "equal" : "DIFFER"; };
  const auto planned = [&](bool ok, bool is_bound) {
    return ok && is_bound ? "within the plan" : word(ok);
  };
  const bool is_partly = is_equal && compared < std::ssize(report.functions);
  const std::string results =
      compared == 0 ? "not compared"
                    : std::string(word(is_equal)) + (is_partly ? " where compared" : "");
  return fmt::format("{}: results {}, bytes {}, memory {}\n",
                     emphasised(layout, report.is_ok() ? "run ok" : "run not ok",
                                report.is_ok() ? "1;32" : "1;31"),
                     results,
                     planned(all(&FunctionRun::bytes_equal), any(&FunctionRun::may_send_less)),
                     planned(all(&FunctionRun::memory_equal) && all(&FunctionRun::pages_ok),
                             any(&FunctionRun::may_do_less)));
}

}  // namespace

std::string run_text(const RunReport& report, const Layout& layout) {
  const FunctionRun& main = report.functions.front();
  std::string text = header(report, layout);
  if (report.fault) text += fmt::format("inject   {}\n", to_string(*report.fault));
  text += block(report, "verify",
                [&](const FunctionRun& run) { return verify_line(run, layout) + first_line(run); });
  const std::string times = block(report, "time", [](const FunctionRun& run) {
    return run.timing ? time_line(run) : std::string();
  });
  text += times + busy_line(report) + limits_line(report);
  if (!times.empty()) text += time_tables(report, layout);
  text += moved_table(main, layout);
  text += links_table(report, layout);
  text += block(report, "memory", [&](const FunctionRun& run) { return memory_line(run, layout); });
  text += memory_check_section(report, layout);
  return text + trace_line(report) + verdict(report, layout);
}

}  // namespace shard
