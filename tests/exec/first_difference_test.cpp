#include "exec/first_difference.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "exec/numbers.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace {

const char* const model_text = R"(name: two
sizes: {batch: 8, embed: 4, hidden: 6}
inputs: {x: [batch, embed]}
layers:
  - dense: {name: up, features: hidden, use_bias: false, kernel: [embed, hidden]}
  - relu
  - dense: {name: down, features: embed, use_bias: false, kernel: [hidden, embed]}
)";
const char* const rules_text =
    "mesh: {data: 2, model: 2}\nrules: [[batch, data], [hidden, model]]\n";

/// A small model on 4 devices and numbers for it.
struct Setting {
  Planned plan = plan_texts(model_text, rules_text, false);
  std::vector<HostTensor> inputs;

  Setting() {
    for (const ProgramInput& input : plan.program.inputs) {
      inputs.push_back(random_tensor(input.global, inputs.size() + 1));
    }
  }

  std::optional<FirstDifference> first(std::optional<Fault> fault, int workers = 2) const {
    ClusterOptions options;
    options.workers = workers;
    options.fault = fault;
    Cluster cluster(plan.program, options);
    return first_difference(cluster, plan.sharded.given(), plan.sharded.graph,
                            plan.sharded.shardings, inputs);
  }
};

Fault fault_at(FaultKind kind, int device, std::int64_t at) {
  Fault fault;
  fault.kind = kind;
  fault.device = device;
  fault.at = at;
  return fault;
}

}  // namespace

TEST_CASE("a right run has no first difference") { CHECK(!Setting().first(std::nullopt)); }

TEST_CASE("a flipped bit is found in the value and at the place it was made") {
  const Setting setting;
  for (const int workers : {1, 2, 8}) {
    const auto first = setting.first(fault_at(FaultKind::bit_flip, 3, 0), workers);
    REQUIRE(first);
    CHECK(first->name == "up");
    CHECK(first->spec == "P('data', 'model')");
    CHECK(first->instruction == 0);
    CHECK(first->label == "dot");
    CHECK(first->devices == std::vector<int>{3});
    CHECK(first->elements == 1);
    CHECK(first->index == 4 * 6 + 3);  // the first of the second half of rows and columns
  }
}

TEST_CASE("a dropped sum is found on all members of its group") {
  const auto first = Setting().first(fault_at(FaultKind::drop_collective, 1, 0));
  REQUIRE(first);
  CHECK(first->name == "down");
  CHECK(first->label == "all_reduce model");
  CHECK(first->devices == std::vector<int>{0, 1});
  // One row has nothing but zeros in one half of `hidden`: its partial sum is the sum.
  CHECK(first->elements == 2 * 4 * 4 - 4);
}

TEST_CASE("a value that is not finite is found where it appears") {
  Setting setting;
  setting.inputs[0].data<float>()[0] = std::numeric_limits<float>::max();
  for (float* x = setting.inputs[2].data<float>(); x != setting.inputs[2].data<float>() + 32; ++x)
    *x = 8;
  const auto first = setting.first(std::nullopt);
  // The reference rounds the same product to infinity: no difference, but told.
  REQUIRE(first);
  CHECK(first->name == "down");
  CHECK(first->is_shared);
  CHECK(first->is_non_finite);
  CHECK(std::isinf(first->found));
  Setting flipped;
  for (std::size_t i = 0; i < 32; ++i) flipped.inputs[2].data<float>()[i] = 1;
  for (HostTensor* one : {&flipped.inputs[0], &flipped.inputs[1]}) {
    for (std::size_t i = 0; i < 24; ++i) one->data<float>()[i] = 0.3F;
  }
  const auto infinite = flipped.first(fault_at(FaultKind::bit_flip, 0, 0));  // 1.2 becomes NaN
  REQUIRE(infinite);
  CHECK(infinite->name == "up");
  CHECK(infinite->is_non_finite);
}

