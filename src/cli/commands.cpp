#include "cli/commands.h"

#include <fmt/format.h>

#include <array>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "cli/version.h"
#include "exec/blas.h"
#include "report/semantics.h"

namespace shard {
namespace {

constexpr std::array<Command, 12> commands = {{
    {"plan", plan_bit, "say how every array is sharded, why, what it costs and what is wasted",
     "MODEL RULES", "shard-plan plan guide_mlp flax_guide", Loads::model_and_rules, 2,
     plan_command},
    {"show", show_bit, "draw which device holds which piece of an array, and the mesh itself",
     "[MODEL] [RULES] [NAME...]",
     "shard-plan show guide_mlp flax_guide x params/DotReluDot_0 --style jax\n"
     "  shard-plan show guide_mlp flax_guide mesh --devices v5e-8\n"
     "  shard-plan show --mesh data=2,model=4 --spec \"P('data', None)\" --shape 8,1024",
     Loads::model_or_mesh, 1'000, show_command},
    {"run", run_bit, "run the partitioned program on virtual devices: verified, timed, weighed",
     "MODEL RULES", "shard-plan run guide_mlp flax_guide", Loads::model_and_rules, 2, run_command},
    {"compare", compare_bit, "hold rule sets against the first of them: bytes, collectives, specs",
     "MODEL RULES RULES...", "shard-plan compare mlp flax_guide dp tp", Loads::model_and_rules,
     1'000, compare_command},
    {"explain", explain_bit,
     "say why an array is split as it is, and what would change it; why a collective is there",
     "MODEL RULES NAME...",
     "shard-plan explain mlp flax_guide params/DotReluDot_0/Dense_0/kernel\n"
     "  shard-plan explain mlp flax_guide '#1'\n"
     "  shard-plan explain mlp flax_guide rules/flax_guide.yaml:4",
     Loads::model_rules_and_word, 1'000, explain_command},
    {"findings", findings_bit, "print what is wasted or surprising, or with --list what can be",
     "[MODEL RULES]",
     "shard-plan findings mlp dp\n"
     "  shard-plan findings --list",
     Loads::model_or_list, 2, findings_command},
    {"reshard", reshard_bit, "find the cheapest way from one sharding of an array to another",
     "[RULES] FROM TO",
     "shard-plan reshard --mesh data=2,model=4 --shape 1024,4096 --dtype bf16 \"P('data',None)\" "
     "\"P(None,('model','data'))\"",
     Loads::two_specs, 3, reshard_command},
    {"import", import_bit, "turn rules of MaxText, T5X, Flax ... into a rules file of ours",
     "RULES", "shard-plan import rules/flax_guide.yaml,rules/tp.yaml -o merged.yaml",
     Loads::nothing, 1, import_command},
    {"export", export_bit, "write rules, mesh and shardings as code or as a configuration",
     "MODEL RULES", "shard-plan export mlp flax_guide --to python", Loads::model_and_rules, 2,
     export_command},
    {"check", check_bit, "say whether layouts are still as a lock file or a revision has them",
     "JOBS | MODEL RULES", "shard-plan check mlp flax_guide --against HEAD", Loads::nothing, 2,
     check_command},
    {"describe", describe_bit,
     "say what a named block has inside; without a name, which blocks there are", "[BLOCK]",
     "shard-plan describe attention\n"
     "  shard-plan describe",
     Loads::model_or_list, 1, describe_command},
    {"schema", schema_bit,
     "print the JSON Schema of a model, rules or job file, or of our JSON output",
     "model|rules|jobs|json", "shard-plan schema rules", Loads::nothing, 1, schema_command},
}};

}  // namespace

std::span<const Command> command_table() { return commands; }

const Command& command_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  throw Error("unknown-command", {"command line"}, "there is no command '" + name + "'",
              did_you_mean(name, names, "commands"));
}

namespace {

[[noreturn]] void refuse_pair(const char* a, const char* b) {
  throw Error("usage", {"command line"}, fmt::format("{} cannot go with {}", a, b));
}

void check_conflicts(const Options& options) {
  const bool json = options.format == Format::json;
  if (options.resolved && json) refuse_pair("--resolved", "--format json");
  if (options.bare && json) refuse_pair("--bare", "--format json");
  if (!options.dump.empty() && options.check_steps == 0) refuse_pair("--dump", "--check-steps 0");
}

}  // namespace

void check_arguments(const Command& command, const Options& options) {
  const std::vector<std::string>& given = options.arguments;
  constexpr std::size_t least_arguments[] = {1, 2, 0, 3, 0, 2};  // in the order of Loads
  const std::size_t least = least_arguments[static_cast<std::size_t>(command.loads)];
  const std::string usage = fmt::format("usage: shard-plan {} {}", command.name, command.arguments);
  if (given.size() < least) {
    throw Error("usage", {"command line"},
                fmt::format("{} needs {}, found {} of {}", command.name, command.arguments,
                            given.size(), least),
                usage);
  }
  if (given.size() > command.most_arguments) {
    throw Error("usage", {"command line"},
                fmt::format("{} takes no more than {}, found also '{}'", command.name,
                            command.arguments, given[command.most_arguments]),
                usage);
  }
  check_conflicts(options);
}

std::string program_help() {
  std::string text = fmt::format(
      "shard-plan {}: how a JAX/Flax model is sharded over a mesh, planned and run on virtual "
      "devices\n\n"
      "usage: shard-plan COMMAND ARGUMENTS [OPTIONS]\n\n"
      "  shard-plan plan guide_mlp flax_guide         the Flax guide's MLP on 2 x 4 devices\n"
      "  shard-plan run guide_mlp flax_guide          the same, computed and verified\n\n"
      "commands\n",
      version_number());
  for (const Command& command : commands) {
    text += fmt::format("  {:<10}{}\n", command.name, command.summary);
  }
  return text +
         "\nMODEL and RULES are YAML files, by path or by the bare name of a shipped one. RULES "
         "may "
         "also be\n"
         "FILE#NAME (a rule set of the file), a MaxText, T5X or Flax file as it is, or A,B: B laid "
         "over A.\n"
         "`shard-plan COMMAND --help` explains one command, `shard-plan --version` says what this "
         "is.\n"
         "exit codes: 0 yes, 1 the answer is no, 2 bad input, 70 a bug of ours, 130 interrupted\n";
}

std::string command_help(const Command& command) {
  return fmt::format("{}: {}\n\n  {}\n\nusage: shard-plan {} {} [OPTIONS]\n\noptions\n{}",
                     command.name, command.summary, command.example, command.name,
                     command.arguments, options_help(command));
}

std::string version_text() {
  const Blas* const blas = preferred_blas();
  return fmt::format("shard-plan {}\ncompiler {}\nsemantics {}\njson schema {}\nblas {}\n",
                     version_number(), compiler_name(), semantics_name, json_schema_number,
                     blas != nullptr ? blas->description() : "none: our own kernels");
}

}  // namespace shard
