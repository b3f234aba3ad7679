#include "exec/rows.h"

using namespace shard;
using namespace shard::test;

namespace {

using Dims = std::vector<std::int64_t>;

const std::vector<DType> some_dtypes = {DType::f32, DType::bf16, DType::f64, DType::i32,
                                        DType::boolean};

HostTensor array(DType dtype, const Shape& shape) { return random_tensor({dtype, shape}, 3); }

}  // namespace

TEST_CASE("slices of every start and stride agree with the reference") {
  for (const DType dtype : some_dtypes) {
    const HostTensor x = array(dtype, {5, 4, 6});
    for (std::int64_t start : {0, 1, 3}) {
      for (std::int64_t stride : {1, 2, 3}) {
        check_row(Op::slice, {x},
                  {{"start", Dims{start, 0, 1}},
                   {"limit", Dims{5, 4, 6}},
                   {"stride", Dims{stride, 1, stride}}});
      }
    }
    check_row(Op::slice, {x},
              {{"start", Dims{2, 0, 0}}, {"limit", Dims{2, 4, 6}}, {"stride", Dims{1, 1, 1}}});
  }
}

TEST_CASE("pads of every sign agree with the reference") {
  for (const DType dtype : some_dtypes) {
    const HostTensor x = array(dtype, {4, 5}), value = array(dtype, {});
    for (std::int64_t low = -3; low <= 2; ++low) {
      for (std::int64_t high = -1; high <= 2; ++high) {
        for (std::int64_t interior = 0; interior <= 2; ++interior) {
          check_row(
              Op::pad, {x, value},
              {{"low", Dims{low, 1}}, {"high", Dims{high, -2}}, {"interior", Dims{interior, 0}}});
        }
      }
    }
  }
}

TEST_CASE("concatenations along every dim agree with the reference") {
  for (const DType dtype : some_dtypes) {
    check_row(Op::concatenate, {array(dtype, {2, 3}), array(dtype, {1, 3}), array(dtype, {4, 3})},
              {{"dim", std::int64_t{0}}});
    check_row(Op::concatenate, {array(dtype, {2, 3}), array(dtype, {2, 0}), array(dtype, {2, 5})},
              {{"dim", std::int64_t{1}}});
  }
}

TEST_CASE("places that are sent to others agree with the reference") {
  for (const DType dtype : some_dtypes) {
    check_row(Op::ppermute, {array(dtype, {3, 4, 5})},
              {{"dim", std::int64_t{0}}, {"source", Dims{2, 0, 1}}});
    check_row(Op::ppermute, {array(dtype, {3, 4, 5})},
              {{"dim", std::int64_t{1}}, {"source", Dims{-1, 0, -1, 2}}});
    check_row(Op::ppermute, {array(dtype, {3, 4, 2})},
              {{"dim", std::int64_t{2}}, {"source", Dims{1, -1}}});
  }
}

TEST_CASE("reversals agree with the reference") {
  for (const DType dtype : some_dtypes) {
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{2}, Dims{0, 1, 2}}) {
      check_row(Op::reverse, {array(dtype, {3, 4, 5})}, {{"dims", dims}});
    }
  }
}

TEST_CASE("a reshape keeps the order of the elements") {
  for (const DType dtype : some_dtypes) {
    check_row(Op::reshape, {array(dtype, {6, 4})}, {{"shape", Shape{2, 3, 2, 2}}});
  }
}

TEST_CASE("iota counts along its dim in its dtype") {
  for (const char* dtype : {"f32", "bf16", "i32", "u32", "f64"}) {
    for (std::int64_t dim : {0, 1, 2}) {
      check_row(Op::iota, {},
                {{"shape", Shape{2, 3, 4}}, {"dim", dim}, {"dtype", std::string(dtype)}});
    }
  }
}

TEST_CASE("starts of dynamic slices are moved to where the slice fits") {
  for (const DType dtype : some_dtypes) {
    const HostTensor x = array(dtype, {5, 6}), update = random_tensor({dtype, {2, 3}}, 9);
    for (const double first : {-4, 0, 2, 3, 9}) {
      const HostTensor i = indices({}, {first}), j = indices({}, {1});
      check_row(Op::dynamic_slice, {x, i, j}, {{"sizes", Dims{2, 3}}});
      check_row(Op::dynamic_update_slice, {x, update, i, j});
    }
  }
}

TEST_CASE("a device counts from the part that it has") {
  // Three devices, each with two of six: digit position % 3.
  const Attributes attributes = {{"shape", Shape{2}},           {"dim", std::int64_t{0}},
                                 {"dtype", std::string("i32")}, {"part_dims", Dims{0}},
                                 {"part_strides", Dims{1}},     {"part_sizes", Dims{3}}};
  const KernelSite site{Op::iota, attributes, {}, {{DType::i32, {2}}}};
  const KernelResult made = kernel_table()[static_cast<std::size_t>(Op::iota)].make(site);
  std::vector<double> numbers;
  for (int device = 0; device < 3; ++device) {
    HostTensor result = zeros({DType::i32, {2}});
    std::byte* const to = result.bytes.data();
    Scratch scratch;
    std::get<Kernel>(made)({{}, {&to, 1}, scratch, device});
    for (const double x : numbers_of(result)) numbers.push_back(x);
  }
  CHECK(numbers == std::vector<double>{0, 1, 2, 3, 4, 5});
}
