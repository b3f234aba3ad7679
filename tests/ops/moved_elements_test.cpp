// Shape and factor rules of the ops that move elements or look them up.
#include <doctest/doctest.h>

#include "ops/index_dims.h"
#include "rule_texts.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Dims = std::vector<std::int64_t>;

TensorType truth(Shape shape) { return {DType::boolean, std::move(shape)}; }

std::string reshape(Shape from, Shape to) {
  return rule(Op::reshape, {f32(std::move(from))}, {{"shape", std::move(to)}});
}

Attributes slice_of(Dims start, Dims limit, Dims stride) {
  return {{"start", std::move(start)}, {"limit", std::move(limit)}, {"stride", std::move(stride)}};
}

Attributes pad_by(Dims low, Dims high, Dims interior) {
  return {{"low", std::move(low)}, {"high", std::move(high)}, {"interior", std::move(interior)}};
}

/// Rows of a table, by indices of any rank.
Attributes rows(std::int64_t indices_rank, Dims window) {
  IndexDims dims;
  dims.window = std::move(window);
  dims.collapsed = {0};
  dims.start = {0};
  dims.vector = indices_rank;
  Attributes attributes = dims.attributes();
  attributes.set("mode", std::string("clip"));
  return attributes;
}

Attributes with_sizes(Attributes attributes, Dims sizes) {
  attributes.set("slice_sizes", std::move(sizes));
  return attributes;
}

}  // namespace

TEST_CASE("a reshape splits and merges dims into common factors") {
  CHECK(reshape({8, 12}, {8, 3, 4}) == "([i, jk]) -> ([i, j, k])");
  CHECK(reshape({8, 3, 4}, {8, 12}) == "([i, j, k]) -> ([i, jk])");
  CHECK(reshape({4, 6}, {8, 3}) == "([i, jk]) -> ([ij, k])");
  CHECK(reshape({6, 4}, {24}) == "([i, j]) -> ([ij])");
  CHECK(reshape({1, 8, 1}, {8}) == "([i, j, k]) -> ([j])");
  CHECK(reshape({8}, {2, 1, 4}) == "([ik]) -> ([i, j, k])");
}

TEST_CASE("a reshape of dims without a common factor has factors of its own on both sides") {
  CHECK(reshape({2, 3}, {3, 2}) == "([i, k]) -> ([j, l])");
  CHECK(reshape({0, 3}, {0, 2}) == "([i, j]) -> ([k, l])");
}

TEST_CASE("a reshape keeps the number of elements") {
  CHECK(shape(Op::reshape, {f32({4, 6})}, {{"shape", Shape{2, 12}}}) == "f32[2,12]");
  CHECK(shape(Op::reshape, {f32({4, 6})}, {{"shape", Shape{5, 5}}}) ==
        "f32[4,6] has 24 elements, not those of 5,5");
}

TEST_CASE("a slice has a permutation factor on the dims that it cuts") {
  const Attributes attributes = slice_of({0, 1, 0}, {8, 7, 4}, {1, 2, 1});
  CHECK(shape(Op::slice, {f32({8, 8, 4})}, attributes) == "f32[8,3,4]");
  CHECK(rule(Op::slice, {f32({8, 8, 4})}, attributes) == "([i, j, k]) -> ([i, j, k]) perm={j}");
  CHECK(shape(Op::slice, {f32({8})}, slice_of({2}, {9}, {1})) ==
        "dim 0 of size 8 has no range 2 to 9");
  CHECK(shape(Op::slice, {f32({8})}, slice_of({2}, {8}, {0})) ==
        "the stride of dim 0 is not positive");
  CHECK(shape(Op::slice, {f32({8, 8})}, slice_of({2}, {8, 8}, {1, 1})) ==
        "start has 1 entries for 2 dims");
}

