#include "cli/stages.h"

#include <filesystem>
#include <system_error>

#include "base/diagnostic.h"
#include "checkpoint/safetensors.h"

namespace shard {

StageDump::StageDump(const Options& options) : folder_(options.dump_stages), force_(options.force) {
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

void StageDump::write_text(std::string_view stage, bool is_main, const std::string& text) const {
  const std::string name = std::string(stage) + (is_main ? ".txt" : ".apply.txt");
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
