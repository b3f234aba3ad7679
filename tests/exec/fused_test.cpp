// Fused loops against their steps one by one: the same bytes, for every dtype and size.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "exec/cluster.h"
#include "exec/element.h"
#include "exec/fused_plan.h"
#include "program_maker.h"
#include "spmd/fuse.h"
#include "spmd/reshard.h"

using namespace shard;
using namespace shard::test;

namespace {

HostTensor loop_values(const TensorType& type, double step) {
  HostTensor tensor = zeros(type);
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < element_count(type.shape); ++i)
    numbers.push_back(std::sin(static_cast<double>(i) * step) * 3);
  from_doubles(numbers.data(), type.dtype, tensor.bytes.data(), numbers.size());
  return tensor;
}

Attributes dims_of(std::vector<std::int64_t> list, const Shape& shape = {}) {
  Attributes attributes;
  if (!shape.empty()) attributes.set("shape", shape);
  attributes.set("dims", std::move(list));
  return attributes;
}

/// y = softmax(x * w) over the last dim, w along it; also the sums.
Program softmax_program(DType dtype, std::int64_t rows, std::int64_t columns) {
  ProgramMaker maker(make_mesh_of({{"data", 1}}));
  const Shape shape{rows, columns};
  const BufferId x = maker.input("x", {dtype, shape}, sharding_of({{}, {}}));
  const BufferId w = maker.input("w", {dtype, {columns}}, sharding_of({{}}));
  const BufferId wide = maker.compute(Op::broadcast, {w}, dims_of({1}, shape));
  const BufferId scaled = maker.compute(Op::multiply, {x, wide});
  const BufferId most = maker.compute(Op::reduce_max, {scaled}, dims_of({1}));
  const BufferId mosts = maker.compute(Op::broadcast, {most}, dims_of({0}, shape));
  const BufferId moved = maker.compute(Op::subtract, {scaled, mosts});
  const BufferId powers = maker.compute(Op::exp, {moved});
  const BufferId sum = maker.compute(Op::reduce_sum, {powers}, dims_of({1}));
  const BufferId sums = maker.compute(Op::broadcast, {sum}, dims_of({0}, shape));
  const BufferId y = maker.compute(Op::divide, {powers, sums});
  maker.output("y", y, {dtype, shape}, sharding_of({{}, {}}));
  maker.output("sum", sum, {dtype, {rows}}, sharding_of({{}}));
  return finished(std::move(maker));
}

std::vector<HostTensor> loop_outputs(const Program& program) {
  verify(program);
  Cluster cluster(program, {2});
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    cluster.write_input(
        i, loop_values(program.inputs[i].global, 0.37 + 0.11 * static_cast<double>(i)));
  cluster.run();
  cluster.run();
  CHECK(cluster.counters().peak.front() == program.memory.peak);
  std::vector<HostTensor> outputs;
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    outputs.push_back(cluster.read_output(i));
  return outputs;
}

}  // namespace

TEST_CASE("a fused softmax gives the bytes of its steps in every float dtype") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 1}, {3, 5}, {1, 4097}, {700, 7}, {33, 300}}) {
      CAPTURE(rows);
      CAPTURE(columns);
      CAPTURE(info(dtype).name);
      const Program plain = softmax_program(dtype, rows, columns);
      const Program loop = fused(plain);
      CHECK(loop.main().instructions.size() == 1);
      CHECK(loop_outputs(loop) == loop_outputs(plain));
    }
  }
}

TEST_CASE("a fused loop plans and touches less memory than its steps") {
  const Program plain = softmax_program(DType::f32, 33, 300);
  const std::int64_t array = 33 * 300 * 4;
  CHECK(plain.memory.peak.count() > 3 * array);
  CHECK(fused(plain).memory.peak.count() < 2 * array + 2000);
}

