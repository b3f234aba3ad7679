#include "exec/cluster.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "exec/element.h"
#include "exec/initial.h"
#include "exec/measure.h"
#include "exec/numbers.h"
#include "exec/program_maker.h"

using namespace shard;
using namespace shard::test;

namespace {

const TensorType x_type{DType::f32, {4, 8}};
const TensorType w_type{DType::f32, {8, 6}};

/// Runs y = x W and compares it with the whole product.
Difference run_split_product(const Program& program, const TestSeam& seam = {}) {
  const HostTensor x = random_tensor(x_type, 1), w = random_tensor(w_type, 2);
  Cluster cluster(program, {2, Bytes(0), seam});
  cluster.write_input(0, x);
  cluster.write_input(1, w);
  cluster.run();
  return compare("y", cluster.read_output(0), whole_product(x, w), 1e-6);
}

/// Adds one to the first element of what the right kernel computes.
KernelResult make_wrong_dot(const KernelSite& site) {
  return [right = std::get<Kernel>(make_dot(site))](const KernelCall& call) {
    right(call);
    *reinterpret_cast<float*>(call.results[0]) += 1;
  };
}

template <class Function>
std::string refusal_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    std::string all;
    for (const Diagnostic& diagnostic : error.diagnostics()) all += to_string(diagnostic) + "\n";
    return all;
  }
  return "nothing was refused";
}

/// One device with an input of 3 numbers and an op on it.
ProgramMaker single(const TensorType& type) {
  ProgramMaker maker(make_mesh_of({{"x", 1}}));
  maker.input("a", type, sharding_of(std::vector<std::vector<AxisRef>>(type.shape.size())));
  return maker;
}

}  // namespace

TEST_CASE("a product split over its contracted dim equals the whole product") {
  CHECK(run_split_product(split_product()).is_ok());
}

TEST_CASE("a wrong kernel is caught by the comparison") {
  const Difference difference = run_split_product(split_product(), {{{Op::dot, make_wrong_dot}}});
  CHECK(!difference.is_ok());
}

TEST_CASE("a buffer planned over another one is caught by the comparison") {
  Program program = split_product();
  program.buffers[1].offset = program.buffers[0].offset;  // w over x
  CHECK(!run_split_product(program).is_ok());
}

TEST_CASE("a planned size that is too large is not what is counted") {
  Program program = split_product();
  program.memory.peak += Bytes(64);
  Cluster cluster(program, {1});
  cluster.run();
  for (const Bytes peak : cluster.counters().peak) CHECK(peak == program.memory.peak - Bytes(64));
}

TEST_CASE("a planned peak that is too small is refused before running") {
  Program program = split_product();
  program.memory.peak = program.memory.peak - Bytes(4);
  CHECK(refusal_of([&] { Cluster(program, {1}); }) ==
        "error: buffer 2 '' reaches to byte 240 of the arena, the planned peak is 236 "
        "[bad-program]\n");
}

TEST_CASE("counters say what was executed") {
  Cluster cluster(split_product(), {2});
  cluster.write_input(0, random_tensor(x_type, 1));
  cluster.write_input(1, random_tensor(w_type, 2));
  cluster.run();
  cluster.reset_counters();
  for (int i = 0; i < 3; ++i) cluster.run();
  const Counters counters = cluster.counters();
  CHECK(counters.steps == 3);
  REQUIRE(counters.kinds.size() == 2);
  for (const KindCounter& kind : counters.kinds) {
    CHECK(kind.calls == 3 * 4);
    CHECK(kind.kind == (kind.is_collective ? "all_reduce model" : "dot"));
    if (!kind.is_collective) CHECK(kind.flops == 3 * 4 * (2.0 * 2 * 4 * 6));
  }
  REQUIRE(counters.axes.size() == 1);
  CHECK(counters.axes[0].axes == std::vector<int>{1});
  CHECK(counters.axes[0].wire == Bytes(3 * 2 * 1 * 48 / 2));
  CHECK(counters.axes[0].copied == Bytes(3 * 4 * 2 * 48));
  CHECK(counters.axes[0].collectives == 3 * 2);
  CHECK(counters.peak == std::vector<Bytes>(4, Bytes(240)));
  CHECK(cluster.gemm_backend() == "none needed");
}

TEST_CASE("inputs come back as they were written whatever their sharding") {
  const Mesh mesh = make_mesh_of({{"x", 2}, {"y", 4}});
  const AxisRef x = mesh.full(0), y = mesh.full(1), half{1, 1, 2}, rest{1, 2, 2};
  for (const std::vector<std::vector<AxisRef>>& dims :
       {std::vector<std::vector<AxisRef>>{{}, {}}, {{x}, {y}}, {{y, x}, {}}, {{half}, {x, rest}}}) {
    ProgramMaker maker(mesh);
    const TensorType type{DType::bf16, {8, 16}};
    maker.input("a", type, sharding_of(dims));
    Cluster cluster(maker.program, {2});
    const HostTensor a = random_tensor(type, 3);
    cluster.write_input(0, a);
    CHECK(cluster.read_input(0) == a);
    cluster.fill_input(0, [](std::int64_t index) { return static_cast<double>(index); });
    for (std::size_t i = 0; i < 128; ++i) {
      CHECK(numbers_of(cluster.read_input(0))[i] == static_cast<double>(i));
    }
    for (const InitialValue& init : {InitialValue{"normal", 2.0}, InitialValue{"zeros", 0},
                                     InitialValue{"ones", 0}, InitialValue{"constant", 0.3}}) {
      CAPTURE(init.kind);
      cluster.fill_input(0, init, 5, "a");
      CHECK(cluster.read_input(0) == initial_tensor(init, type, 5, "a"));
    }
  }
}

