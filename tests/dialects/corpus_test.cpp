// The shardings that MaxText wrote down, against ours: rules, mesh and devices from its
// configuration files, arrays and logical axes from its dumps.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "dialects/import_arrays.h"
#include "dialects/import_rules.h"
#include "shard/resolve.h"
#include "text/read.h"

namespace shard {
namespace {

namespace fs = std::filesystem;

fs::path corpus() {
  const char* folder = std::getenv("SHARD_PLAN_CORPUS");
  return folder != nullptr ? fs::path(folder)
                           : fs::path(SHARD_SOURCE_DIR) / ".." / "shared" / "corpus";
}

// Matched and total, and what did not match.
struct Score {
  int matched = 0;
  int total = 0;
  std::vector<std::string> misses;

  void count(bool is_match, const std::string& what) {
    ++total;
    if (is_match) {
      ++matched;
    } else {
      misses.push_back(what);
    }
  }
  void print(const std::string& name) const {
    std::cout << "conformance " << name << ": " << matched << "/" << total << "\n";
    for (const std::string& miss : misses) std::cout << "  miss: " << miss << "\n";
  }
};

// `slice_4`, then `rule_NAME` with `_key=value` for each setting; keys have underscores, values
// not.
struct DumpFolder {
  std::string model;
  std::string topology;
  std::int64_t slices = 1;
  std::string rule;
  std::vector<std::string> settings;
};

DumpFolder read_folder(const fs::path& folder, bool has_rule) {
  std::vector<std::string> parts;
  for (const fs::path& part : folder) parts.push_back(part.string());
  const std::size_t end = parts.size() - (has_rule ? 1 : 0);
  DumpFolder found;
  found.model = parts[end - 3];
  found.topology = parts[end - 2];
  found.slices = std::stoll(parts[end - 1].substr(std::string("slice_").size()));
  if (!has_rule) return found;
  std::string rest = parts[end].substr(std::string("rule_").size());
  found.rule = rest.substr(0, rest.find('_'));
  while (rest.find('=') != std::string::npos) {
    rest = rest.substr(rest.find('_') + 1);
    const std::size_t value_end = std::min(rest.find('_', rest.find('=')), rest.size());
    found.settings.push_back(rest.substr(0, value_end));
    rest = rest.substr(value_end);
  }
  return found;
}

// The entries of a spec after the rules; None stays, nothing is trimmed.
PartitionSpec resolved(const SpecConfig& axes, const RulesConfig& rules) {
  const LogicalSpec* names = axes.logical();
  return {logical_to_mesh_axes(names == nullptr ? LogicalSpec{} : *names, rules.rules).entries};
}

bool same_mesh(const std::vector<MeshAxisConfig>& a, const std::vector<MeshAxisConfig>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& two) {
    return one.name == two.name && one.size == two.size;
  });
}

// Activations are dumped without the axes that split nothing.
PartitionSpec without_idle_axes(PartitionSpec spec, const std::vector<MeshAxisConfig>& mesh) {
  for (PartitionEntry& entry : spec.entries) {
    std::erase_if(entry.axes, [&](const MeshAxis& axis) {
      return std::none_of(mesh.begin(), mesh.end(), [&](const MeshAxisConfig& one) {
        return one.name == axis && one.size > 1;
      });
    });
  }
  return spec;
}

void check_activations(const fs::path& folder, const RulesConfig& rules, Score& score,
                       Sources& sources) {
  const std::string file = (folder / "input_shardings.json").string();
  const ImportedArrays arrays = import_arrays(file, sources);
  std::map<std::string, SpecConfig> axes;
  for (const ArrayConfig& array : arrays.arrays.arrays) axes[array.name] = array.axes;
  const TextNode dump = read_json(file, sources.load(file));
  for (const TextNode& item : dump.find("Activation Sharding Dump")->items) {
    const TextEntry& entry = item.entries.at(0);
    const std::string names = entry.value.find("logic_axes")->scalar;
    if (names == "Unknown") continue;
    const PartitionSpec spec =
        without_idle_axes(resolved(axes.at(entry.key + " " + names), rules), rules.mesh);
    const std::string expected = entry.value.find("PartitionSpec")->scalar;
    score.count(to_string(spec) == expected,
                file + " " + entry.key + ": " + to_string(spec) + ", expected " + expected);
  }
}

