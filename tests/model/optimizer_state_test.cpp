// What optimizers keep, and how it is called.
#include <doctest/doctest.h>

#include "config/load.h"
#include "model/optimizer_state.h"

namespace shard {
namespace {

OptimizerConfig optimizer_of(const std::string& text) {
  MemoryReader reader({{"m.yaml", "arrays: {x: \"f32[1]\"}\noptimizer: " + text + "\n"}});
  Sources sources(reader);
  return *read_arrays(merge_model_file("m.yaml", {}, sources)).optimizer;
}

StateLeaf parameter(const std::string& path, Shape shape, const std::vector<std::string>& names,
                    DType dtype = DType::f32) {
  StateLeaf leaf;
  leaf.path = path;
  leaf.type = {dtype, std::move(shape)};
  LogicalSpec spec;
  for (const std::string& name : names) spec.names.emplace_back(LogicalAxis(name));
  leaf.labels = names;
  leaf.placement.spec = spec;
  return leaf;
}

std::string shown(const std::vector<StateLeaf>& state) {
  std::string text;
  for (const StateLeaf& leaf : state) {
    text += leaf.path + ' ' + to_string(leaf.type) + ' ' + to_string(leaf.placement);
    if (leaf.follows >= 0) text += " -> " + std::to_string(leaf.follows);
    text += '\n';
  }
  return text;
}

/// The optimizer's part alone, over a kernel and a bias.
std::string state_of(const std::string& optimizer, DType dtype = DType::f32) {
  const std::vector<StateLeaf> parameters = {
      parameter("params/b", {256}, {"mlp"}, dtype),
      parameter("params/k", {128, 256}, {"embed", "mlp"}, dtype)};
  std::vector<StateLeaf> state = train_state(parameters, optimizer_of(optimizer), Naming::linen);
  state.erase(state.begin(), state.begin() + 3);
  return shown(state);
}

TEST_CASE("a train state is the step then the parameters then the optimizer") {
  const std::vector<StateLeaf> parameters = {parameter("params/k", {128, 256}, {"embed", "mlp"})};
  CHECK(shown(train_state(parameters, optimizer_of("adam"), Naming::linen)) ==
        "step i32[] null\n"
        "params/k f32[128,256] [embed, mlp]\n"
        "opt_state/0/count i32[] null\n"
        "opt_state/0/mu/k f32[128,256] [embed, mlp] -> 1\n"
        "opt_state/0/nu/k f32[128,256] [embed, mlp] -> 1\n");
}

TEST_CASE("sgd keeps nothing and with momentum a trace") {
  CHECK(state_of("sgd") == "");
  CHECK(state_of("{sgd: {momentum: 0.9, accumulator_dtype: bf16}}") ==
        "opt_state/0/trace/b bf16[256] [mlp] -> 1\n"
        "opt_state/0/trace/k bf16[128,256] [embed, mlp] -> 2\n");
  CHECK(state_of("momentum") ==
        "opt_state/0/trace/b f32[256] [mlp] -> 1\n"
        "opt_state/0/trace/k f32[128,256] [embed, mlp] -> 2\n");
}

TEST_CASE("a schedule is a count at its place in the chain") {
  CHECK(state_of("{sgd: schedule}") == "opt_state/1/count i32[] null\n");
  const std::string adamw = state_of("{adamw: {learning_rate: schedule}}");
  CHECK(adamw.ends_with("opt_state/2/count i32[] null\n"));
}

TEST_CASE("moments have the parameters' element type unless it is given") {
  CHECK(state_of("{lion: {mu_dtype: f32}}", DType::bf16) ==
        "opt_state/0/count i32[] null\n"
        "opt_state/0/mu/b f32[256] [mlp] -> 1\n"
        "opt_state/0/mu/k f32[128,256] [embed, mlp] -> 2\n");
  CHECK(state_of("{adam: {mu_dtype: f32}}", DType::bf16) ==
        "opt_state/0/count i32[] null\n"
        "opt_state/0/mu/b f32[256] [mlp] -> 1\n"
        "opt_state/0/mu/k f32[128,256] [embed, mlp] -> 2\n"
        "opt_state/0/nu/b bf16[256] [mlp] -> 1\n"
        "opt_state/0/nu/k bf16[128,256] [embed, mlp] -> 2\n");
}

TEST_CASE("adafactor keeps rows and columns with the axes of the dims that are left") {
  CHECK(state_of("adafactor") ==
        "opt_state/0/count i32[] null\n"
        "opt_state/0/v_row/b f32[1] null\n"
        "opt_state/0/v_row/k f32[128] [embed]\n"
        "opt_state/0/v_col/b f32[1] null\n"
        "opt_state/0/v_col/k f32[256] [mlp]\n"
        "opt_state/0/v/b f32[256] [mlp] -> 1\n"
        "opt_state/0/v/k f32[1] null\n");
  const std::string with_average = state_of(
      "{adafactor: {learning_rate: schedule, momentum: 0.9, factored: false}}", DType::bf16);
  CHECK(with_average ==
        "opt_state/0/count i32[] null\n"
        "opt_state/0/v_row/b bf16[1] null\n"
        "opt_state/0/v_row/k bf16[1] null\n"
        "opt_state/0/v_col/b bf16[1] null\n"
        "opt_state/0/v_col/k bf16[1] null\n"
        "opt_state/0/v/b bf16[256] [mlp] -> 1\n"
        "opt_state/0/v/k bf16[128,256] [embed, mlp] -> 2\n"
        "opt_state/2/count i32[] null\n"
        "opt_state/4/count i32[] null\n"
        "opt_state/4/ema/b f32[256] [mlp] -> 1\n"
        "opt_state/4/ema/k f32[128,256] [embed, mlp] -> 2\n");
  // Without clipping what follows stands one place further to the front.
  CHECK(state_of("{adafactor: {learning_rate: schedule, clipping_threshold: 0}}")
            .ends_with("opt_state/1/count i32[] null\n"));
}

TEST_CASE("Flax keeps all names of a factored parameter") {
  const std::vector<StateLeaf> parameters = {
      parameter("params/k", {4, 128, 256}, {"layers", "embed", "mlp"})};
  const auto state =
      train_state(parameters, optimizer_of("adafactor"), Naming::linen, ReducedAxes::as_flax);
  CHECK(shown({state.begin() + 3, state.end()}) ==
        "opt_state/0/v_row/k f32[4,128] [layers, embed, mlp]\n"
        "opt_state/0/v_col/k f32[4,256] [layers, embed, mlp]\n"
        "opt_state/0/v/k f32[1] [layers, embed, mlp]\n");
}

TEST_CASE("chains and several steps nest as optax nests them") {
  CHECK(state_of("{chain: [{clip_by_global_norm: 1.0}, {sgd: {momentum: 0.9}}]}") ==
        "opt_state/1/0/trace/b f32[256] [mlp] -> 1\n"
        "opt_state/1/0/trace/k f32[128,256] [embed, mlp] -> 2\n");
  CHECK(state_of("{chain: [scale_by_lion, {scale: -1e-3}]}")
            .starts_with("opt_state/0/count i32[] null\nopt_state/0/mu/b"));
  CHECK(state_of("{multi_steps: {optimizer: {sgd: schedule}, every: 2}}") ==
        "opt_state/mini_step i32[] null\n"
        "opt_state/gradient_step i32[] null\n"
        "opt_state/inner_opt_state/1/count i32[] null\n"
        "opt_state/acc_grads/b f32[256] [mlp] -> 1\n"
        "opt_state/acc_grads/k f32[128,256] [embed, mlp] -> 2\n");
}

TEST_CASE("paths of JAX and NNX and checkpoints have slots like them") {
  const auto paths = [](const std::string& path, Naming naming) {
    std::string text;
    const std::vector<StateLeaf> parameters = {parameter(path, {2}, {"a"})};
    for (const StateLeaf& leaf :
         train_state(parameters, optimizer_of("{sgd: {momentum: 1}}"), naming)) {
      text += leaf.path + ' ' + std::string(info(leaf.type.dtype).name) + '\n';
    }
    return text;
  };
  CHECK(paths(".params/['params']/['k']", Naming::linen) ==
        ".step i32\n.params/['params']/['k'] f32\n.opt_state/[0]/.trace/['params']/['k'] f32\n");
  CHECK(paths("model/layers/0/w2", Naming::nnx) ==
        "model/layers/0/w2 f32\noptimizer/opt_state/0/trace/layers/0/w2 f32\n"
        "optimizer/step u32\n");
  CHECK(paths("model.norm.weight", Naming::linen) ==
        "step i32\nmodel.norm.weight f32\nopt_state/0/trace/model.norm.weight f32\n");
}

TEST_CASE("NNX sorts positions in lists as numbers") {
  std::vector<StateLeaf> parameters;
  for (const char* path : {"model/layers/10/w", "model/layers/2/w", "model/embed/w"}) {
    parameters.push_back(parameter(path, {2}, {"a"}));
  }
  CHECK(shown(train_state(parameters, optimizer_of("{sgd: {momentum: 1}}"), Naming::nnx)) ==
        "model/embed/w f32[2] [a]\n"
        "model/layers/2/w f32[2] [a]\n"
        "model/layers/10/w f32[2] [a]\n"
        "optimizer/opt_state/0/trace/embed/w f32[2] [a] -> 0\n"
        "optimizer/opt_state/0/trace/layers/2/w f32[2] [a] -> 1\n"
        "optimizer/opt_state/0/trace/layers/10/w f32[2] [a] -> 2\n"
        "optimizer/step u32[] null\n");
}

}  // namespace
}  // namespace shard
