#include "cli/trace_file.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "report/timeline_view.h"

namespace shard {
namespace {

struct TraceForm {
  std::string_view ending;
  std::string (*write)(const std::vector<TimedFunction>& functions);
};

constexpr TraceForm trace_forms[] = {
    {".json", timeline_json},
    {".pftrace", timeline_protobuf},
    {".perfetto-trace", timeline_protobuf},
};

const TraceForm* trace_form_of(const std::string& path) {
  const auto* const form =
      std::find_if(std::begin(trace_forms), std::end(trace_forms),
                   [&](const TraceForm& one) { return path.ends_with(one.ending); });
  return form == std::end(trace_forms) ? nullptr : form;
}

}  // namespace

void check_trace_name(const std::string& option, const std::string& path) {
  if (trace_form_of(path) != nullptr) return;
  throw Error("bad-value", {option},
              "expected a file name that says in which form to write, found '" + path + "'",
              "FILE.json for every viewer of traces, FILE.pftrace for Perfetto's own form");
}

std::string trace_text_for(const std::string& path, const RunReport& report) {
  std::vector<TimedFunction> functions;
  for (const FunctionRun& run : report.functions) {
    if (run.timeline) functions.push_back({run.title, run.function, &*run.timeline});
  }
  return trace_form_of(path)->write(functions);
}

}  // namespace shard
