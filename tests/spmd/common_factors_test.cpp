// With which axes an op runs whose operands and result are split in different ways.

#include <doctest/doctest.h>

#include "ops/op.h"
#include "shard/recorded_program.h"
#include "spmd/common_factors.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// lhs, rhs and result of a product while it runs, then the axes of its partial sums.
std::string product_runs_as(const Shape& lhs, const Shape& rhs, const std::string& lhs_axes,
                            const std::string& rhs_axes, const std::string& result_axes) {
  const Mesh mesh({{MeshAxis("x"), 4, {}}, {MeshAxis("y"), 2, {}}});
  using Dims = std::vector<std::int64_t>;
  const Attributes attributes{{"lhs_batch", Dims{}},
                              {"rhs_batch", Dims{}},
                              {"lhs_contract", Dims{1}},
                              {"rhs_contract", Dims{0}}};
  const Shape result{lhs[0], rhs[1]};
  const std::vector<TensorType> operands{{DType::f32, lhs}, {DType::f32, rhs}};
  const std::vector<TensorType> results{{DType::f32, result}};
  const FactorRule rule = factor_rule(Op::dot, operands, results, attributes);
  std::vector<spmd::AxesPerDim> axes;
  for (const std::string& text : {lhs_axes, rhs_axes, result_axes})
    axes.push_back(spmd::axes_of(read_sharding(mesh, text)));
  const auto common = spmd::choose_common_factors(rule, {lhs, rhs, result}, axes, mesh);
  std::string text;
  for (const spmd::AxesPerDim& tensor : common.tensors)
    text += recorded_form(mesh, spmd::with_axes(tensor)) + " ";
  text += "sum";
  for (const AxisRef& axis : common.reduced) text += " " + to_string(mesh, axis);
  return text;
}

std::string small_product(const std::string& lhs, const std::string& rhs,
                          const std::string& result) {
  return product_runs_as({8, 32}, {32, 16}, lhs, rhs, result);
}

}  // namespace

TEST_CASE("operands that agree are left alone") {
  CHECK(small_product("[{x}, {}]", "[{}, {y}]", "[{x}, {y}]") ==
        "[{x}, {}] [{}, {y}] [{x}, {y}] sum");
  CHECK(small_product("[{x}, {y}]", "[{y}, {}]", "[{x}, {}]") ==
        "[{x}, {y}] [{y}, {}] [{x}, {}] sum y");
}

TEST_CASE("the result of a contraction over split dims is partial before it is cut") {
  CHECK(small_product("[{x}, {y}]", "[{y}, {}]", "[{x}, {y}]") ==
        "[{x}, {y}] [{y}, {}] [{x}, {}] sum y");
}

TEST_CASE("what most elements agree on wins") {
  CHECK(small_product("[{x}, {y}]", "[{}, {y}]", "[{x}, {y}]") ==
        "[{x}, {}] [{}, {y}] [{x}, {y}] sum");
  CHECK(small_product("[{x}, {y}]", "[{y}, {x}]", "[{}, {}]") ==
        "[{}, {y}] [{y}, {x}] [{}, {x}] sum y");
  CHECK(product_runs_as({16, 16}, {16, 16}, "[{x}, {y}]", "[{x}, {y}]", "[{x}, {y}]") ==
        "[{x}, {}] [{}, {y}] [{x}, {y}] sum");
  CHECK(product_runs_as({4, 4096}, {4096, 4096}, "[{x}, {}]", "[{x}, {}]", "[{x}, {}]") ==
        "[{}, {x}] [{x}, {}] [{}, {}] sum x");
}

TEST_CASE("an op between two arrays follows the more split one") {
  const Mesh mesh({{MeshAxis("x"), 4, {}}, {MeshAxis("y"), 2, {}}});
  const std::vector<TensorType> type{{DType::f32, {8, 8}}};
  const FactorRule rule = factor_rule(Op::relu, type, type, {});
  const auto axes = [&](const char* text) { return spmd::axes_of(read_sharding(mesh, text)); };
  const auto common = spmd::choose_common_factors(rule, {{8, 8}, {8, 8}},
                                                  {axes("[{y}, {}]"), axes("[{x}, {y}]")}, mesh);
  CHECK(common.tensors == std::vector<spmd::AxesPerDim>{axes("[{x}, {y}]"), axes("[{x}, {y}]")});
}

