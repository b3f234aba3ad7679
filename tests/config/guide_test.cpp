// The example files of the grammar: the guide's MLP in four forms, and a rules file.
#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {
namespace {

const std::map<std::string, std::string> guide = {
    {"models/guide_mlp.yaml",
     "name: mlp                                       # mesh axes throughout\n"
     "sizes: {batch: 8, embed: 1024, hidden: 1024, layers: 4}\n"
     "inputs:\n"
     "  x: f32[batch@data, embed]\n"
     "defaults: {kernel_init: xavier_normal, use_bias: false}\n"
     "blocks:\n"
     "  DotReluDot:\n"
     "    - dense: {features: hidden, kernel: \"P(None, model)\"}\n"
     "    - relu\n"
     "    - constrain: P(data, model)\n"
     "    - dot: {name: W2, features: embed, kernel: \"P(model, None)\"}\n"
     "    - constrain: P(data, None)\n"
     "layers:\n"
     "  - repeat: {block: DotReluDot, times: layers}\n"
     "outputs:\n"
     "  y: f32[batch@data, embed]\n"
     "train: {loss: sum, optimizer: {adam: {learning_rate: 1e-3}}, returns: [state]}\n"},
    {"models/guide_mlp_scan.yaml",
     "base: guide_mlp.yaml\n"
     "set: {layers.0.repeat.scan: true, layers.0.repeat.axis: null}\n"},
    {"models/guide_logical_mlp.yaml",
     "base: guide_mlp.yaml\n"
     "inputs: {x: [batch, embed]}\n"
     "blocks:\n"
     "  LogicalDotReluDot:\n"
     "    - dense: hidden\n"
     "    - relu\n"
     "    - constrain: P(data, model)\n"
     "    - dot: {name: W2, features: embed}\n"
     "    - constrain: [batch, embed]\n"
     "set: {layers.0.repeat.block: LogicalDotReluDot}\n"},
    {"models/mlp.yaml",
     "base: guide_logical_mlp.yaml\n"
     "blocks: {DotReluDot: [dense: hidden, relu, constrain: [batch, hidden], dot: {name: W2, "
     "features: embed}, constrain: [batch, embed]]}\n"
     "outputs: {y: [batch, embed]}\n"
     "set: {layers.0.repeat.block: DotReluDot}\n"},
    {"rules/flax_guide.yaml",
     "mesh: {data: 2, model: 4}\n"
     "rules:\n"
     "  - [batch, data]\n"
     "  - [hidden, model]\n"}};

}  // namespace

TEST_CASE("the guide's model with mesh axes reads to its structs") {
  CHECK(TestFiles(guide).model("models/guide_mlp.yaml") == "");
}

TEST_CASE("the scanned form of the guide's model differs in two keys") {
  CHECK(TestFiles(guide).model("models/guide_mlp_scan.yaml") == "");
}

TEST_CASE("the guide's logical model keeps one constraint in mesh axes") {
  CHECK(TestFiles(guide).model("models/guide_logical_mlp.yaml") == "");
}

TEST_CASE("the portable model has logical axes only") {
  CHECK(TestFiles(guide).model("models/mlp.yaml") == "");
}

TEST_CASE("the guide's rules read to their structs") {
  CHECK(TestFiles(guide).rules("rules/flax_guide.yaml") == "");
}

TEST_CASE("the resolved model names the origin of every line") {
  CHECK(TestFiles(guide).resolved_model("models/mlp.yaml",
                                        {{"batch=64", "train.donate=false"}, "", "", {}}) == "");
}

TEST_CASE("a resolved model reads back to the same model") {
  const TestFiles files(guide);
  const std::string text = files.resolved_model("models/guide_mlp_scan.yaml");
  const TestFiles again({{"models/guide_mlp_scan.yaml", text}});
  // Places differ, so the written form is compared.
  const std::string second = again.resolved_model("models/guide_mlp_scan.yaml");
  const auto without_comments = [](const std::string& lines) {
    std::string plain;
    for (std::size_t start = 0; start < lines.size();) {
      const std::size_t end = lines.find('\n', start);
      const std::string line = lines.substr(start, end - start);
      plain += line.substr(0, line.find(" #")) + "\n";
      start = end + 1;
    }
    return plain;
  };
  CHECK(without_comments(text).find("scan: true") != std::string::npos);
  CHECK(without_comments(text) != "");
  CHECK(again.model("models/guide_mlp_scan.yaml").find("scan axis=None") != std::string::npos);
}

}  // namespace shard