TEST_CASE("a large loop asks for what it reads next and for what it writes quickly") {
  const auto plan_of = [](const Program& loop) {
    const Instruction& instruction = loop.main().instructions.front();
    std::vector<TensorType> operands;
    for (const BufferId operand : instruction.operands)
      operands.push_back(loop.buffer(operand).type);
    const auto maker_of = [](Op op) { return kernel_table()[static_cast<std::size_t>(op)].make; };
    return std::get<FusedPlan>(plan_fused(instruction, operands, maker_of));
  };
  CHECK(plan_of(fused(softmax_program(DType::f32, 33, 300))).asked_for.empty());
  const Program plain = softmax_program(DType::f32, 1001, 300);
  const Program loop = fused(plain);
  const FusedPlan plan = plan_of(loop);
  REQUIRE(plan.asked_for.size() == 2);
  CHECK(plan.asked_for[0] == 1);  // x; neither w, which is small, nor y, whose divisions take long
  CHECK(plan.values[plan.asked_for[1]].output == 0);
  CHECK(loop_outputs(loop) == loop_outputs(plain));
}

TEST_CASE("a result over an operand that later steps read is put there last") {
  // new = 2 x, kept = new + x: `new` has the place of x, which the second step still reads.
  ProgramMaker maker(make_mesh_of({{"data", 1}}));
  const TensorType type{DType::f32, {5000}};
  const Sharding whole = sharding_of({{}});
  const BufferId x = maker.input("x", type, whole, 0);
  Attributes two;
  two.set("value", 2.0);
  const BufferId renewed = maker.compute(Op::scale, {x}, two);
  const BufferId kept = maker.compute(Op::add, {renewed, x});
  maker.output("x", renewed, type, whole, 0);
  maker.output("kept", kept, type, whole);
  maker.program.outputs[0].donates = 0;
  const Program plain = finished(maker);
  const Program loop = fused(plain);
  REQUIRE(loop.main().instructions.size() == 1);
  CHECK(loop.buffer(loop.outputs[0].buffer).alias_of == loop.inputs[0].buffer);
  CHECK(loop_outputs(loop) == loop_outputs(plain));
}

