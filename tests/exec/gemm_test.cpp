// Products: the vector loops at every edge, then `dot` with any dims.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "exec/blas.h"
#include "exec/blocked_gemm.h"
#include "exec/dot_kernel.h"
#include "exec/numbers.h"

using namespace shard;
using namespace shard::test;

namespace {

using Dims = std::vector<std::int64_t>;

struct GemmCase {
  GemmSizes sizes;
  std::vector<float> a, b;
};

GemmCase make_case(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{m, n, k},
          random_floats(static_cast<std::size_t>(m * k), 1),
          random_floats(static_cast<std::size_t>(k * n), 2)};
}

/// Bound for k additions in float32, relative to the largest sum.
double bound(std::int64_t k) { return 1e-6 * static_cast<double>(8 + k / 16); }

template <class Multiply>
void check_product(const GemmSizes& sizes, MatrixView a, MatrixView b, const Multiply& multiply) {
  CAPTURE(sizes.m);
  CAPTURE(sizes.n);
  CAPTURE(sizes.k);
  std::vector<float> c(static_cast<std::size_t>(sizes.m * sizes.n), 7.0F);  // must be overwritten
  multiply(c.data());
  CHECK(largest_difference(c, plain_product(sizes, a, b)) <= bound(sizes.k));
}

template <class Check>
void for_edge_sizes(const Check& check) {
  for (const std::int64_t m : {1, 2, 3, 4, 5, 7, 8, 9, 16, 65}) {
    for (const std::int64_t n : {1, 3, 4, 8, 15, 16, 17, 33, 64, 70}) {
      for (const std::int64_t k : {1, 2, 3, 4, 5, 8, 13, 31, 64}) check(make_case(m, n, k));
    }
  }
}

void check_dot(const TensorType& lhs, const TensorType& rhs, const Attributes& attributes) {
  CAPTURE(to_string(lhs));
  CAPTURE(to_string(rhs));
  const std::vector<HostTensor> operands = {random_tensor(lhs, 3), random_tensor(rhs, 4)};
  const HostTensor actual = run_kernel(Op::dot, operands, attributes).front();
  const HostTensor expected = run_reference_op(Op::dot, operands, attributes).front();
  CHECK(distance(actual, expected) <= 8 * epsilon(lhs.dtype));
}

}  // namespace

TEST_CASE("the few-row product is right at every edge") {
  for_edge_sizes([](const GemmCase& c) {
    const MatrixView b{c.b.data(), c.sizes.n, 1};
    const MatrixView rows{c.a.data(), c.sizes.k, 1}, columns{c.a.data(), 1, c.sizes.m};
    for (const MatrixView& a : {rows, columns}) {
      check_product(c.sizes, a, b,
                    [&](float* out) { gemm_loops().few_rows(c.sizes, a, c.b.data(), out); });
    }
  });
}

TEST_CASE("the few-row product with a transposed operand is right at every edge") {
  for_edge_sizes([](const GemmCase& c) {
    const MatrixView a{c.a.data(), c.sizes.k, 1}, b{c.b.data(), 1, c.sizes.k};
    check_product(c.sizes, a, b, [&](float* out) {
      gemm_loops().few_rows_transposed(c.sizes, a, c.b.data(), out);
    });
  });
}

TEST_CASE("the few-column product is right at every edge") {
  for_edge_sizes([](const GemmCase& c) {
    const MatrixView b{c.b.data(), c.sizes.n, 1};
    const MatrixView rows{c.a.data(), c.sizes.k, 1}, columns{c.a.data(), 1, c.sizes.m};
    for (const MatrixView& a : {rows, columns}) {
      check_product(c.sizes, a, b, [&](float* out) {
        narrow_gemm_loops().few_columns(c.sizes, a, c.b.data(), out);
      });
    }
  });
}

TEST_CASE("four rows of a few-column product have the bits of the whole, whatever is asked for") {
  for (const std::int64_t n : {4, 16}) {
    for (const std::int64_t k : {1, 4, 7, 37}) {
      CAPTURE(n);
      CAPTURE(k);
      const GemmCase c = make_case(22, n, k);
      const MatrixView rows{c.a.data(), k, 1}, columns{c.a.data(), 1, c.sizes.m};
      for (MatrixView a : {rows, columns}) {
        std::vector<float> whole(static_cast<std::size_t>(22 * n)), parts(whole.size());
        narrow_gemm_loops().few_columns(c.sizes, a, c.b.data(), whole.data());
        for (std::int64_t i = 0; i < 22; i += 4, a.data += 4 * a.row_stride) {
          const GemmSizes part{std::min<std::int64_t>(4, 22 - i), n, k, 1 << 20};
          narrow_gemm_loops().few_columns(part, a, c.b.data(), parts.data() + i * n);
        }
        CHECK(parts == whole);
      }
    }
  }
}

