// What each kind of layer becomes.
#include <doctest/doctest.h>

#include "model/model.h"
#include "small_model.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// The nodes of `apply`, one line each, without the numbers of inputs and outputs.
std::string nodes(const ModelBuilder& builder) {
  const Model model = build_model(builder.config);
  verify(model.apply);
  std::string text = to_string(model.apply);
  std::string kept;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    if (line.starts_with("  %")) kept += line.substr(2) + "\n";
    start = end + 1;
  }
  return kept;
}

std::vector<std::string> leaves(const ModelBuilder& builder) {
  std::vector<std::string> lines;
  for (const StateLeaf& leaf : build_model(builder.config).state) {
    lines.push_back(leaf.path + " " + to_string(leaf.type) + " " + to_string(leaf.placement) + " " +
                    leaf.init.kind);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("dense multiplies by a kernel and adds a bias over the last dim") {
  ModelBuilder builder = small();
  builder.layer(dense("hidden", true));
  CHECK(nodes(builder) ==
        "%3 = dot(%2, %1) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : "
        "f32[2,8]  # Dense_0\n"
        "%4 = broadcast(%0) {shape=[2,8], dims=[1]} : f32[2,8]  # Dense_0\n"
        "%5 = add(%3, %4) : f32[2,8]  # Dense_0\n");
  CHECK(leaves(builder) ==
        Lines{"params/Dense_0/bias f32[8] [hidden] zeros",
              "params/Dense_0/kernel f32[4,8] [embed, hidden] truncated_normal"});
  const Model model = build_model(builder.config);
  CHECK(model.apply.value(model.apply.outputs[0].value).name == "Dense_0");
  CHECK(model.apply.outputs[0].path == "output");
  CHECK_FALSE(model.apply.outputs[0].placement.has_value());
}

TEST_CASE("placements and initial values of parameters can be written") {
  ModelBuilder builder = small();
  LayerConfig first = named(dense("hidden", true), "up");
  first.kernel = SpecConfig{};
  first.params = {{"bias", mesh_spec({"model"})}};
  first.kernel_init = InitConfig{"normal", {{"stddev", 0.02}}, line(4)};
  first.bias_init = InitConfig{"ones", {}, line(4)};
  builder.layer(first);
  LayerConfig second = product("W2", "embed");
  second.params = {{"W2", logical_spec({"hidden", ""})}};
  builder.layer(second);
  CHECK(leaves(builder) == Lines{"params/W2 f32[8,4] [hidden, None] truncated_normal",
                                 "params/up/bias f32[8] P('model',) ones",
                                 "params/up/kernel f32[4,8] null normal"});
}

TEST_CASE("layers without a name are counted per class and scope") {
  ModelBuilder builder = small();
  builder.block("Block", {dense("embed"), word("relu"), dense("embed"), word("relu")});
  builder.layer(word("Block")).layer(dense("embed")).layer(word("Block"));
  builder.layer(named(dense("embed"), "head")).layer(dense("embed"));
  CHECK(leaves(builder) ==
        Lines{"params/Block_0/Dense_0/kernel f32[4,4] [embed, embed] truncated_normal",
              "params/Block_0/Dense_1/kernel f32[4,4] [embed, embed] truncated_normal",
              "params/Block_1/Dense_0/kernel f32[4,4] [embed, embed] truncated_normal",
              "params/Block_1/Dense_1/kernel f32[4,4] [embed, embed] truncated_normal",
              "params/Dense_0/kernel f32[4,4] [embed, embed] truncated_normal",
              "params/Dense_1/kernel f32[4,4] [embed, embed] truncated_normal",
              "params/head/kernel f32[4,4] [embed, embed] truncated_normal"});
}

TEST_CASE("plain naming uses the words of the file") {
  ModelBuilder builder = small();
  builder.config.naming = Naming::plain;
  builder.block("Block", {dense("embed")});
  builder.layer(dense("embed")).layer(repeat("Block", 2, true));
  CHECK(leaves(builder) ==
        Lines{"params/Block_0/dense_0/kernel f32[2,4,4] [None, embed, embed] truncated_normal",
              "params/dense_0/kernel f32[4,4] [embed, embed] truncated_normal"});
}

TEST_CASE("elementwise layers work on the running value or on what they name") {
  ModelBuilder builder = small();
  builder.layer(named(word("relu"), "h")).layer(word("tanh"));
  builder.layer(of(word("add"), {"h", "x"})).layer(with_number("scale", 2));
  builder.layer(with_number("maximum", 0.5));
  CHECK(nodes(builder) ==
        "%1 = relu(%0) : f32[2,4]  # h\n"
        "%2 = add(%1, %0) : f32[2,4]  # add_0\n"
        "%3 = scale(%2) {value=2.0} : f32[2,4]  # scale_0\n"
        "%4 = constant() {shape=[], value=0.5, dtype=\"f32\"} : f32[]  # maximum_0\n"
        "%5 = maximum(%3, %4) : f32[2,4]  # maximum_0\n");
  CHECK(build_model(builder.config).dropped == Lines{"tanh_0"});
}

TEST_CASE("reductions and transposes name dims by label or position") {
  ModelBuilder builder = small();
  builder.layer(over("transpose", {"embed", "batch"}));
  LayerConfig kept = over("reduce_sum", {"batch"});
  kept.keep_dims = true;
  builder.layer(kept)
      .layer(over("reduce_max", {"-1"}))
      .layer(over("broadcast", {"hidden", "embed"}));
  builder.layer(word("reduce_prod")).layer(word("transpose"));
  CHECK(nodes(builder) ==
        "%1 = transpose(%0) {order=[1,0]} : f32[4,2]  # transpose_0\n"
        "%2 = reduce_sum(%1) {dims=[1]} : f32[4]  # reduce_sum_0\n"
        "%3 = broadcast(%2) {shape=[4,1], dims=[0]} : f32[4,1]  # reduce_sum_0\n"
        "%4 = reduce_max(%3) {dims=[1]} : f32[4]  # reduce_max_0\n"
        "%5 = broadcast(%4) {shape=[8,4], dims=[1]} : f32[8,4]  # broadcast_0\n"
        "%6 = reduce_prod(%5) {dims=[0,1]} : f32[]  # reduce_prod_0\n"
        "%7 = transpose(%6) {order=[]} : f32[]  # transpose_1\n");
}

TEST_CASE("residual adds its input and parallel adds its branches") {
  ModelBuilder builder = small();
  builder.layer(chain("residual", {word("relu"), word("exp")}));
  builder.layer(chain("parallel", {word("sin"), word("cos")}));
  CHECK(nodes(builder) ==
        "%1 = relu(%0) : f32[2,4]  # relu_0\n"
        "%2 = exp(%1) : f32[2,4]  # exp_0\n"
        "%3 = add(%0, %2) : f32[2,4]  # residual_0\n"
        "%4 = sin(%3) : f32[2,4]  # sin_0\n"
        "%5 = cos(%3) : f32[2,4]  # cos_0\n"
        "%6 = add(%4, %5) : f32[2,4]  # parallel_0\n");
}

TEST_CASE("out_sharding is a constraint on the result") {
  ModelBuilder builder = small();
  LayerConfig layer = dense("hidden");
  layer.out_sharding = mesh_spec({"data"});
  builder.layer(layer);
  CHECK(nodes(builder) ==
        "%2 = dot(%1, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : "
        "f32[2,8]  # Dense_0\n"
        "%3 = constrain(%2) {placement=0, asks=1} : f32[2,8]  # Dense_0  P('data',)\n");
}

TEST_CASE("a parameter of its own is a value and leaves the running value alone") {
  ModelBuilder builder = small();
  builder.layer(param("w", builder.type({"embed"}), "zeros")).layer(word("relu"));
  builder.layer(let("y = relu_0 * w"));
  builder.config.layers[1].name = "relu_0";
  CHECK(nodes(builder) ==
        "%2 = relu(%1) : f32[2,4]  # relu_0\n"
        "%3 = broadcast(%0) {shape=[2,4], dims=[1]} : f32[2,4]  # y\n"
        "%4 = multiply(%2, %3) : f32[2,4]  # y\n");
  CHECK(leaves(builder) == Lines{"params/w f32[4] [embed] zeros"});
}

TEST_CASE("dense computes in the compute dtype and keeps its parameters in theirs") {
  ModelBuilder builder = small();
  builder.config.dtypes = {DType::f32, DType::bf16, DType::f32};
  builder.layer(dense("hidden", true)).layer(with_number("scale", 3));
  builder.output("y", {"batch", "hidden"});
  CHECK(nodes(builder) ==
        "%3 = convert(%2) {dtype=\"bf16\"} : bf16[2,4]  # Dense_0\n"
        "%4 = convert(%1) {dtype=\"bf16\"} : bf16[4,8]  # Dense_0\n"
        "%5 = dot(%3, %4) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : "
        "bf16[2,8]  # Dense_0\n"
        "%6 = convert(%0) {dtype=\"bf16\"} : bf16[8]  # Dense_0\n"
        "%7 = broadcast(%6) {shape=[2,8], dims=[1]} : bf16[2,8]  # Dense_0\n"
        "%8 = add(%5, %7) : bf16[2,8]  # Dense_0\n"
        "%9 = scale(%8) {value=3.0} : bf16[2,8]  # scale_0\n"
        "%10 = convert(%9) {dtype=\"f32\"} : f32[2,8]  # y\n");
}

TEST_CASE("a layer may have a dtype of its own") {
  ModelBuilder builder = small();
  LayerConfig layer = word("exp");
  layer.dtype = DType::bf16;
  builder.layer(layer);
  LayerConfig back = word("convert");
  back.dtype = DType::f32;
  builder.layer(back);
  CHECK(nodes(builder) ==
        "%1 = convert(%0) {dtype=\"bf16\"} : bf16[2,4]  # exp_0\n"
        "%2 = exp(%1) : bf16[2,4]  # exp_0\n"
        "%3 = convert(%2) {dtype=\"f32\"} : f32[2,4]  # convert_0\n");
}

TEST_CASE("a block has inputs and arguments of its own") {
  ModelBuilder builder = small();
  LayerConfig inner = dense("embed");
  inner.features = CountConfig{4, "embed", "features", line(6)};
  builder.block("Gate", {inner, of(word("multiply"), {"Dense_0", "gate"})});
  builder.config.blocks[0].layers[0].name = "Dense_0";
  builder.config.blocks[0].inputs = {"x", "gate"};
  builder.config.blocks[0].arguments = {{"features", count_of("embed")}};
  builder.config.blocks[0].arguments[0].second.value = 4;
  builder.layer(of(word("Gate"), {"x", "x"}));
  LayerConfig wide = of(word("Gate"), {"x", "wide"});
  wide.arguments = {{"features", count_of("hidden")}};
  builder.config.layers.insert(builder.config.layers.begin(), named(dense("hidden"), "wide"));
  builder.layer(wide);
  CHECK(leaves(builder) ==
        Lines{"params/Gate_0/Dense_0/kernel f32[4,4] [embed, embed] truncated_normal",
              "params/Gate_1/Dense_0/kernel f32[4,8] [embed, hidden] truncated_normal",
              "params/wide/kernel f32[4,8] [embed, hidden] truncated_normal"});
}

TEST_CASE("a repeated pattern alternates its blocks and tags the iterations") {
  ModelBuilder builder = small();
  builder.block("Local", {word("relu")}).block("Global", {word("exp")});
  LayerConfig layer = repeat("Local", 2);
  layer.repeat->pattern = {"Local", "Local", "Global"};
  builder.layer(layer);
  const Model model = build_model(builder.config);
  std::vector<std::string> order;
  for (const Node& node : model.apply.nodes) {
    order.push_back(node.name + " " + std::to_string(node.iteration.repeat) + ":" +
                    std::to_string(node.iteration.first));
    CHECK(node.iteration.count() == 1);
  }
  CHECK(order == Lines{"Local_0/relu_0 0:0", "Local_1/relu_0 0:0", "Global_0/exp_0 0:0",
                       "Local_2/relu_0 0:1", "Local_3/relu_0 0:1", "Global_1/exp_0 0:1"});
}

TEST_CASE("an axis without a scan is remarked upon once") {
  ModelBuilder builder = small();
  builder.block("Block", {word("relu")});
  LayerConfig layer = repeat("Block", 3);
  layer.repeat->has_axis = true;
  layer.repeat->axis = LogicalAxis("layers");
  builder.layer(layer);
  const Model model = build_model(builder.config);
  REQUIRE(model.notes.size() == 1);
  CHECK(to_string(model.notes[0]) ==
        "model.yaml:7:5: note: axis has no effect without scan: nothing is stacked "
        "[axis-without-scan]");
}

TEST_CASE("outputs are found by name and a single one may be the last value") {
  ModelBuilder builder = small();
  builder.layer(named(word("relu"), "h")).layer(word("exp"));
  builder.output("h", {}).output("last", {});
  builder.config.layers[1].name = "last";
  const Model both = build_model(builder.config);
  REQUIRE(both.apply.outputs.size() == 2);
  CHECK(both.apply.value(both.apply.outputs[0].value).name == "h");
  CHECK(both.apply.value(both.apply.outputs[1].value).name == "last");

  ModelBuilder one = small();
  one.layer(word("exp")).output("y", {"batch", "embed"});
  const Model model = build_model(one.config);
  CHECK(model.apply.value(model.apply.outputs[0].value).name == "exp_0");
  CHECK(to_string(*model.apply.outputs[0].placement) == "[batch, embed]");
}
