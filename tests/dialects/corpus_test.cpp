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
#include "dialects/rule_list.h"
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

// `UNCONSTRAINED` and mesh axes as the cases write them.
std::string answer_of(const PartitionEntry& entry) {
  if (entry.is_unconstrained) return "UNCONSTRAINED";
  std::string text;
  for (const MeshAxis& axis : entry.axes) text += (text.empty() ? "" : ",") + axis.text();
  return text.empty() ? "None" : text;
}

std::string expected_of(const TextNode& node) {
  if (!node.is_sequence()) return node.is_null() ? "None" : node.scalar;
  std::string text;
  for (const TextNode& item : node.items) text += (text.empty() ? "" : ",") + item.scalar;
  return text;
}

TEST_CASE("Flax's own cases of logical axes come out the same") {
  const fs::path file = corpus() / "flax" / "logical_to_mesh_cases.yml";
  if (!fs::exists(file)) {
    std::cout << "skipped: corpus, no files\n";
    return;
  }
  DiskReader reader;
  Sources sources(reader);
  const TextNode root = read_yaml(file.string(), sources.load(file.string()));
  Score score;
  for (const TextNode& item : root.find("cases")->items) {
    Diagnostics diagnostics;
    const std::vector<RuleConfig> rules = read_rule_list(*item.find("rules"), diagnostics);
    CHECK(diagnostics.all().empty());
    LogicalSpec names;
    for (const TextNode& name : item.find("logical_axes")->items) {
      names.names.emplace_back(LogicalAxis(name.scalar));
    }
    const TextNode& expected = *item.find("expected");
    if (!expected.is_sequence()) {
      score.count(!repeated_names(names).empty(), item.find("name")->scalar);
      continue;
    }
    std::string found;
    std::string wanted;
    for (const PartitionEntry& entry : logical_to_mesh_axes(names, rules).entries) {
      found += answer_of(entry) + " ";
    }
    for (const TextNode& entry : expected.items) wanted += expected_of(entry) + " ";
    score.count(found == wanted, item.find("name")->scalar + ": " + found + "not " + wanted);
  }
  score.print("corpus/flax");
  CHECK(score.misses.empty());
  CHECK(score.total == 12);
}

// Rule files that stand alone, with where their mesh comes from.
struct RuleFile {
  const char* path;
  const char* devices;
  std::size_t rules;
  const char* mesh;
};

TEST_CASE("every kind of rule file in the corpus is read") {
  if (!fs::exists(corpus())) {
    std::cout << "skipped: corpus, no files\n";
    return;
  }
  const std::vector<RuleFile> files = {
      {"t5x/moe_rules.yml", "", 17, "data=-1 expert=-1 model=-1 "},
      {"t5x/standard_rules_act1_param1.yml", "", 13, "data=-1 model=-1 "},
      {"t5x/standard_rules_act2_param1.yml", "", 13, "data=-1 model=-1 "},
      {"t5x/standard_rules_act2_param2.yml", "", 14, "data=-1 model=-1 "},
      {"whisper-jax/dp_rules.yml", "", 11, "data=-1 model=-1 "},
      {"maxdiffusion/base14.yml", "v5e-16", 9, "data=16 fsdp=1 context=1 tensor=1 "},
      {"maxdiffusion/base_xl.yml", "v5e-16", 9, "data=16 fsdp=1 context=1 tensor=1 "},
      {"maxdiffusion/base_flux_dev.yml", "v5p-16", 12, "data=8 fsdp=1 context=1 tensor=1 "},
      {"maxdiffusion/base_flux_dev_multi_res.yml", "2xv5e-8", 9,
       "data=8 fsdp=2 context=1 tensor=1 "},
      {"maxdiffusion/base_wan_14b.yml", "v6e-8", 13, "data=1 fsdp=1 context=8 tensor=1 "},
      {"maxdiffusion/base_wan_1_3b.yml", "2xv6e-8", 13, "data=1 fsdp=1 context=16 tensor=1 "},
      {"maxdiffusion/ltx2_video.yml", "2xv6e-8", 13, "data=1 fsdp=2 context=8 tensor=1 "},
      {"maxtext/custom_mesh_and_rule/pure-fsdp.yml", "v5e-8", 14, "fsdp=8 "},
      {"maxtext-slurm/default.gpu.yml", "4x8xh100", 76,
       "diloco=1 data=4 stage=1 fsdp=8 fsdp_transpose=1 context=1 context_usp_ulysses=1 "
       "context_autoregressive=1 tensor=1 tensor_sequence=1 expert=1 autoregressive=1 "},
      {"maxtext-slurm/deepseek3-671b.gpu.yml", "16x8xh100", 76,
       "diloco=1 data=2 stage=1 fsdp=8 fsdp_transpose=1 context=1 context_usp_ulysses=1 "
       "context_autoregressive=1 tensor=1 tensor_sequence=1 expert=8 autoregressive=1 "},
      {"maxtext/inference/multihost/interleaved/llama2_70b_v5e-16.yml", "v5e-16", 25,
       "diloco=1 data=1 stage=1 fsdp=16 fsdp_transpose=1 context=1 context_usp_ulysses=1 "
       "context_autoregressive=1 tensor=1 tensor_sequence=1 expert=1 autoregressive=1 "},
  };
  DiskReader reader;
  Score score;
  for (const RuleFile& file : files) {
    CAPTURE(file.path);
    Sources sources(reader);
    ImportOptions options;
    options.devices = file.devices;
    options.config_folders = {(corpus() / "maxtext").string()};
    const RulesConfig rules = import_rules((corpus() / file.path).string(), options, sources).rules;
    std::string mesh;
    for (const MeshAxisConfig& axis : rules.mesh) {
      mesh += axis.name.text() + "=" + std::to_string(axis.size) + " ";
    }
    score.count(
        mesh == file.mesh && rules.rules.size() == file.rules,
        std::string(file.path) + ": " + std::to_string(rules.rules.size()) + " rules, " + mesh);
  }
  score.print("corpus rule files");
  CHECK(score.misses.empty());
}

}  // namespace
}  // namespace shard