TEST_CASE("the few-term product with a transposed operand is right at every edge") {
  for_edge_sizes([](const GemmCase& c) {
    const MatrixView a{c.a.data(), c.sizes.k, 1}, b{c.b.data(), 1, c.sizes.k};
    check_product(c.sizes, a, b, [&](float* out) {
      narrow_gemm_loops().few_terms_transposed(c.sizes, a, c.b.data(), out);
    });
  });
}

TEST_CASE("the few-term product is right at every edge") {
  for_edge_sizes([](const GemmCase& c) {
    const MatrixView b{c.b.data(), c.sizes.n, 1};
    const MatrixView rows{c.a.data(), c.sizes.k, 1}, columns{c.a.data(), 1, c.sizes.m};
    for (const MatrixView& a : {rows, columns}) {
      check_product(c.sizes, a, b,
                    [&](float* out) { gemm_loops().few_terms(c.sizes, a, c.b.data(), out); });
    }
  });
}

TEST_CASE("the blocked product is right at the edges of tiles and blocks in all four forms") {
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                        {5, 31, 7},
                                                                        {6, 32, 256},
                                                                        {7, 33, 257},
                                                                        {97, 40, 300},
                                                                        {13, 1030, 9},
                                                                        {16, 8, 11},
                                                                        {297, 24, 2},
                                                                        {4, 16, 515}}) {
    const GemmCase c = make_case(m, n, k);
    std::vector<float> packing(blocked_packing(c.sizes));
    for (const bool a_turned : {false, true}) {
      for (const bool b_turned : {false, true}) {
        const MatrixView a = a_turned ? MatrixView{c.a.data(), 1, m} : MatrixView{c.a.data(), k, 1};
        const MatrixView b = b_turned ? MatrixView{c.b.data(), 1, k} : MatrixView{c.b.data(), n, 1};
        check_product(c.sizes, a, b, [&](float* out) {
          blocked_gemm(c.sizes, a, b, {out, n}, packing.data());
        });
      }
    }
  }
}

TEST_CASE("the blocked product reads and writes between what belongs to others") {
  const GemmSizes sizes{45, 37, 29};
  const std::vector<float> a = random_floats(45 * 29 * 6, 1), b = random_floats(37 * 29 * 6, 2);
  std::vector<float> packing(blocked_packing(sizes));
  for (const std::int64_t inner : {1, 3}) {  // between elements, and twice that between rows
    for (const bool turned : {false, true}) {
      const MatrixView av = turned ? MatrixView{a.data(), inner, 2 * inner * 45}
                                   : MatrixView{a.data(), 2 * inner * 29, inner};
      const MatrixView bv = turned ? MatrixView{b.data(), 2 * inner * 37, inner}
                                   : MatrixView{b.data(), inner, 2 * inner * 29};
      std::vector<float> wide(45 * 50, 7.0F);
      blocked_gemm(sizes, av, bv, {wide.data(), 50}, packing.data());
      std::vector<float> c;
      for (std::size_t i = 0; i < 45; ++i) {
        const auto row = wide.begin() + static_cast<std::ptrdiff_t>(50 * i);
        c.insert(c.end(), row, row + 37);
        CHECK(std::all_of(row + 37, row + 50, [](float x) { return x == 7.0F; }));
      }
      CHECK(largest_difference(c, plain_product(sizes, av, bv)) <= bound(29));
    }
  }
}

TEST_CASE("a blocked product of no terms is zero") {
  std::vector<float> c(10 * 8, 7.0F);
  blocked_gemm({10, 6, 0}, {nullptr, 0, 1}, {nullptr, 6, 1}, {c.data(), 8}, nullptr);
  for (std::size_t i = 0; i < c.size(); ++i) CHECK(c[i] == (i % 8 < 6 ? 0.0F : 7.0F));
}

TEST_CASE("OpenBLAS multiplies all four forms") {
  if (system_blas() == nullptr) return;
  const GemmCase c = make_case(20, 30, 40);
  for (const bool a_turned : {false, true}) {
    for (const bool b_turned : {false, true}) {
      const MatrixView a = a_turned ? MatrixView{c.a.data(), 1, 20} : MatrixView{c.a.data(), 40, 1};
      const MatrixView b = b_turned ? MatrixView{c.b.data(), 1, 40} : MatrixView{c.b.data(), 30, 1};
      check_product(c.sizes, a, b,
                    [&](float* out) { system_blas()->multiply(c.sizes, a, b, out); });
    }
  }
}

