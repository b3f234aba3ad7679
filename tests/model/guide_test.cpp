// The Flax guide's MLP as text, whole, at small sizes.
#include <doctest/doctest.h>

#include "model/model.h"
#include "support/model_configs.h"

using namespace shard;
using namespace shard::tests;

namespace {

// clang-format off
constexpr const char* guide_apply = R"(apply
  in  %0 : f32[4,8]  # params/DotReluDot_0/Dense_0/kernel  P(None, 'model')
  in  %1 : f32[8,4]  # params/DotReluDot_0/W2  P('model', None)
  in  %2 : f32[4,8]  # params/DotReluDot_1/Dense_0/kernel  P(None, 'model')
  in  %3 : f32[8,4]  # params/DotReluDot_1/W2  P('model', None)
  in  %4 : f32[2,4]  # x  P('data', None)
  %5 = dot(%4, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,8]  # DotReluDot_0/Dense_0
  %6 = relu(%5) : f32[2,8]  # DotReluDot_0/relu_0
  %7 = constrain(%6) {placement=0} : f32[2,8]  # DotReluDot_0/relu_0  P('data', 'model')
  %8 = dot(%7, %1) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,4]  # DotReluDot_0/W2
  %9 = constrain(%8) {placement=1} : f32[2,4]  # DotReluDot_0/W2  P('data', None)
  %10 = dot(%9, %2) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,8]  # DotReluDot_1/Dense_0
  %11 = relu(%10) : f32[2,8]  # DotReluDot_1/relu_0
  %12 = constrain(%11) {placement=0} : f32[2,8]  # DotReluDot_1/relu_0  P('data', 'model')
  %13 = dot(%12, %3) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,4]  # DotReluDot_1/W2
  %14 = constrain(%13) {placement=1} : f32[2,4]  # DotReluDot_1/W2  P('data', None)
  out %14 : f32[2,4]  # y  P('data', None)
)";

