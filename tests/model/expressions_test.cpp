// `let`: expressions to nodes.
#include <doctest/doctest.h>

#include "model/model.h"
#include "support/model_configs.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// The nodes that `let: TEXT` adds, on x : f32[batch=2, embed=4] and w : f32[embed=4, hidden=8].
std::string nodes(const std::vector<std::string>& lets) {
  ModelBuilder builder({{"batch", 2}, {"embed", 4}, {"hidden", 8}});
  builder.input("x", {"batch", "embed"}).input("w", {"embed", "hidden"});
  builder.input("n", {"batch"}, DType::i32);
  for (const std::string& text : lets) builder.layer(let(text));
  const Model model = build_model(builder.config);
  verify(model.apply);
  std::string text = to_string(model.apply);
  std::string kept;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    if (text.compare(start, 3, "  %") == 0) kept += text.substr(start + 2, end - start - 1);
    start = end + 1;
  }
  return kept;
}

}  // namespace

TEST_CASE("numbers become scales and shifts where there are such") {
  CHECK(nodes({"y = 2 * x + 1"}) ==
        "%3 = scale(%0) {value=2.0} : f32[2,4]  # y\n"
        "%4 = shift(%3) {value=1.0} : f32[2,4]  # y\n");
  CHECK(nodes({"y = x - 0.5"}) == "%3 = shift(%0) {value=-0.5} : f32[2,4]  # y\n");
  CHECK(nodes({"y = 1 - x"}) ==
        "%3 = negate(%0) : f32[2,4]  # y\n"
        "%4 = shift(%3) {value=1.0} : f32[2,4]  # y\n");
  CHECK(nodes({"y = x * (1 / 4)"}) == "%3 = scale(%0) {value=0.25} : f32[2,4]  # y\n");
  CHECK(nodes({"y = -x"}) == "%3 = negate(%0) : f32[2,4]  # y\n");
}

TEST_CASE("other numbers become scalar constants") {
  CHECK(nodes({"y = x / 3"}) ==
        "%3 = constant() {shape=[], value=3.0, dtype=\"f32\"} : f32[]  # y\n"
        "%4 = divide(%0, %3) : f32[2,4]  # y\n");
  CHECK(nodes({"y = 1 / x"}) ==
        "%3 = constant() {shape=[], value=1.0, dtype=\"f32\"} : f32[]  # y\n"
        "%4 = divide(%3, %0) : f32[2,4]  # y\n");
  CHECK(nodes({"y = power(x, 2)"}) ==
        "%3 = constant() {shape=[], value=2.0, dtype=\"f32\"} : f32[]  # y\n"
        "%4 = power(%0, %3) : f32[2,4]  # y\n");
  CHECK(nodes({"y = maximum(0, x)"}) ==
        "%3 = constant() {shape=[], value=0.0, dtype=\"f32\"} : f32[]  # y\n"
        "%4 = maximum(%3, %0) : f32[2,4]  # y\n");
}

TEST_CASE("a choice and bounds take numbers in the dtype of their array") {
  CHECK(nodes({"y = select(lt(x, 0.5), x, 0)"}) ==
        "%3 = constant() {shape=[], value=0.5, dtype=\"f32\"} : f32[]  # y\n"
        "%4 = lt(%0, %3) : bool[2,4]  # y\n"
        "%5 = constant() {shape=[], value=0.0, dtype=\"f32\"} : f32[]  # y\n"
        "%6 = select(%4, %0, %5) : f32[2,4]  # y\n");
  CHECK(nodes({"y = clamp(-1, n, 3)"}) ==
        "%3 = constant() {shape=[], value=-1.0, dtype=\"i32\"} : i32[]  # y\n"
        "%4 = constant() {shape=[], value=3.0, dtype=\"i32\"} : i32[]  # y\n"
        "%5 = clamp(%3, %2, %4) : i32[2]  # y\n");
}

