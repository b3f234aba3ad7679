// Train steps with dropout: what is dropped is the same on any mesh, another at every step, and the
// gradient flows through the elements that are kept.

#include <doctest/doctest.h>

#include <set>

#include "exec/cluster.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace dropout_runs {
namespace {

const char* const whole = "mesh: {data: 1}\nrules: []\n";
const char* const split = "mesh: {data: 2, model: 4}\nrules: [[batch, data], [embed, model]]\n";

std::string model_of(const std::string& layers, const std::string& train = "") {
  return "name: m\nsizes: {batch: 16, embed: 8, layers: 3}\ninputs: {x: [batch, embed]}\n"
         "defaults: {use_bias: false}\nblocks: {Drop: [dropout: 0.5]}\nlayers: [" +
         layers + "]\noutputs: {y: null}\ntrain: {loss: sum, optimizer: {sgd: 0.1}, " + train +
         "returns: [state, loss, grads, outputs]}\n";
}

/// The first output `y` of steps that start with all ones in every parameter and in x.
class Steps {
 public:
  Steps(const std::string& model, const std::string& rules)
      : planned_(plan_texts(model, rules)), cluster_(planned_.program, {}) {
    for (const StateLeaf& leaf : planned_.model.state) {
      if (leaf.role == Role::parameter) write(leaf.path, leaf.type);
    }
    write("x", {DType::f32, {16, 8}});
  }

  HostTensor next(const std::string& path) {
    cluster_.run();
    return cluster_.read_output(output_at(planned_.program, path));
  }

 private:
  void write(const std::string& path, const TensorType& type) {
    HostTensor tensor = zeros(type);
    std::fill_n(tensor.data<float>(), element_count(type.shape), 1.0F);
    cluster_.write_input(input_at(planned_.program, path), tensor);
  }

  Planned planned_;
  Cluster cluster_;
};

std::multiset<float> numbers_of(const HostTensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + element_count(tensor.type.shape)};
}

}  // namespace

TEST_CASE("what is dropped is the same on any mesh and another at every step") {
  for (const std::string layers :
       {"dropout: {rate: 0.5, name: h}", "repeat: {block: Drop, times: layers, name: h}",
        "repeat: {block: Drop, times: layers, scan: true, axis: null, name: h}",
        "dropout: {rate: 0.5, broadcast_dims: batch, name: h}"}) {
    CAPTURE(layers);
    const std::string model =
        model_of(layers + ", param: {name: w, axes: [embed], init: ones}, let: y = h * w");
    Steps on_one(model, whole), on_eight(model, split);
    const HostTensor first = on_one.next("y");
    CHECK(on_eight.next("y") == first);
    const HostTensor second = on_one.next("y");
    CHECK(second != first);
    CHECK(on_eight.next("y") == second);
  }
}

TEST_CASE("layers of one rate and iterations of a loop drop different elements") {
  // Of three that drop half each, an eighth is kept on average, times two for each.
  for (const std::string layers :
       {"dropout: 0.5, dropout: 0.5, dropout: {rate: 0.5, name: h}",
        "repeat: {block: Drop, times: layers, scan: true, axis: null, name: h}"}) {
    const std::string model =
        model_of(layers + ", param: {name: w, axes: [embed], init: ones}, let: y = h * w");
    const std::multiset<float> numbers = numbers_of(Steps(model, whole).next("y"));
    CAPTURE(layers);
    CHECK(numbers.count(8) > 4);
    CHECK(numbers.count(8) < 32);
    CHECK(numbers.count(0) + numbers.count(8) == numbers.size());
  }
}

TEST_CASE("the gradient of dropout drops what the forward pass dropped") {
  // y = dropout(x) w with x = 1: the gradient of w is the sum of y along the batch, over w.
  const std::string model = model_of(
      "dropout: {rate: 0.5, name: h}, param: {name: w, axes: [embed], init: ones}, let: y = h * w");
  for (const char* const rules : {whole, split}) {
    const HostTensor y = Steps(model, rules).next("y");
    const HostTensor gradient = Steps(model, rules).next("grads/w");
    for (std::size_t column = 0; column < 8; ++column) {
      float sum = 0;
      for (std::size_t row = 0; row < 16; ++row) sum += y.data<float>()[row * 8 + column];
      CHECK(gradient.data<float>()[column] == sum);
    }
  }
}

TEST_CASE("parts of a batch drop different elements") {
  const std::string model = model_of(
      "dropout: {rate: 0.5, name: h}, param: {name: w, axes: [embed], init: ones}, let: y = h * w",
      "microbatches: 2, ");
  const HostTensor y = Steps(model, whole).next("y");
  CHECK(Steps(model, split).next("y") == y);
  std::set<std::vector<float>> rows;
  for (std::size_t row = 0; row < 16; ++row) {
    rows.emplace(y.data<float>() + row * 8, y.data<float>() + row * 8 + 8);
  }
  CHECK(rows.size() > 12);
}

TEST_CASE("dropout drops nothing outside of training") {
  const Planned planned =
      plan_texts(model_of("dropout: {rate: 0.5, name: h}, let: y = h + 1"), whole, false);
  Cluster cluster(planned.program, {});
  const HostTensor x = zeros({DType::f32, {16, 8}});
  cluster.write_input(input_at(planned.program, "x"), x);
  cluster.run();
  CHECK(numbers_of(cluster.read_output(output_at(planned.program, "y"))).count(1) == 128);
}

}  // namespace dropout_runs