constexpr const char* guide_train_step = R"(train_step
  in  %0 : i32[]  # step  null
  in  %1 : f32[4,8]  # params/DotReluDot_0/Dense_0/kernel  P(None, 'model')
  in  %2 : f32[8,4]  # params/DotReluDot_0/W2  P('model', None)
  in  %3 : f32[4,8]  # params/DotReluDot_1/Dense_0/kernel  P(None, 'model')
  in  %4 : f32[8,4]  # params/DotReluDot_1/W2  P('model', None)
  in  %5 : i32[]  # opt_state/0/count  null
  in  %6 : f32[4,8]  # opt_state/0/mu/DotReluDot_0/Dense_0/kernel  P(None, 'model')
  in  %7 : f32[8,4]  # opt_state/0/mu/DotReluDot_0/W2  P('model', None)
  in  %8 : f32[4,8]  # opt_state/0/mu/DotReluDot_1/Dense_0/kernel  P(None, 'model')
  in  %9 : f32[8,4]  # opt_state/0/mu/DotReluDot_1/W2  P('model', None)
  in  %10 : f32[4,8]  # opt_state/0/nu/DotReluDot_0/Dense_0/kernel  P(None, 'model')
  in  %11 : f32[8,4]  # opt_state/0/nu/DotReluDot_0/W2  P('model', None)
  in  %12 : f32[4,8]  # opt_state/0/nu/DotReluDot_1/Dense_0/kernel  P(None, 'model')
  in  %13 : f32[8,4]  # opt_state/0/nu/DotReluDot_1/W2  P('model', None)
  in  %14 : f32[2,4]  # x  P('data', None)
  %15 = dot(%14, %1) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,8]  # DotReluDot_0/Dense_0
  %16 = relu(%15) : f32[2,8]  # DotReluDot_0/relu_0
  %17 = constrain(%16) {placement=0} : f32[2,8]  # DotReluDot_0/relu_0  P('data', 'model')
  %18 = dot(%17, %2) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,4]  # DotReluDot_0/W2
  %19 = constrain(%18) {placement=1} : f32[2,4]  # DotReluDot_0/W2  P('data', None)
  %20 = dot(%19, %3) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,8]  # DotReluDot_1/Dense_0
  %21 = relu(%20) : f32[2,8]  # DotReluDot_1/relu_0
  %22 = constrain(%21) {placement=0} : f32[2,8]  # DotReluDot_1/relu_0  P('data', 'model')
  %23 = constant() {shape=[], value=1.0, dtype="f32"} : f32[]  # backward loss
  %24 = broadcast(%23) {shape=[2,4], dims=[]} : f32[2,4]  # backward loss
  %25 = constrain(%24) {placement=1} : f32[2,4]  # backward DotReluDot_1/W2  P('data', None)
  %26 = dot(%25, %4) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : f32[2,8]  # backward DotReluDot_1/W2
  %27 = dot(%22, %25) {lhs_batch=[], rhs_batch=[], lhs_contract=[0], rhs_contract=[0]} : f32[8,4]  # backward DotReluDot_1/W2
  %28 = constrain(%26) {placement=0} : f32[2,8]  # backward DotReluDot_1/relu_0  P('data', 'model')
  %29 = relu_grad(%21, %28) : f32[2,8]  # backward DotReluDot_1/relu_0
  %30 = dot(%29, %3) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : f32[2,4]  # backward DotReluDot_1/Dense_0
  %31 = dot(%19, %29) {lhs_batch=[], rhs_batch=[], lhs_contract=[0], rhs_contract=[0]} : f32[4,8]  # backward DotReluDot_1/Dense_0
  %32 = constrain(%30) {placement=1} : f32[2,4]  # backward DotReluDot_0/W2  P('data', None)
  %33 = dot(%32, %2) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : f32[2,8]  # backward DotReluDot_0/W2
  %34 = dot(%17, %32) {lhs_batch=[], rhs_batch=[], lhs_contract=[0], rhs_contract=[0]} : f32[8,4]  # backward DotReluDot_0/W2
  %35 = constrain(%33) {placement=0} : f32[2,8]  # backward DotReluDot_0/relu_0  P('data', 'model')
  %36 = relu_grad(%16, %35) : f32[2,8]  # backward DotReluDot_0/relu_0
  %37 = dot(%14, %36) {lhs_batch=[], rhs_batch=[], lhs_contract=[0], rhs_contract=[0]} : f32[4,8]  # backward DotReluDot_0/Dense_0
  %38 = shift(%0) {value=1.0} : i32[]  # update step
  %39 = shift(%5) {value=1.0} : i32[]  # update opt_state/0/count
  %40, %41, %42 = adam_update(%1, %6, %10, %37, %39) {learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-08, eps_root=0.0, weight_decay=0.0} : f32[4,8], f32[4,8], f32[4,8]  # update params/DotReluDot_0/Dense_0/kernel
  %43, %44, %45 = adam_update(%2, %7, %11, %34, %39) {learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-08, eps_root=0.0, weight_decay=0.0} : f32[8,4], f32[8,4], f32[8,4]  # update params/DotReluDot_0/W2
  %46, %47, %48 = adam_update(%3, %8, %12, %31, %39) {learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-08, eps_root=0.0, weight_decay=0.0} : f32[4,8], f32[4,8], f32[4,8]  # update params/DotReluDot_1/Dense_0/kernel
  %49, %50, %51 = adam_update(%4, %9, %13, %27, %39) {learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-08, eps_root=0.0, weight_decay=0.0} : f32[8,4], f32[8,4], f32[8,4]  # update params/DotReluDot_1/W2
  out %38 : i32[]  # step  null  over %0
  out %40 : f32[4,8]  # params/DotReluDot_0/Dense_0/kernel  P(None, 'model')  over %1
  out %43 : f32[8,4]  # params/DotReluDot_0/W2  P('model', None)  over %2
  out %46 : f32[4,8]  # params/DotReluDot_1/Dense_0/kernel  P(None, 'model')  over %3
  out %49 : f32[8,4]  # params/DotReluDot_1/W2  P('model', None)  over %4
  out %39 : i32[]  # opt_state/0/count  null  over %5
  out %41 : f32[4,8]  # opt_state/0/mu/DotReluDot_0/Dense_0/kernel  P(None, 'model')  over %6
  out %44 : f32[8,4]  # opt_state/0/mu/DotReluDot_0/W2  P('model', None)  over %7
  out %47 : f32[4,8]  # opt_state/0/mu/DotReluDot_1/Dense_0/kernel  P(None, 'model')  over %8
  out %50 : f32[8,4]  # opt_state/0/mu/DotReluDot_1/W2  P('model', None)  over %9
  out %42 : f32[4,8]  # opt_state/0/nu/DotReluDot_0/Dense_0/kernel  P(None, 'model')  over %10
  out %45 : f32[8,4]  # opt_state/0/nu/DotReluDot_0/W2  P('model', None)  over %11
  out %48 : f32[4,8]  # opt_state/0/nu/DotReluDot_1/Dense_0/kernel  P(None, 'model')  over %12
  out %51 : f32[8,4]  # opt_state/0/nu/DotReluDot_1/W2  P('model', None)  over %13
)";