TEST_CASE("dot contracts any dims with any batch dims in any order") {
  for (const DType dtype :
       {DType::f32, DType::bf16, DType::f16, DType::f64, DType::i32, DType::u32, DType::i64}) {
    const auto check = [&](Shape lhs, Shape rhs, const Attributes& attributes) {
      check_dot({dtype, std::move(lhs)}, {dtype, std::move(rhs)}, attributes);
    };
    check({4, 6}, {6, 5}, dot_attributes({}, {}, {1}, {0}));              // x W
    check({4, 6}, {5, 6}, dot_attributes({}, {}, {1}, {1}));              // dy W^T
    check({6, 4}, {6, 5}, dot_attributes({}, {}, {0}, {0}));              // x^T dy
    check({6, 4}, {5, 6}, dot_attributes({}, {}, {0}, {1}));              // both turned
    check({3, 4, 6}, {3, 6, 5}, dot_attributes({0}, {0}, {2}, {1}));      // batched
    check({4, 3, 6}, {6, 5, 3}, dot_attributes({1}, {2}, {2}, {0}));      // batch inside
    check({2, 3, 4}, {3, 2, 5}, dot_attributes({}, {}, {0, 1}, {1, 0}));  // two, crossed
    check({2, 3}, {4, 5}, dot_attributes({}, {}, {}, {}));                // outer product
    check({7}, {7}, dot_attributes({}, {}, {0}, {0}));                    // inner product
    check({5, 1, 6}, {1, 6, 1}, dot_attributes({1}, {0}, {2}, {1}));
  }
}

TEST_CASE("dot with many rows is right in all four forms") {
  const TensorType square{DType::f32, {70, 70}};
  for (const std::int64_t lhs : {0, 1}) {
    for (const std::int64_t rhs : {0, 1}) {
      const Attributes attributes = dot_attributes({}, {}, {lhs}, {rhs});
      CHECK(needs_many_rows({Op::dot, attributes, {square, square}, {square}}));
      const std::vector<HostTensor> operands = {random_tensor(square, 5), random_tensor(square, 6)};
      CHECK(distance(run_kernel(Op::dot, operands, attributes).front(),
                     run_reference_op(Op::dot, operands, attributes).front()) <= bound(70));
    }
  }
}

TEST_CASE("dot with many rows reads batch and contracted dims that lie inside") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::c64}) {
    const auto check = [&](Shape lhs, Shape rhs, const Attributes& attributes) {
      check_dot({dtype, std::move(lhs)}, {dtype, std::move(rhs)}, attributes);
    };
    // queries and keys as [batch, length, heads, dim], weights times values, and their gradients
    check({2, 40, 3, 36}, {2, 50, 3, 36}, dot_attributes({0, 2}, {0, 2}, {3}, {3}));
    check({2, 3, 40, 50}, {2, 50, 3, 36}, dot_attributes({0, 1}, {0, 2}, {3}, {1}));
    check({2, 3, 40, 50}, {2, 40, 3, 36}, dot_attributes({0, 1}, {0, 2}, {2}, {1}));
    // grouped queries: rows are two dims, behind each other or not
    check({2, 40, 1, 2, 36}, {2, 50, 1, 36}, dot_attributes({0, 2}, {0, 2}, {4}, {3}));
    check({2, 40, 3, 2, 36}, {2, 50, 3, 36}, dot_attributes({0, 2}, {0, 2}, {4}, {3}));
    check({40, 36, 3}, {36, 40, 3}, dot_attributes({2}, {2}, {1}, {0}));  // no unit stride
    check({3, 4, 12}, {4, 12, 3}, dot_attributes({0}, {2}, {2}, {1}));    // few rows, packed
    check({40, 4, 9}, {4, 50, 9}, dot_attributes({}, {}, {1, 2}, {0, 2}));
  }
}

TEST_CASE("few rows and few terms are not sent to OpenBLAS") {
  const auto is_many = [](Shape lhs, Shape rhs, Dims lhs_contract, Dims rhs_contract) {
    return needs_many_rows(
        {Op::dot,
         dot_attributes({}, {}, std::move(lhs_contract), std::move(rhs_contract)),
         {{DType::f32, std::move(lhs)}, {DType::f32, std::move(rhs)}},
         {}});
  };
  CHECK(!is_many({4, 1024}, {1024, 256}, {1}, {0}));
  CHECK(!is_many({4, 256}, {1024, 256}, {1}, {1}));
  CHECK(!is_many({4, 1024}, {4, 256}, {0}, {0}));
  CHECK(is_many({64, 1024}, {1024, 256}, {1}, {0}));
}

TEST_CASE("dot of truth values is refused") {
  CHECK(refusal(Op::dot, {{DType::boolean, {2, 3}}, {DType::boolean, {3, 2}}},
                dot_attributes({}, {}, {1}, {0})) == "dot of bool[2,3] and bool[3,2]");
}
