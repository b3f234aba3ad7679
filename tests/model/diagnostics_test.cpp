// Every mistake that building a model can find, with its whole text.
#include <doctest/doctest.h>

#include "model/model.h"
#include "small_model.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// All messages of building the model, one after the other; empty when it builds.
std::string mistakes(const ModelConfig& config) {
  try {
    build_model(config);
  } catch (const Error& error) {
    std::string text;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      text += (text.empty() ? "" : "\n") + to_string(diagnostic);
    }
    return text;
  }
  return "";
}

std::string mistakes(const ModelBuilder& builder) { return mistakes(builder.config); }

/// Of a model of these layers, in lines 10, 11, ...
std::string mistakes(std::vector<LayerConfig> layers) {
  ModelBuilder builder = small();
  for (LayerConfig& layer : layers) builder.layer(std::move(layer));
  return mistakes(builder);
}

}  // namespace

TEST_CASE("an unknown layer gets the nearest layer op or block") {
  ModelBuilder builder = small();
  builder.block("DotReluDot", {word("rleu")}).layer(word("dens")).layer(word("DotRelu"));
  builder.layer(word("adam_update")).layer(word("bitcast")).layer(word("xyzzy"));
  CHECK(mistakes(builder) ==
        "model.yaml:31:5: error: there is no layer, op or block 'rleu' [unknown-layer]\n"
        "  hint: did you mean 'relu'?\n"
        "model.yaml:10:5: error: there is no layer, op or block 'dens' [unknown-layer]\n"
        "  hint: did you mean 'dense'?\n"
        "model.yaml:11:5: error: there is no layer, op or block 'DotRelu' [unknown-layer]\n"
        "  hint: did you mean 'DotReluDot'?\n"
        "model.yaml:12:5: error: there is no layer, op or block 'adam_update' [unknown-layer]\n"
        "  hint: 'adam_update' is an op, but not one that can be a layer\n"
        "model.yaml:13:5: error: there is no layer, op or block 'bitcast' [unknown-layer]\n"
        "  hint: 'bitcast' is an op, but not one that can be a layer\n"
        "model.yaml:14:5: error: there is no layer, op or block 'xyzzy' [unknown-layer]");
}

TEST_CASE("a choice between numbers is none between arrays") {
  CHECK(mistakes({let("y = select(x, 1, 2)")}) ==
        "model.yaml:8:14: error: select needs an array, found a number [not-an-array]");
  CHECK(mistakes({let("y = select(x, x, 2)")}) ==
        "model.yaml:8:27: error: select of f32[batch=2, embed=4] and f32[batch=2, embed=4] and "
        "f32[]: the condition is f32[2,4], not bool [shape-mismatch]");
}

TEST_CASE("layers of the later grammar are not built yet") {
  CHECK(mistakes({word("group_norm")}) ==
        "model.yaml:10:5: error: layer 'group_norm' is not built by this version [not-yet]\n"
        "  hint: build it from dense, dot, let and the elementwise ops");
  CHECK(mistakes({let("y = group_norm(x)")}) ==
        "model.yaml:8:14: error: 'group_norm' is not built by this version [not-yet]");
}

TEST_CASE("a key that a layer does not take is refused with those it takes") {
  LayerConfig layer = word("relu");
  layer.features = count_of("hidden");
  layer.arguments = {{"slope", count_of(1)}};
  CHECK(mistakes({layer}) ==
        "model.yaml:6:5: error: relu takes no 'slope' [unknown-key]\n"
        "  hint: valid: name, of, dtype, out_sharding\n"
        "model.yaml:10:5: error: relu takes no 'features' [unknown-key]\n"
        "  hint: valid: name, of, dtype, out_sharding");
  ModelBuilder builder = small();
  LayerConfig call = word("Block");
  call.arguments = {{"featurs", count_of("hidden")}};
  builder.block("Block", {word("relu")}).layer(call);
  builder.config.blocks[0].arguments = {{"features", count_of(4)}};
  CHECK(mistakes(builder) ==
        "model.yaml:6:5: error: block 'Block' has no argument 'featurs' [unknown-argument]\n"
        "  hint: did you mean 'features'? arguments: features");
}