TEST_CASE("a pad has a permutation factor on the dims that it changes") {
  const Attributes attributes = pad_by({1, 0}, {-2, 0}, {2, 0});
  CHECK(shape(Op::pad, {f32({4, 5}), f32({})}, attributes) == "f32[9,5]");
  CHECK(rule(Op::pad, {f32({4, 5}), f32({})}, attributes) == "([i, j],[]) -> ([i, j]) perm={i}");
  CHECK(shape(Op::pad, {f32({4}), i32({})}, pad_by({0}, {0}, {0})) ==
        "the padding is i32[], the array f32[4]");
  CHECK(shape(Op::pad, {f32({4}), f32({})}, pad_by({-3}, {-2}, {0})) == "nothing is left of dim 0");
  CHECK(shape(Op::pad, {f32({4}), f32({})}, pad_by({0}, {0}, {-1})) ==
        "interior padding of dim 0 is negative");
}

TEST_CASE("a concatenated dim must be whole unless the operands are slices") {
  const std::vector<TensorType> operands = {f32({4, 2}), f32({4, 6})};
  CHECK(shape(Op::concatenate, operands, {{"dim", std::int64_t{1}}}) == "f32[4,8]");
  CHECK(rule(Op::concatenate, operands, {{"dim", std::int64_t{1}}}) ==
        "([i, j],[i, j]) -> ([i, j]) rep={j}");
  CHECK(
      rule(Op::concatenate, operands, {{"dim", std::int64_t{1}}, {"of_slices", std::int64_t{1}}}) ==
      "([i, j],[i, j]) -> ([i, j]) perm={j}");
  CHECK(shape(Op::concatenate, operands, {{"dim", std::int64_t{0}}}) ==
        "shapes differ beside dim 0: f32[4,2] and f32[4,6]");
  CHECK(shape(Op::concatenate, {f32({4}), i32({4})}, {{"dim", std::int64_t{0}}}) ==
        "dtypes differ: f32 and i32");
  CHECK(shape(Op::concatenate, {f32({4})}, {{"dim", std::int64_t{1}}}) ==
        "there is no dim 1 in rank 1");
  CHECK(shape(Op::concatenate, {}, {{"dim", std::int64_t{1}}}) ==
        "there is nothing to concatenate");
}

TEST_CASE("places that are sent to others have a permutation factor") {
  const auto sent = [](std::int64_t dim, Dims source) {
    return Attributes{{"dim", dim}, {"source", std::move(source)}};
  };
  CHECK(rule(Op::ppermute, {f32({4, 2})}, sent(0, {3, 0, -1, 2})) ==
        "([i, j]) -> ([i, j]) perm={i}");
  CHECK(shape(Op::ppermute, {f32({4, 2})}, sent(1, {1, -1})) == "f32[4,2]");
  CHECK(shape(Op::ppermute, {f32({4, 2})}, sent(2, {1, 0})) == "there is no dim 2 in rank 2");
  CHECK(shape(Op::ppermute, {f32({4, 2})}, sent(0, {1, 0})) == "source has 2 places, the dim 4");
  CHECK(shape(Op::ppermute, {f32({4, 2})}, sent(1, {2, 0})) == "there is no place 2 among 2");
  CHECK(shape(Op::ppermute, {f32({4, 2})}, sent(1, {1, 1})) == "place 1 is sent twice");
}

