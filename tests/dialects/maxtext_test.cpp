#include <doctest/doctest.h>

#include "dialects/importing.h"

namespace shard {
namespace {

const std::string base =
    "model_name: default\n"
    "steps: 10\n"
    "mesh_axes: [data, stage, fsdp, tensor]\n"
    "logical_axis_rules: [\n"
    "  ['batch', ['data', 'fsdp']],  # a comment in a list\n"
    "  ['norm', 'tensor'],\n"
    "  ['embed', 'fsdp'],\n"
    "]\n"
    "dcn_data_parallelism: -1\n"
    "ici_fsdp_parallelism: -1\n"
    "ici_tensor_parallelism: 1\n";

const std::string base_rules =
    "rules:\n"
    "  - [batch, [data, fsdp]]\n"
    "  - [norm, tensor]\n"
    "  - [embed, fsdp]\n";

ImportOptions with(std::vector<std::string> settings, const std::string& devices = "v5e-16",
                   std::optional<std::int64_t> slices = std::nullopt) {
  ImportOptions options;
  options.settings = std::move(settings);
  options.devices = devices;
  options.slices = slices;
  return options;
}

std::string of_base(const ImportOptions& options) {
  return imported("base.yml", {{"base.yml", base}}, options);
}

}  // namespace

TEST_CASE("one size of each group is filled from the devices") {
  CHECK(of_base(with({})) ==
        "mesh: {data: 1, stage: 1, fsdp: 16, tensor: 1}\n" + base_rules + "devices: v5e-16\n");
  CHECK(of_base(with({"ici_tensor_parallelism=4"}, "v5e-16", 3)) ==
        "mesh: {data: 3, stage: 1, fsdp: 4, tensor: 4}\n" + base_rules +
            "devices: 3xv5e-16\ndcn: {data: 3}\n");
  CHECK(of_base(with({}, "2xv5p-16")) == "mesh: {data: 2, stage: 1, fsdp: 8, tensor: 1}\n" +
                                             base_rules + "devices: 2xv5p-16\ndcn: {data: 2}\n");
  CHECK(of_base(with({}, "a3", 2)) == "mesh: {data: 2, stage: 1, fsdp: 8, tensor: 1}\n" +
                                          base_rules + "devices: 2x8xh100\ndcn: {data: 2}\n");
  ImportOptions counted;
  counted.devices_per_slice = 6;
  counted.slices = 5;
  CHECK(of_base(counted) ==
        "mesh: {data: 5, stage: 1, fsdp: 6, tensor: 1}\n" + base_rules + "dcn: {data: 5}\n");
}

TEST_CASE("the file itself may name its hardware") {
  CHECK(imported("a.yml", {{"a.yml", base + "compile_topology: 'v5e-4'\n"
                                            "compile_topology_num_slices: 2\n"}}) ==
        "mesh: {data: 2, stage: 1, fsdp: 4, tensor: 1}\n" + base_rules +
            "devices: 2xv5e-4\ndcn: {data: 2}\n");
}

TEST_CASE("a size that only the devices decide stays open with a note") {
  CHECK(imported("base.yml", {{"base.yml", base}}) ==
        "mesh: {data: 1, stage: 1, fsdp: -1, tensor: 1}\n" + base_rules +
            "base.yml:10:23: note: the size of mesh axis 'fsdp' follows from the number of "
            "devices, which is not given [needs-device-count]\n"
            "   10 | ici_fsdp_parallelism: -1\n"
            "      |                       ^~\n"
            "  hint: give the hardware (--devices v5e-16) or the sizes (--mesh fsdp=16)\n");
}

TEST_CASE("sizes across slices tell the slices when nobody does") {
  ImportOptions options;
  options.devices_per_slice = 8;
  options.settings = {"dcn_fsdp_parallelism=4"};
  CHECK(of_base(options) ==
        "mesh: {data: 1, stage: 1, fsdp: 32, tensor: 1}\n" + base_rules +
            "dcn: {fsdp: 4}\n"
            "base.yml:9:23: note: 'dcn_data_parallelism' is filled in for 4 slices, the fewest "
            "that the sizes across slices allow [one-slice-assumed]\n"
            "    9 | dcn_data_parallelism: -1\n"
            "      |                       ^~\n"
            "  hint: say how many slices there are\n");
}

TEST_CASE("sizes that cannot be are refused with their place") {
  CHECK(of_base(with({"ici_tensor_parallelism=3"})) ==
        "base.yml:10:23: error: -1 in the ici sizes (1, 1, -1, 3) cannot be filled in: 16 devices "
        "per slice are not a multiple of the others, (1, 1, 1, 3) = 3 [mesh-size]\n"
        "   10 | ici_fsdp_parallelism: -1\n"
        "      |                       ^~\n"
        "  hint: the other sizes have to divide 16\n");
  CHECK(of_base(with({"ici_tensor_parallelism=-1"})) ==
        "--rules-set:1:24: error: 'ici_fsdp_parallelism' and 'ici_tensor_parallelism' are both -1; "
        "at most one size of a group is filled in [bad-mesh-size]\n"
        "    1 | ici_tensor_parallelism=-1\n"
        "      |                        ^~\n"
        "  hint: write the size of one of the two\n");
  CHECK(of_base(with({"ici_tensor_parallelism=0", "dcn_data_parallelism=two"})) ==
        "--rules-set:1:24: error: 'ici_tensor_parallelism' is '0', expected a whole number of at "
        "least 1, or -1 to fill it in [bad-parallelism]\n"
        "    1 | ici_tensor_parallelism=0\n"
        "      |                        ^\n"
        "--rules-set:2:22: error: 'dcn_data_parallelism' is 'two', expected a whole number of at "
        "least 1, or -1 to fill it in [bad-parallelism]\n"
        "    2 | dcn_data_parallelism=two\n"
        "      |                      ^~~\n");
  CHECK(of_base(with({"ici_fsdp_parallelism=4", "dcn_data_parallelism=2"})) ==
        "--rules-set:1:22: error: the number of devices per slice (16) must equal the product of "
        "the ici sizes (1, 1, 4, 1) = 4 [mesh-size]\n"
        "    1 | ici_fsdp_parallelism=4\n"
        "      |                      ^\n"
        "  hint: change a size, or write -1 for one of them to have it filled in\n"
        "--rules-set:2:22: error: the number of slices (1) must equal the product of the dcn sizes "
        "(2, 1, 1, 1) = 2 [mesh-size]\n"
        "    2 | dcn_data_parallelism=2\n"
        "      |                      ^\n"
        "  hint: change a size, or write -1 for one of them to have it filled in\n");
}

TEST_CASE("a mesh whose axes are too long for a number is refused") {
  ImportOptions options;
  options.settings = {"ici_data_parallelism=4611686018427387904", "ici_fsdp_parallelism=1",
                      "dcn_data_parallelism=4"};
  CHECK(of_base(options) ==
        "--rules-set:1:22: error: mesh axis 'data' has more than 2^63 devices [mesh-too-large]\n"
        "    1 | ici_data_parallelism=4611686018427387904\n"
        "      |                      ^~~~~~~~~~~~~~~~~~~\n");
}

TEST_CASE("hardware that does not exist is refused") {
  CHECK(of_base(with({}, "v5e-15")) ==
        "error: devices 'v5e-15' do not exist: no slice of v5e has 15 chips [unknown-devices]\n"
        "  hint: nearest: v5e-8 or v5e-16\n");
}

TEST_CASE("a chain of bases replaces lists and keeps the rest") {
  const Files files = {{"base.yml", base},
                       {"gpu/run.yml", "base_config: mid.yml\nici_tensor_parallelism: 2\n"},
                       {"gpu/mid.yml",
                        "base_config: \"base.yml\"\n"
                        "logical_axis_rules: [['embed', []]]\n"}};
  CHECK(imported("gpu/run.yml", files, with({}, "v5e-8")) ==
        "mesh: {data: 1, stage: 1, fsdp: 4, tensor: 2}\nrules:\n  - [embed, null]\n"
        "devices: v5e-8\n");
}

TEST_CASE("a chain of bases that comes back is refused with the circle") {
  CHECK(imported("a.yml", {{"a.yml", "base_config: b.yml\n"}, {"b.yml", "base_config: a.yml\n"}}) ==
        "b.yml:1:14: error: base_config comes back to 'a.yml' [base-cycle]\n"
        "    1 | base_config: a.yml\n"
        "      |              ^~~~~\n"
        "  hint: a.yml -> b.yml -> a.yml\n");
}

TEST_CASE("a base that is nowhere is refused") {
  CHECK(imported("d/a.yml", {{"d/a.yml", "base_config: base.yml\n"}}) ==
        "d/a.yml:1:14: error: there is no file 'base.yml' in the folder of 'd/a.yml' or in the "
        "four above it [missing-file]\n"
        "    1 | base_config: base.yml\n"
        "      |              ^~~~~~~~\n"
        "  hint: say where the configurations are: --config-folder DIR\n");
  ImportOptions options = with({});
  options.config_folders = {"lib"};
  CHECK(imported("d/a.yml", {{"d/a.yml", "base_config: base.yml\n"}, {"lib/base.yml", base}},
                 options) ==
        "mesh: {data: 1, stage: 1, fsdp: 16, tensor: 1}\n" + base_rules + "devices: v5e-16\n");
}

TEST_CASE("a model's rules are merged by name behind the others") {
  Files files = {{"base.yml", base},
                 {"models/m.yml", "logical_axis_rules: [['norm', 'fsdp'], ['new', 'data']]\n"}};
  CHECK(imported("base.yml", files, with({"model_name=m"})) ==
        "mesh: {data: 1, stage: 1, fsdp: 16, tensor: 1}\n"
        "rules:\n"
        "  - [batch, [data, fsdp]]\n"
        "  - [embed, fsdp]\n"
        "  - [norm, fsdp]\n"
        "  - [new, data]\n"
        "devices: v5e-16\n");
  files["models/m.yml"] += "override_logical_axis_rules: True\nmesh_axes: [fsdp]\n";
  CHECK(imported("base.yml", files, with({"model_name=m"})) ==
        "mesh: {fsdp: 16}\nrules:\n  - [norm, fsdp]\n  - [new, data]\ndevices: v5e-16\n");
}

TEST_CASE("rules on the command line are merged by name too") {
  CHECK(of_base(with({"logical_axis_rules=[['norm', []]]"})) ==
        "mesh: {data: 1, stage: 1, fsdp: 16, tensor: 1}\n"
        "rules:\n"
        "  - [batch, [data, fsdp]]\n"
        "  - [embed, fsdp]\n"
        "  - [norm, null]\n"
        "devices: v5e-16\n");
}

TEST_CASE("a model's file that is not there is told") {
  const std::string hint = "  hint: say where the configurations are: --config-folder DIR\n";
  CHECK(of_base(with({"model_name=m"})) ==
        "--rules-set:1:12: error: there is no file 'models/m.yml' [missing-file]\n"
        "    1 | model_name=m\n"
        "      |            ^\n" +
            hint);
  const std::string mesh =
      "mesh: {data: 1, stage: 1, fsdp: 16, tensor: 1}\n" + base_rules + "devices: v5e-16\n";
  CHECK(imported("a.yml", {{"a.yml", "base_config: base.yml\nmodel_name: m\n"}, {"base.yml", base}},
                 with({})) ==
        mesh +
            "a.yml:2:13: warning: there is no file 'models/m.yml'; rules that it may change stay "
            "as they are [model-file-missing]\n"
            "    2 | model_name: m\n"
            "      |             ^\n" +
            hint);
}

TEST_CASE("a custom file replaces the mesh and the rules") {
  const Files files = {{"base.yml", base},
                       {"custom_mesh_and_rule/pure.yml",
                        "mesh_axes: ['fsdp']\nlogical_axis_rules: [[embed, fsdp]]\n"}};
  CHECK(imported("base.yml", files,
                 with({"custom_mesh_and_rule=pure", "ici_tensor_parallelism=4"})) ==
        "mesh: {fsdp: 16}\nrules:\n  - [embed, fsdp]\ndevices: v5e-16\n");
  CHECK(imported("base.yml", files, with({"custom_mesh_and_rule=pur"})) ==
        "--rules-set:1:22: error: there is no file 'custom_mesh_and_rule/pur.yml' [missing-file]\n"
        "    1 | custom_mesh_and_rule=pur\n"
        "      |                      ^~~\n"
        "  hint: say where the configurations are: --config-folder DIR\n");
}

TEST_CASE("a custom file alone has MaxText's default sizes") {
  CHECK(imported("c.yml", {{"c.yml", "mesh_axes: ['data', 'fsdp']\nlogical_axis_rules: []\n"}},
                 with({}, "v5e-8", 2)) ==
        "mesh: {data: 2, fsdp: 8}\nrules: []\ndevices: 2xv5e-8\ndcn: {data: 2}\n");
}

TEST_CASE("rules of a program that sizes its mesh elsewhere leave it open") {
  CHECK(imported("t.yml", {{"t.yml",
                            "mesh_axes: ['data', 'model']\n"
                            "logical_axis_rules: [['batch', 'data']]\n"}}) ==
        "mesh: {data: -1, model: -1}\nrules:\n  - [batch, data]\n"
        "t.yml:1:12: note: the file names the mesh axes data, model and says nothing about their "
        "sizes [needs-device-count]\n"
        "    1 | mesh_axes: ['data', 'model']\n"
        "      |            ^\n"
        "  hint: give them: --mesh data=N,model=N\n");
}

TEST_CASE("pipeline parallelism changes the mesh and one rule") {
  const std::string rules = "logical_axis_rules: [['activation_embed_and_logits_batch', 'data']]\n";
  CHECK(imported("p.yml",
                 {{"p.yml",
                   "mesh_axes: [data, stage, fsdp]\n" + rules + "ici_pipeline_parallelism: 2\n"}},
                 with({}, "v5e-8")) ==
        "mesh: {stage: 2, data: 1, fsdp: 4}\n"
        "rules:\n"
        "  - [activation_embed_and_logits_batch, [stage, data, fsdp, fsdp_transpose, expert]]\n"
        "devices: v5e-8\n"
        "p.yml:3:27: note: with pipeline parallelism 'stage' and 'data' change places in the mesh "
        "[pipeline-rules]\n"
        "    3 | ici_pipeline_parallelism: 2\n"
        "      |                           ^\n"
        "p.yml:2:22: note: with pipeline parallelism the target of this rule is [stage, data, "
        "fsdp, fsdp_transpose, expert] [pipeline-rules]\n"
        "    2 | logical_axis_rules: [['activation_embed_and_logits_batch', 'data']]\n"
        "      |                      ^\n");
}

TEST_CASE("a file without rules or mesh says so") {
  CHECK(imported("m.yml", {{"m.yml", "base_emb_dim: 4\n"}}) ==
        "m.yml: error: no file of the configuration has the key 'logical_axis_rules' [no-rules]\n"
        "  hint: rules may stand in the file it is meant to build on (base_config)\n");
  CHECK(imported("m.yml", {{"m.yml", "base_emb_dim: 4\nlogical_axis_rules: [[norm, fsdp]]\n"}}) ==
        "rules:\n  - [norm, fsdp]\n"
        "m.yml: note: no file names mesh axes [mesh-missing]\n"
        "  hint: this is a model's file: give the configuration it belongs to, with model_name set "
        "to it\n");
}

TEST_CASE("rules under another key are told and can be asked for") {
  const Files files = {{"w.yml", base + "vae_logical_axis_rules: [[conv, data]]\n"}};
  CHECK(imported("w.yml", files, with({})) ==
        "mesh: {data: 1, stage: 1, fsdp: 16, tensor: 1}\n" + base_rules +
            "devices: v5e-16\n"
            "w.yml:12:1: note: the rules under 'vae_logical_axis_rules' are not used "
            "[other-rules]\n"
            "   12 | vae_logical_axis_rules: [[conv, data]]\n"
            "      | ^~~~~~~~~~~~~~~~~~~~~~\n"
            "  hint: ask for them: w.yml#vae_logical_axis_rules\n");
  ImportOptions options = with({});
  options.selected = "vae_logical_axis_rules";
  const std::string text = imported("w.yml", files, options);
  CHECK(text.find("rules:\n  - [conv, data]\ndevices") != std::string::npos);
  options.selected = "vae_rules";
  CHECK(imported("w.yml", files, options) ==
        "w.yml: error: no list of rules is called 'vae_rules' [unknown-rule-list]\n"
        "  hint: the file has: logical_axis_rules, vae_logical_axis_rules\n");
}

TEST_CASE("settings that nothing reads are warned of and malformed ones refused") {
  CHECK(of_base(with({"ici_fsdp_paralelism=4"})) ==
        "mesh: {data: 1, stage: 1, fsdp: 16, tensor: 1}\n" + base_rules +
            "devices: v5e-16\n"
            "--rules-set:1:1: warning: no file has the key 'ici_fsdp_paralelism' [unknown-key]\n"
            "    1 | ici_fsdp_paralelism=4\n"
            "      | ^~~~~~~~~~~~~~~~~~~\n"
            "  hint: did you mean 'ici_fsdp_parallelism'? valid: model_name, steps, mesh_axes, "
            "logical_axis_rules, dcn_data_parallelism, ici_fsdp_parallelism, "
            "ici_tensor_parallelism\n");
  CHECK(of_base(with({"fsdp"})) ==
        "--rules-set:1:1: error: 'fsdp' is not KEY=VALUE [bad-override]\n"
        "    1 | fsdp\n"
        "      | ^~~~\n"
        "  hint: e.g. ici_fsdp_parallelism=4\n");
}

TEST_CASE("keys that say nothing about sharding are counted") {
  MemoryReader reader(Files{{"base.yml", base}});
  Sources sources(reader);
  const ImportedRules found = import_rules("base.yml", with({}), sources);
  CHECK(found.ignored_keys == std::vector<std::string>{"steps"});
  CHECK(found.files == std::vector<std::string>{"base.yml"});
  CHECK(found.format == FileFormat::framework);
  CHECK(found.rules.name == "base");
  CHECK(found.rules.rules[1].at == Location{"base.yml", 6, 3, 1});
  CHECK(found.rules.mesh[2].at == Location{"base.yml", 10, 23, 2});
}

}  // namespace shard