TEST_CASE("new state that lies elsewhere is the old state of the next step") {
  ProgramMaker maker = single({DType::f32, {2}});
  maker.program.inputs[0].state_leaf = 0;
  const BufferId next = maker.compute(Op::shift, {id_at<BufferId>(0)}, {{"value", 1.0}});
  maker.output("a", next, {DType::f32, {2}}, sharding_of({{}}), 0);
  Cluster cluster(maker.program, {1});
  for (int i = 0; i < 5; ++i) cluster.run();
  CHECK(numbers_of(cluster.read_output(0)) == std::vector<double>{5, 5});
  CHECK(numbers_of(cluster.read_input(0)) == std::vector<double>{5, 5});
}

TEST_CASE("state that changes places is swapped and not overwritten") {
  ProgramMaker maker = single({DType::f32, {2}});
  const TensorType type{DType::f32, {2}};
  maker.input("b", type, sharding_of({{}}), 1);
  maker.program.inputs[0].state_leaf = 0;
  maker.output("a", id_at<BufferId>(1), type, sharding_of({{}}), 0);
  maker.output("b", id_at<BufferId>(0), type, sharding_of({{}}), 1);
  Cluster cluster(maker.program, {1});
  cluster.write_input(0, tensor(type, {1, 2}));
  cluster.write_input(1, tensor(type, {3, 4}));
  cluster.run();
  CHECK(numbers_of(cluster.read_input(0)) == std::vector<double>{3, 4});
  CHECK(numbers_of(cluster.read_input(1)) == std::vector<double>{1, 2});
}

TEST_CASE("loops carry values and walk stacked arrays from either end") {
  for (const std::int64_t reverse : {0, 1}) {
    ProgramMaker maker = single({DType::f32, {}});
    const TensorType scalar{DType::f32, {}}, stacked{DType::f32, {4}};
    const BufferId start = id_at<BufferId>(0);
    const BufferId xs = maker.input("xs", stacked, sharding_of({{}}));
    const int body = maker.add_body();
    const BufferId total = maker.buffer(scalar), sums = maker.buffer(stacked);
    const auto view_of = [&](BufferId whole) {
      const BufferId id = maker.buffer(scalar);
      Buffer& view = maker.program.buffers[index_of(id)];
      view.stacked_of = whole;
      view.loop_body = body;
      view.stride = Bytes(4);
      return id;
    };
    const BufferId carry = maker.buffer(scalar), slice = view_of(xs), partial = view_of(sums);
    maker.program.buffers[index_of(carry)].alias_of = total;
    // next = 2 * carry + slice, kept in a buffer of its own; partial = next + 0
    const BufferId twice = maker.compute(Op::scale, {carry}, {{"value", 2.0}}, body);
    const BufferId next = maker.compute(Op::add, {twice, slice}, {}, body);
    maker.compute_into(partial, Op::shift, {next}, {{"value", 0.0}}, body);
    Body& made = maker.program.bodies[static_cast<std::size_t>(body)];
    made.parameters = {carry, slice};
    made.results = {next, partial};
    maker.loop(body, {start, xs}, {total, sums},
               {{"times", std::int64_t{4}},
                {"carries", std::int64_t{1}},
                {"stacked", std::int64_t{1}},
                {"reverse", reverse}});
    maker.output("total", total, scalar, sharding_of({}));
    maker.output("sums", sums, stacked, sharding_of({{}}));
    Cluster cluster(maker.program, {1});
    cluster.write_input(0, tensor(scalar, {1}));
    cluster.write_input(1, tensor(stacked, {1, 2, 3, 4}));
    for (int i = 0; i < 2; ++i) cluster.run();
    const bool is_reverse = reverse == 1;
    CHECK(numbers_of(cluster.read_output(0))[0] == (is_reverse ? 65 : 42));
    CHECK(numbers_of(cluster.read_output(1)) ==
          (is_reverse ? std::vector<double>{65, 32, 15, 6} : std::vector<double>{3, 8, 19, 42}));
  }
}

TEST_CASE("ops on dtypes without a kernel are all refused before running") {
  ProgramMaker maker = single({DType::boolean, {3}});
  const BufferId flag = id_at<BufferId>(0), out = maker.buffer({DType::boolean, {3}});
  maker.compute_into(out, Op::add, {flag, flag});
  maker.compute_into(out, Op::relu, {flag});
  CHECK(refusal_of([&] { Cluster(maker.program, {1}); }) ==
        "error: the executor cannot compute add of bool[3] and bool[3] yet [not-yet]\n"
        "error: the executor cannot compute relu of bool[3] yet [not-yet]\n");
}

