#include "exec/collective.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "exec/element.h"
#include "exec/numbers.h"
#include "exec/program_maker.h"
#include "exec/site_builder.h"

using namespace shard;
using namespace shard::test;

namespace {

using Arrays = std::vector<HostTensor>;

/// Runs all segments of the collective on the members' operands, last segment first: their order
/// must not matter.
Arrays run_collective(const CollectiveShape& shape, Arrays operands, bool in_place = false) {
  const auto made = make_collective(shape);
  const CollectiveWork& work = *made;
  Arrays results(operands.size(), zeros(shape.result));
  std::vector<MemberPlace> places;
  std::vector<int> order;
  for (std::size_t m = 0; m < operands.size(); ++m) {
    HostTensor& result = in_place ? operands[m] : results[m];
    places.push_back({operands[m].bytes.data(), result.bytes.data()});
    order.push_back(static_cast<int>(m));
  }
  std::int64_t elements = 0;
  for (std::int64_t segment = work.segment_count(); segment-- > 0;) {
    elements += work.run(segment, places, order).elements;
  }
  const bool gathers = shape.kind == CollectiveKind::all_gather;
  CHECK(elements == shape.members * element_count((gathers ? shape.result : shape.operand).shape));
  return in_place ? operands : results;
}

/// Splits a whole array into equal blocks along a dim, and back.
Arrays split(const HostTensor& whole, std::size_t dim, int parts) {
  TensorType type = whole.type;
  type.shape[dim] /= parts;
  Arrays blocks;
  const std::vector<double> numbers = numbers_of(whole);
  auto inner = static_cast<std::int64_t>(number_count(type.dtype, 1));
  for (std::size_t i = dim; i < type.shape.size(); ++i) inner *= type.shape[i];
  for (int part = 0; part < parts; ++part) {
    std::vector<double> block;
    for (std::int64_t start = part * inner; start < static_cast<std::int64_t>(numbers.size());
         start += inner * parts) {
      block.insert(block.end(), numbers.begin() + start, numbers.begin() + start + inner);
    }
    blocks.push_back(tensor(type, block));
  }
  return blocks;
}

/// The sum taken element by element in member order, in the arithmetic of the executor.
HostTensor sum_in_order(const Arrays& operands) {
  const DType dtype = operands[0].type.dtype;
  const bool is_narrow = dtype == DType::bf16 || dtype == DType::f16;
  const TensorType wide{is_narrow ? DType::f32 : dtype, operands[0].type.shape};
  HostTensor sum = tensor(wide, numbers_of(operands[0]));
  for (std::size_t m = 1; m < operands.size(); ++m) {
    sum = run_kernel(Op::add, {sum, tensor(wide, numbers_of(operands[m]))}).front();
  }
  return tensor(operands[0].type, numbers_of(sum));
}

const std::vector<DType> number_dtypes = {DType::f32, DType::bf16, DType::f16, DType::f64,
                                          DType::i32, DType::i64,  DType::u32};
const std::vector<int> group_sizes = {1, 2, 3, 8, 12, 13, 64};

CollectiveShape shape_of(CollectiveKind kind, const TensorType& operand, const TensorType& result,
                         int members, int dim = -1, int split_dim = -1) {
  return {kind, Reduction::sum, dim, split_dim, operand, result, members, {}};
}

TensorType with_dim(TensorType type, std::size_t dim, std::int64_t size) {
  type.shape[dim] = size;
  return type;
}

}  // namespace

TEST_CASE("all_reduce gives every member the sum in member order to the bit") {
  for (const DType dtype : number_dtypes) {
    for (const int members : group_sizes) {
      CAPTURE(info(dtype).name);
      CAPTURE(members);
      const TensorType type{dtype, {7, 331}};
      const Arrays operands = random_operands(type, members);
      const CollectiveShape shape = shape_of(CollectiveKind::all_reduce, type, type, members);
      const Arrays expected(operands.size(), sum_in_order(operands));
      CHECK(run_collective(shape, operands) == expected);
      CHECK(run_collective(shape, operands, true) == expected);
    }
  }
}