TEST_CASE("a kernel whose window no factor stands for is whole while the convolution runs") {
  const Mesh mesh({{MeshAxis("x"), 2, {}}});
  FactorRule rule;  // x[n], kernel[4] to [n]
  rule.factors = {{8, FactorKind::permutation, false, true}, {1}};
  rule.operands = {{{0}}, {{1}}};
  rule.results = {{{0}}};
  const std::vector<spmd::AxesPerDim> axes = {{{}}, {{mesh.full(0)}}, {{}}};
  const auto common = spmd::choose_common_factors(rule, {{8}, {4}, {8}}, axes, mesh);
  CHECK(common.tensors[1] == spmd::AxesPerDim{{}});
}

TEST_CASE("of two operands that differ the one whose axis comes later in the alphabet wins") {
  for (const auto& [first, second] : {std::pair{"a", "b"}, std::pair{"b", "a"}}) {
    const Mesh mesh({{MeshAxis(first), 2, {}}, {MeshAxis(second), 2, {}}});
    const std::vector<TensorType> operands(2, {DType::f32, {8}});
    const FactorRule rule = factor_rule(Op::add, operands, {operands.data(), 1}, {});
    const spmd::AxesPerDim a{{mesh.full(0)}}, b{{mesh.full(1)}};
    const auto common = spmd::choose_common_factors(rule, {{8}, {8}, {8}}, {a, b, {{}}}, mesh);
    CHECK(common.tensors[0] == (std::string(first) == "b" ? a : b));
  }
}

TEST_CASE("an array that is padded beyond its one element runs as it was") {
  const Mesh mesh({{MeshAxis("x"), 2, {}}, {MeshAxis("y"), 2, {}}});
  const std::vector<TensorType> operands{{DType::f32, {1, 4}}, {DType::f32, {}}};
  const std::vector<TensorType> results{{DType::f32, {4, 4}}};
  using Dims = std::vector<std::int64_t>;
  const FactorRule rule =
      factor_rule(Op::pad, operands, results,
                  {{"low", Dims{2, 0}}, {"high", Dims{1, 0}}, {"interior", Dims{0, 0}}});
  const auto axes = [&](const char* text) { return spmd::axes_of(read_sharding(mesh, text)); };
  const auto common = spmd::choose_common_factors(
      rule, {{1, 4}, {}, {4, 4}}, {axes("[{}, {x}]"), {}, axes("[{x}, {y}]")}, mesh);
  CHECK(common.tensors == std::vector<spmd::AxesPerDim>{axes("[{}, {x}]"), {}, axes("[{}, {x}]")});
}

TEST_CASE("an axis that fits no factor of its dim goes to one that leads all its dims") {
  const Mesh mesh({{MeshAxis("x"), 2, {}}});
  const auto reshape_runs_as = [&](const Shape& from, const Shape& to, const char* given) {
    const std::vector<TensorType> operands{{DType::f32, from}}, results{{DType::f32, to}};
    const FactorRule rule = factor_rule(Op::reshape, operands, results, {{"shape", to}});
    const auto axes = [&](const char* text) { return spmd::axes_of(read_sharding(mesh, text)); };
    const auto common =
        spmd::choose_common_factors(rule, {from, to}, {axes(given), axes("[{}, {}]")}, mesh);
    return recorded_form(mesh, spmd::with_axes(common.tensors[0])) + " " +
           recorded_form(mesh, spmd::with_axes(common.tensors[1]));
  };
  // 2x8, 3x8 to 2x3, 8x8.
  CHECK(reshape_runs_as({16, 24}, {6, 64}, "[{}, {x}]") == "[{x}, {}] [{x}, {}]");
  // 3x2, 10 to 3, 2x10: the 2 leads one of its dims only.
  CHECK(reshape_runs_as({6, 10}, {3, 20}, "[{x}, {}]") == "[{}, {}] [{}, {}]");
}
