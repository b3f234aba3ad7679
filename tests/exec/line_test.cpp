#include <cmath>
#include <limits>

#include "exec/rows.h"

using namespace shard;
using namespace shard::test;

namespace {

Attributes line(std::int64_t dim, std::int64_t reverse) {
  return {{"dim", dim}, {"reverse", reverse}};
}

const std::vector<DType> numbers = {DType::f32, DType::bf16, DType::f64, DType::i32, DType::u32};

}  // namespace

TEST_CASE("cumulative ops along every dim and in both directions agree with the reference") {
  for (const Op op : {Op::cumsum, Op::cumprod, Op::cummax, Op::cummin, Op::cumlogsumexp}) {
    for (const DType dtype : numbers) {
      if (op == Op::cumlogsumexp && !info(dtype).is_float) continue;
      for (std::int64_t dim : {0, 1, 2}) {
        for (std::int64_t reverse : {0, 1}) {
          check_row(op, {random_tensor({dtype, {3, 4, 5}}, 2)}, line(dim, reverse),
                    info(dtype).is_float ? 4 : 0);
        }
      }
    }
  }
}

TEST_CASE("a linear recurrence agrees with the reference") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    for (std::int64_t dim : {0, 1}) {
      for (std::int64_t reverse : {0, 1}) {
        check_row(Op::linear_recurrence,
                  {random_tensor({dtype, {6, 4}}, 1), random_tensor({dtype, {6, 4}}, 2)},
                  line(dim, reverse), 4);
      }
    }
  }
}

TEST_CASE("NaN stays in what is cumulated after it") {
  const HostTensor x = tensor({DType::f32, {5}}, {1, inf, nan_value, 3, -inf});
  for (const Op op : {Op::cumsum, Op::cummax, Op::cummin, Op::cumlogsumexp}) {
    const std::vector<double> out = numbers_of(run_kernel(op, {x}, line(0, 0))[0]);
    CAPTURE(def(op).name);
    CHECK(!std::isnan(out[1]));
    CHECK(std::isnan(out[2]));
    CHECK(std::isnan(out[4]));
  }
}

TEST_CASE("positions of extrema are the first and those of NaN before all") {
  for (const DType dtype : numbers) {
    for (std::int64_t dim : {0, 1, 2}) {
      const HostTensor x = random_tensor({dtype, {3, 4, 5}}, 4);
      check_row(Op::argmax, {x}, {{"dim", dim}});
      check_row(Op::argmin, {x}, {{"dim", dim}});
    }
  }
  const HostTensor edges = tensor({DType::f32, {2, 4}}, {1, 5, 5, 0, 2, nan_value, 9, nan_value});
  const Attributes dim{{"dim", std::int64_t{1}}};
  CHECK(numbers_of(run_kernel(Op::argmax, {edges}, dim)[0]) == std::vector<double>{1, 1});
  CHECK(numbers_of(run_kernel(Op::argmin, {edges}, dim)[0]) == std::vector<double>{3, 1});
}

TEST_CASE("sorts along every dim with one key and with two agree with the reference") {
  for (const DType dtype : numbers) {
    for (std::int64_t dim : {0, 1}) {
      for (std::int64_t keys : {1, 2}) {
        check_row(Op::sort,
                  {random_tensor({DType::i32, {6, 5}}, 1), random_tensor({dtype, {6, 5}}, 2),
                   random_tensor({DType::f32, {6, 5}}, 3)},
                  {{"dim", dim}, {"keys", keys}});
      }
    }
  }
}

TEST_CASE("a sort puts NaN last and keeps the order of equal elements") {
  const HostTensor x = tensor({DType::f32, {6}}, {nan_value, 1, -0.0, inf, 0, -inf});
  const auto sorted = run_kernel(Op::sort, {x, indices({6}, {0, 1, 2, 3, 4, 5})},
                                 {{"dim", std::int64_t{0}}, {"keys", std::int64_t{1}}});
  CHECK(numbers_of(sorted[1]) == std::vector<double>{5, 2, 4, 1, 3, 0});
}

TEST_CASE("top_k takes the first of equal elements and NaN before all") {
  for (const DType dtype : numbers) {
    check_row(Op::top_k, {random_tensor({dtype, {4, 7}}, 8)}, {{"k", std::int64_t{3}}});
  }
  const HostTensor x = tensor({DType::f32, {5}}, {2, 7, nan_value, 7, inf});
  CHECK(numbers_of(run_kernel(Op::top_k, {x}, {{"k", std::int64_t{4}}})[1]) ==
        std::vector<double>{2, 4, 1, 3});
  const HostTensor zeros_of_both_signs = tensor({DType::f32, {4}}, {0, -0.0, 0, -0.0});
  CHECK(numbers_of(run_kernel(Op::top_k, {zeros_of_both_signs}, {{"k", std::int64_t{3}}})[1]) ==
        std::vector<double>{0, 2, 1});
}

TEST_CASE("truth values are reduced by and and by or") {
  const HostTensor x = tensor({DType::boolean, {3, 2}}, {1, 1, 1, 0, 0, 0});
  const Attributes dims{{"dims", std::vector<std::int64_t>{1}}};
  CHECK(numbers_of(run_kernel(Op::reduce_and, {x}, dims)[0]) == std::vector<double>{1, 0, 0});
  CHECK(numbers_of(run_kernel(Op::reduce_or, {x}, dims)[0]) == std::vector<double>{1, 1, 0});
  for (const std::vector<std::int64_t>& some : {std::vector<std::int64_t>{0}, {0, 1}, {}, {1}}) {
    check_row(Op::reduce_and, {x}, {{"dims", some}});
    check_row(Op::reduce_or, {x}, {{"dims", some}});
  }
}