TEST_CASE("all_reduce of arrays longer than a segment is right in every segment") {
  const TensorType type{DType::f32, {3, 40'000}};
  for (const int members : {2, 4, 20}) {
    const Arrays operands = random_operands(type, members);
    CHECK(run_collective(shape_of(CollectiveKind::all_reduce, type, type, members), operands,
                         true) == Arrays(operands.size(), sum_in_order(operands)));
  }
}

TEST_CASE("all_reduce also takes the largest and the smallest and the product") {
  for (const DType dtype : number_dtypes) {
    const TensorType type{dtype, {50}};
    const Arrays operands = random_operands(type, 3);
    for (const auto& [reduction, op] : std::vector<std::pair<Reduction, Op>>{
             {Reduction::max, Op::maximum}, {Reduction::min, Op::minimum}}) {
      CollectiveShape shape = shape_of(CollectiveKind::all_reduce, type, type, 3);
      shape.reduction = reduction;
      const HostTensor pair = run_kernel(op, {operands[0], operands[1]}).front();
      CHECK(run_collective(shape, operands)[2] == run_kernel(op, {pair, operands[2]}).front());
    }
  }
  const TensorType type{DType::f32, {50}};
  const Arrays operands = random_operands(type, 2);
  CollectiveShape shape = shape_of(CollectiveKind::all_reduce, type, type, 2);
  shape.reduction = Reduction::prod;
  CHECK(run_collective(shape, operands)[0] == run_kernel(Op::multiply, operands).front());
}

TEST_CASE("reduce_scatter gives member m block m of the all_reduce for every dim") {
  for (const DType dtype : number_dtypes) {
    for (const int members : {1, 2, 3, 16}) {
      for (const int dim : {0, 1, 2}) {
        const std::size_t d = static_cast<std::size_t>(dim);
        const TensorType type = with_dim({dtype, {3, 4, 5}}, d, 2 * members);
        const Arrays operands = random_operands(type, members);
        const CollectiveShape shape =
            shape_of(CollectiveKind::reduce_scatter, type, with_dim(type, d, 2), members, dim);
        CHECK(run_collective(shape, operands) == split(sum_in_order(operands), d, members));
      }
    }
  }
}

TEST_CASE("all_gather undoes split for every group that divides the dim") {
  for (const DTypeInfo& dtype : dtype_table()) {
    for (const int members : {1, 2, 3, 16}) {
      for (const int dim : {0, 1, 2}) {
        const std::size_t d = static_cast<std::size_t>(dim);
        const TensorType whole = with_dim({dtype.dtype, {3, 4, 5}}, d, 2 * members);
        const HostTensor array = random_tensor(whole, 5);
        const CollectiveShape shape =
            shape_of(CollectiveKind::all_gather, with_dim(whole, d, 2), whole, members, dim);
        CHECK(run_collective(shape, split(array, d, members)) ==
              Arrays(static_cast<std::size_t>(members), array));
      }
    }
  }
}

TEST_CASE("all_to_all moves the split from one dim to another") {
  for (const int members : {1, 2, 3, 8}) {
    for (const std::size_t whole_dim : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
      for (const std::size_t split_dim : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
        if (whole_dim == split_dim) continue;
        CAPTURE(members);
        TensorType type{DType::f32, {3, 4, 5, 2}};
        type.shape[whole_dim] = 2 * members;
        type.shape[split_dim] = 3 * members;
        const HostTensor array = random_tensor(type, 5);
        const Arrays before = split(array, whole_dim, members);
        const Arrays after = split(array, split_dim, members);
        const CollectiveShape shape =
            shape_of(CollectiveKind::all_to_all, before[0].type, after[0].type, members,
                     static_cast<int>(whole_dim), static_cast<int>(split_dim));
        CHECK(run_collective(shape, before) == after);
      }
    }
  }
}

TEST_CASE("collective_permute gives each member its source's operand") {
  const TensorType type{DType::f32, {5, 5000}};
  const Arrays operands = random_operands(type, 3);
  CollectiveShape shape = shape_of(CollectiveKind::collective_permute, type, type, 3);
  shape.source = {2, 0, 0};
  CHECK(run_collective(shape, operands) == Arrays{operands[2], operands[0], operands[0]});
}

TEST_CASE("collective_broadcast gives all what one member has") {
  const TensorType type{DType::bf16, {5, 50'000}};
  const Arrays operands = random_operands(type, 3);
  for (const int source : {0, 2}) {
    CollectiveShape shape = shape_of(CollectiveKind::collective_broadcast, type, type, 3);
    shape.source = {source, source, source};
    const HostTensor& sent = operands[static_cast<std::size_t>(source)];
    CHECK(run_collective(shape, operands) == Arrays{sent, sent, sent});
  }
}

TEST_CASE("a window gives each member its part of the whole and zeros beyond its ends") {
  const TensorType part{DType::f32, {2, 3}}, window{DType::f32, {2, 5}};
  CollectiveShape shape = shape_of(CollectiveKind::collective_permute, part, window, 3, 1);
  shape.window = PartWindow{-1, 3, 5};
  const auto made = make_collective(shape);
  const CollectiveWork& work = *made;
  Arrays operands, results(3, zeros(window));
  std::vector<MemberPlace> places;
  for (int m = 0; m < 3; ++m) {
    const double x = 3 * m;
    operands.push_back(tensor(part, {x, x + 1, x + 2, x + 10, x + 11, x + 12}));
  }
  for (std::size_t m = 0; m < 3; ++m) {
    places.push_back({operands[m].bytes.data(), results[m].bytes.data()});
  }
  const std::vector<int> order{0, 1, 2};
  REQUIRE(work.segment_count() == 1);
  // The one in the middle sends an element of both rows to either side.
  CHECK(work.run(0, places, order).elements == 3 * 4);
  CHECK(numbers_of(results[0]) == std::vector<double>{0, 0, 1, 2, 3, 0, 10, 11, 12, 13});
  CHECK(numbers_of(results[1]) == std::vector<double>{2, 3, 4, 5, 6, 12, 13, 14, 15, 16});
  CHECK(numbers_of(results[2]) == std::vector<double>{5, 6, 7, 8, 0, 15, 16, 17, 18, 0});
}

TEST_CASE("a permute on a mesh takes each piece from a device that has it") {
  const Mesh mesh = make_mesh_of({{"x", 2}, {"y", 2}});
  Collective collective;
  collective.kind = CollectiveKind::collective_permute;
  collective.axes = {mesh.full(0), mesh.full(1)};
  collective.from = sharding_of({{mesh.full(0)}, {mesh.full(1)}}).dims;
  collective.to = sharding_of({{mesh.full(1)}, {mesh.full(0)}}).dims;
  const TensorType type{DType::f32, {2, 2}};
  const CollectiveSite made = build_site(mesh, collective, std::span(&type, 1), type, 0);
  CHECK(made.label == "collective_permute x y");
  CHECK(made.axes == std::vector<int>{0, 1});
  const Arrays operands = random_operands(type, 4);
  Arrays results(4, zeros(type));
  std::vector<MemberPlace> places;
  for (std::size_t m = 0; m < 4; ++m) {
    places.push_back({operands[m].bytes.data(), results[m].bytes.data()});
  }
  made.groups[0]->work->run(0, places, made.groups[0]->order);
  CHECK(results == Arrays{operands[0], operands[2], operands[1], operands[3]});
}

TEST_CASE("all_slice keeps the part that the device's coordinates name") {
  const Mesh mesh = make_mesh_of({{"x", 2}, {"y", 3}});
  Collective collective;
  collective.kind = CollectiveKind::all_slice;
  collective.axes = {mesh.full(1)};
  collective.dim = 1;
  const HostTensor whole = random_tensor({DType::f32, {2, 6, 2}}, 1);
  const Arrays parts = split(whole, 1, 3);
  const Kernel kernel = slice_kernel(mesh, collective, whole.type, parts[0].type);
  for (int device = 0; device < 6; ++device) {
    HostTensor result = zeros(parts[0].type);
    const std::byte* from = whole.bytes.data();
    std::byte* to = result.bytes.data();
    Scratch scratch;
    kernel({std::span(&from, 1), std::span(&to, 1), scratch, device});
    CHECK(result == parts[static_cast<std::size_t>(device % 3)]);
  }
}

TEST_CASE("sums and products of small integers wrap and extrema know their sign") {
  struct Case {
    DType dtype;
    Reduction reduction;
    std::vector<std::vector<double>> operands;
    std::vector<double> result;
  };
  const std::vector<Case> cases = {
      {DType::i8, Reduction::sum, {{100, -100}, {27, -28}, {1, -1}}, {-128, 127}},
      {DType::i8, Reduction::prod, {{16, -3}, {16, 5}, {1, 7}}, {0, -105}},
      {DType::i8, Reduction::max, {{-1, -128}, {1, 127}, {0, 0}}, {1, 127}},
      {DType::i8, Reduction::min, {{-1, -128}, {1, 127}, {0, 0}}, {-1, -128}},
      {DType::u8, Reduction::sum, {{200, 3}, {56, 4}, {7, 5}}, {7, 12}},
      {DType::u8, Reduction::max, {{200, 3}, {56, 4}, {7, 5}}, {200, 5}},
      {DType::i16, Reduction::sum, {{32767, -5}, {1, -6}, {0, 1}}, {-32768, -10}},
      {DType::i16, Reduction::min, {{32767, -5}, {1, -6}, {0, 1}}, {0, -6}},
      {DType::u16, Reduction::prod, {{65535, 2}, {65535, 3}, {1, 4}}, {1, 24}},
      {DType::u16, Reduction::min, {{65535, 2}, {65535, 3}, {1, 4}}, {1, 2}},
      {DType::u64,
       Reduction::sum,
       {{1, 4294967296.0}, {2, 4294967296.0}, {3, 1}},
       {6, 8589934593.0}},
      {DType::boolean, Reduction::sum, {{0, 0}, {1, 0}, {1, 0}}, {1, 0}},
      {DType::boolean, Reduction::prod, {{1, 1}, {1, 0}, {1, 1}}, {1, 0}},
      {DType::boolean, Reduction::max, {{0, 0}, {1, 0}, {0, 0}}, {1, 0}},
      {DType::boolean, Reduction::min, {{1, 1}, {1, 0}, {1, 1}}, {1, 0}},
  };
  for (const Case& c : cases) {
    CAPTURE(info(c.dtype).name);
    const TensorType type{c.dtype, {2}};
    Arrays operands;
    for (const std::vector<double>& numbers : c.operands) operands.push_back(tensor(type, numbers));
    CollectiveShape shape = shape_of(CollectiveKind::all_reduce, type, type, 3);
    shape.reduction = c.reduction;
    CHECK(numbers_of(run_collective(shape, operands)[1]) == c.result);
  }
}

TEST_CASE("sums of 8-bit floats are taken in float32 and rounded once") {
  // 16 halves of the last place of 16: each alone would be lost to rounding.
  for (const auto& [dtype, step] :
       std::vector<std::pair<DType, double>>{{DType::f8_e4m3fn, 1}, {DType::f8_e5m2, 2}}) {
    const TensorType type{dtype, {1500}};
    Arrays operands(1, tensor(type, std::vector<double>(1500, 16)));
    for (int m = 0; m < 16; ++m) {
      operands.push_back(tensor(type, std::vector<double>(1500, step)));
    }
    const CollectiveShape shape = shape_of(CollectiveKind::all_reduce, type, type, 17);
    CHECK(numbers_of(run_collective(shape, operands)[16]) ==
          std::vector<double>(1500, 16 + 16 * step));
  }
}

TEST_CASE("wire bytes are those of the ring algorithms") {
  CHECK(wire_of(CollectiveKind::all_reduce, Bytes(400), 4) == Bytes(600));
  CHECK(wire_of(CollectiveKind::all_gather, Bytes(400), 4) == Bytes(300));
  CHECK(wire_of(CollectiveKind::reduce_scatter, Bytes(400), 4) == Bytes(300));
  CHECK(wire_of(CollectiveKind::all_to_all, Bytes(400), 4) == Bytes(300));
  CHECK(wire_of(CollectiveKind::collective_permute, Bytes(400), 4) == Bytes(400));
  CHECK(wire_of(CollectiveKind::collective_broadcast, Bytes(400), 4) == Bytes(400));
  CHECK(wire_of(CollectiveKind::all_reduce, Bytes(400), 1) == Bytes(0));
}
