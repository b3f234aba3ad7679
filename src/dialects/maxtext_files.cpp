#include "dialects/maxtext_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "base/nearest.h"
#include "dialects/maxtext_keys.h"
#include "text/read.h"

namespace shard {
namespace {

constexpr std::string_view maxtext_rules_key = "logical_axis_rules";
constexpr std::string_view override_key = "override_logical_axis_rules";
constexpr std::string_view custom_key = "custom_mesh_and_rule";
// What a custom file replaces.
constexpr std::array<std::string_view, 3> custom_replaces = {"mesh_axes", maxtext_rules_key,
                                                             "data_sharding"};
// Folders above the file that names another one; a configuration folder is not deeper than this.
constexpr int most_folders_up = 4;

bool is_true(const TextNode* node) {
  return node != nullptr && node->is_scalar() && (node->scalar == "true" || node->scalar == "True");
}

TextEntry* entry_of(TextNode& map, std::string_view key) {
  const auto found = std::find_if(map.entries.begin(), map.entries.end(),
                                  [&](const TextEntry& entry) { return entry.key == key; });
  return found == map.entries.end() ? nullptr : &*found;
}

void put(TextNode& map, TextEntry entry) {
  if (TextEntry* known = entry_of(map, entry.key)) {
    *known = std::move(entry);
  } else {
    map.entries.push_back(std::move(entry));
  }
}

// The logical name of a rule, or nothing for what is not one (the reader of rules will say so).
std::optional<std::string> name_of_rule(const TextNode& rule) {
  if (!rule.is_sequence() || rule.items.empty() || !rule.items[0].is_scalar()) return std::nullopt;
  return rule.items[0].scalar;
}

void merge_rules_by_name(TextNode& map, const TextEntry& added) {
  TextEntry* base = entry_of(map, maxtext_rules_key);
  if (base == nullptr || !base->value.is_sequence() || !added.value.is_sequence()) {
    put(map, added);
    return;
  }
  std::set<std::string> names;
  for (const TextNode& rule : added.value.items) {
    if (const auto name = name_of_rule(rule)) names.insert(*name);
  }
  std::erase_if(base->value.items, [&](const TextNode& rule) {
    const auto name = name_of_rule(rule);
    return name && names.contains(*name);
  });
  base->value.items.insert(base->value.items.end(), added.value.items.begin(),
                           added.value.items.end());
}

class Loader {
 public:
  Loader(const ImportOptions& options, Sources& sources, Diagnostics& diagnostics)
      : options_(options), sources_(sources), diagnostics_(diagnostics) {}

  MaxTextConfig load(const std::string& path);

 private:
  TextNode read_map(const std::string& path, const Location& asked_at);
  TextNode read_chain(const std::string& path, const Location& asked_at);
  void check_settings(const TextNode& root, const TextNode& settings);
  std::optional<std::string> find_file(const std::vector<std::string>& names);
  void add_model(TextNode& root, const TextNode& settings);
  void report_missing_model(const TextNode& name, bool is_asked_for);
  void add_custom(TextNode& root);