TEST_CASE("a size may stand where a number may") {
  LayerConfig layer = word("scale");
  layer.arguments = {{"", count_of("hidden")}};
  CHECK(mistakes({layer}) == "");
  layer.kind = "exp";
  CHECK(mistakes({layer}) ==
        "model.yaml:6:5: error: exp takes no size [unknown-key]\n"
        "  hint: valid: name, of, dtype, out_sharding");
}

TEST_CASE("layers without what they need say so") {
  CHECK(mistakes({word("dense")}) ==
        "model.yaml:10:5: error: dense needs features [missing-key]\n"
        "  hint: write dense: {features: SIZE}");
  CHECK(mistakes({word("let")}) == "model.yaml:10:5: error: let needs expression [missing-key]");
  CHECK(mistakes({word("constrain")}) ==
        "model.yaml:10:5: error: constrain needs a spec [missing-key]\n"
        "  hint: write constrain: [batch, embed] or constrain: P(data, None)");
  CHECK(mistakes({word("convert")}) ==
        "model.yaml:10:5: error: convert needs dtype [missing-key]\n"
        "  hint: write convert: {dtype: bf16}");
  LayerConfig layer = repeat("Block", 2);
  layer.repeat->pattern.clear();
  CHECK(mistakes({layer}) ==
        "model.yaml:7:5: error: repeat needs a block [missing-key]\n"
        "  hint: write repeat: {block: NAME, times: 4}");
  ModelBuilder empty({{"n", 2}});
  CHECK(mistakes(empty) ==
        "model.yaml: error: the model has no inputs [missing-key]\n"
        "  hint: write inputs: {x: \"f32[batch, embed]\"}");
}

TEST_CASE("a repeated block must be one of the file") {
  ModelBuilder builder = small();
  builder.block("Block", {word("relu")}).layer(repeat("Blok", 2));
  CHECK(mistakes(builder) ==
        "model.yaml:7:5: error: there is no block 'Blok' in this file [unknown-block]\n"
        "  hint: did you mean 'Block'? blocks: Block");
}

TEST_CASE("a block that refers to itself shows the circle") {
  ModelBuilder builder = small();
  builder.block("A", {word("relu"), word("B")}).block("B", {repeat("A", 2)}).layer(word("A"));
  CHECK(mistakes(builder) ==
        "model.yaml:41:5: error: block 'A' refers to itself: A -> B -> A [recursive-block]\n"
        "  hint: a block may only use other blocks");
  ModelBuilder self = small();
  self.block("A", {chain("residual", {word("A")})}).layer(word("A"));
  CHECK(mistakes(self).find("block 'A' refers to itself: A -> A [recursive-block]") !=
        std::string::npos);
}

TEST_CASE("a block may not take the name of a layer or of another block") {
  ModelBuilder builder = small();
  builder.block("relu", {word("exp")}).block("attention", {word("exp")});
  builder.block("A", {word("exp")}).block("A", {word("exp")}).layer(word("A"));
  CHECK(mistakes(builder) ==
        "model.yaml:30:5: error: a block may not be called 'relu', that is a layer "
        "[reserved-name]\n  hint: give the block another name\n"
        "model.yaml:40:5: error: a block may not be called 'attention', that is a layer "
        "[reserved-name]\n  hint: give the block another name\n"
        "model.yaml:60:5: error: there is a block 'A' already [duplicate-name]");
}

TEST_CASE("values are known only after they are made") {
  CHECK(mistakes({of(word("relu"), {"y"})}) ==
        "model.yaml:7:20: error: there is no value 'y' here [unknown-value]\n"
        "  hint: did you mean 'x'? values: x");
  CHECK(mistakes({let("z = h + 1"), named(word("relu"), "h")}) ==
        "model.yaml:8:14: error: 'h' is used before it is made (model.yaml:11:5) "
        "[used-before-made]\n  hint: move the layer that makes it before this one");
  ModelBuilder builder = small();
  builder.layer(word("relu")).output("a", {}).output("b", {});
  CHECK(mistakes(builder) ==
        "model.yaml:3:5: error: there is no value 'a' here [unknown-value]\n"
        "  hint: did you mean 'x'? values: x\n"
        "model.yaml:3:5: error: there is no value 'b' here [unknown-value]\n"
        "  hint: did you mean 'x'? values: x");
}