namespace {

/// The sum of everybody's `gradient` over `data`, then Adam on a replica of the parameter.
Program with_update(ProgramMaker maker, BufferId gradient, std::int64_t members) {
  const TensorType type = maker.program.buffer(gradient).type;
  const Sharding whole = sharding_of(std::vector<std::vector<AxisRef>>(type.shape.size()));
  std::vector<BufferId> operands;
  const int first = static_cast<int>(maker.program.inputs.size());
  for (int leaf = 0; leaf < 3; ++leaf)
    operands.push_back(maker.input("s" + std::to_string(leaf), type, whole, leaf));
  const BufferId step = maker.input("count", {DType::i32, {}}, Sharding{});
  Instruction reduce;
  reduce.kind = Instruction::Kind::collective;
  reduce.collective = all_reduce({maker.program.mesh.full(0)});
  reduce.collective->payload = bytes_of(type);
  reduce.collective->wire = wire_bytes(CollectiveKind::all_reduce, bytes_of(type), members);
  reduce.operands = {gradient};
  reduce.results = {maker.buffer(type)};
  maker.program.bodies[0].instructions.push_back(reduce);
  operands.push_back(reduce.results.front());
  operands.push_back(step);
  Instruction update;
  update.op = Op::adam_update;
  update.phase = Phase::update;
  update.attributes = {{"learning_rate", 0.01}, {"b1", 0.9},      {"b2", 0.99},
                       {"eps", 1e-8},           {"eps_root", 0.}, {"weight_decay", 0.}};
  update.operands = operands;
  for (int leaf = 0; leaf < 3; ++leaf) {
    update.results.push_back(maker.buffer(type));
    maker.output("s" + std::to_string(leaf), update.results.back(), type, whole, leaf);
    maker.program.outputs.back().donates = first + leaf;
  }
  maker.program.bodies[0].instructions.push_back(update);
  return finished(std::move(maker));
}

Program update_program(DType dtype, std::int64_t members, std::int64_t count) {
  ProgramMaker maker(make_mesh_of({{"data", members}}));
  const BufferId gradient =
      maker.input("g", {dtype, {members * count}}, sharding_of({{maker.program.mesh.full(0)}}));
  const BufferId negative = maker.compute(Op::negate, {gradient});
  return with_update(std::move(maker), negative, members);
}

/// A gradient from few examples: of a kernel of `rows` x `columns`, from `terms` on each member.
Program product_update_program(std::int64_t members, std::int64_t rows, std::int64_t columns,
                               std::int64_t terms) {
  ProgramMaker maker(make_mesh_of({{"data", members}}));
  const Sharding by_example = sharding_of({{maker.program.mesh.full(0)}, {}});
  const BufferId x = maker.input("x", {DType::f32, {members * terms, rows}}, by_example);
  const BufferId dy = maker.input("dy", {DType::f32, {members * terms, columns}}, by_example);
  using Dims = std::vector<std::int64_t>;
  Attributes over_examples;
  over_examples.set("lhs_batch", Dims{});
  over_examples.set("rhs_batch", Dims{});
  over_examples.set("lhs_contract", Dims{0});
  over_examples.set("rhs_contract", Dims{0});
  const BufferId gradient = maker.compute(Op::dot, {x, dy}, over_examples);
  return with_update(std::move(maker), gradient, members);
}

/// y = relu(-x) w over `members`, of `terms` terms on each, added up; w lies transposed where
/// asked.
Program product_sum_program(std::int64_t members, std::int64_t rows, std::int64_t columns,
                            std::int64_t terms, bool is_transposed) {
  ProgramMaker maker(make_mesh_of({{"model", members}}));
  const std::vector<AxisRef> split = {maker.program.mesh.full(0)};
  const Sharding by_column = sharding_of({{}, split}), by_row = sharding_of({split, {}});
  const std::int64_t inner = members * terms;
  const BufferId x = maker.input("x", {DType::f32, {rows, inner}}, by_column);
  const BufferId w = is_transposed ? maker.input("w", {DType::f32, {columns, inner}}, by_column)
                                   : maker.input("w", {DType::f32, {inner, columns}}, by_row);
  using Dims = std::vector<std::int64_t>;
  Attributes over_inner;
  over_inner.set("lhs_batch", Dims{});
  over_inner.set("rhs_batch", Dims{});
  over_inner.set("lhs_contract", Dims{1});
  over_inner.set("rhs_contract", Dims{is_transposed ? 1 : 0});
  Instruction reduce;
  reduce.kind = Instruction::Kind::collective;
  const BufferId positive = maker.compute(Op::relu, {maker.compute(Op::negate, {x})});
  reduce.operands = {maker.compute(Op::dot, {positive, w}, over_inner)};
  const TensorType type = maker.program.buffer(reduce.operands.front()).type;
  reduce.collective = all_reduce(split);
  reduce.collective->payload = bytes_of(type);
  reduce.collective->wire = wire_bytes(CollectiveKind::all_reduce, bytes_of(type), members);
  reduce.results = {maker.buffer(type)};
  maker.program.bodies[0].instructions.push_back(reduce);
  maker.output("y", reduce.results.front(), type, sharding_of({{}, {}}));
  return finished(std::move(maker));
}

/// What is summed from members whose numbers are small and whole, so that every order is exact.
std::vector<float> exact_sums(std::int64_t rows, std::int64_t columns, std::int64_t inner,
                              const std::function<float(std::int64_t)>& x,
                              const std::function<float(std::int64_t, std::int64_t)>& w) {
  std::vector<float> sums(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t k = 0; k < inner; ++k)
        sums[static_cast<std::size_t>(i * columns + j)] += x(i * inner + k) * w(k, j);
  return sums;
}

std::vector<std::string> counted_kinds(const Program& program) {
  Cluster cluster(program, {2});
  std::vector<std::string> kinds;
  for (const KindCounter& kind : cluster.counters().kinds) kinds.push_back(kind.kind);
  return kinds;
}

}  // namespace

TEST_CASE("an update while its gradient is summed gives the bytes of one after the other") {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const std::int64_t members : {2, 3, 13}) {
      for (const std::int64_t count : {1, 2048, 20000}) {
        CAPTURE(members);
        CAPTURE(count);
        CAPTURE(info(dtype).name);
        const Program plain = update_program(dtype, members, count);
        const Program loop = fused(plain);
        CHECK(loop.memory.peak == plain.memory.peak);
        CHECK(loop_outputs(loop) == loop_outputs(plain));
      }
    }
  }
  CHECK(counted_kinds(fused(update_program(DType::f32, 2, 100))) ==
        std::vector<std::string>{"negate", "all_reduce data and fused adam_update"});
  CHECK(counted_kinds(update_program(DType::f32, 2, 100)) ==
        std::vector<std::string>{"negate", "all_reduce data", "adam_update"});
}