void check_arrays(const ImportedArrays& logical, const ImportedArrays& named,
                  const RulesConfig& rules, Score& score) {
  std::map<std::string, const ArrayConfig*> found;
  for (const ArrayConfig& array : logical.arrays.arrays) found[array.name] = &array;
  const bool is_mesh = same_mesh(rules.mesh, named.arrays.mesh);
  for (const ArrayConfig& expected : named.arrays.arrays) {
    const std::string what = named.arrays.file + " " + expected.name;
    if (!found.contains(expected.name)) {
      score.count(false, what + ": no such array");
      continue;
    }
    const ArrayConfig& array = *found[expected.name];
    const PartitionSpec spec = resolved(array.axes, rules);
    const bool is_shape = !expected.shape || expected.shape == array.shape;
    score.count(is_mesh && is_shape && spec == *expected.axes.mesh(),
                what + ": " + to_string(spec) + ", expected " + to_string(*expected.axes.mesh()) +
                    (is_mesh ? "" : ", mesh differs") + (is_shape ? "" : ", shape differs"));
  }
}

std::vector<fs::path> folders_with(const fs::path& root, const std::string& file) {
  std::set<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() == file) found.insert(entry.path().parent_path());
  }
  return {found.begin(), found.end()};
}

// `.opt_state/[0]/.mu/['params']/['decoder']/['norm']` and its parameter are both
// `params/decoder/norm`; nothing for a count.
std::string parameter_of(const std::string& name) {
  const std::size_t start = name.find("['params']");
  if (start == std::string::npos) return "";
  std::string plain;
  for (const char c : name.substr(start)) {
    if (c != '[' && c != ']' && c != '\'') plain += c;
  }
  return plain;
}

TEST_CASE("MaxText's dumps of arrays and activations come out of its configuration files") {
  const fs::path root = corpus() / "maxtext";
  if (!fs::exists(root)) {
    std::cout << "skipped: corpus, no files\n";
    return;
  }
  DiskReader reader;
  Score arrays;
  Score activations;
  for (const fs::path& folder : folders_with(root / "sharding_info", "named_shardings.json")) {
    CAPTURE(folder.string());
    const DumpFolder dump = read_folder(folder, true);
    Sources sources(reader);
    ImportOptions options;
    options.devices = dump.topology;
    options.slices = dump.slices;
    options.settings = dump.settings;
    options.settings.push_back("model_name=" + dump.model);
    if (dump.rule != "default") options.settings.push_back("custom_mesh_and_rule=" + dump.rule);
    const RulesConfig rules = import_rules((root / "base.yml").string(), options, sources).rules;
    check_arrays(import_arrays((folder / "logical_shardings.json").string(), sources),
                 import_arrays((folder / "named_shardings.json").string(), sources), rules, arrays);
    check_activations(folder, rules, activations, sources);
  }
  arrays.print("corpus/maxtext");
  activations.print("corpus/maxtext activations");
  CHECK(arrays.misses.empty());
  CHECK(arrays.total == 588);
  CHECK(activations.misses.empty());
  CHECK(activations.total == 120);
}

TEST_CASE("MaxText's older dumps come out of the rules of their time") {
  const fs::path root = corpus() / "maxtext-2025-09";
  if (!fs::exists(root)) {
    std::cout << "skipped: corpus, no files\n";
    return;
  }
  DiskReader reader;
  Sources sources(reader);
  std::map<std::string, SpecConfig> axes;
  const std::string tree = (corpus() / "derived_trees" / "llama3.1-8b.json").string();
  for (ArrayConfig& array : import_arrays(tree, sources).arrays.arrays) {
    LogicalSpec names = *array.axes.logical();
    for (auto& name : names.names) {  // one name in those days
      if (name == LogicalAxis("embed_vocab")) name = LogicalAxis("embed");
    }
    axes[array.name].spec = std::move(names);
  }
  axes[""].spec = LogicalSpec{};
  Score score;
  for (const fs::path& folder : folders_with(root / "sharding_info", "named_shardings.json")) {
    CAPTURE(folder.string());
    const DumpFolder dump = read_folder(folder, false);
    ImportOptions options;
    options.devices = dump.topology;
    options.slices = dump.slices;
    const RulesConfig rules =
        import_rules((root / "rule_default.yml").string(), options, sources).rules;
    const ImportedArrays named = import_arrays((folder / "named_shardings.json").string(), sources);
    ImportedArrays logical = named;
    for (ArrayConfig& array : logical.arrays.arrays) {
      const std::string parameter = parameter_of(array.name);
      REQUIRE(axes.contains(parameter));
      array.axes = axes[parameter];
    }
    check_arrays(logical, named, rules, score);
  }
  score.print("corpus/maxtext-2025-09");
  CHECK(score.misses.empty());
  CHECK(score.total == 780);
}

}  // namespace
}  // namespace shard
