#include "cli/stages.h"

#include <filesystem>
#include <system_error>

#include "base/diagnostic.h"
#include "checkpoint/write_file.h"
#include "report/trace.h"

namespace shard {

StageDump::StageDump(const Options& options)
    : folder_(options.dump_stages),
      force_(options.force),
      is_json_(options.format == Format::json) {
  if (!folder_.empty()) make_folder(folder_, "--dump-stages");
}

void StageDump::write(const Graph& graph, bool is_main) const {
  if (!folder_.empty()) write_text("01-model", is_main, to_string(graph));
}

void StageDump::write(const ShardedGraph& sharded, bool is_main) const {
  if (!folder_.empty()) write_text("02-sharded", is_main, to_string(sharded));
}

void StageDump::write(const Program& program, bool is_main) const {
  if (!folder_.empty()) write_text("03-program", is_main, to_string(program));
}

void StageDump::write_trace(const ShardedGraph& sharded, const RulesConfig& rules,
                            bool is_main) const {
  if (folder_.empty()) return;
  const Trace trace = trace_of(sharded, rules);
  if (is_json_) {
    write_text("02-trace", is_main, trace_json(trace, sharded.graph.name), ".json");
  } else {
    write_text("02-trace", is_main, trace_text(trace));
  }
}

void StageDump::write_text(std::string_view stage, bool is_main, const std::string& text,
                           std::string_view form) const {
  const std::string name = std::string(stage) + (is_main ? "" : ".apply") + std::string(form);
  write_file((std::filesystem::path(folder_) / name).string(), text, force_);
}

void make_folder(const std::string& folder, const std::string& asked_by) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (!problem) return;
  throw Error("unwritable-file", {asked_by},
              "the folder '" + folder + "' could not be made: " + problem.message());
}

}  // namespace shard