TEST_CASE(
    "a gradient made part by part where it is summed gives the bytes of one after the other") {
  struct Sizes {
    std::int64_t members, rows, columns, terms;
  };
  const std::string at_once = "dot, all_reduce data and fused adam_update";
  // One segment, many of whole rows, some that begin within a row, more members than streams.
  for (const Sizes& s :
       {Sizes{2, 5, 7, 1}, Sizes{2, 300, 128, 4}, Sizes{3, 301, 117, 5}, Sizes{13, 40, 1024, 3},
        Sizes{2, 33, 1031, 8}, Sizes{2, 40, 20, 4},
        // Few columns, few rows, and more terms than are made twice.
        Sizes{3, 1023, 4, 4}, Sizes{13, 257, 33, 1}, Sizes{2, 5, 4000, 4}, Sizes{2, 7, 9, 9}}) {
    CAPTURE(s.rows);
    const Program plain = product_update_program(s.members, s.rows, s.columns, s.terms);
    const Program loop = fused(plain);
    CHECK(loop.memory.peak == plain.memory.peak);
    CHECK(loop_outputs(loop) == loop_outputs(plain));
    const std::string alone = "all_reduce data and fused adam_update";
    CHECK(counted_kinds(loop) == std::vector<std::string>{"dot", s.terms > 8 ? alone : at_once});
  }
}

TEST_CASE("a gradient made where it is summed counts the flops and bytes of the plan") {
  const Program program = fused(product_update_program(2, 300, 128, 4));
  Cluster cluster(program, {2});
  cluster.run();
  const Counters counters = cluster.counters();
  const Instruction& update = program.main().instructions[2];
  std::vector<TensorType> read;
  for (const BufferId id : update.operands) read.push_back(program.buffer(id).type);
  const auto kind = [&](const std::string& name) {
    return *std::find_if(counters.kinds.begin(), counters.kinds.end(),
                         [&](const KindCounter& one) { return one.kind == name; });
  };
  CHECK(kind("dot").calls == 0);
  const KindCounter all = kind("dot, all_reduce data and fused adam_update");
  CHECK(all.calls == 2);
  CHECK(all.flops == 2 * (2.0 * 300 * 128 * 4 + flops_of_steps(update, read)));
  REQUIRE(counters.axes.size() == 1);
  CHECK(counters.axes[0].wire == program.main().instructions[1].collective->wire);
  CHECK(counters.peak == std::vector<Bytes>(2, program.memory.peak));
}

TEST_CASE("a product made where it is summed has the sum of all members on each of them") {
  struct Sizes {
    std::int64_t members, rows, columns, terms;
    bool is_transposed;
    bool is_at_once;
  };
  // One segment, several, blocks of few columns; then a second operand that is transposed, too many
  // terms, few members.
  for (const Sizes& s : {Sizes{13, 3, 5, 1, false, true}, Sizes{16, 4, 1024, 4, false, true},
                         Sizes{13, 40, 1031, 8, false, true}, Sizes{16, 1023, 9, 3, false, true},
                         Sizes{16, 4, 1024, 4, true, false}, Sizes{16, 4, 1024, 9, false, false},
                         Sizes{12, 4, 1024, 4, false, false}}) {
    CAPTURE(s.columns);
    CAPTURE(s.terms);
    CAPTURE(s.is_transposed);
    const Program plain =
        product_sum_program(s.members, s.rows, s.columns, s.terms, s.is_transposed);
    const Program program = fused(plain);
    CHECK(counted_kinds(plain) ==
          std::vector<std::string>{"negate", "relu", "dot", "all_reduce model"});
    CHECK(counted_kinds(program) ==
          std::vector<std::string>{"fused relu", "dot",
                                   s.is_at_once ? "dot, all_reduce model" : "all_reduce model"});
    CHECK(loop_outputs(program) == loop_outputs(plain));
    const std::int64_t inner = s.members * s.terms;
    const auto x = [](std::int64_t i) { return static_cast<float>(i % 7); };
    const auto w = [](std::int64_t k, std::int64_t j) {
      return static_cast<float>((3 * k + j) % 5 - 2);
    };
    for (const int workers : {1, 2, 3}) {
      Cluster cluster(program, {workers});
      HostTensor left = zeros(program.inputs[0].global), right = zeros(program.inputs[1].global);
      for (std::int64_t i = 0; i < s.rows * inner; ++i) left.data<float>()[i] = -x(i);
      for (std::int64_t k = 0; k < inner; ++k)
        for (std::int64_t j = 0; j < s.columns; ++j)
          right.data<float>()[s.is_transposed ? j * inner + k : k * s.columns + j] = w(k, j);
      cluster.write_input(0, left);
      cluster.write_input(1, right);
      cluster.run();
      const HostTensor sum = cluster.read_output(0);
      CHECK(std::vector<float>(sum.data<float>(), sum.data<float>() + s.rows * s.columns) ==
            exact_sums(s.rows, s.columns, inner, x, w));
      const Counters counters = cluster.counters();
      CHECK(counters.axes[0].wire == program.main().instructions[2].collective->wire);
      CHECK(counters.peak ==
            std::vector<Bytes>(static_cast<std::size_t>(s.members), program.memory.peak));
      double flops = 0;
      for (const KindCounter& kind : counters.kinds) {
        if (kind.kind != "fused relu") flops += kind.flops;
      }
      CHECK(flops == 2.0 * static_cast<double>(s.rows * s.columns * inner));
    }
  }
}

