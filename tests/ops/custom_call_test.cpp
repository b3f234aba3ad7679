#include "ops/custom_call.h"

#include <doctest/doctest.h>

#include "ops/rule_texts.h"

using namespace shard;

namespace {

Attributes call_of(std::string row, std::string reduced = "", std::string whole = "",
                   std::string as = "") {
  return {{"call", std::string("f")},
          {"row", std::move(row)},
          {"reduced", std::move(reduced)},
          {"reduction", std::string("sum")},
          {"whole", std::move(whole)},
          {"neighbours", std::string()},
          {"dtypes", std::string("f32")},
          {"flops", 4.0},
          {"as", std::move(as)},
          {"new_names", std::string()},
          {"new_sizes", std::vector<std::int64_t>()}};
}

const std::vector<TensorType> matrices = {{DType::f32, {8, 4}}, {DType::f32, {4, 6}}};

std::string mistake_of(const Attributes& attributes,
                       const std::vector<TensorType>& types = matrices) {
  const ShapeResult made = custom_call_shape(types, attributes);
  return std::holds_alternative<std::string>(made) ? std::get<std::string>(made) : "none";
}

}  // namespace

TEST_CASE("a custom call has the results and the factors that its row says") {
  const Attributes product = call_of("m k, k n -> n m", "k");
  const ShapeResult made = custom_call_shape(matrices, product);
  const auto& results = std::get<std::vector<TensorType>>(made);
  CHECK(results == std::vector<TensorType>{{DType::f32, {6, 8}}});
  const FactorRule rule = custom_call_rule(matrices, results, product);
  CHECK(rule.reduction == Reduction::sum);
  REQUIRE(rule.factors.size() == 3);
  CHECK(rule.factors[0].kind == FactorKind::pass_through);
  CHECK(rule.factors[1].kind == FactorKind::reduction);
  CHECK(rule.results[0] == TensorFactors{{2}, {0}});
  CHECK(custom_call_flops(matrices, results, product) == 4.0 * 8 * 4 * 6);
  const Attributes whole = call_of("m k, k n -> n m", "", "k");
  CHECK(custom_call_rule(matrices, results, whole).factors[1].kind == FactorKind::need_replication);
}

TEST_CASE("factors that only results have are whole and have a size") {
  Attributes made = call_of("m k, k n -> m n f", "k");
  CHECK(mistake_of(made) == "factor 'f' is in no operand: say its size");
  made.set("new_names", std::string("f"));
  made.set("new_sizes", std::vector<std::int64_t>{5});
  const ShapeResult shapes = custom_call_shape(matrices, made);
  const auto& results = std::get<std::vector<TensorType>>(shapes);
  CHECK(results.front().shape == Shape{8, 6, 5});
  CHECK(custom_call_rule(matrices, results, made).factors[3].kind == FactorKind::need_replication);
}

TEST_CASE("rows that do not fit are told") {
  CHECK(mistake_of(call_of("m k, k n")) == "there is no '->' between operands and results");
  CHECK(mistake_of(call_of("m k, k n -> m-n")) == "'m-n' is no name of a factor");
  CHECK(mistake_of(call_of("m m, k n -> m n")) == "factor 'm' is written twice in one array");
  CHECK(mistake_of(call_of("m k -> m", "k")) == "its row has 1 operand, found 2");
  CHECK(mistake_of(call_of("m k b, k n -> m n b", "k")) ==
        "operand 0 is f32[8,4], its row has 3 factors");
  CHECK(mistake_of(call_of("m k, m n -> m n", "k")) == "factor 'm' has sizes 8 and 4");
  CHECK(mistake_of(call_of("m k, k n -> m n")) ==
        "factor 'k' is not in every result: say how it is reduced, or that it is whole");
  CHECK(mistake_of(call_of("m k, k n -> m n", "k q")) == "there is no factor 'q'");
  CHECK(mistake_of(call_of("m k, k n -> m n", "k m")) ==
        "factor 'm' is reduced, and yet in a result");
  CHECK(mistake_of(call_of("m k, k n -> m n, n m", "k")) == "1 dtype for 2 results");
  Attributes odd = call_of("m k, k n -> m n", "k");
  odd.set("dtypes", std::string("f33"));
  CHECK(mistake_of(odd) == "there is no dtype 'f33'");
  odd = call_of("m k, k n -> m n", "k");
  odd.set("new_names", std::string("m"));
  odd.set("new_sizes", std::vector<std::int64_t>{3});
  CHECK(mistake_of(odd) == "factor 'm' gets its size from an operand or is nowhere");
}

TEST_CASE("a call stands for an op whose attributes follow from the row") {
  const auto meaning = [](const Attributes& attributes) {
    const std::vector<TensorType> results = {{DType::f32, {2, 3}}};
    const auto found = meaning_of_call(attributes, results);
    return found ? std::string(def(found->op).name) + to_string(found->attributes) : "none";
  };
  CHECK(meaning(call_of("m k, k n -> m n", "k", "", "dot")) ==
        "dot{lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]}");
  CHECK(meaning(call_of("b m k, b n k -> b m n", "k", "", "dot")) ==
        "dot{lhs_batch=[0], rhs_batch=[0], lhs_contract=[2], rhs_contract=[2]}");
  CHECK(meaning(call_of("a b c -> b c a", "", "", "transpose")) == "transpose{order=[1,2,0]}");
  CHECK(meaning(call_of("a b c -> b", "a c", "", "reduce_max")) == "reduce_max{dims=[0,2]}");
  CHECK(meaning(call_of("a b, -> a b", "", "", "add")) == "add");
  CHECK(meaning(call_of("m k, k n -> n m", "k", "", "dot")) == "none");
  CHECK(meaning(call_of("m k, k n -> m n", "k")) == "none");
  CHECK(mistake_of(call_of("m k, k n -> n m", "k", "", "dot")) == "its row is none of dot");
  Attributes rounded = call_of("m k, k n -> m n", "k", "", "dot");
  rounded.set("dtypes", std::string("bf16"));
  CHECK(mistake_of(rounded) == "dot gives f32[8,6]");
}
