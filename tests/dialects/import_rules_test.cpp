#include "dialects/import_rules.h"

#include <doctest/doctest.h>

#include "config/load.h"
#include "dialects/importing.h"

namespace shard {
namespace {

const std::string rules_text = "RULES = [('batch', 'data'), ('embed', None)]\n";

ImportOptions overridden(const std::string& mesh, std::vector<std::string> rules = {}) {
  ImportOptions options;
  options.overrides.mesh = mesh;
  options.overrides.add_rules = std::move(rules);
  return options;
}

}  // namespace

TEST_CASE("our own rules pass through") {
  const std::string text = "mesh: {data: 2, model: 4}\nrules:\n  - [batch, data]\n";
  CHECK(imported("r.yaml", {{"r.yaml", text}}) == text);
  CHECK(imported("r.yaml", {{"r.yaml", text}}, overridden("data=8")) ==
        "mesh: {data: 8}\nrules:\n  - [batch, data]\n");
}

TEST_CASE("the command line's mesh and rules are applied to every format") {
  CHECK(imported("r.py", {{"r.py", rules_text}}, overridden("data=2,model=4", {"[mlp, model]"})) ==
        "mesh: {data: 2, model: 4}\n"
        "rules:\n"
        "  - [batch, data]\n"
        "  - [embed, null]\n"
        "  - [mlp, model]\n");
  CHECK(imported("r.yml", {{"r.yml", "mesh_axes: [fsdp]\nlogical_axis_rules: [[a, fsdp]]\n"}},
                 overridden("fsdp=3")) == "mesh: {fsdp: 3}\nrules:\n  - [a, fsdp]\n");
}

TEST_CASE("settings of other programs are told when nothing of ours reads them") {
  ImportOptions options;
  options.settings = {"ici_fsdp_parallelism=4"};
  const std::string text = "mesh: {data: 2}\nrules:\n  - [batch, data]\n";
  CHECK(imported("r.yaml", {{"r.yaml", text}}, options) ==
        text +
            "--rules-set:1:1: warning: 'ici_fsdp_parallelism' is a key of other programs' rules, "
            "not of ours [unused-setting]\n"
            "    1 | ici_fsdp_parallelism=4\n"
            "      | ^~~~~~~~~~~~~~~~~~~~\n"
            "  hint: change our rules with --mesh and --add-rule\n");
}

TEST_CASE("a mesh of the command line that cannot be is refused") {
  CHECK(imported("r.py", {{"r.py", rules_text}}, overridden("data=0")) ==
        "--mesh:1:6: error: mesh axis 'data' is 0, expected a whole number of 1 or more "
        "[bad-size]\n"
        "    1 | data=0\n"
        "      |      ^\n");
}

TEST_CASE("a file that holds no rules is called what it looks like") {
  CHECK(imported("config.json", {{"config.json", "{\"model_type\": \"llama\"}"}}) ==
        "config.json: error: this looks like a Hugging Face config.json, expected rules: our YAML, "
        "a MaxText configuration, or lists of pairs in Python [unknown-format]\n");
  CHECK(imported("m.yaml", {{"m.yaml", "layers: [relu]\n"}}) ==
        "m.yaml: error: this looks like a model file of shard-plan, expected rules: our YAML, a "
        "MaxText configuration, or lists of pairs in Python [unknown-format]\n");
  CHECK(imported("l.yml", {{"l.yml",
                            "base_config: x.yml\nbase_config:\n  - 1\n"
                            "logical_axis_rules: 4\n"}})
            .find("Unknown axis rule specification type") != std::string::npos);
}

TEST_CASE("a file that is a list where a map is meant is refused") {
  CHECK(imported("a.yml", {{"a.yml", "base_config: b.yml\n"}, {"b.yml", "- 1\n"}}) ==
        "b.yml:1:1: error: the file holds a list, expected a map [no-rules]\n"
        "    1 | - 1\n"
        "      | ^\n");
}

TEST_CASE("written rules read back the same") {
  RulesConfig rules;
  rules.mesh = {{MeshAxis("data"), 2, {}}, {MeshAxis("on"), 4, {}}};
  const auto rule = [](const char* name, std::vector<MeshAxis> axes,
                       bool is_unconstrained = false) {
    return RuleConfig{LogicalAxis(name), {std::move(axes), is_unconstrained}, {}};
  };
  rules.rules = {rule("batch", {MeshAxis("data"), MeshAxis("on")}),
                 rule("null", {MeshAxis("data")}),
                 rule("12", {}),
                 rule("a b, [c]: 'd' \"e\" # f", {MeshAxis("true")}),
                 rule("UNCONSTRAINED", {}, true),
                 rule("P(x)", {MeshAxis("1e3")}),
                 rule("back\\slash", {MeshAxis("~")})};
  rules.rules_for = {{Part::optimizer, {rule("embed", {MeshAxis("data")})}},
                     {Part::activations, {}}};
  rules.unmatched = Unmatched::no_constraint;
  rules.devices = "cpu-8";
  const std::string text = write_rules_yaml(rules);
  CHECK(text ==
        "mesh: {data: 2, on: 4}\n"
        "rules:\n"
        "  - [batch, [data, \"on\"]]\n"
        "  - [\"null\", data]\n"
        "  - [\"12\", null]\n"
        "  - [\"a b, [c]: 'd' \\\"e\\\" # f\", \"true\"]\n"
        "  - [\"UNCONSTRAINED\", UNCONSTRAINED]\n"
        "  - [\"P(x)\", \"1e3\"]\n"
        "  - [\"back\\\\slash\", \"~\"]\n"
        "rules_for:\n"
        "  optimizer:\n"
        "    - [embed, data]\n"
        "  activations: []\n"
        "unmatched: no-constraint\n"
        "devices: cpu-8\n");
  MemoryReader reader(Files{{"r.yaml", text}});
  Sources sources(reader);
  const RulesConfig back = read_rules(merge_rules_file("r.yaml", {}, sources));
  CHECK(write_rules_yaml(back) == text);
  REQUIRE(back.rules.size() == rules.rules.size());
  for (std::size_t i = 0; i < rules.rules.size(); ++i) {
    CHECK(back.rules[i].logical == rules.rules[i].logical);
    CHECK(back.rules[i].target == rules.rules[i].target);
  }
  CHECK(back.unmatched == Unmatched::no_constraint);
  CHECK(back.rules_for.size() == 2);
}

TEST_CASE("every key of a rules file reads back the same") {
  const std::string text =
      "mesh: {data: 4, fsdp: -1, model: 4}\n"
      "rules:\n"
      "  - [batch, data]\n"
      "paths:\n"
      "  - [\"*.weight\", \"P('fsdp', ('data', 'model'))\"]\n"
      "  - [\"*.bias\", [embed, null]]\n"
      "  - [\"*.scale\", null]\n"
      "unmatched: error\n"
      "misfit: drop-axes\n"
      "resolver: nnx\n"
      "devices: 4xv5e-16\n"
      "dcn: {data: 4}\n"
      "device_order: split\n"
      "axis_types: {data: explicit, model: manual}\n"
      "findings: {axis-unused: error, uneven: off}\n";
  CHECK(imported("r.yaml", {{"r.yaml", text}}) == text);
  const std::string listed =
      "mesh: {data: 4}\nrules: []\nmisfit: pad\ndevice_order: [3, 2, 1, 0]\naxis_types: explicit\n";
  CHECK(imported("r.yaml", {{"r.yaml", listed}}) == listed);
}

TEST_CASE("a rule set of ours is asked for like a list of another program") {
  const std::string text =
      "rule_sets:\n"
      "  train: {mesh: {data: 8}, rules: [[batch, data]]}\n"
      "  decode: {mesh: {model: 8}, rules: [[mlp, model]]}\n";
  ImportOptions options;
  options.selected = "decode";
  CHECK(imported("r.yaml", {{"r.yaml", text}}, options) ==
        "mesh: {model: 8}\nrules:\n  - [mlp, model]\n");
}

TEST_CASE("sizes across slices come with a configuration in the form of MaxText") {
  ImportOptions options;
  options.devices = "2xv5e-8";
  CHECK(imported("r.yml",
                 {{"r.yml",
                   "mesh_axes: [data, fsdp]\n"
                   "logical_axis_rules: [[a, fsdp]]\n"
                   "dcn_data_parallelism: -1\n"
                   "ici_fsdp_parallelism: -1\n"
                   "allow_split_physical_axes: true\n"}},
                 options) ==
        "mesh: {data: 2, fsdp: 8}\n"
        "rules:\n"
        "  - [a, fsdp]\n"
        "devices: 2xv5e-8\n"
        "dcn: {data: 2}\n"
        "device_order: split\n");
}

TEST_CASE("a base that builds on itself is told with the way round") {
  CHECK(imported("a.yml", {{"a.yml", "base_config: b.yml\nmesh_axes: [x]\n"},
                           {"b.yml", "base_config: a.yml\n"}}) ==
        "b.yml:1:14: error: base_config comes back to 'a.yml' [base-cycle]\n"
        "    1 | base_config: a.yml\n"
        "      |              ^~~~~\n"
        "  hint: a.yml -> b.yml -> a.yml\n");
}

TEST_CASE("ten thousand rules are read and keep their order") {
  std::string text = "mesh: {data: 2}\nrules:\n";
  for (int i = 0; i < 10'000; ++i) text += "  - [name" + std::to_string(i) + ", data]\n";
  CHECK(imported("r.yaml", {{"r.yaml", text}}) == text);
}

}  // namespace shard