TEST_CASE("rows that members send each other have permutation factors along the members") {
  const auto along = [](Dims dims) { return Attributes{{"dims", std::move(dims)}}; };
  const auto with = [](std::size_t which, TensorType type) {
    std::vector<TensorType> operands{f32({2, 4, 3, 5}), f32({2, 4, 6, 5}), i32({2, 4, 8}),
                                     i32({2, 4, 8}),    i32({2, 4, 8}),    i32({2, 4, 8})};
    operands[which] = std::move(type);
    return operands;
  };
  const std::vector<TensorType> good = with(0, f32({2, 4, 3, 5}));
  CHECK(rule(Op::ragged_all_to_all, good, along({1})) ==
        "([i, j, k, n],[i, j, l, n],[i, j, m],[i, j, m],[i, j, m],[i, j, m]) -> ([i, j, l, n]) "
        "rep={k,l,m} perm={j}");
  CHECK(shape(Op::ragged_all_to_all, good, along({0, 1})) == "f32[2,4,6,5]");
  CHECK(shape(Op::ragged_all_to_all, good, along({2})) == "there is no dim 2 in rank 2");
  const auto mistake = [&](std::size_t which, TensorType type) {
    return shape(Op::ragged_all_to_all, with(which, std::move(type)), along({1}));
  };
  CHECK(mistake(0, f32({3, 4, 3, 5})) ==
        "leading dims differ: operand is f32[3,4,3,5], output is f32[2,4,6,5]");
  CHECK(mistake(0, f32({2, 4})) == "operand is f32[], which has no rows");
  CHECK(mistake(1, i32({2, 4, 6, 5})) == "dtypes differ: f32 and i32");
  CHECK(mistake(1, f32({2, 4, 6, 3})) == "rows differ: operand is f32[3,5], output is f32[6,3]");
  CHECK(mistake(3, f32({2, 4, 8})) == "send_sizes is f32[8], not a list of integers");
  CHECK(mistake(4, i32({2, 4})) == "output_offsets is i32[], not a list of integers");
  CHECK(mistake(5, i32({2, 4, 4})) == "recv_sizes has 4 entries, input_offsets 8");
  std::vector<TensorType> few = good;
  for (std::size_t i = 2; i < few.size(); ++i) few[i] = i32({2, 4, 6});
  CHECK(shape(Op::ragged_all_to_all, few, along({1})) ==
        "6 entries are not as many for each of 4 members");
  for (std::size_t i = 2; i < few.size(); ++i) few[i] = i32({2, 4, 0});
  CHECK(shape(Op::ragged_all_to_all, few, along({1})) ==
        "0 entries are not as many for each of 4 members");
}

TEST_CASE("reversed dims have permutation factors") {
  CHECK(rule(Op::reverse, {f32({4, 2})}, {{"dims", Dims{0}}}) == "([i, j]) -> ([i, j]) perm={i}");
  CHECK(shape(Op::reverse, {f32({4, 2})}, {{"dims", Dims{2}}}) == "there is no dim 2 in rank 2");
}

TEST_CASE("iota has the type its attributes say") {
  const auto iota = [](std::int64_t dim, const char* dtype) {
    return shape(Op::iota, {},
                 {{"shape", Shape{2, 3}}, {"dim", dim}, {"dtype", std::string(dtype)}});
  };
  CHECK(iota(1, "i32") == "i32[2,3]");
  CHECK(iota(2, "i32") == "there is no dim 2 in rank 2");
  CHECK(iota(0, "bool") == "needs numbers, not bool");
  CHECK(iota(0, "int") == "there is no dtype 'int'");
}

TEST_CASE("dynamic slices need whole dims where they cut") {
  const std::vector<TensorType> operands = {f32({8, 4}), i32({}), i32({})};
  CHECK(shape(Op::dynamic_slice, operands, {{"sizes", Dims{3, 4}}}) == "f32[3,4]");
  CHECK(rule(Op::dynamic_slice, operands, {{"sizes", Dims{3, 4}}}) ==
        "([i, j],[],[]) -> ([i, j]) rep={i}");
  CHECK(shape(Op::dynamic_slice, {f32({8, 4}), i32({})}, {{"sizes", Dims{3, 4}}}) ==
        "1 starts for 2 dims");
  CHECK(shape(Op::dynamic_slice, {f32({8}), f32({})}, {{"sizes", Dims{3}}}) ==
        "a start is f32[], not i32[]");
  CHECK(shape(Op::dynamic_slice, {f32({8}), i32({})}, {{"sizes", Dims{9}}}) ==
        "dim 0 of size 8 has no slice of 9");
  const FactorRule cut =
      factor_rule(Op::dynamic_slice, operands, std::vector{f32({3, 4})}, {{"sizes", Dims{3, 4}}});
  CHECK(cut.factors[0].is_blocked);
  CHECK_FALSE(cut.factors[1].is_blocked);
}

TEST_CASE("an update in part of a dim has a factor of its own") {
  const std::vector<TensorType> operands = {f32({8, 4}), f32({3, 4}), i32({}), i32({})};
  CHECK(shape(Op::dynamic_update_slice, operands) == "f32[8,4]");
  CHECK(rule(Op::dynamic_update_slice, operands) == "([i, k],[j, k],[],[]) -> ([i, k]) rep={j}");
  CHECK(rule(Op::dynamic_update_slice, operands, {{"at_constants", std::int64_t{1}}}) ==
        "([i, k],[j, k],[],[]) -> ([i, k])");
  CHECK(shape(Op::dynamic_update_slice, {f32({8, 4}), f32({3}), i32({}), i32({})}) ==
        "the update is f32[3], the array f32[8,4]");
  CHECK(shape(Op::dynamic_update_slice, {f32({8}), i32({3}), i32({})}) ==
        "dtypes differ: f32 and i32");
}

