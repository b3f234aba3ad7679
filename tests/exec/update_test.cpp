#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "exec/numbers.h"

using namespace shard;
using namespace shard::test;

namespace {

Attributes adam(double weight_decay) {
  return {{"learning_rate", 1e-3}, {"b1", 0.9},       {"b2", 0.999},
          {"eps", 1e-8},           {"eps_root", 0.0}, {"weight_decay", weight_decay}};
}

/// (param, mu, nu, gradient, count); nu is not negative.
std::vector<HostTensor> adam_operands(const std::vector<DType>& dtypes, std::int64_t size) {
  std::vector<HostTensor> operands;
  for (std::size_t i = 0; i < 4; ++i) operands.push_back(random_tensor({dtypes[i], {size}}, i));
  std::vector<double> nu = numbers_of(operands[2]);
  for (double& x : nu) x = std::fabs(x);
  operands[2] = tensor(operands[2].type, nu);
  operands.push_back(tensor({DType::i32, {}}, {3}));
  return operands;
}

void check_update(Op op, const std::vector<HostTensor>& operands, const Attributes& attributes) {
  const std::vector<HostTensor> actual = run_kernel(op, operands, attributes);
  const std::vector<HostTensor> expected = run_reference_op(op, operands, attributes);
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CAPTURE(i);
    CHECK(distance(actual[i], expected[i]) <= 4 * epsilon(actual[i].type.dtype));
  }
}

}  // namespace

TEST_CASE("adam and adamw agree with the reference in every mix of dtypes") {
  const DType f32 = DType::f32, bf16 = DType::bf16, f64 = DType::f64, f16 = DType::f16;
  for (const std::vector<DType>& dtypes :
       {std::vector{f32, f32, f32, f32}, std::vector{bf16, bf16, bf16, bf16},
        std::vector{bf16, f32, f32, bf16}, std::vector{f32, bf16, f32, f16},
        std::vector{f64, f64, f64, f64}, std::vector{f64, f32, f32, f64}}) {
    for (const std::int64_t size : {1, 5, 16, 2053}) {
      for (const double weight_decay : {0.0, 0.1}) {
        CAPTURE(size);
        CAPTURE(info(dtypes[0]).name);
        CAPTURE(info(dtypes[1]).name);
        check_update(Op::adam_update, adam_operands(dtypes, size), adam(weight_decay));
      }
    }
  }
}

TEST_CASE("the first adam step is one learning rate against the sign of the gradient") {
  const TensorType type{DType::f32, {3}};
  const HostTensor zero = tensor(type, {0, 0, 0});
  const std::vector<HostTensor> results =
      run_kernel(Op::adam_update,
                 {tensor(type, {1, 1, 1}), zero, zero, tensor(type, {1e-3, -20, 0}),
                  tensor({DType::i32, {}}, {1})},
                 adam(0));
  CHECK(distance(results[0], tensor(type, {0.999, 1.001, 1})) <= 1e-6);
  CHECK(distance(results[1], tensor(type, {1e-4, -2, 0})) <= 1e-6);
  CHECK(distance(results[2], tensor(type, {1e-9, 0.4, 0})) <= 1e-6);
}

TEST_CASE("sgd and momentum agree with the reference") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    for (const std::int64_t size : {1, 16, 1031}) {
      const TensorType type{dtype, {size}};
      const HostTensor p = random_tensor(type, 1), t = random_tensor(type, 2);
      const HostTensor g = random_tensor(type, 3);
      check_update(Op::sgd_update, {p, g}, {{"learning_rate", 0.1}});
      for (const std::int64_t nesterov : {0, 1}) {
        check_update(Op::momentum_update, {p, t, g},
                     {{"learning_rate", 0.1}, {"decay", 0.9}, {"nesterov", nesterov}});
      }
    }
  }
}

TEST_CASE("an update of integers is refused") {
  const TensorType type{DType::i32, {3}};
  CHECK(refusal(Op::sgd_update, {type, type}, {{"learning_rate", 0.1}}) ==
        "sgd_update of i32[3] and i32[3]");
}
