#include "dialects/import_rules.h"

#include <algorithm>
#include <filesystem>

#include "base/nearest.h"
#include "config/in_file_order.h"
#include "config/layered_rules.h"
#include "dialects/maxtext_files.h"
#include "dialects/maxtext_keys.h"
#include "dialects/maxtext_mesh.h"
#include "dialects/python_rules.h"
#include "dialects/rule_list.h"

namespace shard {
namespace {

constexpr const char* rules_key = "logical_axis_rules";

// Keys of a configuration that hold rules: the usual one and those with a prefix of their own.
std::vector<const TextEntry*> rule_lists(const MaxTextConfig& config) {
  std::vector<const TextEntry*> found;
  for (const TextEntry& entry : config.root.entries) {
    if (entry.key.ends_with(rules_key) && !entry.key.starts_with("override")) {
      found.push_back(&entry);
    }
  }
  return found;
}

const TextEntry& chosen_list(const MaxTextConfig& config, const ImportOptions& options,
                             Diagnostics& diagnostics) {
  const std::vector<const TextEntry*> lists = rule_lists(config);
  const std::string wanted = options.selected.empty() ? rules_key : options.selected;
  const TextEntry* chosen = nullptr;
  std::vector<std::string> names;
  for (const TextEntry* list : lists) {
    names.push_back(list->key);
    if (list->key == wanted) chosen = list;
  }
  if (chosen == nullptr && !options.selected.empty()) {
    throw Error("unknown-rule-list", {config.files.front()},
                "no list of rules is called '" + wanted + "'",
                did_you_mean(wanted, names, "the file has"));
  }
  if (chosen == nullptr) {
    throw Error("no-rules", {config.files.front()},
                "no file of the configuration has the key '" + wanted + "'",
                config.files.size() == 1 ? "rules may stand in the file it is meant to build on "
                                           "(base_config)"
                                         : "");
  }
  for (const TextEntry* list : lists) {
    if (list == chosen) continue;
    diagnostics.note("other-rules", list->key_at,
                     "the rules under '" + list->key + "' are not used",
                     "ask for them: " + config.files.front() + "#" + list->key);
  }
  return *chosen;
}

// The mesh of a configuration in MaxText's form, unless the command line has one.
void take_mesh(const MaxTextConfig& config, const ImportOptions& options, RulesConfig& rules,
               Diagnostics& diagnostics) {
  if (!options.overrides.mesh.empty()) return;
  MaxTextMesh mesh = read_maxtext_mesh(config, options, diagnostics);
  rules.mesh = std::move(mesh.axes);
  rules.dcn = std::move(mesh.dcn);
  if (mesh.may_split) rules.device_order = DeviceOrder::split;
  rules.devices = std::move(mesh.devices);
  rules.devices_at = mesh.devices_at;
  if (mesh.has_pipeline) apply_pipeline(rules, diagnostics);
}

void import_framework(const std::string& path, const ImportOptions& options, Sources& sources,
                      ImportedRules& result, Diagnostics& diagnostics) {
  MaxTextConfig config = load_maxtext(path, options, sources, diagnostics);
  const TextEntry& list = chosen_list(config, options, diagnostics);
  result.rules.rules = read_rule_list(list.value, diagnostics);
  for (const TextEntry& entry : config.root.entries) {
    if (!is_maxtext_key(entry.key) && !entry.key.ends_with(rules_key)) {
      result.ignored_keys.push_back(entry.key);
    }
  }
  take_mesh(config, options, result.rules, diagnostics);
  result.files = std::move(config.files);
}

void import_python(const std::string& path, const ImportOptions& options, Sources& sources,
                   ImportedRules& result, Diagnostics& diagnostics) {
  PythonRules found = read_python_rules(path, sources.load(path), options.selected, diagnostics);
  result.rules = std::move(found.rules);
  result.files.push_back(path);
  lay_over(found.settings, read_settings(options.settings, sources));
  if (found.settings.find("mesh_axes") != nullptr) {
    take_mesh({std::move(found.settings), {path}}, options, result.rules, diagnostics);
  } else if (result.rules.mesh.empty() && options.overrides.mesh.empty()) {
    diagnostics.note("mesh-missing", {path}, "the text says nothing about the mesh",
                     "give it: --mesh data=8");
  }
}

}  // namespace

void fail_unknown_format(const std::string& path, const Sniffed& found,
                         const std::string& expected) {
  throw Error("unknown-format", {path},
              "this looks like " + found.looks_like + ", expected " + expected);
}

namespace {

RulesConfig import_own(const std::string& path, const ImportOptions& options, Sources& sources,
                       Diagnostics& diagnostics) {
  for (const TextEntry& entry : read_settings(options.settings, sources).entries) {
    diagnostics.warning("unused-setting", entry.key_at,
                        "'" + entry.key + "' is a key of other programs' rules, not of ours",
                        "change our rules with --mesh and --add-rule");
  }
  RulesConfig rules = read_rules(merge_rules_file(path, {}, sources, options.selected));
  diagnostics.append(rules.remarks);
  return rules;
}

RulesConfig import_foreign(const std::string& path, const ImportOptions& options, Sources& sources,
                           ImportedRules& result, Diagnostics& diagnostics) {
  if (result.format == FileFormat::framework) {
    import_framework(path, options, sources, result, diagnostics);
  } else if (result.format == FileFormat::python) {
    import_python(path, options, sources, result, diagnostics);
  } else {
    fail_unknown_format(path, {result.format, result.looks_like},
                        "rules: our YAML, a MaxText configuration, or lists of pairs in Python");
  }
  RulesConfig rules = std::move(result.rules);
  rules.file = path;
  rules.name = std::filesystem::path(path).stem().string();
  if (!options.selected.empty()) rules.name += '#' + options.selected;
  rules.given.mesh = !rules.mesh.empty();
  return rules;
}

}  // namespace

ImportedRules import_rules(const std::string& path, const ImportOptions& options,
                           Sources& sources) {
  const std::string& text = sources.load(path);
  const Sniffed found = sniff(path, text);
  ImportedRules result;
  result.format = found.format;
  result.looks_like = found.looks_like;
  Diagnostics diagnostics;
  if (found.format == FileFormat::our_rules) {
    result.rules = import_own(path, options, sources, diagnostics);
    result.files.push_back(path);
  } else {
    result.rules = import_foreign(path, options, sources, result, diagnostics);
  }
  override_rules(result.rules, options.overrides, sources, diagnostics);
  throw_in_file_order(diagnostics);
  result.remarks = diagnostics.all();
  return result;
}

}  // namespace shard