TEST_CASE("arrays are aligned at the right and scalars stay scalars") {
  CHECK(nodes({"s = reduce_sum(x, axes=[batch])", "y = x - s"}) ==
        "%3 = reduce_sum(%0) {dims=[0]} : f32[4]  # s\n"
        "%4 = broadcast(%3) {shape=[2,4], dims=[1]} : f32[2,4]  # y\n"
        "%5 = subtract(%0, %4) : f32[2,4]  # y\n");
  CHECK(nodes({"s = reduce_max(x, axes=embed, keep_dims=true)", "y = x / s"}) ==
        "%3 = reduce_max(%0) {dims=[1]} : f32[2]  # s\n"
        "%4 = broadcast(%3) {shape=[2,1], dims=[0]} : f32[2,1]  # s\n"
        "%5 = broadcast(%4) {shape=[2,4], dims=[0,1]} : f32[2,4]  # y\n"
        "%6 = divide(%0, %5) : f32[2,4]  # y\n");
  CHECK(nodes({"s = reduce_sum(x)", "y = s * x"}) ==
        "%3 = reduce_sum(%0) {dims=[0,1]} : f32[]  # s\n"
        "%4 = multiply(%3, %0) : f32[2,4]  # y\n");
}

TEST_CASE("products contract as in NumPy") {
  CHECK(nodes({"y = x @ w"}) ==
        "%3 = dot(%0, %1) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : "
        "f32[2,8]  # y\n");
  CHECK(nodes({"y = dot(x, reduce_sum(w, axes=[-1]))"}) ==
        "%3 = reduce_sum(%1) {dims=[1]} : f32[4]  # y\n"
        "%4 = dot(%0, %3) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : "
        "f32[2]  # y\n");
  CHECK(nodes({"y = transpose(w, axes=[hidden, embed]) @ transpose(x)"}) ==
        "%3 = transpose(%1) {order=[1,0]} : f32[8,4]  # y\n"
        "%4 = transpose(%0) {order=[1,0]} : f32[4,2]  # y\n"
        "%5 = dot(%3, %4) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : "
        "f32[8,2]  # y\n");
}

TEST_CASE("dtypes are promoted as JAX promotes them") {
  CHECK(nodes({"y = reduce_sum(x, axes=[embed]) * n"}) ==
        "%3 = reduce_sum(%0) {dims=[1]} : f32[2]  # y\n"
        "%4 = convert(%2) {dtype=\"f32\"} : f32[2]  # y\n"
        "%5 = multiply(%3, %4) : f32[2]  # y\n");
  CHECK(nodes({"b = convert(x, dtype=bf16)", "y = b + x"}) ==
        "%3 = convert(%0) {dtype=\"bf16\"} : bf16[2,4]  # b\n"
        "%4 = convert(%3) {dtype=\"f32\"} : f32[2,4]  # y\n"
        "%5 = add(%4, %0) : f32[2,4]  # y\n");
}

TEST_CASE("a name may be used again and the values are told apart") {
  CHECK(nodes({"x = relu(x)", "x = x + x.1", "exp(x.2)"}) ==
        "%3 = relu(%0) : f32[2,4]  # x\n"
        "%4 = add(%3, %3) : f32[2,4]  # x\n"
        "%5 = exp(%4) : f32[2,4]  # let\n");
  ModelBuilder builder({{"batch", 2}});
  builder.input("x", {"batch"}).layer(let("x = relu(x)")).layer(let("x = exp(x)"));
  builder.layer(let("sin(x)"));
  const Model model = build_model(builder.config);
  std::vector<std::string> names;
  for (const GraphValue& value : model.apply.values) names.push_back(value.name);
  CHECK(names == std::vector<std::string>{"x", "x.1", "x.2", "let_0"});
}

TEST_CASE("scale and shift can be called with a value") {
  CHECK(nodes({"y = scale(x, value=0.5)"}) == "%3 = scale(%0) {value=0.5} : f32[2,4]  # y\n");
  CHECK(nodes({"y = shift(x, 2)"}) == "%3 = shift(%0) {value=2.0} : f32[2,4]  # y\n");
}