TEST_CASE("whoever looks on sees a product that is made where it is summed") {
  const Program program = fused(product_sum_program(13, 4, 1024, 4, false));
  Cluster cluster(program, {1});
  HostTensor ones = zeros(program.inputs[0].global), numbers = zeros(program.inputs[1].global);
  for (int i = 0; i < 4 * 52; ++i) ones.data<float>()[i] = -1;
  for (int i = 0; i < 52 * 1024; ++i) numbers.data<float>()[i] = i < 4 * 1024 ? 2 : 3;
  cluster.write_input(0, ones);
  cluster.write_input(1, numbers);
  const auto place = [&](BufferId id) { return program.buffer(id).offset.count(); };
  const std::int64_t made = place(program.main().instructions[1].results[0]);
  const std::int64_t sum = place(program.main().instructions[2].results[0]);
  std::vector<float> seen;
  cluster.run_observed([&](int number, const DeviceState& device, int, int position) {
    if (number != 1 || position < 2) return;
    seen.push_back(*reinterpret_cast<const float*>(device.base + (position == 2 ? made : sum)));
  });
  CHECK(seen == std::vector<float>{4 * 3, 4 * (2 + 12 * 3)});
}

TEST_CASE("whoever looks on sees the gradient that is made where it is summed") {
  const Program program = fused(product_update_program(2, 300, 128, 4));
  Cluster cluster(program, {1});
  HostTensor ones = zeros(program.inputs[0].global), twos = zeros(program.inputs[1].global);
  for (int i = 0; i < 8 * 300; ++i) ones.data<float>()[i] = 1;
  for (int i = 0; i < 8 * 128; ++i) twos.data<float>()[i] = i < 4 * 128 ? 2 : 3;
  cluster.write_input(0, ones);
  cluster.write_input(1, twos);
  std::vector<float> seen;
  const std::int64_t offset =
      program.buffer(program.main().instructions[0].results[0]).offset.count();
  cluster.run_observed([&](int number, const DeviceState& device, int body, int position) {
    if (number != 1 || body != 0 || (position != 1 && position != 2)) return;
    seen.push_back(*reinterpret_cast<const float*>(device.base + offset));
  });
  CHECK(seen == std::vector<float>{4 * 3, 4 * (2 + 3)});
}

TEST_CASE("whoever looks on sees the sum that an update at once does not store") {
  const Program program = fused(update_program(DType::f32, 2, 3));
  Cluster cluster(program, {1});
  HostTensor gradients = zeros(program.inputs[0].global);
  for (int i = 0; i < 6; ++i) gradients.data<float>()[i] = static_cast<float>(i);
  cluster.write_input(0, gradients);
  const Instruction& reduce = program.main().instructions[1];
  REQUIRE(reduce.kind == Instruction::Kind::collective);
  const std::int64_t offset = program.buffer(reduce.results[0]).offset.count();
  std::vector<float> seen;
  cluster.run_observed([&](int number, const DeviceState& device, int body, int position) {
    if (number != 1 || body != 0 || position != 2) return;
    const std::byte* const base = device.base;
    const float* sum = reinterpret_cast<const float*>(base + offset);
    seen.assign(sum, sum + 3);
  });
  CHECK(seen == std::vector<float>{-3, -5, -7});
}
