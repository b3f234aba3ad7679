// The trace event format of Chrome: one object per line; times are microseconds.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "report/timeline_view.h"

namespace shard {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string micros(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

/// `"name":"dot","cat":"compute"` and the arguments as members, of each instruction.
struct InstructionJson {
  std::string name;
  std::string arguments;
};

class TimelineJsonWriter {
 public:
  std::string write(const std::vector<TimedFunction>& functions) {
    text_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    for (const TimedFunction& timed : functions) add(timed);
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  void add(const TimedFunction& timed) {
    ++process_;
    add_tracks(timed);
    const std::vector<InstructionJson> instructions = instructions_of(timed);
    const std::vector<TimelineArrow> arrows = timeline_arrows(*timed.timeline);
    std::int64_t end = 0, meetings = 0;
    for (std::size_t i = 0; i < arrows.size(); ++i) {
      const TimelineSpan& span = timed.timeline->spans[i];
      add_span(span, instructions[static_cast<std::size_t>(span.instruction)]);
      add_arrow(span, arrows[i], instructions[static_cast<std::size_t>(span.instruction)]);
      end = std::max(end, span.end);
      meetings = std::max(meetings, span.meeting + 1);
    }
    start_ += end;
    meetings_ += meetings;
  }

  void add_tracks(const TimedFunction& timed) {
    add_name("process_name", 0, quoted(timed.title));
    for (int device = 0; device < timed.timeline->devices; ++device) {
      add_name("thread_name", device, quoted(track_name(timed.function->program.mesh, device)));
      event();
      fmt::format_to(out(),
                     R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index",)"
                     R"("args":{{"sort_index":{}}}}})",
                     process_, device, device);
    }
  }

  void add_name(const char* what, int device, const std::string& name) {
    event();
    fmt::format_to(out(), R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})",
                   process_, device, what, name);
  }

  static std::vector<InstructionJson> instructions_of(const TimedFunction& timed) {
    std::vector<InstructionJson> made;
    for (const TimelineNames& one : timeline_names(timed)) {
      InstructionJson json;
      json.name = fmt::format(R"("name":{},"cat":{})", quoted(one.name), quoted(one.category));
      for (const TimelineArgument& argument : one.arguments) {
        const auto* text = std::get_if<std::string>(&argument.value);
        json.arguments +=
            fmt::format("{}:{},", quoted(argument.name),
                        text != nullptr ? quoted(*text)
                                        : std::to_string(std::get<std::int64_t>(argument.value)));
      }
      made.push_back(std::move(json));
    }
    return made;
  }

  void add_span(const TimelineSpan& span, const InstructionJson& instruction) {
    begin_event("X", span.device, span.begin);
    fmt::format_to(out(), R"("dur":{},{},"args":{{{})", micros(span.end - span.begin),
                   instruction.name, instruction.arguments);
    if (span.iteration >= 0) fmt::format_to(out(), R"("iteration":{},)", span.iteration);
    fmt::format_to(out(), R"("worker":{}}}}})", span.worker);
    if (span.met == span.begin) return;
    begin_event("X", span.device, span.begin);
    fmt::format_to(out(), R"("dur":{},"name":"wait for members","cat":"wait"}})",
                   micros(span.met - span.begin));
  }

  void add_arrow(const TimelineSpan& span, const TimelineArrow& arrow,
                 const InstructionJson& instruction) {
    if (!arrow.comes && !arrow.leaves) return;
    const bool is_last = !arrow.leaves;
    begin_event(!arrow.comes ? "s" : is_last ? "f" : "t", span.device, span.begin);
    fmt::format_to(out(), R"("id":{},{}{}}})", meetings_ + span.meeting, instruction.name,
                   is_last ? R"(,"bp":"e")" : "");
  }

  void begin_event(const char* kind, int device, std::int64_t at) {
    event();
    fmt::format_to(out(), R"({{"ph":"{}","pid":{},"tid":{},"ts":{},)", kind, process_, device,
                   micros(start_ + at));
  }

  void event() {
    text_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
  }

  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  std::string text_;
  bool is_first_ = true;
  int process_ = 0;            ///< of the function, from 1
  std::int64_t start_ = 0;     ///< of the function, nanoseconds
  std::int64_t meetings_ = 0;  ///< of the functions before
};

}  // namespace

std::string timeline_json(const std::vector<TimedFunction>& functions) {
  return TimelineJsonWriter().write(functions);
}

}  // namespace shard
