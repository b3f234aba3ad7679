#pragma once
// The command line as a plain value. One table of options says which commands know an option, how
// it is read and how the help screens describe it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "config/finding_levels.h"
#include "config/layered_rules.h"
#include "config/load.h"
#include "exec/fault.h"
#include "exec/route.h"
#include "report/compare_order.h"
#include "spmd/fuse.h"

namespace shard {

enum class Format { text, json, markdown, junit, sarif };
enum class Backend { threads, mpi };
enum class ColorChoice { automatic, always, never };

struct Options {
  std::vector<std::string> arguments;  ///< what is no option: files, names
  Overrides overrides;
  Format format = Format::text;
  std::string output;  ///< empty: stdout
  bool force = false;
  bool quiet = false;
  int verbosity = 0;
  ColorChoice color = ColorChoice::automatic;
  std::optional<int> width;  ///< columns; nothing: the terminal's, without limit when there is none
  bool help = false;

  // reading rules
  RuleMerge rule_merge = RuleMerge::prepend;  ///< of files laid over each other
  std::vector<std::string> config_folders;    ///< where foreign files look for what they build on
  std::vector<std::string> rules_settings;    ///< KEY=VALUE of foreign files
  std::string export_form;                    ///< what `export` writes

  std::vector<FindingLevelConfig> finding_levels;  ///< after those of the rules
  bool list = false;
  bool delta = false;

  PathStyle paths = PathStyle::as_given;
  bool human = false;
  bool all = false;
  bool fold = true;
  Fusion fusion = Fusion::on;
  bool resolved = false;
  bool types = false;
  bool suggest = false;
  bool by_rule = false;
  std::optional<Bytes> capacity;  ///< of one device, from --hbm or --device
  std::string device;             ///< the chip's name when --device gave it
  std::string dump_stages;        ///< folder; empty: none

  bool jax_style = false;
  bool bare = false;
  std::string spec;        ///< of --spec; empty: arrays of a model
  std::string shape;       ///< of --shape
  bool is_nested = false;  ///< --uneven nested
  bool indices = false;
  bool strings = false;
  std::string svg;  ///< file; empty: none
  bool ascii = false;

  int workers = 0;  ///< 0: one per core allowed
  bool has_thread_per_device = false;
  Backend backend = Backend::threads;
  CollectiveChoice collectives;
  bool has_algorithm = false;  ///< --collectives was given
  std::int64_t seed = -1;      ///< -1: the model's
  int runs = 7;
  int steps = 10;
  int check_steps = 1;
  std::string params;
  std::string inputs;
  std::string dump;
  std::optional<Fault> fault;  ///< of --inject
  std::string trace;           ///< file; empty: none
  bool verify_memory = false;
  std::string memory_svg;  ///< file; empty: none
  bool profile = false;    ///< measure the machine's limits first
  Seconds timeout{300};    ///< for one instruction on one device; 0: no limit

  // reshard
  std::string dtype = "f32";
  std::string to_mesh;          ///< of --to-mesh; empty: the same
  std::optional<Bytes> memory;  ///< operand and result of a step together
  bool pad = false;

  // compare and check
  std::vector<std::string> meshes;  ///< of --mesh; empty: the rules' own
  CompareOrder order = CompareOrder::given;
  bool fail_on_change = false;
  std::optional<double> allowed_percent;
  bool run = false;
  bool update = false;
  std::string lock;     ///< file; empty: the usual one
  std::string against;  ///< a revision; empty: none
};

struct Command;

/// Reads everything after the command's name. Throws `Error` (`usage`, `bad-value`,
/// `unknown-option`, `unknown-device`) with all mistakes that can be told apart.
Options read_options(const Command& command, const std::vector<std::string>& words);

/// The help screen's list of the options that `command` knows.
std::string options_help(const Command& command);

}  // namespace shard