  const ImportOptions& options_;
  Sources& sources_;
  Diagnostics& diagnostics_;
  std::vector<std::string> chain_;  // the files from the first to the one being read
  std::vector<std::string> files_;
};

TextNode Loader::read_map(const std::string& path, const Location& asked_at) {
  Diagnostics found;
  TextNode node = read_foreign_yaml(path, sources_.load(path, asked_at), found);
  diagnostics_.append(found.all());
  files_.push_back(path);
  if (!node.is_map()) {
    throw Error("no-rules", node.at, "the file holds " + describe(node) + ", expected a map");
  }
  return node;
}

// Names are tried beside the file that asks and in the folders above it, then where the options
// say.
std::optional<std::string> Loader::find_file(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> folders;
  for (auto file = chain_.rbegin(); file != chain_.rend(); ++file) {
    std::filesystem::path folder = std::filesystem::path(*file).parent_path();
    for (int up = 0; up <= most_folders_up; ++up) {
      folders.push_back(folder);
      const bool is_top = folder == folder.root_path() && folder.has_root_path();
      if (is_top) break;
      folder = (folder / "..").lexically_normal();
    }
  }
  folders.insert(folders.end(), options_.config_folders.begin(), options_.config_folders.end());
  for (const std::filesystem::path& folder : folders) {
    for (const std::string& name : names) {
      std::string path = (folder / name).lexically_normal().string();
      if (sources_.has(path)) return path;
    }
  }
  return std::nullopt;
}

TextNode Loader::read_chain(const std::string& path, const Location& asked_at) {
  if (std::find(chain_.begin(), chain_.end(), path) != chain_.end()) {
    std::string circle;
    for (auto file = std::find(chain_.begin(), chain_.end(), path); file != chain_.end(); ++file) {
      circle += *file + " -> ";
    }
    throw Error("base-cycle", asked_at, "base_config comes back to '" + path + "'", circle + path);
  }
  chain_.push_back(path);
  TextNode node = read_map(path, asked_at);
  const TextNode* base = node.find("base_config");
  if (base == nullptr || !base->is_scalar() || base->scalar.empty()) return node;
  const auto found = find_file({base->scalar});
  if (!found) {
    throw Error("missing-file", base->at,
                "there is no file '" + base->scalar + "' in the folder of '" + path +
                    "' or in the four above it",
                "say where the configurations are: --config-folder DIR");
  }
  TextNode root = read_chain(*found, base->at);
  for (TextEntry& entry : node.entries) put(root, std::move(entry));
  return root;
}

void Loader::check_settings(const TextNode& root, const TextNode& settings) {
  std::vector<std::string> known;
  for (const TextEntry& entry : root.entries) known.push_back(entry.key);
  for (const TextEntry& entry : settings.entries) {
    if (root.find(entry.key) != nullptr || is_maxtext_key(entry.key)) continue;
    diagnostics_.warning("unknown-key", entry.key_at, "no file has the key '" + entry.key + "'",
                         did_you_mean(entry.key, known));
  }
}

void Loader::add_model(TextNode& root, const TextNode& settings) {
  const TextNode* name = settings.find("model_name");
  if (name == nullptr) name = root.find("model_name");
  if (name == nullptr || !name->is_scalar() || name->scalar.empty()) return;
  if (name->scalar == "default") return;
  const auto found =
      find_file({"models/" + name->scalar + ".yml", "models/" + name->scalar + ".yaml"});
  if (!found) {
    report_missing_model(*name, settings.find("model_name") != nullptr);
    return;
  }
  lay_over(root, read_map(*found, name->at));
}

// Other programs of this form have no such files; who asks for one must get it.
void Loader::report_missing_model(const TextNode& name, bool is_asked_for) {
  const std::string message = "there is no file 'models/" + name.scalar + ".yml'";
  const std::string hint = "say where the configurations are: --config-folder DIR";
  if (is_asked_for) throw Error("missing-file", name.at, message, hint);
  const std::string effect = "; rules that it may change stay as they are";
  if (files_.size() > 1) {
    diagnostics_.warning("model-file-missing", name.at, message + effect, hint);
  } else {
    diagnostics_.note("model-file-missing", name.at, message + effect, hint);
  }
}

void Loader::add_custom(TextNode& root) {
  const TextNode* name = root.find(custom_key);
  if (name == nullptr || !name->is_scalar() || name->scalar.empty()) return;
  std::vector<std::string> names;
  for (const char* folder : {"custom_mesh_and_rule/", "mesh_and_rule/"}) {
    names.push_back(folder + name->scalar + ".yml");
  }
  const auto found = find_file(names);
  if (!found) {
    throw Error("missing-file", name->at, "there is no file '" + names.front() + "'",
                "say where the configurations are: --config-folder DIR");
  }
  TextNode custom = read_map(*found, name->at);
  for (const std::string_view key : custom_replaces) {
    if (TextEntry* entry = entry_of(custom, key)) put(root, std::move(*entry));
  }
}

MaxTextConfig Loader::load(const std::string& path) {
  TextNode root = read_chain(path, {});
  const TextNode added = read_settings(options_.settings, sources_);
  check_settings(root, added);
  add_model(root, added);
  lay_over(root, added);
  add_custom(root);
  return {std::move(root), std::move(files_)};
}

}  // namespace

TextNode read_settings(const std::vector<std::string>& settings, Sources& sources) {
  TextNode map;
  map.kind = TextNode::Kind::map;
  if (settings.empty()) return map;
  const std::string flag = "--rules-set";
  std::string lines;
  for (const std::string& text : settings) lines += text + "\n";
  sources.add(flag, lines);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const std::string& text = settings[i];
    const int line = static_cast<int>(i) + 1;
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      throw Error("bad-override", {flag, line, 1, std::max(1, static_cast<int>(text.size()))},
                  "'" + text + "' is not KEY=VALUE", "e.g. ici_fsdp_parallelism=4");
    }
    // Blank lines and blanks in front give the value the place it has in the pseudo file.
    const std::string padded =
        std::string(i, '\n') + std::string(equals + 1, ' ') + text.substr(equals + 1);
    const Location key_at = {flag, line, 1, static_cast<int>(equals)};
    put(map, {text.substr(0, equals), key_at, read_yaml(flag, padded)});
  }
  return map;
}

void lay_over(TextNode& map, const TextNode& added) {
  const bool replaces = is_true(added.find(override_key));
  for (const TextEntry& entry : added.entries) {
    if (entry.key == maxtext_rules_key && !replaces && !entry.value.is_null()) {
      merge_rules_by_name(map, entry);
    } else {
      put(map, entry);
    }
  }
}

const TextNode* MaxTextConfig::find(std::string_view key) const {
  const TextNode* found = root.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string MaxTextConfig::text(std::string_view key) const {
  const TextNode* found = find(key);
  return found != nullptr && found->is_scalar() ? found->scalar : "";
}

MaxTextConfig load_maxtext(const std::string& path, const ImportOptions& options, Sources& sources,
                           Diagnostics& diagnostics) {
  return Loader(options, sources, diagnostics).load(path);
}

}  // namespace shard