constexpr const char* scan_apply = R"(apply
  in  %0 : f32[2,4,8]  # params/ScanDotReluDot_0/Dense_0/kernel  P(None, None, 'model')
  in  %1 : f32[2,8,4]  # params/ScanDotReluDot_0/W2  P(None, 'model', None)
  in  %2 : f32[2,4]  # x  P('data', None)
  %3 = repeat(%2, %0, %1) {times=2, carries=1, stacked=2, reverse=0} : f32[2,4]  # ScanDotReluDot_0
    in  %4 : f32[2,4]  # carry
    in  %5 : f32[4,8]  # slice
    in  %6 : f32[8,4]  # slice
    %7 = dot(%4, %5) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,8]  # ScanDotReluDot_0/Dense_0
    %8 = relu(%7) : f32[2,8]  # ScanDotReluDot_0/relu_0
    %9 = constrain(%8) {placement=0} : f32[2,8]  # ScanDotReluDot_0/relu_0  P('data', 'model')
    %10 = dot(%9, %6) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,4]  # ScanDotReluDot_0/W2
    %11 = constrain(%10) {placement=1} : f32[2,4]  # ScanDotReluDot_0/W2  P('data', None)
    out %11 : f32[2,4]
  out %3 : f32[2,4]  # y  P('data', None)
)";

constexpr const char* scan_train_step = R"(train_step
  in  %0 : i32[]  # step  null
  in  %1 : f32[2,4,8]  # params/ScanDotReluDot_0/Dense_0/kernel  P(None, None, 'model')
  in  %2 : f32[2,8,4]  # params/ScanDotReluDot_0/W2  P(None, 'model', None)
  in  %3 : i32[]  # opt_state/0/count  null
  in  %4 : f32[2,4,8]  # opt_state/0/mu/ScanDotReluDot_0/Dense_0/kernel  P(None, None, 'model')
  in  %5 : f32[2,8,4]  # opt_state/0/mu/ScanDotReluDot_0/W2  P(None, 'model', None)
  in  %6 : f32[2,4,8]  # opt_state/0/nu/ScanDotReluDot_0/Dense_0/kernel  P(None, None, 'model')
  in  %7 : f32[2,8,4]  # opt_state/0/nu/ScanDotReluDot_0/W2  P(None, 'model', None)
  in  %8 : f32[2,4]  # x  P('data', None)
  %9, %10, %11 = repeat(%8, %1, %2) {times=2, carries=1, stacked=2, reverse=0} : f32[2,4], f32[2,2,8], f32[2,2,4]  # ScanDotReluDot_0
    in  %12 : f32[2,4]  # carry
    in  %13 : f32[4,8]  # slice
    in  %14 : f32[8,4]  # slice
    %15 = dot(%12, %13) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,8]  # ScanDotReluDot_0/Dense_0
    %16 = relu(%15) : f32[2,8]  # ScanDotReluDot_0/relu_0
    %17 = constrain(%16) {placement=0} : f32[2,8]  # ScanDotReluDot_0/relu_0  P('data', 'model')
    %18 = dot(%17, %14) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,4]  # ScanDotReluDot_0/W2
    %19 = constrain(%18) {placement=1} : f32[2,4]  # ScanDotReluDot_0/W2  P('data', None)
    out %19 : f32[2,4]
    out %17 : f32[2,8]
    out %12 : f32[2,4]
  %20 = constant() {shape=[], value=1.0, dtype="f32"} : f32[]  # backward loss
  %21 = broadcast(%20) {shape=[2,4], dims=[]} : f32[2,4]  # backward loss
  %22, %23, %24 = repeat(%21, %2, %10, %1, %11) {times=2, carries=1, stacked=4, reverse=1} : f32[2,4], f32[2,4,8], f32[2,8,4]  # backward ScanDotReluDot_0
    in  %25 : f32[2,4]  # carry
    in  %26 : f32[8,4]  # slice
    in  %27 : f32[2,8]  # slice
    in  %28 : f32[4,8]  # slice
    in  %29 : f32[2,4]  # slice
    %30 = constrain(%25) {placement=1} : f32[2,4]  # backward ScanDotReluDot_0/W2  P('data', None)
    %31 = dot(%30, %26) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : f32[2,8]  # backward ScanDotReluDot_0/W2
    %32 = dot(%27, %30) {lhs_batch=[], rhs_batch=[], lhs_contract=[0], rhs_contract=[0]} : f32[8,4]  # backward ScanDotReluDot_0/W2
    %33 = constrain(%31) {placement=0} : f32[2,8]  # backward ScanDotReluDot_0/relu_0  P('data', 'model')
    %34 = relu_grad(%27, %33) : f32[2,8]  # backward ScanDotReluDot_0/relu_0
    %35 = dot(%34, %28) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : f32[2,4]  # backward ScanDotReluDot_0/Dense_0
    %36 = dot(%29, %34) {lhs_batch=[], rhs_batch=[], lhs_contract=[0], rhs_contract=[0]} : f32[4,8]  # backward ScanDotReluDot_0/Dense_0
    out %35 : f32[2,4]
    out %36 : f32[4,8]
    out %32 : f32[8,4]
  %37 = shift(%0) {value=1.0} : i32[]  # update step
  %38 = shift(%3) {value=1.0} : i32[]  # update opt_state/0/count
  %39, %40, %41 = adam_update(%1, %4, %6, %23, %38) {learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-08, eps_root=0.0, weight_decay=0.0} : f32[2,4,8], f32[2,4,8], f32[2,4,8]  # update params/ScanDotReluDot_0/Dense_0/kernel
  %42, %43, %44 = adam_update(%2, %5, %7, %24, %38) {learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-08, eps_root=0.0, weight_decay=0.0} : f32[2,8,4], f32[2,8,4], f32[2,8,4]  # update params/ScanDotReluDot_0/W2
  out %37 : i32[]  # step  null  over %0
  out %39 : f32[2,4,8]  # params/ScanDotReluDot_0/Dense_0/kernel  P(None, None, 'model')  over %1
  out %42 : f32[2,8,4]  # params/ScanDotReluDot_0/W2  P(None, 'model', None)  over %2
  out %38 : i32[]  # opt_state/0/count  null  over %3
  out %40 : f32[2,4,8]  # opt_state/0/mu/ScanDotReluDot_0/Dense_0/kernel  P(None, None, 'model')  over %4
  out %43 : f32[2,8,4]  # opt_state/0/mu/ScanDotReluDot_0/W2  P(None, 'model', None)  over %5
  out %41 : f32[2,4,8]  # opt_state/0/nu/ScanDotReluDot_0/Dense_0/kernel  P(None, None, 'model')  over %6
  out %44 : f32[2,8,4]  # opt_state/0/nu/ScanDotReluDot_0/W2  P(None, 'model', None)  over %7
)";