TEST_CASE("rows of a table are summed over where the table is split") {
  const Attributes attributes = with_sizes(rows(2, {2}), {1, 16});
  CHECK(shape(Op::gather, {f32({32, 16}), i32({4, 8})}, attributes) == "f32[4,8,16]");
  CHECK(rule(Op::gather, {f32({32, 16}), i32({4, 8})}, attributes) ==
        "([l, k],[i, j]) -> ([i, j, k]) red={l}");
}

TEST_CASE("elements along a dim are paired in all other dims") {
  IndexDims dims;
  dims.collapsed = {1};
  dims.batch = dims.index_batch = {0};
  dims.start = {1};
  dims.vector = 2;
  Attributes attributes = with_sizes(dims.attributes(), {1, 1});
  attributes.set("mode", std::string("clip"));
  CHECK(shape(Op::gather, {f32({4, 32}), i32({4, 8})}, attributes) == "f32[4,8]");
  CHECK(rule(Op::gather, {f32({4, 32}), i32({4, 8})}, attributes) ==
        "([i, k],[i, j]) -> ([i, j]) red={k}");
}

TEST_CASE("a window that is cut does not propagate and one of size one is looked up") {
  IndexDims dims;
  dims.window = {1, 2};
  dims.start = {0, 1};
  dims.vector = 1;
  Attributes attributes = dims.attributes();
  attributes.set("mode", std::string("fill"));
  CHECK(rule(Op::gather, {f32({32, 16}), i32({4, 2})}, with_sizes(attributes, {1, 8})) ==
        "([j, l],[i, m]) -> ([i, k, l]) red={j} rep={k,l,m}");
}

TEST_CASE("a gather says what does not fit") {
  const auto answer = [](const TensorType& indices, const Attributes& attributes) {
    return shape(Op::gather, {f32({32, 16}), indices}, attributes);
  };
  CHECK(answer(f32({4}), with_sizes(rows(1, {1}), {1, 16})) ==
        "the indices are f32[4], not integers");
  CHECK(answer(i32({4}), with_sizes(rows(1, {1}), {2, 16})) ==
        "slices have size 2 where they drop dim 0");
  CHECK(answer(i32({4}), with_sizes(rows(1, {1}), {1, 17})) ==
        "dim 1 of size 16 has no slice of 17");
  CHECK(answer(i32({4}), with_sizes(rows(1, {}), {1, 16})) ==
        "window_dims names 0 dims, slices have 1");
  CHECK(answer(i32({4, 3}), with_sizes(rows(1, {1}), {1, 16})) ==
        "indices of 3 numbers start slices along 1 dims");
  Attributes odd = with_sizes(rows(1, {1}), {1, 16});
  odd.set("mode", std::string("wrap"));
  CHECK(answer(i32({4}), odd) == "there is no mode 'wrap'");
}

TEST_CASE("updates of a scatter are summed over the dims of the indices") {
  const std::vector<TensorType> operands = {f32({32, 16}), i32({4, 8}), f32({4, 8, 16})};
  CHECK(shape(Op::scatter_add, operands, rows(2, {2})) == "f32[32,16]");
  CHECK(rule(Op::scatter_add, operands, rows(2, {2})) ==
        "([l, k],[i, j],[i, j, k]) -> ([l, k]) red={i,j}");
  CHECK(rule(Op::scatter_set, operands, rows(2, {2})) ==
        "([l, k],[i, j],[i, j, k]) -> ([l, k]) rep={i,j}");
  CHECK(shape(Op::scatter_add, {f32({32, 16}), i32({4}), f32({5, 16})}, rows(1, {1})) ==
        "the updates are f32[5,16] for indices i32[4]");
  CHECK(shape(Op::scatter_add, {f32({32, 16}), i32({4}), f32({4})}, rows(1, {1})) ==
        "the updates are f32[4], not of rank 2");
  const auto combined = [&](Op op) {
    return factor_rule(op, operands, std::vector{f32({32, 16})}, rows(2, {2})).reduction;
  };
  CHECK(combined(Op::scatter_add) == Reduction::sum);
  CHECK(combined(Op::scatter_mul) == Reduction::prod);
  CHECK(combined(Op::scatter_max) == Reduction::max);
  CHECK(combined(Op::scatter_min) == Reduction::min);
}

