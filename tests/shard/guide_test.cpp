// The Flax guide's model, from its shipped files: the shardings the guide prints.

#include <doctest/doctest.h>

#include <map>

#include "config/load.h"
#include "mesh/mesh.h"
#include "model/model.h"
#include "shard/sharded_graph.h"

using namespace shard;

namespace {

ShardedGraph shipped(const std::string& model) {
  DiskReader disk;
  Sources sources(disk);
  const std::string root = SHARD_SOURCE_DIR;
  const RulesConfig rules =
      read_rules(merge_rules_file(root + "/rules/flax_guide.yaml", {}, sources));
  const ModelConfig config =
      read_model(merge_model_file(root + "/models/" + model + ".yaml", {}, sources));
  return shard_graph(*build_model(config).train_step, rules, make_mesh(rules));
}

/// Specs of the state and inputs by path.
std::map<std::string, std::string> placements(const ShardedGraph& sharded) {
  std::map<std::string, std::string> specs;
  for (const GraphInput& input : sharded.graph.inputs) {
    specs[input.path] = spec_text(sharded.mesh, sharded.sharding(input.value));
  }
  return specs;
}

/// Specs of the named values of a phase, without the block's name.
std::map<std::string, std::string> values(const ShardedGraph& sharded, Phase phase) {
  std::map<std::string, std::string> specs;
  for (const Node& node : sharded.graph.nodes) {
    if (node.phase != phase || node.op == Op::repeat) continue;
    const ValueId result = node.results.front();
    const std::string layer = node.name.substr(node.name.find('/') + 1);
    const std::string where = std::string(def(node.op).name) + " " + layer;
    const std::string spec = spec_text(sharded.mesh, sharded.sharding(result));
    const auto [found, is_new] = specs.try_emplace(where, spec);
    if (!is_new && found->second != spec) found->second = "differs between blocks";
  }
  return specs;
}

}  // namespace

TEST_CASE("the guide's state and input are placed as the guide says") {
  const auto specs = placements(shipped("guide_mlp"));
  CHECK(specs.size() == 27);
  CHECK(specs.at("x") == "P('data', None)");
  CHECK(specs.at("step") == "P()");
  CHECK(specs.at("opt_state/0/count") == "P()");
  for (const std::string tree : {"params", "opt_state/0/mu", "opt_state/0/nu"}) {
    for (int block = 0; block < 4; ++block) {
      const std::string path = tree + "/DotReluDot_" + std::to_string(block);
      CAPTURE(path);
      CHECK(specs.at(path + "/Dense_0/kernel") == "P(None, 'model')");
      CHECK(specs.at(path + "/W2") == "P('model', None)");
    }
  }
}

TEST_CASE("the guide's activations follow their constraints") {
  const auto specs = values(shipped("guide_mlp"), Phase::forward);
  CHECK(specs.at("dot Dense_0") == "P('data', 'model')");
  CHECK(specs.at("relu relu_0") == "P('data', 'model')");
  CHECK(specs.at("constrain relu_0") == "P('data', 'model')");
  CHECK(specs.at("dot W2") == "P('data', None)");
  CHECK(specs.at("constrain W2") == "P('data', None)");
}

TEST_CASE("the guide's gradients are split as their parameters") {
  const ShardedGraph sharded = shipped("guide_mlp");
  int kernels = 0;
  for (const Node& node : sharded.graph.nodes) {
    if (node.op != Op::adam_update) continue;
    ++kernels;
    CHECK(sharded.sharding(node.operands[3]) == sharded.sharding(node.operands[0]));
  }
  CHECK(kernels == 8);
  CHECK(sharded.conflicts.empty());
  for (std::size_t i = 0; i < sharded.graph.outputs.size(); ++i) {
    const GraphOutput& output = sharded.graph.outputs[i];
    CHECK(is_equivalent(sharded.mesh, sharded.output_shardings[i], sharded.sharding(output.value)));
  }
}

TEST_CASE("the guide's logical model gives the same shardings") {
  std::map<std::string, std::string> logical;
  for (const auto& [path, spec] : placements(shipped("guide_logical_mlp"))) {
    const std::size_t at = path.find("LogicalDotReluDot");
    logical[at == std::string::npos ? path : path.substr(0, at) + path.substr(at + 7)] = spec;
  }
  CHECK(logical == placements(shipped("guide_mlp")));
}

TEST_CASE("the scanned guide's stacked parameters are whole along the layers") {
  const ShardedGraph sharded = shipped("guide_mlp_scan");
  const auto specs = placements(sharded);
  CHECK(specs.at("params/ScanDotReluDot_0/Dense_0/kernel") == "P(None, None, 'model')");
  CHECK(specs.at("params/ScanDotReluDot_0/W2") == "P(None, 'model', None)");
  const auto inside = values(sharded, Phase::forward);
  CHECK(inside.at("dot Dense_0") == "P('data', 'model')");
  CHECK(inside.at("dot W2") == "P('data', None)");
}