TEST_CASE("names are given once") {
  CHECK(mistakes({named(dense("embed"), "up"), named(dense("embed"), "up")}) ==
        "model.yaml:7:30: error: there is a layer 'up' already [duplicate-name]\n"
        "  hint: give one of them another name:");
  CHECK(mistakes({named(dense("embed"), "Dense_0"), dense("embed")}) ==
        "model.yaml:11:5: error: there is a layer 'Dense_0' already [duplicate-name]\n"
        "  hint: give one of them another name:");
  ModelBuilder builder = small();
  builder.input("x", {"batch"}).layer(word("relu"));
  CHECK(mistakes(builder) ==
        "model.yaml:2:5: error: there is an input 'x' already [duplicate-name]");
  ModelBuilder twice = small();
  twice.layer(param("w", twice.type({"embed"}))).layer(param("w", twice.type({"embed"})));
  CHECK(mistakes(twice) ==
        "model.yaml:9:5: error: there is a layer 'w' already [duplicate-name]\n"
        "  hint: give one of them another name:");
}

TEST_CASE("sizes and dims must exist") {
  CHECK(mistakes({dense("hiden")}) ==
        "model.yaml:6:5: error: there is no size 'hiden' [unknown-dim]\n"
        "  hint: did you mean 'hidden'? sizes: batch, embed, hidden");
  CHECK(mistakes({over("reduce_sum", {"hidden"})}) ==
        "model.yaml:10:5: error: there is no dim 'hidden' in f32[batch=2, embed=4] [unknown-dim]\n"
        "  hint: dims: batch, embed");
  CHECK(mistakes({over("reduce_sum", {"2"})}) ==
        "model.yaml:10:5: error: there is no dim '2' in f32[batch=2, embed=4] [unknown-dim]\n"
        "  hint: dims: batch, embed");
  CHECK(mistakes({over("reduce_sum", {"embed", "1"})}) ==
        "model.yaml:10:5: error: dim '1' of f32[batch=2, embed=4] is named twice [duplicate-dim]");
  LayerConfig layer = dense("hidden");
  layer.features = count_of(-3);
  CHECK(mistakes({layer}) ==
        "model.yaml:6:5: error: a size must be at least 1, found -3 [bad-size]");
}

TEST_CASE("an argument of a block needs a value") {
  ModelBuilder builder = small();
  LayerConfig inner = dense("embed");
  inner.features = CountConfig{0, "", "features", line(6)};
  builder.block("Block", {inner}).layer(word("Block"));
  builder.config.blocks[0].arguments = {{"features", CountConfig{}}};
  CHECK(mistakes(builder) ==
        "model.yaml:6:5: error: the argument 'features' of the block has no value "
        "[missing-argument]\n  hint: give it where the block is used, or a default in args");
}

TEST_CASE("layers take as many inputs as they say") {
  CHECK(mistakes({of(word("relu"), {"x", "x"})}) ==
        "model.yaml:7:20: error: relu takes 1 input, found 2 [wrong-input-count]\n"
        "  hint: name them: of: [a, b]");
  CHECK(mistakes({word("add")}) ==
        "model.yaml:10:5: error: add takes 2 operands, found 1 [wrong-input-count]\n"
        "  hint: a second value (of: [a, b]) or a number (value: 2)");
  LayerConfig product_of_two = of(word("dot"), {"x", "x"});
  product_of_two.features = count_of("hidden");
  CHECK(mistakes({product_of_two}) ==
        "model.yaml:7:20: error: dot with features takes 1 input, found 2 [wrong-input-count]\n"
        "  hint: leave features out for the product of two values");
  ModelBuilder builder = small();
  builder.block("Block", {word("relu")}).layer(word("Block")).layer(repeat("Block", 2));
  builder.config.blocks[0].inputs = {"x", "mask"};
  CHECK(mistakes(builder) ==
        "model.yaml:10:5: error: Block takes 2 inputs, found 1 [wrong-input-count]\n"
        "  hint: name them: of: [a, b]\n"
        "model.yaml:7:5: error: 'Block' takes 2 inputs, found 1 [wrong-input-count]\n"
        "  hint: name them: of: [a, b]");
}