// clang-format on

std::vector<std::string> state_text(const Model& model) {
  std::vector<std::string> lines;
  for (const StateLeaf& leaf : model.state) {
    std::string text = leaf.path + " " + to_string(leaf.type) + " " + to_string(leaf.placement) +
                       " " + leaf.init.kind;
    if (leaf.follows >= 0) text += " as " + std::to_string(leaf.follows);
    if (leaf.iteration.repeat >= 0) text += " in " + std::to_string(leaf.iteration.first);
    lines.push_back(text);
  }
  return lines;
}

}  // namespace

TEST_CASE("the guide's inference function reads as a program") {
  const Model model = build_model(guide());
  verify(model.apply);
  CHECK(to_string(model.apply) == guide_apply);
  CHECK(model.parameter_count == 128);
  CHECK(model.name == "mlp");
}

TEST_CASE("the guide's train step leaves out what the returned state does not need") {
  const Model model = build_model(guide());
  verify(*model.train_step);
  CHECK(to_string(*model.train_step) == guide_train_step);
  CHECK(model.dropped == std::vector<std::string>{"DotReluDot_1/W2"});
  CHECK(model.returns == std::vector<std::string>{"state"});
}

TEST_CASE("the guide's scan is one loop forward and one back") {
  const Model model = build_model(guide(true));
  verify(model.apply);
  verify(*model.train_step);
  CHECK(to_string(model.apply) == scan_apply);
  CHECK(to_string(*model.train_step) == scan_train_step);
  CHECK(model.dropped.empty());
  CHECK(model.parameter_count == 128);
}

