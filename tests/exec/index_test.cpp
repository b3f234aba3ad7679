#include "exec/rows.h"
#include "ops/index_dims.h"

using namespace shard;
using namespace shard::test;

namespace {

using Dims = std::vector<std::int64_t>;

const std::vector<Op> scatters = {Op::scatter_add, Op::scatter_set, Op::scatter_max,
                                  Op::scatter_min, Op::scatter_mul};

struct IndexCase {
  IndexDims dims;
  Shape array, indices, slices;
  Dims sizes;
};

IndexDims index_dims(Dims window, Dims collapsed, Dims batch, Dims index_batch, Dims start,
                     std::int64_t vector) {
  IndexDims dims;
  dims.window = std::move(window);
  dims.collapsed = std::move(collapsed);
  dims.batch = std::move(batch);
  dims.index_batch = std::move(index_batch);
  dims.start = std::move(start);
  dims.vector = vector;
  return dims;
}

/// Rows; elements along a dim; windows at two indices; a window dim in front; vectors in dim 0.
std::vector<IndexCase> index_cases() {
  return {
      {index_dims({1}, {0}, {}, {}, {0}, 1), {7, 3}, {5}, {5, 3}, {1, 3}},
      {index_dims({2}, {0}, {}, {}, {0}, 2), {7, 3}, {2, 3}, {2, 3, 3}, {1, 3}},
      {index_dims({}, {1}, {0}, {0}, {1}, 2), {4, 6}, {4, 2}, {4, 2}, {1, 1}},
      {index_dims({1, 2}, {}, {}, {}, {0, 1}, 1), {7, 6}, {3, 2}, {3, 2, 4}, {2, 4}},
      {index_dims({0}, {1}, {}, {}, {1}, 1), {3, 7}, {4}, {3, 4}, {3, 1}},
      {index_dims({1}, {0, 1}, {}, {}, {1, 0}, 0), {4, 5, 3}, {2, 6}, {6, 3}, {1, 1, 3}},
  };
}

Attributes attributes_of(const IndexCase& test, const char* mode) {
  Attributes attributes = test.dims.attributes();
  attributes.set("mode", std::string(mode));
  return attributes;
}

/// Integers from -1 to 7: some of them beyond the ends, some more than once.
HostTensor drawn_indices(const Shape& shape, std::uint64_t seed) {
  std::vector<double> numbers = numbers_of(random_tensor({DType::i32, shape}, seed));
  for (double& x : numbers) x = x + 3 > 7 ? 7 : x + 3 < -1 ? -1 : x + 3;
  return indices(shape, numbers);
}

}  // namespace

TEST_CASE("gathers of every form agree with the reference") {
  for (const IndexCase& test : index_cases()) {
    for (const char* mode : {"clip", "fill"}) {
      Attributes attributes = attributes_of(test, mode);
      attributes.set("slice_sizes", test.sizes);
      for (const DType dtype : {DType::f32, DType::bf16, DType::i32, DType::boolean}) {
        const HostTensor x = random_tensor({dtype, test.array}, 5);
        const auto actual = run_kernel(Op::gather, {x, drawn_indices(test.indices, 6)}, attributes);
        const auto expected =
            run_reference_op(Op::gather, {x, drawn_indices(test.indices, 6)}, attributes);
        CHECK(distance(actual[0], expected[0]) == 0);  // NaN is where NaN is
      }
      attributes.set("fill", -2.0);
      check_row(Op::gather,
                {random_tensor({DType::f32, test.array}, 5), drawn_indices(test.indices, 6)},
                attributes);
    }
  }
}

TEST_CASE("scatters of every form and kind agree with the reference") {
  for (const IndexCase& test : index_cases()) {
    for (const char* mode : {"clip", "fill"}) {
      const Attributes attributes = attributes_of(test, mode);
      for (const Op op : scatters) {
        for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32}) {
          const std::vector<HostTensor> operands = {random_tensor({dtype, test.array}, 5),
                                                    drawn_indices(test.indices, 6),
                                                    random_tensor({dtype, test.slices}, 7)};
          check_row(op, operands, attributes, info(dtype).is_float ? 4 : 0);
        }
      }
    }
  }
}

TEST_CASE("parts of a table that are looked up by themselves add up to the table") {
  const IndexCase test = index_cases().front();  // rows of [7, 3]
  const HostTensor whole = random_tensor({DType::f32, {8, 3}}, 5);
  const HostTensor at = drawn_indices({5}, 6);
  Attributes attributes = attributes_of(test, "clip");
  attributes.set("slice_sizes", Dims{1, 3});
  const std::vector<double> expected =
      numbers_of(run_kernel(Op::gather, {whole, at}, attributes)[0]);
  attributes.set("part_dims", Dims{0});
  attributes.set("part_strides", Dims{1});
  attributes.set("part_sizes", Dims{2});
  const KernelSite site{
      Op::gather, attributes, {{DType::f32, {4, 3}}, at.type}, {{DType::f32, {5, 3}}}};
  const KernelResult made = kernel_table()[static_cast<std::size_t>(Op::gather)].make(site);
  std::vector<double> sum(15, 0.0);
  for (int device = 0; device < 2; ++device) {
    HostTensor result = zeros({DType::f32, {5, 3}});
    const std::vector<const std::byte*> from = {whole.bytes.data() + device * 4 * 3 * 4,
                                                at.bytes.data()};
    std::byte* const to = result.bytes.data();
    Scratch scratch;
    std::get<Kernel>(made)({from, {&to, 1}, scratch, device});
    const std::vector<double> part = numbers_of(result);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  CHECK(sum == expected);
}

TEST_CASE("only the first share of summed updates starts from the array") {
  const IndexCase test = index_cases().front();
  Attributes attributes = attributes_of(test, "clip");
  attributes.set("share_strides", Dims{1});
  attributes.set("share_sizes", Dims{2});
  const std::vector<HostTensor> operands = {
      random_tensor({DType::f32, {7, 3}}, 5), drawn_indices({5}, 6),
      tensor({DType::f32, {5, 3}}, std::vector<double>(15, 0))};
  CHECK(run_kernel(Op::scatter_add, operands, attributes)[0] == operands[0]);
  const KernelSite site{Op::scatter_add,
                        attributes,
                        {operands[0].type, operands[1].type, operands[2].type},
                        {operands[0].type}};
  const KernelResult made = kernel_table()[static_cast<std::size_t>(Op::scatter_add)].make(site);
  HostTensor result = random_tensor(operands[0].type, 8);
  const std::vector<const std::byte*> from = {operands[0].bytes.data(), operands[1].bytes.data(),
                                              operands[2].bytes.data()};
  std::byte* const to = result.bytes.data();
  Scratch scratch;
  std::get<Kernel>(made)({from, {&to, 1}, scratch, 1});
  CHECK(result == zeros(operands[0].type));
}

TEST_CASE("sums of truth values are refused") {
  const IndexCase test = index_cases().front();
  const TensorType array{DType::boolean, test.array};
  CHECK(refusal(Op::scatter_add, {array, {DType::i32, test.indices}, {DType::boolean, test.slices}},
                attributes_of(test, "clip")) ==
        "scatter_add of bool[7,3] and i32[5] and bool[5,3]");
}
