#include <doctest/doctest.h>

#include "base/check.h"
#include "rule_texts.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// The rule's text for operands of these shapes.
std::string rule_of_shapes(Op op, const std::vector<Shape>& shapes,
                           const Attributes& attributes = {}) {
  std::vector<TensorType> operands;
  for (const Shape& shape : shapes) operands.push_back(f32(shape));
  const std::vector<TensorType> results = result_types(op, operands, attributes);
  return to_string(factor_rule(op, operands, results, attributes));
}

using Dims = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("elementwise ops have one factor per dim and none for scalars") {
  CHECK(rule_of_shapes(Op::relu, {{8, 4}}) == "([i, j]) -> ([i, j])");
  CHECK(rule_of_shapes(Op::add, {{8, 4}, {8, 4}}) == "([i, j],[i, j]) -> ([i, j])");
  CHECK(rule_of_shapes(Op::multiply, {{}, {8, 4}}) == "([],[i, j]) -> ([i, j])");
  CHECK(rule_of_shapes(Op::divide, {{8}, {}}) == "([i],[]) -> ([i])");
  CHECK(rule_of_shapes(Op::add, {{}, {}}) == "([],[]) -> ([])");
  CHECK(rule_of_shapes(Op::scale, {{8}}, {{"value", 2.0}}) == "([i]) -> ([i])");
  CHECK(rule_of_shapes(Op::constrain, {{8, 4}}, {{"placement", std::int64_t{0}}}) ==
        "([i, j]) -> ([i, j])");
}

TEST_CASE("a dot numbers batch then lhs free then rhs free then contracted dims") {
  CHECK(rule_of_shapes(Op::dot, {{8, 32}, {32, 16}}, dot_attributes({}, {}, {1}, {0})) ==
        "([i, k],[k, j]) -> ([i, j]) red={k}");
  CHECK(rule_of_shapes(Op::dot, {{2, 8, 32}, {2, 32, 16}}, dot_attributes({0}, {0}, {2}, {1})) ==
        "([i, j, l],[i, l, k]) -> ([i, j, k]) red={l}");
  CHECK(rule_of_shapes(Op::dot, {{4, 8, 32}, {32, 8}}, dot_attributes({}, {}, {1, 2}, {1, 0})) ==
        "([i, j, k],[k, j]) -> ([i]) red={j,k}");
  CHECK(rule_of_shapes(Op::dot, {{3}, {3}}, dot_attributes({}, {}, {0}, {0})) ==
        "([i],[i]) -> ([]) red={i}");
}

TEST_CASE("reductions number the dims of the operand and combine as their op does") {
  const Attributes dims{{"dims", Dims{1}}};
  CHECK(rule_of_shapes(Op::reduce_sum, {{8, 4, 2}}, dims) == "([i, j, k]) -> ([i, k]) red={j}");
  const auto reduction = [&](Op op) {
    return factor_rule(op, std::vector{f32({8, 4})}, std::vector{f32({8})}, dims).reduction;
  };
  CHECK(reduction(Op::reduce_sum) == Reduction::sum);
  CHECK(reduction(Op::reduce_max) == Reduction::max);
  CHECK(reduction(Op::reduce_min) == Reduction::min);
  CHECK(reduction(Op::reduce_prod) == Reduction::prod);
}

TEST_CASE("transpose and broadcast number the dims of the result") {
  CHECK(rule_of_shapes(Op::transpose, {{2, 3, 4}}, {{"order", Dims{2, 0, 1}}}) ==
        "([j, k, i]) -> ([i, j, k])");
  CHECK(rule_of_shapes(Op::broadcast, {{4}}, {{"shape", Shape{8, 4}}, {"dims", Dims{1}}}) ==
        "([j]) -> ([i, j])");
  CHECK(rule_of_shapes(Op::broadcast, {{2, 1, 13}},
                       {{"shape", Shape{2, 64, 13}}, {"dims", Dims{0, 1, 2}}}) ==
        "([i, j, l]) -> ([i, k, l])");
  CHECK(rule_of_shapes(Op::broadcast, {{}}, {{"shape", Shape{8}}, {"dims", Dims{}}}) ==
        "([]) -> ([i])");
}

TEST_CASE("optimizer updates are elementwise over the parameter with a scalar count") {
  const Attributes none;
  const TensorType p = f32({8, 4});
  const TensorType count{DType::i32, {}};
  CHECK(to_string(factor_rule(Op::adam_update, std::vector{p, p, p, p, count}, std::vector{p, p, p},
                              none)) ==
        "([i, j],[i, j],[i, j],[i, j],[]) -> ([i, j],[i, j],[i, j])");
  CHECK(to_string(factor_rule(Op::momentum_update, std::vector{p, p, p}, std::vector{p, p},
                              none)) == "([i, j],[i, j],[i, j]) -> ([i, j],[i, j])");
  CHECK(to_string(factor_rule(Op::sgd_update, std::vector{p, p}, std::vector{p}, none)) ==
        "([i, j],[i, j]) -> ([i, j])");
}

TEST_CASE("ops without a factor rule say so as a bug of the caller") {
  CHECK_THROWS_AS(factor_rule(Op::constant, {}, std::vector{f32({2})}, {}), InternalError);
}

TEST_CASE("flops are counted per point of the factor space") {
  const Attributes dot = dot_attributes({}, {}, {1}, {0});
  CHECK(flops_of(Op::dot, std::vector{f32({8, 32}), f32({32, 16})}, std::vector{f32({8, 16})},
                 dot) == 2.0 * 8 * 32 * 16);
  CHECK(flops_of(Op::relu, std::vector{f32({8, 4})}, std::vector{f32({8, 4})}, {}) == 32);
  CHECK(flops_of(Op::reduce_sum, std::vector{f32({8, 4})}, std::vector{f32({8})},
                 {{"dims", Dims{1}}}) == 32);
  CHECK(flops_of(Op::constrain, std::vector{f32({8})}, std::vector{f32({8})}, {}) == 0);
  CHECK(flops_of(Op::constant, {}, std::vector{f32({8})}, {}) == 0);
}