TEST_CASE("the guide's state is flattened as Flax flattens a TrainState") {
  const Model model = build_model(guide());
  CHECK(state_text(model) ==
        std::vector<std::string>{
            "step i32[] null zeros",
            "params/DotReluDot_0/Dense_0/kernel f32[4,8] P(None, 'model') truncated_normal in 0",
            "params/DotReluDot_0/W2 f32[8,4] P('model', None) truncated_normal in 0",
            "params/DotReluDot_1/Dense_0/kernel f32[4,8] P(None, 'model') truncated_normal in 1",
            "params/DotReluDot_1/W2 f32[8,4] P('model', None) truncated_normal in 1",
            "opt_state/0/count i32[] null zeros",
            "opt_state/0/mu/DotReluDot_0/Dense_0/kernel f32[4,8] P(None, 'model') zeros as 1 in 0",
            "opt_state/0/mu/DotReluDot_0/W2 f32[8,4] P('model', None) zeros as 2 in 0",
            "opt_state/0/mu/DotReluDot_1/Dense_0/kernel f32[4,8] P(None, 'model') zeros as 3 in 1",
            "opt_state/0/mu/DotReluDot_1/W2 f32[8,4] P('model', None) zeros as 4 in 1",
            "opt_state/0/nu/DotReluDot_0/Dense_0/kernel f32[4,8] P(None, 'model') zeros as 1 in 0",
            "opt_state/0/nu/DotReluDot_0/W2 f32[8,4] P('model', None) zeros as 2 in 0",
            "opt_state/0/nu/DotReluDot_1/Dense_0/kernel f32[4,8] P(None, 'model') zeros as 3 in 1",
            "opt_state/0/nu/DotReluDot_1/W2 f32[8,4] P('model', None) zeros as 4 in 1"});
}

TEST_CASE("parameters sort by the parts of their paths") {
  const Model model = build_model(guide(false, 11));
  std::vector<std::string> blocks;
  for (const StateLeaf& leaf : model.state) {
    if (leaf.role == Role::parameter && leaf.path.ends_with("W2")) blocks.push_back(leaf.path);
  }
  CHECK(blocks == std::vector<std::string>{
                      "params/DotReluDot_0/W2", "params/DotReluDot_1/W2", "params/DotReluDot_10/W2",
                      "params/DotReluDot_2/W2", "params/DotReluDot_3/W2", "params/DotReluDot_4/W2",
                      "params/DotReluDot_5/W2", "params/DotReluDot_6/W2", "params/DotReluDot_7/W2",
                      "params/DotReluDot_8/W2", "params/DotReluDot_9/W2"});
}

TEST_CASE("the guide has 26 arrays of state and 8,388,608 parameters") {
  const Model model = build_model(guide(false, 4, 8, 1024, 1024));
  CHECK(model.state.size() == 26);
  CHECK(model.parameter_count == 8388608);
  CHECK(model.dropped == std::vector<std::string>{"DotReluDot_3/W2"});
}

TEST_CASE("with the loss returned nothing is left out") {
  ModelConfig config = guide();
  config.train->returns_loss = true;
  const Model model = build_model(config);
  verify(*model.train_step);
  CHECK(model.dropped.empty());
  CHECK(model.returns == std::vector<std::string>{"state", "loss"});
  const GraphOutput& loss = model.train_step->outputs.back();
  CHECK(loss.path == "loss");
  CHECK(loss.role == Role::loss);
  CHECK(model.train_step->value(loss.value).name == "loss");
  CHECK(to_string(model.train_step->value(loss.value).type) == "f32[]");
}

TEST_CASE("gradients and outputs are returned when asked for") {
  ModelConfig config = guide(false, 1);
  config.train->returns_state = false;
  config.train->returns_grads = true;
  config.train->returns_outputs = true;
  const Model model = build_model(config);
  verify(*model.train_step);
  std::vector<std::string> paths;
  for (const GraphOutput& output : model.train_step->outputs) {
    paths.push_back(output.path);
    CHECK(output.donates == -1);
  }
  CHECK(paths == std::vector<std::string>{"grads/DotReluDot_0/Dense_0/kernel",
                                          "grads/DotReluDot_0/W2", "y"});
  CHECK(model.returns == std::vector<std::string>{"grads", "outputs"});
  CHECK(model.train_step->value(model.train_step->outputs[1].value).name ==
        "grads/DotReluDot_0/W2");
}

TEST_CASE("without donation the new state has storage of its own") {
  ModelConfig config = guide();
  config.train->donate = false;
  const Model model = build_model(config);
  for (const GraphOutput& output : model.train_step->outputs) CHECK(output.donates == -1);
}

TEST_CASE("every value of the guide has its labels and every node its place") {
  const Model model = build_model(guide());
  for (const Node& node : model.train_step->nodes) {
    CAPTURE(node.name);
    CHECK(node.at.is_known());
    for (const ValueId id : node.results) {
      const GraphValue& value = model.train_step->value(id);
      for (const std::string& label : value.labels) CHECK_FALSE(label.empty());
    }
  }
}

TEST_CASE("annotations stand behind the types") {
  const Model model = build_model(guide(false, 1));
  std::vector<std::string> annotations(model.apply.values.size());
  annotations[3] = "<split>";
  CHECK(to_string(model.apply, annotations)
            .find("%3 = dot(%2, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], "
                  "rhs_contract=[0]} : f32[2,8] <split>  # DotReluDot_0/Dense_0\n") !=
        std::string::npos);
}