TEST_CASE("positions of extrema are found along a whole dim") {
  CHECK(shape(Op::argmax, {f32({8, 4})}, {{"dim", std::int64_t{0}}}) == "i32[4]");
  CHECK(rule(Op::argmax, {f32({8, 4})}, {{"dim", std::int64_t{0}}}) == "([i, j]) -> ([j]) red={i}");
  CHECK(shape(Op::argmin, {f32({0, 4})}, {{"dim", std::int64_t{0}}}) == "dim 0 has no elements");
}

TEST_CASE("sorted and cumulated dims are whole or have neighbours") {
  const Attributes line{{"dim", std::int64_t{1}}, {"reverse", std::int64_t{0}}};
  CHECK(rule(Op::cumsum, {f32({8, 4})}, line) == "([i, j]) -> ([i, j]) perm={j}");
  CHECK(shape(Op::cumlogsumexp, {i32({8, 4})}, line) == "needs floating point, not i32");
  CHECK(shape(Op::linear_recurrence, {f32({8, 4}), f32({8, 5})}, line) ==
        "operands differ: f32[8,4] and f32[8,5]");
  const Attributes by_one{{"dim", std::int64_t{1}}, {"keys", std::int64_t{1}}};
  CHECK(shape(Op::sort, {f32({8, 4}), i32({8, 4})}, by_one) == "f32[8,4] i32[8,4]");
  CHECK(rule(Op::sort, {f32({8, 4}), i32({8, 4})}, by_one) ==
        "([i, j],[i, j]) -> ([i, j],[i, j]) rep={j}");
  CHECK(shape(Op::sort, {f32({8, 4})}, {{"dim", std::int64_t{1}}, {"keys", std::int64_t{2}}}) ==
        "2 of 1 operands cannot be the keys");
  CHECK(shape(Op::top_k, {f32({8, 4})}, {{"k", std::int64_t{2}}}) == "f32[8,2] i32[8,2]");
  CHECK(rule(Op::top_k, {f32({8, 4})}, {{"k", std::int64_t{2}}}) ==
        "([i, j]) -> ([i, j],[i, j]) rep={j}");
  CHECK(shape(Op::top_k, {f32({8, 4})}, {{"k", std::int64_t{5}}}) == "there are no 5 largest of 4");
}

TEST_CASE("comparisons are bool and select wants one") {
  CHECK(shape(Op::lt, {f32({8}), f32({})}) == "bool[8]");
  CHECK(shape(Op::eq, {truth({8}), truth({8})}) == "bool[8]");
  CHECK(shape(Op::eq, {f32({8}), i32({8})}) == "dtypes differ: f32 and i32");
  CHECK(shape(Op::select, {truth({8}), f32({8}), f32({})}) == "f32[8]");
  CHECK(shape(Op::select, {f32({8}), f32({8}), f32({8})}) == "the condition is f32[8], not bool");
  CHECK(shape(Op::select, {truth({4}), f32({8}), f32({8})}) == "shapes differ: bool[4] and f32[8]");
  CHECK(shape(Op::is_finite, {i32({8})}) == "needs floating point, not i32");
  CHECK(shape(Op::bitwise_and, {truth({8}), truth({8})}) == "bool[8]");
  CHECK(shape(Op::bitwise_and, {f32({8}), f32({8})}) == "needs integers or bool, not f32");
  CHECK(shape(Op::shift_left, {truth({8}), truth({8})}) == "needs integers, not bool");
  CHECK(shape(Op::polygamma, {f32({8})}, {{"order", std::int64_t{-1}}}) == "there is no order -1");
  CHECK(shape(Op::reduce_or, {truth({8, 4})}, {{"dims", Dims{1}}}) == "bool[8]");
  CHECK(shape(Op::reduce_or, {f32({8, 4})}, {{"dims", Dims{1}}}) == "needs bool, not f32");
}
