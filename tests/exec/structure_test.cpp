#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "exec/numbers.h"
#include "exec/permute.h"

using namespace shard;
using namespace shard::test;

namespace {
using Dims = std::vector<std::int64_t>;
}

TEST_CASE("transposes of every order and element size agree with the reference") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::boolean}) {
    for (const Shape& shape : {Shape{3, 4, 1, 5}, Shape{20, 2, 17, 3}}) {
      Dims order = {0, 1, 2, 3};
      do {
        const std::vector<HostTensor> x = {random_tensor({dtype, shape}, 1)};
        CHECK(run_kernel(Op::transpose, x, {{"order", order}}) ==
              run_reference_op(Op::transpose, x, {{"order", order}}));
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST_CASE("a permutation knows when it moves nothing") {
  CHECK(Permutation(Shape{2, 3}, Dims{0, 1}, 4).is_identity());
  CHECK(Permutation(Shape{1, 3}, Dims{1, 0}, 4).is_identity());
  CHECK(!Permutation(Shape{2, 3}, Dims{1, 0}, 4).is_identity());
}

TEST_CASE("broadcasts into every choice of dims agree with the reference") {
  const auto check = [](const Shape& from, const Shape& to, const Dims& dims) {
    for (const DType dtype : {DType::f32, DType::f16, DType::i64}) {
      const std::vector<HostTensor> x = {random_tensor({dtype, from}, 1)};
      const Attributes attributes = {{"shape", to}, {"dims", dims}};
      CHECK(run_kernel(Op::broadcast, x, attributes) ==
            run_reference_op(Op::broadcast, x, attributes));
    }
  };
  check({}, {2, 3}, {});
  check({3}, {2, 3}, {1});
  check({2}, {2, 3}, {0});
  check({2, 4}, {2, 3, 4}, {0, 2});
  check({1, 4}, {5, 4}, {0, 1});
  check({3, 1, 2}, {3, 4, 2, 5}, {0, 1, 2});
  check({1}, {1, 1}, {0});
}

TEST_CASE("a constant fills its array in its dtype") {
  const Attributes attributes = {
      {"shape", Shape{3, 5}}, {"value", 2.5}, {"dtype", std::string("bf16")}};
  CHECK(run_kernel(Op::constant, {}, attributes)[0] ==
        tensor({DType::bf16, {3, 5}}, std::vector<double>(15, 2.5)));
}

TEST_CASE("constrain copies") {
  const HostTensor x = random_tensor({DType::f32, {3, 5}}, 1);
  CHECK(run_kernel(Op::constrain, {x}, {{"placement", std::int64_t{0}}})[0] == x);
}

TEST_CASE("every op but the loop has a kernel") {
  REQUIRE(kernel_table().size() == op_table().size());
  for (const OpDef& row : op_table()) {
    CAPTURE(row.name);
    const KernelRow& kernel = kernel_table()[static_cast<std::size_t>(row.op)];
    CHECK((kernel.make != nullptr) == (row.op != Op::repeat));
  }
}
