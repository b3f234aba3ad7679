#include "cli/rules_input.h"

#include <unistd.h>

#include "base/log.h"
#include "cli/answer.h"
#include "cli/find_file.h"
#include "cli/pipeline.h"
#include "config/in_file_order.h"
#include "dialects/import_rules.h"

namespace shard {
namespace {

ImportOptions import_options(const RulesFile& file, const Options& options) {
  ImportOptions import;
  import.devices = options.overrides.devices;
  import.devices_at = {"--devices", 1, 1, static_cast<int>(import.devices.size())};
  import.config_folders = options.config_folders;
  import.settings = options.rules_settings;
  import.overrides.mesh = options.overrides.mesh;
  import.selected = file.selected;
  return import;
}

/// Warnings always, notes with -v; what later stages tell again is left to them.
void say_remarks(const std::vector<Diagnostic>& remarks, const Options& options,
                 const Sources& sources) {
  if (options.quiet) return;
  for (const Diagnostic& remark : remarks) {
    const bool is_said = remark.severity == Severity::warning || options.verbosity > 0;
    if (is_said && remark.id != "needs-device-count" && remark.id != "mesh-missing") {
      write_fully(STDERR_FILENO, render(remark, sources));
    }
  }
}

RulesConfig read_one(const RulesFile& file, const Options& options, Sources& sources) {
  const std::string path = find_file(file.file, rules_files, shipped_roots());
  log_info("rules " + path);
  if (!options.overrides.devices.empty()) sources.add("--devices", options.overrides.devices);
  ImportedRules imported = import_rules(path, import_options(file, options), sources);
  say_remarks(imported.remarks, options, sources);
  return std::move(imported.rules);
}

/// Other frameworks size their meshes elsewhere, and their files name the axes alone.
void check_sizes_are_known(const RulesConfig& rules) {
  std::string open, example;
  const MeshAxisConfig* first = nullptr;
  int count = 0;
  for (const MeshAxisConfig& axis : rules.mesh) {
    const bool is_open = axis.size == -1;
    example += (example.empty() ? "" : ",") + axis.name.text() + '=' +
               (is_open ? "N" : std::to_string(axis.size));
    if (!is_open) continue;
    open += (open.empty() ? "" : ", ") + axis.name.text();
    if (count++ == 0) first = &axis;
  }
  if (count < 2) return;
  throw Error("needs-device-count", first->at,
              "the sizes of the mesh axes " + open + " are not given",
              "give them: --mesh " + example);
}

/// A file of ours has the key to say it with, another one may have nothing to say about a mesh.
void check_mesh_is_known(const RulesConfig& rules, bool is_foreign) {
  if (!rules.given.mesh && is_foreign) {
    throw Error("mesh-missing", {rules.file}, "the rules come without a mesh",
                "give it: --mesh data=8");
  }
  if (is_foreign) check_sizes_are_known(rules);
  check_has_mesh(rules);
}

bool is_ours(const RulesConfig& rules, Sources& sources) {
  return sniff(rules.file, sources.load(rules.file)).format == FileFormat::our_rules;
}

}  // namespace

std::vector<RulesFile> rules_files_of(const std::string& word) {
  DiskReader disk;
  std::vector<RulesFile> files;
  std::size_t start = 0;
  while (start <= word.size()) {
    const std::size_t end = Sources(disk).has(word) ? word.size() : word.find(',', start);
    const std::string part = word.substr(start, std::min(end, word.size()) - start);
    const std::size_t mark = Sources(disk).has(part) ? part.npos : part.rfind('#');
    files.push_back({part.substr(0, mark), mark == part.npos ? "" : part.substr(mark + 1)});
    if (end == word.npos || end == word.size()) break;
    start = end + 1;
  }
  return files;
}

RulesConfig read_layered_rules(const std::vector<RulesFile>& files, RuleMerge merge,
                               const Options& options, Sources& sources) {
  Diagnostics diagnostics;
  std::optional<RulesConfig> rules;
  for (const RulesFile& file : files) {
    try {
      RulesConfig one = read_one(file, options, sources);
      rules = rules ? laid_over(std::move(*rules), std::move(one), merge) : std::move(one);
    } catch (const Error& error) {  // the other files' mistakes are told in the same run
      diagnostics.append(error.diagnostics());
    }
  }
  if (!rules) rules.emplace();
  override_rules(*rules, options.overrides, sources, diagnostics);
  throw_in_file_order(diagnostics);
  return std::move(*rules);
}

RulesConfig read_rules_files(const std::vector<RulesFile>& files, RuleMerge merge,
                             const Options& options, Sources& sources) {
  RulesConfig rules = read_layered_rules(files, merge, options, sources);
  check_mesh_is_known(rules, !is_ours(rules, sources));
  return rules;
}

RulesConfig read_rules_input(const std::string& word, const Options& options, Sources& sources) {
  return read_rules_files(rules_files_of(word), options.rule_merge, options, sources);
}

}  // namespace shard
