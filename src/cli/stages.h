#pragma once
// Every stage as text in a folder, for reading and for tests.

#include <string>
#include <string_view>

#include "cli/options.h"
#include "config/rules_config.h"
#include "shard/sharded_graph.h"
#include "spmd/program.h"

namespace shard {

/// Writes `01-model.txt`, `02-trace.txt` (for a JSON answer `02-trace.json`), `02-sharded.txt` and
/// `03-program.txt` of the function that `plan` is about, and `01-model.apply.txt` ... of `apply`
/// beside it. Does nothing without a folder.
class StageDump {
 public:
  explicit StageDump(const Options& options);

  void write(const Graph& graph, bool is_main) const;
  void write(const ShardedGraph& sharded, bool is_main) const;
  void write(const Program& program, bool is_main) const;
  /// How the shardings came about.
  void write_trace(const ShardedGraph& sharded, const RulesConfig& rules, bool is_main) const;

 private:
  void write_text(std::string_view stage, bool is_main, const std::string& text,
                  std::string_view form = ".txt") const;

  std::string folder_;
  bool force_ = false;
  bool is_json_ = false;
};

/// Makes the folder and those above it. Throws `Error` `unwritable-file` at `asked_by`.
void make_folder(const std::string& folder, const std::string& asked_by);

}  // namespace shard
