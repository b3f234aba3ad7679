#pragma once
// The command table: what a user can ask for.

#include <span>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "text/files.h"

namespace shard {

/// Commands as bits, so that the option table can say who knows an option.
enum CommandBit : unsigned {
  plan_bit = 1,
  show_bit = 2,
  run_bit = 4,
  schema_bit = 8,
  explain_bit = 16,
  findings_bit = 32,
  compare_bit = 1024,
  check_bit = 2048,
  import_bit = 16384,
  export_bit = 32768,
  reshard_bit = 65536,
  describe_bit = 131072,
};

/// How much a command reads before it starts; decides which arguments must be there.
enum class Loads {
  nothing,
  model_and_rules,
  model_or_mesh,
  model_rules_and_word,
  model_or_list,
  two_specs
};

struct Command {
  std::string_view name;
  CommandBit bit;
  std::string_view summary;    ///< one line, starts with a verb
  std::string_view arguments;  ///< `MODEL RULES [NAME...]`
  std::string_view example;    ///< runs in a fresh clone
  Loads loads;
  std::size_t most_arguments;
  int (*run)(const Options& options, Sources& sources);  ///< returns the exit code
};

std::span<const Command> command_table();

/// Throws `Error` `unknown-command` with the nearest.
const Command& command_named(const std::string& name);

/// Throws `Error` `usage` when files are missing, when there are words too many, or when two
/// options exclude each other.
void check_arguments(const Command& command, const Options& options);

/// The first screen, one command's screen, and the line of `--version`.
std::string program_help();
std::string command_help(const Command& command);
std::string version_text();

// The commands; each returns its verdict: 0 yes, 1 no.
int plan_command(const Options& options, Sources& sources);
int show_command(const Options& options, Sources& sources);
int run_command(const Options& options, Sources& sources);
int explain_command(const Options& options, Sources& sources);
int findings_command(const Options& options, Sources& sources);
int compare_command(const Options& options, Sources& sources);
int check_command(const Options& options, Sources& sources);
int import_command(const Options& options, Sources& sources);
int export_command(const Options& options, Sources& sources);
int describe_command(const Options& options, Sources& sources);
int reshard_command(const Options& options, Sources& sources);
int schema_command(const Options& options, Sources& sources);

}  // namespace shard