TEST_CASE("shapes and dtypes that do not go together are described with their labels") {
  ModelBuilder builder = small();
  builder.input("n", {"batch"}, DType::i32).input("h", {"hidden"});
  builder.layer(let("a = x + h")).layer(let("b = exp(n)")).layer(let("c = n * 0.5"));
  builder.layer(let("d = x @ h"));
  CHECK(mistakes(builder) ==
        "model.yaml:8:16: error: add of f32[batch=2, embed=4] and f32[hidden=8]: sizes 4 and 8 "
        "differ and neither is 1 [shape-mismatch]\n"
        "model.yaml:8:18: error: exp of i32[batch=2]: needs floating point, not i32 "
        "[dtype-mismatch]\n"
        "model.yaml:8:16: error: scale of i32[batch=2]: i32 needs a whole number, not {value=0.5} "
        "[dtype-mismatch]\n"
        "model.yaml:8:16: error: dot of f32[batch=2, embed=4] and f32[hidden=8]: contracted sizes "
        "differ: 4 and 8 [shape-mismatch]");
}

TEST_CASE("ranks that do not go together") {
  LayerConfig scalar = word("reduce_sum");
  CHECK(mistakes({scalar, dense("hidden")}) ==
        "model.yaml:11:5: error: dense needs at least one dim, found f32[] [rank-mismatch]");
  CHECK(mistakes({scalar, let("y = reduce_sum_0 @ x")}) ==
        "model.yaml:8:14: error: there is no value 'reduce_sum_0' here [unknown-value]\n"
        "  hint: values: x");
  CHECK(mistakes({named(scalar, "s"), let("y = s @ x")}) ==
        "model.yaml:8:16: error: product of f32[] and f32[batch=2, embed=4]: the right side must "
        "be a vector, a matrix, or as deep as the left [rank-mismatch]");
  CHECK(mistakes({over("broadcast", {"hidden"})}) ==
        "model.yaml:10:5: error: broadcast of f32[batch=2, embed=4] to 1 dims [rank-mismatch]");
  ModelBuilder builder = small();
  builder.layer(word("relu")).output("y", {"batch"});
  CHECK(mistakes(builder) ==
        "model.yaml:2:5: error: output 'y' has 1 dims, its value is f32[batch=2, embed=4] "
        "[rank-mismatch]");
}

TEST_CASE("a declared output must have the sizes of its value") {
  ModelBuilder builder = small();
  builder.layer(word("relu")).output("y", {"batch", "hidden"});
  CHECK(mistakes(builder) ==
        "model.yaml:2:5: error: dim 1 of output 'y' is 8, its value is f32[batch=2, embed=4] "
        "[shape-mismatch]");
}

TEST_CASE("a constraint fits the rank and sizes of its value") {
  CHECK(mistakes({constrain(mesh_spec({"data", "", "model"}))}) ==
        "model.yaml:4:5: error: P('data', None, 'model') has 3 entries, f32[batch=2, embed=4] has "
        "2 dims [rank-mismatch]");
  CHECK(mistakes({constrain(logical_spec({"batch", "hidden"}))}) ==
        "model.yaml:4:5: error: 'hidden' is 8, but dim 1 of f32[batch=2, embed=4] is 4 "
        "[constrain-size]\n"
        "  hint: name the dim by a size that is equal, or write null to leave it whole");
  CHECK(mistakes({constrain(logical_spec({"batch", "anything"}))}) == "");
  LayerConfig layer = dense("hidden");
  layer.kernel = mesh_spec({"a", "b", "c"});
  CHECK(mistakes({layer}) ==
        "model.yaml:4:5: error: P('a', 'b', 'c') has 3 entries, the parameter Dense_0/kernel has 2 "
        "dims [rank-mismatch]");
}

TEST_CASE("placements name parameters that the layer has") {
  LayerConfig layer = dense("hidden");
  layer.params = {{"kernle", mesh_spec({"a"})}};
  CHECK(mistakes({layer}) ==
        "model.yaml:4:5: error: dense has no parameter 'kernle' [unknown-parameter]\n"
        "  hint: did you mean 'kernel'? parameters: kernel, bias");
}

