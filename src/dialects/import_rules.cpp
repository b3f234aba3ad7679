#include "dialects/import_rules.h"

#include <algorithm>
#include <filesystem>

#include "base/nearest.h"
#include "dialects/maxtext_files.h"
#include "dialects/maxtext_keys.h"
#include "dialects/maxtext_mesh.h"
#include "dialects/python_rules.h"
#include "dialects/rule_list.h"
#include "text/number.h"

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

void add_axis_override(const std::string& part, const Location& at,
                       std::vector<MeshAxisConfig>& axes, Diagnostics& diagnostics) {
  const std::size_t equals = part.find('=');
  const IntegerReading size = read_integer(
      equals == part.npos ? std::string_view() : std::string_view(part).substr(equals + 1));
  if (equals == part.npos || equals == 0 || size.fault) {
    diagnostics.error("bad-mesh-size", at, "'" + part + "' is not AXIS=SIZE",
                      "a mesh is written data=4,model=2");
    return;
  }
  axes.push_back({MeshAxis(part.substr(0, equals)), size.value, at});
}

// `data=4,model=2` takes the place of the file's mesh.
void override_mesh(const std::string& text, RulesConfig& rules, Diagnostics& diagnostics) {
  if (text.empty()) return;
  const Location at = {"--mesh", 1, 1, static_cast<int>(text.size())};
  rules.mesh.clear();
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    add_axis_override(text.substr(start, end - start), at, rules.mesh, diagnostics);
    start = end + 1;
  }
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
  if (options.overrides.mesh.empty()) {
    MaxTextMesh mesh = read_maxtext_mesh(config, options, diagnostics);
    result.rules.mesh = std::move(mesh.axes);
    result.rules.devices = std::move(mesh.devices);
    result.rules.devices_at = mesh.devices_at;
    if (mesh.has_pipeline) apply_pipeline(result.rules, diagnostics);
  }
  result.files = std::move(config.files);
}

}  // namespace

void fail_unknown_format(const std::string& path, const Sniffed& found,
                         const std::string& expected) {
  throw Error("unknown-format", {path},
              "this looks like " + found.looks_like + ", expected " + expected);
}

ImportedRules import_rules(const std::string& path, const ImportOptions& options,
                           Sources& sources) {
  const std::string& text = sources.load(path);
  const Sniffed found = sniff(path, text);
  ImportedRules result;
  result.format = found.format;
  result.looks_like = found.looks_like;
  Diagnostics diagnostics;
  if (found.format == Format::our_rules) {
    result.rules = read_rules(merge_rules_file(path, options.overrides, sources));
    result.files.push_back(path);
    return result;
  }
  if (found.format == Format::framework) {
    import_framework(path, options, sources, result, diagnostics);
  } else if (found.format == Format::python) {
    result.rules = read_python_rules(path, text, options.selected, diagnostics);
    result.files.push_back(path);
  } else {
    fail_unknown_format(path, found,
                        "rules: our YAML, a MaxText configuration, or lists of pairs in Python");
  }
  override_mesh(options.overrides.mesh, result.rules, diagnostics);
  diagnostics.throw_if_errors();
  result.rules.file = path;
  result.rules.name = std::filesystem::path(path).stem().string();
  result.remarks = diagnostics.all();
  return result;
}

}  // namespace shard
