// The example files of the grammar: the guide's MLP in four forms, and a rules file.
#include <doctest/doctest.h>

#include "config/files.h"
#include "text/read.h"

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
  CHECK(TestFiles(guide).model("models/guide_mlp.yaml") ==
        R"(mlp from models/guide_mlp.yaml naming linen seed 0 dtypes f32 f32 f32
sizes batch=8 embed=1024 hidden=1024 layers=4
input x@4:3 f32[batch=8, embed=1024] P('data', None)
block DotReluDot@7:3(x)
  dense@8:7 features=1024/hidden kernel=P(None, 'model') kernel_init=xavier_normal use_bias=false
  relu@9:7
  constrain@10:7 spec=P('data', 'model')@10:18
  dot@11:7 name=W2@11:19 features=1024/embed kernel=P('model', None) kernel_init=xavier_normal
  constrain@12:7 spec=P('data', None)@12:18
repeat@14:5 pattern=DotReluDot times=4/layers
output y@16:3 f32[batch=8, embed=1024] P('data', None)
train loss=sum@17:15 adam learning_rate=0.001 returns state donate
)");
}

TEST_CASE("the scanned form of the guide's model differs in two keys") {
  CHECK(TestFiles(guide).model("models/guide_mlp_scan.yaml") ==
        R"(mlp from models/guide_mlp_scan.yaml naming linen seed 0 dtypes f32 f32 f32
sizes batch=8 embed=1024 hidden=1024 layers=4
input x@4:3 f32[batch=8, embed=1024] P('data', None)
block DotReluDot@7:3(x)
  dense@8:7 features=1024/hidden kernel=P(None, 'model') kernel_init=xavier_normal use_bias=false
  relu@9:7
  constrain@10:7 spec=P('data', 'model')@10:18
  dot@11:7 name=W2@11:19 features=1024/embed kernel=P('model', None) kernel_init=xavier_normal
  constrain@12:7 spec=P('data', None)@12:18
repeat@14:5 pattern=DotReluDot times=4/layers scan axis=None
output y@16:3 f32[batch=8, embed=1024] P('data', None)
train loss=sum@17:15 adam learning_rate=0.001 returns state donate
)");
}

TEST_CASE("the guide's logical model keeps one constraint in mesh axes") {
  CHECK(TestFiles(guide).model("models/guide_logical_mlp.yaml") ==
        R"(mlp from models/guide_logical_mlp.yaml naming linen seed 0 dtypes f32 f32 f32
sizes batch=8 embed=1024 hidden=1024 layers=4
input x@2:10 f32[batch=8, embed=1024] [batch, embed]
block DotReluDot@7:3(x)
  dense@8:7 features=1024/hidden kernel=P(None, 'model') kernel_init=xavier_normal use_bias=false
  relu@9:7
  constrain@10:7 spec=P('data', 'model')@10:18
  dot@11:7 name=W2@11:19 features=1024/embed kernel=P('model', None) kernel_init=xavier_normal
  constrain@12:7 spec=P('data', None)@12:18
block LogicalDotReluDot@4:3(x)
  dense@5:7 features=1024/hidden kernel_init=xavier_normal use_bias=false
  relu@6:7
  constrain@7:7 spec=P('data', 'model')@7:18
  dot@8:7 name=W2@8:19 features=1024/embed kernel_init=xavier_normal
  constrain@9:7 spec=[batch, embed]@9:18
repeat@14:5 pattern=LogicalDotReluDot times=4/layers
output y@16:3 f32[batch=8, embed=1024] P('data', None)
train loss=sum@17:15 adam learning_rate=0.001 returns state donate
)");
}

TEST_CASE("the portable model has logical axes only") {
  CHECK(TestFiles(guide).model("models/mlp.yaml") ==
        R"(mlp from models/mlp.yaml naming linen seed 0 dtypes f32 f32 f32
sizes batch=8 embed=1024 hidden=1024 layers=4
input x@2:10 f32[batch=8, embed=1024] [batch, embed]
block DotReluDot@2:10(x)
  dense@2:23 features=1024/hidden kernel_init=xavier_normal use_bias=false
  relu@2:38
  constrain@2:44 spec=[batch, hidden]@2:55
  dot@2:72 name=W2@2:84 features=1024/embed kernel_init=xavier_normal
  constrain@2:106 spec=[batch, embed]@2:117
block LogicalDotReluDot@4:3(x)
  dense@5:7 features=1024/hidden kernel_init=xavier_normal use_bias=false
  relu@6:7
  constrain@7:7 spec=P('data', 'model')@7:18
  dot@8:7 name=W2@8:19 features=1024/embed kernel_init=xavier_normal
  constrain@9:7 spec=[batch, embed]@9:18
repeat@14:5 pattern=DotReluDot times=4/layers
output y@3:11 f32[batch=8, embed=1024] [batch, embed]
train loss=sum@17:15 adam learning_rate=0.001 returns state donate
)");
}

