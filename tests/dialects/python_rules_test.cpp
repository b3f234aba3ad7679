#include <doctest/doctest.h>

#include "dialects/importing.h"
#include "dialects/t5x_rules.h"

namespace shard {
namespace {

const std::string no_mesh =
    "a.py: note: the text says nothing about the mesh [mesh-missing]\n"
    "  hint: give it: --mesh data=8\n";

std::string source(const std::string& text, const std::string& selected = "") {
  ImportOptions options;
  options.selected = selected;
  return imported("a.py", {{"a.py", text}}, options);
}

const std::string two_lists =
    "import jax\n"
    "logical_axis_rules_dp = (('batch', 'data'),)\n"
    "logical_axis_rules_full = [('batch', 'data'),\n"
    "                           ('mlp', 'model')]\n"
    "def f():\n"
    "  rules = [('x', 'y')]\n"
    "  rules = [('x', 'z')]\n";

}  // namespace

TEST_CASE("a mesh in the same source gives the axes and sizes") {
  CHECK(source("mesh = jax.make_mesh((2, 4), ('data', 'model'))\n"
               "RULES = (('batch', 'data'),)\n"
               "RULES += (('hidden', 'model'),)\n") ==
        "mesh: {data: 2, model: 4}\nrules:\n  - [batch, data]\n  - [hidden, model]\n");
  CHECK(source("mesh = Mesh(devices.reshape(2, 4), axis_names=('data', 'model'))\n"
               "RULES = (('batch', 'data'),)\n") ==
        "mesh: {data: -1, model: -1}\nrules:\n  - [batch, data]\n");
  CHECK(source("mesh = make_mesh(shape, AXES)\nRULES = (('batch', 'data'),)\n") ==
        "rules:\n  - [batch, data]\n" + no_mesh);
}

TEST_CASE("rules are found in arguments of calls") {
  CHECK(source("with nn.logical_axis_rules((('batch', 'data'),)):\n  pass\n") ==
        "rules:\n  - [batch, data]\n" + no_mesh);
  CHECK(source("p = Partitioner(num_partitions=1, logical_axis_rules=[('batch', 'data')])\n"
               "names = [('not', 'these')]\n") == "rules:\n  - [batch, data]\n" + no_mesh);
}

TEST_CASE("a configuration in Python sizes its mesh as MaxText does") {
  const std::string config =
      "config.logical_axis_rules = (('batch', 'data'), ('embed', 'fsdp'))\n"
      "config.mesh_axes = ['data', 'fsdp', 'tensor']\n"
      "config.dcn_data_parallelism = -1\n"
      "config.ici_fsdp_parallelism = -1\n"
      "config.ici_tensor_parallelism = 2\n"
      "config.steps = f(1)\n";
  ImportOptions options;
  options.devices = "2xv5e-8";
  CHECK(imported("a.py", {{"a.py", config}}, options) ==
        "mesh: {data: 2, fsdp: 4, tensor: 2}\n"
        "rules:\n  - [batch, data]\n  - [embed, fsdp]\n"
        "devices: 2xv5e-8\ndcn: {data: 2}\n");
  options.settings = {"ici_tensor_parallelism=8"};
  CHECK(imported("a.py", {{"a.py", config}}, options) ==
        "mesh: {data: 2, fsdp: 1, tensor: 8}\n"
        "rules:\n  - [batch, data]\n  - [embed, fsdp]\n"
        "devices: 2xv5e-8\ndcn: {data: 2}\n");
}

TEST_CASE("keywords of a rules class are rules") {
  CHECK(source("class Config:\n  axis_rules: MeshRules = MeshRules(embed='fsdp', mlp=None)\n") ==
        "rules:\n  - [embed, fsdp]\n  - [mlp, null]\n" + no_mesh);
  CHECK(source("config = Config(axis_rules=MeshRules(embed='fsdp'))\n") ==
        "rules:\n  - [embed, fsdp]\n" + no_mesh);
}

TEST_CASE("one of several lists is asked for by name or line") {
  CHECK(source(two_lists) ==
        "a.py: error: the text has 2 lists of rules: logical_axis_rules_dp (line 2), "
        "logical_axis_rules_full (line 3) [several-rule-lists]\n"
        "  hint: ask for one by its name or line: a.py#logical_axis_rules_dp\n");
  CHECK(source(two_lists, "logical_axis_rules_full") ==
        "rules:\n  - [batch, data]\n  - [mlp, model]\n" + no_mesh);
  CHECK(source(two_lists, "logical_axis_rules_ful") ==
        "a.py: error: no list of rules is called 'logical_axis_rules_ful' [unknown-rule-list]\n"
        "  hint: did you mean 'logical_axis_rules_full'? the file has: logical_axis_rules_dp, "
        "logical_axis_rules_full, rules, rules\n");
  CHECK(source(two_lists, "rules") ==
        "a.py: error: 2 lists of rules are called 'rules': rules (line 6), rules (line 7) "
        "[several-rule-lists]\n"
        "  hint: ask for one by its line: a.py#6\n");
  CHECK(source(two_lists, "7") == "rules:\n  - [x, z]\n" + no_mesh);
}

TEST_CASE("a source without rules says so") {
  CHECK(source("x = 1\ny = [1, 2]\n") ==
        "a.py: error: no list of pairs [logical name, mesh axes] is in this text [no-rules]\n"
        "  hint: rules look like (('batch', 'data'), ('embed', None))\n");
}

TEST_CASE("a list of rules that cannot be read is told instead of the others") {
  CHECK(source("rules = [('batch', 'data')\n") ==
        "a.py:1:9: error: this '[' is never closed [python-syntax]\n"
        "    1 | rules = [('batch', 'data')\n"
        "      |         ^\n");
  CHECK(source("rules = [('batch', data_axis + 'x')]\n") ==
        "a.py:1:20: error: 'data_axis + 'x'' is code, expected a literal value [not-a-literal]\n"
        "    1 | rules = [('batch', data_axis + 'x')]\n"
        "      |                    ^~~~~~~~~~~~~~~\n"
        "  hint: paste the value that Python prints for it\n");
}

TEST_CASE("gin asks for T5X' standard rules by name") {
  const std::string gin =
      "from t5x import partitioning\n"
      "partitioning.PjitPartitioner:\n"
      "  num_partitions = 2\n"
      "  logical_axis_rules = @partitioning.standard_logical_axis_rules()\n"
      "partitioning.standard_logical_axis_rules:\n"
      "  activation_partitioning_dims = 1\n"
      "  parameter_partitioning_dims = 2\n"
      "  additional_rules = [('expert', 'data'), ('small', None)]\n";
  CHECK(imported("a.gin", {{"a.gin", gin}}) ==
        "mesh: {data: -1, model: 2}\n"
        "rules:\n"
        "  - [batch, data]\n"
        "  - [vocab, model]\n"
        "  - [mlp, model]\n"
        "  - [heads, model]\n"
        "  - [kv, null]\n"
        "  - [joined_kv, model]\n"
        "  - [embed, data]\n"
        "  - [relpos_buckets, null]\n"
        "  - [abspos_buckets, null]\n"
        "  - [length, null]\n"
        "  - [layers, null]\n"
        "  - [stack, null]\n"
        "  - [mlp_activations, null]\n"
        "  - [expert, data]\n"
        "  - [small, null]\n"
        "a.gin:4:24: note: these are T5X' standard rules for activation_partitioning_dims = 1, "
        "parameter_partitioning_dims = 2 [standard-rules]\n"
        "    4 |   logical_axis_rules = @partitioning.standard_logical_axis_rules()\n"
        "      |                        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}

TEST_CASE("T5X has no standard rules for three dims") {
  CHECK(imported("a.gin", {{"a.gin",
                            "P.logical_axis_rules = @standard_logical_axis_rules()\n"
                            "standard_logical_axis_rules.activation_partitioning_dims = 3\n"}}) ==
        "a.gin:1:24: error: T5X has no standard rules for activation_partitioning_dims = 3, "
        "parameter_partitioning_dims = 1 [no-rules]\n"
        "    1 | P.logical_axis_rules = @standard_logical_axis_rules()\n"
        "      |                        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "  hint: both are 1 or 2\n");
}

TEST_CASE("T5X' four standard rule sets differ in embed") {
  const auto embed = [](std::int64_t activations, std::int64_t parameters) {
    std::string text;
    int position = 0;
    for (const RuleConfig& rule : standard_t5x_rules(activations, parameters, {})) {
      if (rule.logical == LogicalAxis("embed")) {
        text += std::to_string(position) + to_string(PartitionSpec{{rule.target}}) + " ";
      }
      ++position;
    }
    return text + "of " + std::to_string(position);
  };
  CHECK(embed(1, 1) == "2P(None,) of 13");
  CHECK(embed(2, 1) == "6P('model',) of 13");
  CHECK(embed(1, 2) == "6P('data',) of 13");
  CHECK(embed(2, 2) == "6P('model',) 7P('data',) of 14");
  CHECK(embed(0, 1) == "of 0");
}

}  // namespace shard
