#include "report/fold.h"

#include <doctest/doctest.h>

using namespace shard;

using Names = std::vector<std::string>;
using Groups = std::vector<std::vector<std::size_t>>;

TEST_CASE("names that differ in one number fold") {
  CHECK(fold_names({"a_0/k", "a_1/k", "a_2/k"}) == "a_{0..2}/k");
  CHECK(fold_names({"a_0/k", "a_1/k"}) == "a_{0,1}/k");
  CHECK(fold_names({"a_3", "a_0", "a_1", "a_2", "a_7"}) == "a_{0..3,7}");
  CHECK(fold_names({"alone_4"}) == "alone_4");
}

TEST_CASE("names that differ in several numbers fold when every combination occurs") {
  CHECK(fold_names({"a_0/b_0", "a_0/b_1", "a_1/b_0", "a_1/b_1"}) == "a_{0,1}/b_{0,1}");
  CHECK(fold_names({"a_0/b_0", "a_1/b_1"}).empty());
}

TEST_CASE("names that differ in words do not fold") {
  CHECK(fold_names({"a/kernel", "a/bias"}).empty());
  CHECK(fold_names({"a_1", "a_1"}).empty());
  CHECK(fold_names({}).empty());
}

TEST_CASE("a number with a leading zero is text") {
  CHECK(fold_names({"a_00", "a_01"}).empty());
  CHECK(fold_names({"a_0", "a_1"}) == "a_{0,1}");
}

TEST_CASE("numbers too long for an integer are text") {
  CHECK(fold_names({"a_9999999999999999999", "a_9999999999999999998"}).empty());
}

TEST_CASE("rows fold only with rows of the same key") {
  const std::vector<FoldItem> items = {
      {"a_0/k", "split"}, {"a_0/w", "split"}, {"a_1/k", "split"}, {"a_2/k", "whole"}};
  CHECK(fold_groups(items) == Groups{{0, 2}, {1}, {3}});
}

TEST_CASE("rows whose combinations are incomplete fold along the first number that varies") {
  const std::vector<FoldItem> items = {{"a_0/b_0", ""}, {"a_1/b_0", ""}, {"a_1/b_1", ""}};
  CHECK(fold_groups(items) == Groups{{0, 1}, {2}});
}

TEST_CASE("rows of the same name stay apart") {
  CHECK(fold_groups({{"x", ""}, {"x", ""}}) == Groups{{0}, {1}});
}

TEST_CASE("a list of names is said once each and folded") {
  CHECK(join_folded({"x", "b_0/W2", "b_1/W2", "b_2/W2", "x"}) == "x, b_{0..2}/W2");
  CHECK(join_folded({}).empty());
}

TEST_CASE("a range in a name folds with the numbers beside it") {
  CHECK(fold_names({"a_0/k", "a_1/k", "a_{2..997}/k", "a_998/k", "a_999/k"}) == "a_{0..999}/k");
  CHECK(fold_names({"a_{2..997}/k"}) == "a_{2..997}/k");
  CHECK(fold_names({"a_{2..5}", "a_0"}) == "a_{0,2..5}");
  CHECK(fold_names({"a_0/b_{0..7}", "a_1/b_{0..7}"}) == "a_{0,1}/b_{0..7}");
}

TEST_CASE("a range of two reads as two numbers") {
  CHECK(fold_names({"a_{5..6}/k"}) == "a_{5,6}/k");
  CHECK(fold_names({"a_{5..6}/k", "a_7/k"}) == "a_{5..7}/k");
  CHECK(join_folded({"a_{5..6}/k", "x"}) == "a_{5,6}/k, x");
}

TEST_CASE("a range stands for its numbers") {
  CHECK(count_names("a_{2..997}/k") == 996);
  CHECK(count_names("a_2/k") == 1);
  CHECK(count_names("{mu,nu}") == 1);
  CHECK(unfold_name("a_{2..4}/k_1") == Names{"a_2/k_1", "a_3/k_1", "a_4/k_1"});
  CHECK(unfold_name("a_{0..1}/b_{5..6}") == Names{"a_0/b_5", "a_0/b_6", "a_1/b_5", "a_1/b_6"});
}
