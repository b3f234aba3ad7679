#include "report/run_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/memory_picture.h"
#include "report/sections.h"

namespace shard {
namespace {

std::string devices_text(const std::vector<int>& devices) {
  constexpr std::size_t most_named = 8;
  std::string text = devices.size() == 1 ? "device " : "devices ";
  for (std::size_t i = 0; i < std::min(most_named, devices.size()); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", devices[i]);
  }
  if (devices.size() > most_named) text += fmt::format(" and {} more", devices.size() - most_named);
  return text;
}

std::string pages_line(const FunctionRun& run, const Layout& layout) {
  const MemoryCheck& check = *run.memory_check;
  std::string text =
      fmt::format("{:<11} arenas {}, ", run.title, bytes_text(layout, check.planned));
  text += check.resident == check.planned
              ? "all resident"
              : fmt::format("{} resident", bytes_text(layout, check.resident));
  text += check.unguarded.empty()
              ? ", guard pages hold"
              : fmt::format(", no guard pages on {}", devices_text(check.unguarded));
  text += check.written_outside.empty()
              ? ", nothing written outside"
              : fmt::format(", written outside by {}", devices_text(check.written_outside));
  return text + (check.is_ok() ? "  ok\n" : "  NOT OK\n");
}

std::string scratch_line(const FunctionRun& run, const Layout& layout) {
  const std::vector<Bytes>& scratch = run.memory_check->scratch;
  std::string workers;
  for (const Bytes one : scratch) {
    workers += fmt::format("{}{}", workers.empty() ? "" : ", ", bytes_text(layout, one));
  }
  return fmt::format("{:<11} kernels' scratch beside the arenas, by worker: {}\n", run.title,
                     workers);
}

}  // namespace

std::string memory_check_section(const RunReport& report, const Layout& layout) {
  if (!report.functions.front().memory_check) return "";
  std::string text;
  for (const auto& line : {pages_line, scratch_line}) {
    for (const FunctionRun& run : report.functions) {
      text += fmt::format("{:<9}{}", text.empty() ? "pages" : "", line(run, layout));
    }
  }
  const FunctionRun& main = report.functions.front();
  return text + memory_at_peak(*main.function, layout) +
         memory_picture_text(*main.function, main.title, layout);
}

}  // namespace shard
