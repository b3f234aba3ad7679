#pragma once
// From the user's files to a finished plan, stage by stage.

#include <optional>
#include <string>

#include "cli/options.h"
#include "config/arrays_config.h"
#include "config/model_config.h"
#include "config/rules_config.h"
#include "report/plan.h"
#include "text/files.h"

namespace shard {

/// The model a user named, as read: a program, or a list of arrays.
struct ModelInput {
  std::string file;
  ModelConfig config;  ///< of a program
  std::optional<ArraysConfig> arrays;

  bool has_program() const { return !arrays.has_value(); }
};

/// Reads the model that `word` names: a path, or a shipped one's name. A file that is a dump of
/// arrays or a checkpoint is a list of arrays as it is. Throws `Error` with
/// everything that is wrong in the first stage that finds anything.
ModelInput read_model_input(const std::string& word, const Options& options, Sources& sources);

/// The model file `file` as read, merged and overridden; of a dump of arrays one that names it.
MergedDocument model_document(const std::string& file, const Options& options, Sources& sources);

/// Refuses a list of arrays where only a program will do. Throws `Error` `no-program`; `what` ends
/// "there is no program to ...".
void require_program(const ModelInput& model, const std::string& what);

/// The same for rules; see rules_input.h for what the word may be.
RulesConfig read_rules_input(const std::string& word, const Options& options, Sources& sources);

/// Plans both functions of the model under these rules; of a list of arrays its state. With `fold`
/// equal iterations of a repeat are planned once, which is not enough to run the plan. Throws
/// `Error`.
Plan make_plan(const ModelInput& model, const RulesConfig& rules, const Options& options,
               bool fold);

/// Of the model and the rules that the first two arguments name.
Plan make_plan(const Options& options, Sources& sources, bool fold);

/// No finding is an error, and it fits where a capacity was asked for.
bool is_yes(const Plan& plan);

/// Whether a report may be about folded iterations: not where every array and stage is asked for.
bool may_fold(const Options& options);

}  // namespace shard
