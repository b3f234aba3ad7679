#include <algorithm>
#include <set>

#include "exec/rows.h"
#include "ops/window_dims.h"

using namespace shard;
using namespace shard::test;

namespace {

using Dims = std::vector<std::int64_t>;

const std::vector<Op> window_reductions = {Op::reduce_window_sum, Op::reduce_window_max,
                                           Op::reduce_window_min};

Attributes windows_of(const Windows& windows) {
  return {{"window", windows.sizes},      {"strides", windows.strides},
          {"low", windows.low},           {"high", windows.high},
          {"dilation", windows.dilation}, {"base_dilation", windows.base_dilation}};
}

const std::vector<Windows>& some_windows() {
  static const std::vector<Windows> all = {
      {{1, 2}, {1, 2}, {0, 0}, {0, 0}, {1, 1}, {1, 1}},
      {{2, 3}, {1, 2}, {1, 1}, {0, 1}, {1, 1}, {1, 1}},
      {{2, 2}, {1, 1}, {0, -1}, {0, 0}, {2, 2}, {1, 1}},
      {{2, 3}, {2, 1}, {1, 2}, {1, 2}, {1, 1}, {2, 3}},
  };
  return all;
}

ConvolutionDims features_last(std::int64_t feature_groups, std::int64_t batch_groups) {
  return {{0, 3, 1, 2}, {3, 2, 0, 1}, {0, 3, 1, 2}, feature_groups, batch_groups};
}

}  // namespace

TEST_CASE("reductions over windows agree with the reference") {
  for (const Op op : window_reductions) {
    for (const Windows& windows : some_windows()) {
      for (const DType dtype : {DType::f32, DType::bf16, DType::i32, DType::u32}) {
        check_row(op, {random_tensor({dtype, {5, 7}}, 2)}, windows_of(windows),
                  info(dtype).is_float ? 4 : 0);
      }
    }
  }
}

TEST_CASE("what is scattered goes to the first extremum of its window") {
  for (const Windows& windows : some_windows()) {
    for (std::int64_t largest : {0, 1}) {
      Attributes attributes = windows_of(windows);
      const HostTensor x = random_tensor({DType::f32, {5, 7}}, 2);
      const HostTensor like = run_kernel(Op::reduce_window_sum, {x}, attributes)[0];
      attributes.set("largest", largest);
      check_row(Op::select_and_scatter_add, {x, random_tensor(like.type, 3)}, attributes, 4);
    }
  }
  const Attributes pairs = {
      {"window", Dims{2}},         {"strides", Dims{2}},  {"low", Dims{0}},
      {"high", Dims{0}},           {"dilation", Dims{1}}, {"base_dilation", Dims{1}},
      {"largest", std::int64_t{1}}};
  const HostTensor ties = tensor({DType::f32, {4}}, {3, 3, 1, 2});
  CHECK(numbers_of(run_kernel(Op::select_and_scatter_add, {ties, tensor({DType::f32, {2}}, {5, 7})},
                              pairs)[0]) == std::vector<double>{5, 0, 0, 7});
}

TEST_CASE("convolutions of every form agree with the reference") {
  struct Form {
    ConvolutionDims dims;
    Shape lhs, rhs;
    Windows windows;
  };
  const Windows plain{{}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}};
  const Windows odd{{}, {2, 1}, {1, 0}, {1, 2}, {1, 2}, {1, 2}};
  const std::vector<Form> forms = {
      {features_last(1, 1), {2, 5, 6, 3}, {2, 3, 3, 4}, plain},
      {features_last(1, 1), {2, 5, 6, 3}, {2, 3, 3, 4}, odd},
      {features_last(3, 1), {2, 5, 6, 6}, {2, 3, 2, 9}, odd},
      {features_last(1, 2), {4, 5, 6, 3}, {2, 3, 3, 4}, plain},
      {{{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, 1, 1}, {2, 3, 5, 6}, {4, 3, 2, 3}, odd},
  };
  for (const Form& form : forms) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::i32}) {
      check_row(Op::convolution,
                {random_tensor({dtype, form.lhs}, 1), random_tensor({dtype, form.rhs}, 2)},
                convolution_attributes(form.dims, form.windows), info(dtype).is_float ? 8 : 0);
    }
  }
}

TEST_CASE("random bits depend on seed and stream and position alone") {
  const auto bits = [](double seed, std::int64_t stream, const Shape& shape) {
    return numbers_of(run_kernel(Op::random_bits, {indices({}, {seed})},
                                 {{"shape", shape}, {"counts", shape}, {"stream", stream}})[0]);
  };
  check_row(Op::random_bits, {indices({}, {7})},
            {{"shape", Shape{3, 50}}, {"counts", Shape{3, 49}}, {"stream", std::int64_t{2}}});
  CHECK(bits(7, 2, {3, 50}) == bits(7, 2, {150}));
  CHECK(bits(7, 2, {150}) != bits(8, 2, {150}));
  CHECK(bits(7, 2, {150}) != bits(7, 3, {150}));
  // The known answers of Threefry-2x32 with 20 rounds for key and counter 0.
  CHECK(bits(0, 0, {1}) == std::vector<double>{0x6b200159});
  const std::vector<double> many = bits(1, 0, {10000});
  double sum = 0;
  for (const double x : many) sum += x * 0x1p-32;
  CHECK(sum / 10000 == doctest::Approx(0.5).epsilon(0.02));
  CHECK(std::set<double>(many.begin(), many.end()).size() > 9990);
}