TEST_CASE("arrays of every dtype are reduced over the devices") {
  for (const DTypeInfo& dtype : dtype_table()) {
    CAPTURE(dtype.name);
    ProgramMaker maker(make_mesh_of({{"x", 2}}));
    const AxisRef x = maker.program.mesh.full(0);
    const TensorType whole{dtype.dtype, {6}}, part{dtype.dtype, {3}};
    const BufferId split = maker.input("a", whole, sharding_of({{x}}));
    const BufferId sum = maker.collective(all_reduce({x}), split, part);
    maker.output("y", sum, part, sharding_of({{}}));
    Cluster cluster(maker.program, {1});
    // Of complex numbers the imaginary parts are zeros.
    const std::size_t step = number_count(dtype.dtype, 1);
    std::vector<double> numbers(6 * step), sums(3 * step);
    numbers[0] = numbers[2 * step] = sums[0] = sums[2 * step] = 1;
    cluster.write_input(0, tensor(whole, numbers));
    cluster.run();
    CHECK(numbers_of(cluster.read_output(0)) == sums);
  }
}

TEST_CASE("a program too big for the memory is refused before anything is allocated") {
  Program program = split_product();
  CHECK(refusal_of([&] {
          Cluster(program, {1, Bytes(50'000)});
        }) ==
        "error: 4 virtual devices need 81,920 bytes (20,480 each), this machine has 50,000 bytes "
        "available [not-enough-memory]\n"
        "  hint: run on a smaller mesh or with smaller sizes; `plan` needs no such memory\n");
  program.memory.peak = Bytes(std::int64_t{1} << 50);
  CHECK(refusal_of([&] { Cluster(program, {1}); }).find("[not-enough-memory]") !=
        std::string::npos);
}

TEST_CASE("copies of one piece that differ are reported with the devices and the index") {
  // Without the all_reduce the devices of a row hold different partial sums.
  Program program = split_product();
  program.bodies[0].instructions.pop_back();
  Cluster cluster(program, {1});
  cluster.write_input(0, random_tensor(x_type, 1));
  cluster.write_input(1, random_tensor(w_type, 2));
  cluster.run();
  CHECK(refusal_of([&] { cluster.read_output(0); }) ==
        "error: devices 0 and 1 hold different values of 'y', first at index [0,0]; copies of the "
        "same piece must be equal to the bit [replicas-differ]\n");
}

TEST_CASE("a program has the same bits for any number of workers") {
  std::vector<HostTensor> answers;
  for (const int workers : {1, 2, 3, 8}) {
    Cluster cluster(split_product(), {workers});
    CHECK(cluster.workers() == workers);
    cluster.write_input(0, random_tensor(x_type, 1));
    cluster.write_input(1, random_tensor(w_type, 2));
    cluster.run();
    answers.push_back(cluster.read_output(0));
    CHECK(answers.back() == answers.front());
  }
}

TEST_CASE("every kind of collective over sub-axes of a mesh puts the array together") {
  const Mesh mesh = make_mesh_of({{"x", 8}});
  const AxisRef major{0, 1, 2}, middle{0, 2, 2}, minor{0, 4, 2};
  const TensorType whole{DType::f32, {8, 16}};
  ProgramMaker maker(mesh);
  const BufferId a = maker.input("a", whole, sharding_of({{major, middle}, {minor}}));
  const TensorType start = maker.type(a);
  Collective to_all;
  to_all.kind = CollectiveKind::all_to_all;
  to_all.axes = {middle};
  to_all.dim = 0;
  to_all.split_dim = 1;
  const TensorType moved{DType::f32, {4, 4}};
  const BufferId b = maker.collective(to_all, a, moved);
  Collective gather;
  gather.kind = CollectiveKind::all_gather;
  gather.axes = {minor, middle};
  gather.dim = 1;
  const TensorType wide{DType::f32, {4, 16}};
  const BufferId c = maker.collective(gather, b, wide);
  Collective slice;
  slice.kind = CollectiveKind::all_slice;
  slice.axes = {minor};
  slice.dim = 0;
  const TensorType cut{DType::f32, {2, 16}};
  const BufferId d = maker.collective(slice, c, cut);
  maker.output("after all_to_all", b, whole, sharding_of({{major}, {minor, middle}}));
  maker.output("after all_gather", c, whole, sharding_of({{major}, {}}));
  maker.output("after all_slice", d, whole, sharding_of({{major, minor}, {}}));
  CHECK(start.shape == Shape{2, 8});
  Cluster cluster(maker.program, {2});
  const HostTensor array = random_tensor(whole, 4);
  cluster.write_input(0, array);
  cluster.run();
  for (std::size_t i = 0; i < 3; ++i) CHECK(cluster.read_output(i) == array);
}
