#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "exec/numbers.h"
#include "exec/simd.h"

using namespace shard;
using namespace shard::test;

namespace {

using Dims = std::vector<std::int64_t>;
const std::vector<Op> reductions = {Op::reduce_sum, Op::reduce_max, Op::reduce_min,
                                    Op::reduce_prod};

}  // namespace

TEST_CASE("every reduction over every choice of dims agrees with the reference") {
  const Shape shape = {3, 5, 1, 7};
  for (const DType dtype :
       {DType::f32, DType::bf16, DType::f16, DType::f64, DType::i32, DType::i64, DType::u32}) {
    CAPTURE(info(dtype).name);
    const std::vector<HostTensor> operands = {random_tensor({dtype, shape}, 1)};
    for (int chosen = 0; chosen < 16; ++chosen) {
      Dims dims;
      for (int dim = 0; dim < 4; ++dim) {
        if ((chosen >> dim) % 2 == 1) dims.push_back(dim);
      }
      const Attributes attributes = {{"dims", dims}};
      for (const Op op : reductions) {
        if (op == Op::reduce_prod && !info(dtype).is_float)
          continue;  // the reference's doubles end
        CHECK(distance(run_kernel(op, operands, attributes)[0],
                       run_reference_op(op, operands, attributes)[0]) <= 8 * epsilon(dtype));
      }
    }
  }
}

TEST_CASE("a product of integers wraps") {
  const HostTensor x = tensor({DType::i32, {3}}, {65536, 65536, 3});
  CHECK(numbers_of(run_kernel(Op::reduce_prod, {x}, {{"dims", Dims{0}}})[0]) ==
        std::vector<double>{0});
}

TEST_CASE("a NaN anywhere makes the largest and the smallest NaN") {
  std::vector<double> numbers(40);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  for (const std::size_t where : {std::size_t{0}, std::size_t{17}, std::size_t{39}}) {
    std::vector<double> with_nan = numbers;
    with_nan[where] = std::nan("");
    for (const DType dtype : {DType::f32, DType::f64}) {
      const HostTensor x = tensor({dtype, {40}}, with_nan);
      for (const Op op : {Op::reduce_max, Op::reduce_min}) {
        CHECK(std::isnan(numbers_of(run_kernel(op, {x}, {{"dims", Dims{0}}})[0])[0]));
      }
    }
  }
}

TEST_CASE("the largest and the smallest are found wherever they are in rows of any length") {
  for (const std::size_t length : {1U, 5U, 16U, 63U, 64U, 100U, 200U}) {
    std::vector<float> row(length, -0.0F);
    for (std::size_t where = 0; where < length; ++where) {
      for (const float found : {2.0F, -2.0F, 0.0F}) {
        row[where] = found;
        const float largest = reduction_loops().reduce_max(row.data(), length);
        const float smallest = reduction_loops().reduce_min(row.data(), length);
        CHECK(largest == (found < 0 && length > 1 ? -0.0F : found));
        CHECK(std::signbit(largest) == (found < 0));
        CHECK(smallest == (found < 0 || length == 1 ? found : -0.0F));
      }
      row[where] = -0.0F;
    }
  }
}

TEST_CASE("a long float32 sum keeps nearly full precision") {
  const HostTensor x = random_tensor({DType::f32, {1'000'003}}, 9);
  std::vector<double> shifted = numbers_of(x);
  for (double& value : shifted) value += 1.0;  // no cancellation
  const HostTensor y = tensor(x.type, shifted);
  const Attributes attributes = {{"dims", Dims{0}}};
  CHECK(distance(run_kernel(Op::reduce_sum, {y}, attributes)[0],
                 run_reference_op(Op::reduce_sum, {y}, attributes)[0]) <= 4e-7);
}

TEST_CASE("reduced streams have the same bits side by side and one after the other") {
  const std::vector<float> data = random_floats(13 * 100, 4);
  std::vector<const float*> in;
  for (std::size_t i = 0; i < 13; ++i) in.push_back(data.data() + 100 * i);
  std::vector<std::vector<float>> outs(13, std::vector<float>(100));
  std::vector<float*> out;
  for (std::vector<float>& o : outs) out.push_back(o.data());
  reduction_loops().streams_sum(in.data(), out.data(), 13, 100);
  std::vector<float> sum(data.begin(), data.begin() + 100);
  for (std::size_t i = 1; i < 13; ++i) reduction_loops().fold_sum(in[i], sum.data(), 100);
  for (const std::vector<float>& o : outs) CHECK(o == sum);
}