TEST_CASE("a device draws the bits of its part of the whole array") {
  const Attributes attributes = {{"shape", Shape{2, 4}},       {"counts", Shape{4, 8}},
                                 {"stream", std::int64_t{1}},  {"part_dims", Dims{0, 1}},
                                 {"part_strides", Dims{1, 2}}, {"part_sizes", Dims{2, 2}}};
  const HostTensor seed = indices({}, {5});
  const std::vector<double> whole = numbers_of(run_kernel(
      Op::random_bits, {seed},
      {{"shape", Shape{4, 8}}, {"counts", Shape{4, 8}}, {"stream", std::int64_t{1}}})[0]);
  const KernelSite site{Op::random_bits, attributes, {seed.type}, {{DType::u32, {2, 4}}}};
  const KernelResult made = kernel_table()[static_cast<std::size_t>(Op::random_bits)].make(site);
  HostTensor part = zeros({DType::u32, {2, 4}});
  const std::byte* const from = seed.bytes.data();
  std::byte* const to = part.bytes.data();
  Scratch scratch;
  std::get<Kernel>(made)({{&from, 1}, {&to, 1}, scratch, 3});  // rows 2 and 3, columns from 4
  std::vector<double> expected;
  for (std::size_t row : {2U, 3U}) {
    for (std::size_t column = 4; column < 8; ++column) expected.push_back(whole[row * 8 + column]);
  }
  CHECK(numbers_of(part) == expected);
}

TEST_CASE("dropout drops as many as its rate says and keeps the mean") {
  const auto attributes = [](double rate, Shape counts) {
    return Attributes{{"rate", rate}, {"stream", std::int64_t{4}}, {"counts", std::move(counts)}};
  };
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    check_row(Op::dropout, {random_tensor({dtype, {3, 50}}, 1), indices({}, {7})},
              attributes(0.3, {3, 50}), 1);
    check_row(Op::dropout, {random_tensor({dtype, {3, 50}}, 1), indices({}, {7})},
              attributes(0.5, {1, 50}), 1);
  }
  HostTensor ones = zeros({DType::f32, {100, 100}});
  std::fill_n(ones.data<float>(), 10000, 1.0F);
  const std::vector<double> kept = numbers_of(
      run_kernel(Op::dropout, {ones, indices({}, {1})}, attributes(0.25, {100, 100}))[0]);
  const auto dropped = std::count(kept.begin(), kept.end(), 0.0);
  CHECK(static_cast<double>(dropped) == doctest::Approx(2500).epsilon(0.05));
  CHECK(std::count(kept.begin(), kept.end(), static_cast<double>(1 / 0.75F)) == 10000 - dropped);
  // The bits are those of random_bits: an element is dropped where its number is small.
  const std::vector<double> bits = numbers_of(run_kernel(
      Op::random_bits, {indices({}, {1})},
      {{"shape", Shape{100, 100}}, {"counts", Shape{100, 100}}, {"stream", std::int64_t{4}}})[0]);
  for (std::size_t i = 0; i < bits.size(); ++i) REQUIRE((kept[i] == 0) == (bits[i] < 0x1p30));
  // Rows that are dropped together.
  const std::vector<double> rows =
      numbers_of(run_kernel(Op::dropout, {ones, indices({}, {1})}, attributes(0.25, {100, 1}))[0]);
  for (std::size_t i = 0; i < rows.size(); ++i) REQUIRE(rows[i] == rows[i / 100 * 100]);
}

TEST_CASE("numbers are rounded to fewer bits as the reference does") {
  for (const auto& [exponent, mantissa] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{8, 7}, {5, 10}, {4, 3}, {8, 23}}) {
    check_row(Op::reduce_precision,
              {tensor({DType::f32, {8}}, {0, -0.0, 1.2345, -300.7, 7e4, 1e-3, 1e-9, 448})},
              {{"exponent_bits", exponent}, {"mantissa_bits", mantissa}});
  }
}

TEST_CASE("bits are read as another dtype and a barrier keeps its value") {
  const HostTensor x = random_tensor({DType::f32, {9}}, 1);
  const HostTensor bits = run_kernel(Op::bitcast, {x}, {{"dtype", std::string("i32")}})[0];
  CHECK(bits.bytes == x.bytes);
  CHECK(run_kernel(Op::bitcast, {bits}, {{"dtype", std::string("f32")}})[0] == x);
  check_row(Op::bitcast, {x}, {{"dtype", std::string("i32")}});
  check_row(Op::optimization_barrier, {x});
}