TEST_CASE("what is no number in the unsharded run either is told before what is infinite") {
  Setting setting;
  setting.inputs[2].data<float>()[0] = std::numeric_limits<float>::infinity();
  setting.inputs[2].data<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  const auto first = setting.first(std::nullopt);
  REQUIRE(first);
  CHECK(first->is_shared);
  CHECK(std::isnan(first->found));
  CHECK(first->name == "up");
}

TEST_CASE("a first value that is not finite is told as such") {
  FirstDifference one;
  one.name = "up";
  one.type = {DType::f32, {8, 6}};
  one.spec = "P('data', None)";
  one.label = "dot";
  one.devices = {0, 2};
  one.elements = 8;
  one.index = 6;
  one.found = one.expected = std::numeric_limits<double>::quiet_NaN();
  one.is_non_finite = one.is_shared = true;
  CHECK(to_string(one) ==
        "up f32[8,6]  P('data', None), made by instruction 0 (dot): 8 elements are not finite on "
        "devices 0, 2, first at index [1,0]: nan, as in the unsharded run");
}

TEST_CASE("a first difference is told with its value and devices and elements") {
  FirstDifference one;
  one.name = "up";
  one.type = {DType::f32, {8, 6}};
  one.spec = "P('data', None)";
  one.instruction = 4;
  one.label = "dot";
  one.devices = {3};
  one.elements = 1;
  one.index = 7;
  one.found = 3.5;
  one.expected = 0.25;
  CHECK(to_string(one) ==
        "up f32[8,6]  P('data', None), made by instruction 4 (dot): 1 element differs on device 3, "
        "first at index [1,1]: 3.5, expected 0.25");
  one.devices = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  one.elements = 1200;
  CHECK(to_string(one) ==
        "up f32[8,6]  P('data', None), made by instruction 4 (dot): 1,200 elements differ on "
        "devices 0, 1, 2, 3, 4, 5, 6, 7 and 2 more, first at index [1,1]: 3.5, expected 0.25");
}

TEST_CASE("in a loop the first difference is told with its iteration") {
  const char* const looped = R"(name: looped
sizes: {batch: 8, embed: 4, hidden: 6}
inputs: {x: [batch, embed]}
blocks:
  Two:
    - dense: {name: up, features: hidden, use_bias: false, kernel: [embed, hidden]}
    - relu
    - dense: {name: down, features: embed, use_bias: false, kernel: [hidden, embed]}
layers:
  - repeat: {block: Two, times: 3, scan: true}
)";
  Setting setting;
  setting.plan = plan_texts(looped, rules_text, false);
  setting.inputs.clear();
  for (const ProgramInput& input : setting.plan.program.inputs) {
    setting.inputs.push_back(random_tensor(input.global, setting.inputs.size() + 1));
  }
  CHECK(!setting.first(std::nullopt));
  std::vector<std::vector<std::int64_t>> iterations;
  for (std::int64_t at = 0; at < 3; ++at) {
    const auto first = setting.first(fault_at(FaultKind::drop_collective, 1, at));
    REQUIRE(first);
    CHECK(first->name.ends_with("down"));
    CHECK(first->label == "all_reduce model");
    CHECK(first->devices == std::vector<int>{0, 1});
    iterations.push_back(first->iterations);
  }
  CHECK(iterations == std::vector<std::vector<std::int64_t>>{{0}, {1}, {2}});
}

TEST_CASE("a difference in a loop says in which iteration") {
  FirstDifference one;
  one.name = "down";
  one.iterations = {2, 0};
  one.type = {DType::f32, {2}};
  one.spec = "P()";
  one.label = "dot";
  one.devices = {1};
  one.elements = 1;
  one.found = 1;
  CHECK(to_string(one) ==
        "down in iteration 2, 0 f32[2]  P(), made by instruction 0 (dot): 1 element differs on "
        "device 1, first at index [0]: 1, expected 0");
}