TEST_CASE("arrays that no count can hold are refused before anything is made") {
  const std::int64_t huge = std::int64_t{1} << 40;
  ModelBuilder builder({{"batch", huge}, {"embed", huge}, {"one", 1}});
  builder.input("x", {"batch", "embed"}).layer(word("relu"));
  CHECK(mistakes(builder) ==
        "model.yaml:2:5: error: f32[1099511627776,1099511627776] has more bytes than a 63-bit "
        "count can hold [size-overflow]");
  ModelBuilder inner({{"batch", huge}, {"embed", huge}, {"one", 1}});
  inner.input("x", {"batch", "one"}).layer(dense("embed"));
  CHECK(mistakes(inner) ==
        "model.yaml:10:5: error: f32[1099511627776,1099511627776] has more bytes than a 63-bit "
        "count can hold [size-overflow]");
  ModelBuilder params({{"batch", 1}, {"embed", std::int64_t{1} << 30}});
  params.block("Block", {dense("embed")});
  params.input("x", {"batch", "embed"}).layer(repeat("Block", 9));
  CHECK(mistakes(params) ==
        "model.yaml:31:5: error: the parameters together are more than a 63-bit count can hold "
        "[size-overflow]");
}

TEST_CASE("a written-out repeat has a limit and a scan has none") {
  ModelBuilder builder = small();
  builder.block("Block", {word("relu")}).layer(repeat("Block", 200'000));
  CHECK(mistakes(builder) ==
        "model.yaml:6:5: error: 200000 iterations written out, at most 100000 are built "
        "[too-many-layers]\n  hint: add scan: true");
  builder.config.layers[0].repeat->scan = true;
  CHECK(mistakes(builder) == "");
}

TEST_CASE("a scanned block returns what it takes") {
  ModelBuilder builder = small();
  builder.block("Block", {dense("hidden")}).layer(repeat("Block", 2, true));
  CHECK(mistakes(builder) ==
        "model.yaml:7:5: error: a scanned block must return what it takes: 'Block' takes "
        "f32[batch=2, embed=4] and returns f32[batch=2, hidden=8] [shape-mismatch]\n"
        "  hint: scan: false allows it");
}

TEST_CASE("expressions say what they cannot take") {
  CHECK(mistakes({let("y = relluu(x)")}) ==
        "model.yaml:8:14: error: there is no op 'relluu' [unknown-op]\n"
        "  hint: did you mean 'relu'?");
  CHECK(mistakes({let("y = relu(x, value=2)")}) ==
        "model.yaml:8:22: error: relu takes no 'value' [unknown-argument]");
  CHECK(mistakes({let("y = reduce_sum(x, axis=[embed])")}) ==
        "model.yaml:8:28: error: reduce_sum takes no 'axis' [unknown-argument]\n"
        "  hint: did you mean 'axes'? valid: axes, keep_dims");
  CHECK(mistakes({let("y = reduce_sum(x, keep_dims=3)")}) ==
        "model.yaml:8:28: error: 'keep_dims' of reduce_sum cannot be that [bad-argument]\n"
        "  hint: axes=[embed], keep_dims=true, value=0.5, dtype=bf16");
  CHECK(mistakes({let("y = add(x)")}) ==
        "model.yaml:8:14: error: add takes 2 operands, found 1 [wrong-input-count]\n"
        "  hint: a second value (of: [a, b]) or a number (value: 2)");
  CHECK(mistakes({let("y = dot(x)")}) ==
        "model.yaml:8:14: error: dot takes two arrays [wrong-input-count]\n"
        "  hint: write dot(x, y) or x @ y");
  CHECK(mistakes({let("y = reduce_sum(1)")}) ==
        "model.yaml:8:14: error: reduce_sum takes one array [wrong-input-count]\n"
        "  hint: write reduce_sum(x, ...)");
  CHECK(mistakes({let("y = convert(x)")}) ==
        "model.yaml:8:14: error: convert needs dtype [missing-argument]\n"
        "  hint: write convert(x, dtype=bf16)");
  CHECK(mistakes({let("y = exp(2)")}) ==
        "model.yaml:8:14: error: exp needs an array, found a number [not-an-array]");
  CHECK(mistakes({let("y = scale(x, x)")}) ==
        "model.yaml:8:14: error: scale takes an array and a number [not-an-array]");
  CHECK(mistakes({let("y = x @ 2")}) ==
        "model.yaml:8:16: error: @ takes two arrays, found a number [not-an-array]\n"
        "  hint: use * for a number");
  CHECK(mistakes({let("y = 2 + 3")}) ==
        "model.yaml:8:16: error: the value of a let must be an array, found a number "
        "[not-an-array]");
  CHECK(mistakes({let("y = relu([x])")}) ==
        "model.yaml:8:19: error: a list or a text is not an array [not-an-array]\n"
        "  hint: lists and texts are for arguments with a key: axes=[embed]");
}

TEST_CASE("one mistake gives one message however often its block is used") {
  ModelBuilder builder = small();
  builder.block("Block", {word("relu"), dense("hiden"), word("exp")}).layer(repeat("Block", 4));
  builder.layer(word("tanh")).layer(of(word("sin"), {"nobody"}));
  CHECK(mistakes(builder) ==
        "model.yaml:6:5: error: there is no size 'hiden' [unknown-dim]\n"
        "  hint: did you mean 'hidden'? sizes: batch, embed, hidden\n"
        "model.yaml:7:20: error: there is no value 'nobody' here [unknown-value]\n"
        "  hint: values: x");
}

TEST_CASE("training needs a loss and an optimizer that exist") {
  const auto training = [](const std::string& optimizer, const std::string& loss) {
    ModelBuilder builder = small();
    builder.layer(dense("hidden")).train(optimizer, loss);
    return builder;
  };
  CHECK(mistakes(training("sgd", "")) ==
        "model.yaml:5:5: error: the train step needs a loss [missing-loss]\n"
        "  hint: write loss: sum");
  CHECK(mistakes(training("sgd", "summ")) ==
        "model.yaml:5:15: error: there is no loss 'summ' [unknown-loss]\n"
        "  hint: did you mean 'sum'? valid: sum, mean, mse, cross_entropy");
  CHECK(mistakes(training("sgd", "cross_entropy")) ==
        "model.yaml:5:15: error: loss 'cross_entropy' needs targets [missing-key]\n"
        "  hint: write cross_entropy: {targets: shift(tokens)}, or an input's name");
}

TEST_CASE("complex parameters are trained by a real loss") {
  const auto training = [](const LayerConfig& output, OptimizerConfig optimizer) {
    ModelBuilder builder({{"n", 2}});
    builder.input("x", {"n"}, DType::c64);
    LayerConfig layer = param("w", builder.type({"n"}, DType::c64));
    layer.param->has_dtype = true;
    builder.layer(layer).layer(output).train("sgd");
    optimizer.at = builder.config.train->optimizer.at;
    builder.config.train->optimizer = std::move(optimizer);
    return builder;
  };
  OptimizerConfig sgd{"sgd", {}, {}}, adam{"adam", {}, {}}, clip{"clip", {}, {}};
  OptimizerConfig narrow = adam;
  narrow.dtypes = {{"mu_dtype", DType::f32}};
  CHECK(mistakes(training(let("y = abs(x * w)"), adam)).empty());
  CHECK(mistakes(training(let("y = x * w"), sgd)) ==
        "model.yaml:5:15: error: grad requires real-valued outputs, 'output' is c64[2] "
        "[dtype-mismatch]\n"
        "  hint: real, imag or abs of it is real");
  CHECK(mistakes(training(let("y = abs(x * w)"), clip)) ==
        "model.yaml:5:31: error: clip received a complex value: params/w is c64[2], and complex "
        "numbers have no order [dtype-mismatch]\n"
        "  hint: clip_by_global_norm and clip_by_block_rms take complex numbers");
  CHECK(mistakes(training(let("y = abs(x * w)"), narrow)) ==
        "model.yaml:5:31: error: opt_state/0/mu/w is f32[2], its parameter params/w is c64[2]: "
        "what an optimizer keeps of complex numbers is complex [dtype-mismatch]\n"
        "  hint: write c64 where the optimizer's dtype is given, or leave it out");
}

TEST_CASE("only floating-point parameters and outputs can be trained") {
  ModelBuilder builder({{"n", 2}});
  builder.input("x", {"n"}, DType::i32);
  LayerConfig layer = param("w", builder.type({"n"}, DType::i32));
  layer.param->has_dtype = true;
  builder.layer(layer).layer(let("y = x * w")).train("sgd");
  CHECK(mistakes(builder) ==
        "model.yaml:9:5: error: params/w is i32[2]; only floating-point and complex "
        "parameters can be trained "
        "[dtype-mismatch]\n"
        "model.yaml:5:15: error: the loss needs floating-point outputs, 'output' is i32[2] "
        "[dtype-mismatch]");
}