TEST_CASE("the guide's rules read to their structs") {
  CHECK(TestFiles(guide).rules("rules/flax_guide.yaml") ==
        R"(flax_guide from rules/flax_guide.yaml unmatched unsharded
mesh data=2 model=4
rules
  batch -> data@3:5
  hidden -> model@4:5
)");
}

TEST_CASE("the resolved model names the origin of every line") {
  const Overrides overrides{{"batch=64", "train.donate=false"}, "", "", {}};
  CHECK(TestFiles(guide).resolved_model("models/mlp.yaml", overrides) ==
        R"(name: mlp                                                # models/guide_mlp.yaml:1
sizes:                                                   # models/guide_mlp.yaml:2
  batch: 64                                              # --set
  embed: 1024                                            # models/guide_mlp.yaml:2
  hidden: 1024                                           # models/guide_mlp.yaml:2
  layers: 4                                              # models/guide_mlp.yaml:2
inputs:                                                  # models/guide_mlp.yaml:3
  x: [batch, embed]                                      # models/guide_logical_mlp.yaml:2
defaults: {kernel_init: xavier_normal, use_bias: false}  # models/guide_mlp.yaml:5
blocks:                                                  # models/guide_mlp.yaml:6
  DotReluDot:                                            # models/mlp.yaml:2
    - dense: hidden                                      # models/mlp.yaml:2
    - relu                                               # models/mlp.yaml:2
    - constrain: [batch, hidden]                         # models/mlp.yaml:2
    - dot: {name: W2, features: embed}                   # models/mlp.yaml:2
    - constrain: [batch, embed]                          # models/mlp.yaml:2
  LogicalDotReluDot:                                     # models/guide_logical_mlp.yaml:4
    - dense: hidden                                      # models/guide_logical_mlp.yaml:5
    - relu                                               # models/guide_logical_mlp.yaml:6
    - constrain: P(data, model)                          # models/guide_logical_mlp.yaml:7
    - dot: {name: W2, features: embed}                   # models/guide_logical_mlp.yaml:8
    - constrain: [batch, embed]                          # models/guide_logical_mlp.yaml:9
layers:                                                  # models/guide_mlp.yaml:13
  - repeat:                                              # models/guide_mlp.yaml:14
      block: DotReluDot                                  # models/mlp.yaml:4
      times: layers                                      # models/guide_mlp.yaml:14
outputs:                                                 # models/guide_mlp.yaml:15
  y: [batch, embed]                                      # models/mlp.yaml:3
train:                                                   # models/guide_mlp.yaml:17
  loss: sum                                              # models/guide_mlp.yaml:17
  optimizer: {adam: {learning_rate: 1e-3}}               # models/guide_mlp.yaml:17
  returns: [state]                                       # models/guide_mlp.yaml:17
  donate: false                                          # --set
)");
}

TEST_CASE("the resolved rules name the origin of every line") {
  const Overrides overrides{{}, "", "data=8", {"[embed, data]"}};
  CHECK(TestFiles(guide).resolved_rules("rules/flax_guide.yaml", overrides) ==
        R"(mesh: {data: 8}      # --mesh
rules:               # rules/flax_guide.yaml:2
  - [batch, data]    # rules/flax_guide.yaml:3
  - [hidden, model]  # rules/flax_guide.yaml:4
  - [embed, data]    # --add-rule
)");
}

TEST_CASE("a resolved model reads back to the same model") {
  for (const auto& [path, text] : guide) {
    if (path.starts_with("rules/")) continue;
    CAPTURE(path);
    const std::string resolved = TestFiles(guide).resolved_model(path);
    const std::string again =
        TestFiles(std::map<std::string, std::string>{{path, resolved}}).resolved_model(path);
    CHECK(same_content(read_yaml("again", again), read_yaml("resolved", resolved)));
  }
}

}  // namespace shard
