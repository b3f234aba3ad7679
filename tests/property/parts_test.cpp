// Ops along dims that are split: computed in parts that exchange what they need of each other, they
// give what they give whole, and send less than making the dim whole would.

#include <doctest/doctest.h>

#include <cmath>

#include "exec/cluster.h"
#include "exec/element.h"
#include "exec/measure.h"
#include "exec/reference.h"
#include "model/graph_builder.h"
#include "ops/window_dims.h"
#include "property/op_cases.h"
#include "property/planned_equals_counted.h"
#include "shard/sharded_graph.h"
#include "spmd/partition.h"

using namespace shard;
using namespace shard::test;

namespace {

using Dims = std::vector<std::int64_t>;

/// An op whose first operand is split along `dim`; other operands of its rank too.
struct PartsCase {
  std::string name;
  Op op = Op::constant;
  std::vector<TensorType> operands;
  Attributes attributes;
  std::size_t dim = 0;
  std::int64_t index_limit = 30;
};

TensorType f32_of(Shape shape) { return {DType::f32, std::move(shape)}; }
TensorType whole(Shape shape) { return {DType::i32, std::move(shape)}; }

Attributes windows(Dims sizes, Dims strides, Dims low, Dims high, Dims dilation, Dims spread) {
  return {{"window", std::move(sizes)},      {"strides", std::move(strides)},
          {"low", std::move(low)},           {"high", std::move(high)},
          {"dilation", std::move(dilation)}, {"base_dilation", std::move(spread)}};
}

Attributes slice_of(std::int64_t start, std::int64_t limit, std::int64_t stride) {
  return {{"start", Dims{start, 0}}, {"limit", Dims{limit, 4}}, {"stride", Dims{stride, 1}}};
}

Attributes pad_of(std::int64_t low, std::int64_t high, std::int64_t interior) {
  return {{"low", Dims{low, 0}}, {"high", Dims{high, 0}}, {"interior", Dims{interior, 0}}};
}

void add_moves(std::vector<PartsCase>& cases) {
  const TensorType x = f32_of({48, 4});
  cases.push_back({"first half", Op::slice, {x}, slice_of(0, 24, 1)});
  cases.push_back({"second half", Op::slice, {x}, slice_of(24, 48, 1)});
  cases.push_back({"middle", Op::slice, {x}, slice_of(7, 31, 1)});
  cases.push_back({"every second", Op::slice, {x}, slice_of(1, 48, 2)});
  cases.push_back({"one row", Op::slice, {x}, slice_of(5, 6, 1)});
  cases.push_back({"rows of one part", Op::slice, {x}, slice_of(44, 48, 2)});
  cases.push_back({"shift on", Op::pad, {x, f32_of({})}, pad_of(1, -1, 0)});
  cases.push_back({"shift back", Op::pad, {x, f32_of({})}, pad_of(-2, 2, 0)});
  cases.push_back({"grow", Op::pad, {x, f32_of({})}, pad_of(10, 14, 0)});
  cases.push_back({"shrink", Op::pad, {x, f32_of({})}, pad_of(-5, -19, 0)});
  cases.push_back({"spread", Op::pad, {x, f32_of({})}, pad_of(1, 0, 1)});
  cases.push_back({"spread and cut", Op::pad, {x, f32_of({})}, pad_of(-3, 4, 1)});
  cases.push_back({"reverse", Op::reverse, {x}, {{"dims", Dims{0}}}});
  cases.push_back({"reverse both", Op::reverse, {x}, {{"dims", Dims{0, 1}}}});
  cases.push_back({"join", Op::concatenate, {x, f32_of({24, 4}), x}, {{"dim", std::int64_t{0}}}});
  cases.push_back({"dynamic slice",
                   Op::dynamic_slice,
                   {f32_of({96, 4}), whole({}), whole({})},
                   {{"sizes", Dims{3, 2}}},
                   0,
                   100});
}

void add_lines(std::vector<PartsCase>& cases) {
  const TensorType x = f32_of({48, 6}), y = f32_of({6, 96});
  for (const Op op : {Op::argmax, Op::argmin}) {
    cases.push_back({"position", op, {f32_of({192, 3})}, {{"dim", std::int64_t{0}}}});
    cases.push_back({"position", op, {whole({192, 3})}, {{"dim", std::int64_t{0}}}, 0, 3});
  }
  cases.push_back({"top k", Op::top_k, {y}, {{"k", std::int64_t{2}}}, 1});
  cases.push_back({"top k of few", Op::top_k, {whole({6, 384})}, {{"k", std::int64_t{5}}}, 1, 3});
  for (const std::int64_t reverse : {0, 1}) {
    const Attributes line{{"dim", std::int64_t{0}}, {"reverse", reverse}};
    for (const Op op : {Op::cumsum, Op::cumprod, Op::cummax, Op::cummin, Op::cumlogsumexp}) {
      cases.push_back({"so far", op, {x}, line});
    }
    cases.push_back({"so far", Op::cumsum, {whole({48, 6})}, line});
    cases.push_back({"so far", Op::cummax, {whole({48, 6})}, line});
    cases.push_back({"so far", Op::linear_recurrence, {x, x}, line});
  }
}

void add_windows(std::vector<PartsCase>& cases) {
  const TensorType x = f32_of({48, 4});
  for (const Op op : {Op::reduce_window_sum, Op::reduce_window_max, Op::reduce_window_min}) {
    cases.push_back({"same", op, {x}, windows({3, 1}, {1, 1}, {1, 0}, {1, 0}, {1, 1}, {1, 1})});
    cases.push_back({"strided", op, {x}, windows({5, 2}, {2, 1}, {1, 1}, {2, 0}, {1, 1}, {1, 1})});
    cases.push_back({"dilated", op, {x}, windows({3, 1}, {1, 1}, {7, 0}, {-3, 0}, {2, 1}, {1, 1})});
    cases.push_back({"spread", op, {x}, windows({3, 1}, {1, 1}, {1, 0}, {2, 0}, {1, 1}, {2, 1})});
  }
  const auto scatter = [&](const char* name, std::int64_t largest, std::int64_t count,
                           Attributes over) {
    over.set("largest", largest);
    cases.push_back({name, Op::select_and_scatter_add, {x, f32_of({count, 4})}, std::move(over)});
  };
  scatter("side by side", 1, 48, windows({3, 1}, {1, 1}, {1, 0}, {1, 0}, {1, 1}, {1, 1}));
  scatter("least", 0, 24, windows({2, 1}, {2, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}));
  scatter("overlapping", 1, 24, windows({5, 1}, {2, 1}, {2, 0}, {1, 0}, {1, 1}, {1, 1}));
  scatter("with gaps", 1, 24, windows({1, 1}, {2, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}));
  scatter("dilated", 1, 48, windows({2, 1}, {1, 1}, {3, 0}, {0, 0}, {3, 1}, {1, 1}));
  const auto convolve = [&](const char* name, std::int64_t kernel, Windows over,
                            std::int64_t groups = 1) {
    const ConvolutionDims dims{{0, 2, 1}, {2, 1, 0}, {0, 2, 1}, groups, 1};
    cases.push_back({name,
                     Op::convolution,
                     {f32_of({2, 48, 4}), f32_of({kernel, 4 / groups, 6})},
                     convolution_attributes(dims, over),
                     1});
  };
  convolve("same", 3, {{}, {1}, {1}, {1}, {1}, {1}});
  convolve("long kernel", 9, {{}, {1}, {4}, {4}, {1}, {1}});
  convolve("strided", 4, {{}, {2}, {1}, {1}, {1}, {1}});
  convolve("dilated", 3, {{}, {1}, {0}, {4}, {2}, {1}});
  convolve("causal groups", 4, {{}, {1}, {3}, {0}, {1}, {1}}, 2);
  convolve("transposed", 4, {{}, {1}, {2}, {2}, {1}, {2}});
  // The gradient of a kernel: the split dim is summed over.
  const ConvolutionDims dims{{2, 0, 1}, {2, 0, 1}, {0, 2, 1}, 1, 1};
  cases.push_back({"gradient",
                   Op::convolution,
                   {f32_of({2, 48, 4}), f32_of({2, 48, 6})},
                   convolution_attributes(dims, {{}, {1}, {1}, {1}, {1}, {1}}),
                   1});
}

std::vector<PartsCase> parts_cases() {
  std::vector<PartsCase> cases;
  add_moves(cases);
  add_lines(cases);
  add_windows(cases);
  return cases;
}

/// Kernels and scalars are whole.
bool is_split(const TensorType& type, const PartsCase& test) {
  return type.rank() == test.operands.front().rank() && type.shape[test.dim] >= 24;
}

/// Sizes of a mesh, and the axes in the order in which they split the dim.
struct Split {
  std::vector<std::int64_t> sizes;
  std::vector<std::string> order;

  Mesh mesh() const {
    std::vector<MeshAxisInfo> axes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      axes.push_back({MeshAxis(std::string(1, static_cast<char>('x' + i))), sizes[i], {}});
    }
    return Mesh(std::move(axes));
  }
  std::int64_t parts() const {
    std::int64_t parts = 1;
    for (const std::int64_t size : sizes) parts *= size;
    return parts;
  }
};

class PartsGraph {
 public:
  PartsGraph(const PartsCase& test, const Split& split) : builder_(graph_) {
    graph_.name = test.name;
    std::vector<ValueId> operands;
    for (const TensorType& type : test.operands) operands.push_back(input(type, test, split));
    for (const ValueId result : builder_.emit_all(test.op, operands, test.attributes)) {
      const std::string path = "out" + std::to_string(graph_.outputs.size());
      graph_.outputs.push_back({result, path, Role::output, -1, -1, std::nullopt});
      graph_.regions.front().results.push_back(result);
    }
    verify(graph_);
  }

  Graph take() { return std::move(graph_); }

 private:
  ValueId input(const TensorType& type, const PartsCase& test, const Split& split) {
    PartitionSpec spec;
    spec.entries.resize(type.shape.size());
    if (is_split(type, test)) {
      for (const std::string& axis : split.order) spec.entries[test.dim].axes.emplace_back(axis);
    }
    const std::string path = "in" + std::to_string(graph_.inputs.size());
    const ValueId value =
        builder_.add_value(type, path, std::vector<std::string>(type.shape.size()), {});
    graph_.inputs.push_back({value, path, Role::parameter, -1, SpecConfig{spec, {"x", 1, 1, 1}}});
    graph_.regions.front().parameters.push_back(value);
    return value;
  }

  Graph graph_;
  GraphBuilder builder_;
};

std::vector<HostTensor> values_of(const Graph& graph, std::int64_t limit) {
  std::vector<HostTensor> inputs;
  for (const GraphInput& input : graph.inputs) {
    inputs.push_back(drawn_values(graph.value(input.value).type, limit, 7 + inputs.size()));
  }
  return inputs;
}

void check_outputs(const ShardedGraph& sharded, const Program& program,
                   const std::vector<HostTensor>& inputs) {
  const std::vector<HostTensor> expected = run_reference(sharded.given(), inputs);
  Cluster cluster(program, {1});
  for (std::size_t i = 0; i < inputs.size(); ++i) cluster.write_input(i, inputs[i]);
  cluster.run();
  CHECK(differences_from_plan(program, cluster) == std::vector<std::string>{});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Difference difference = compare("out", cluster.read_output(i), expected[i], 1e-5);
    CHECK_MESSAGE(difference.is_ok(),
                  "differs by " << difference.largest << " at " << difference.index);
  }
}

const std::vector<Split> splits = {{{2}, {"x"}},         {{3}, {"x"}},         {{4}, {"x"}},
                                   {{2, 4}, {"x", "y"}}, {{2, 3}, {"y", "x"}}, {{12}, {"x"}}};

/// What `verify` says of the program with another first collective.
std::string refusal_with(Program program, const Collective& wrong) {
  program.bodies[0].instructions[0].collective = wrong;
  try {
    verify(program);
  } catch (const Error& error) {
    return error.diagnostics().front().message;
  }
  return "none";
}

}  // namespace

TEST_CASE("every op along a split dim exchanges less than the dim and gives what it gives whole") {
  for (const PartsCase& test : parts_cases()) {
    CAPTURE(test.name);
    CAPTURE(def(test.op).name);
    CAPTURE(to_string(test.attributes));
    for (const Split& split : splits) {
      CAPTURE(to_string(split.mesh()));
      const ShardedGraph sharded = shard_graph(PartsGraph(test, split).take(), {}, split.mesh());
      const Program program = partition(sharded);
      CAPTURE(to_string(program));
      REQUIRE_NOTHROW(verify(program));
      CHECK(read_program("program", to_string(program)) == program);
      const std::int64_t parts = split.parts();
      std::int64_t gathered = 0;
      for (const TensorType& type : test.operands) {
        if (is_split(type, test)) gathered += bytes_of(type).count() * (parts - 1) / parts;
      }
      CHECK(wire_of(program).count() * (parts > 2 ? 2 : 1) <= gathered);
      check_outputs(sharded, program, values_of(sharded.graph, test.index_limit));
    }
  }
}

TEST_CASE("places of a dim that is split into them are sent by one permute") {
  Dims source;
  for (std::int64_t to = 0; to < 24; ++to) source.push_back(to % 5 == 0 ? -1 : (to + 7) % 24);
  const PartsCase test{
      "ring", Op::ppermute, {f32_of({24, 4})}, {{"dim", std::int64_t{0}}, {"source", source}}};
  for (const Split& split : {Split{{24}, {"x"}}, Split{{4, 6}, {"x", "y"}}}) {
    const ShardedGraph sharded = shard_graph(PartsGraph(test, split).take(), {}, split.mesh());
    const Program program = partition(sharded);
    REQUIRE(program.main().instructions.size() == 1);
    const Collective& sent = *program.main().instructions[0].collective;
    CHECK(sent.kind == CollectiveKind::collective_permute);
    CHECK(sent.wire == Bytes(4 * 4));
    CHECK(sent.why.kind == CollectiveReason::Kind::asked);
    REQUIRE_NOTHROW(verify(program));
    CHECK(read_program("program", to_string(program)) == program);
    check_outputs(sharded, program, values_of(sharded.graph, 30));
  }
  // Not a place for each: whole while it is done.
  const Split split{{12}, {"x"}};
  const ShardedGraph sharded = shard_graph(PartsGraph(test, split).take(), {}, split.mesh());
  check_outputs(sharded, partition(sharded), values_of(sharded.graph, 30));
}

TEST_CASE("places that stay where they are send nothing") {
  Dims source(24, -1);
  source[3] = 3;
  const PartsCase test{
      "still", Op::ppermute, {f32_of({24, 4})}, {{"dim", std::int64_t{0}}, {"source", source}}};
  const Split split{{24}, {"x"}};
  const ShardedGraph sharded = shard_graph(PartsGraph(test, split).take(), {}, split.mesh());
  const Program program = partition(sharded);
  REQUIRE_NOTHROW(verify(program));
  CHECK(wire_of(program) == Bytes(0));
  check_outputs(sharded, program, values_of(sharded.graph, 30));
}

TEST_CASE("members on devices of their own send each other rows by one collective") {
  constexpr std::int64_t members = 24;
  const TensorType list{DType::i32, {members, members}};
  const PartsCase test{"rows",
                       Op::ragged_all_to_all,
                       {f32_of({members, 3, 4}), f32_of({members, 5, 4}), list, list, list, list},
                       {{"dims", Dims{0}}}};
  // Each sends a row to the next one's last place, two to the one three further on.
  const auto values = [&](const Graph& graph) {
    std::vector<HostTensor> inputs = values_of(graph, 30);
    const double list_of[4][2] = {{0, 1}, {1, 2}, {4, 1}, {1, 2}};
    for (std::size_t k = 0; k < 4; ++k) {
      std::vector<double> numbers(members * members);
      for (std::int64_t one = 0; one < members; ++one) {
        const std::int64_t way = k == 3 ? members - 1 : 1;
        numbers[static_cast<std::size_t>(one * members + (one + way) % members)] = list_of[k][0];
        numbers[static_cast<std::size_t>(one * members + (one + 3 * way) % members)] =
            list_of[k][1];
      }
      from_doubles(numbers.data(), DType::i32, inputs[k + 2].bytes.data(), numbers.size());
    }
    return inputs;
  };
  for (const Split& split : {Split{{24}, {"x"}}, Split{{4, 6}, {"x", "y"}}}) {
    const ShardedGraph sharded = shard_graph(PartsGraph(test, split).take(), {}, split.mesh());
    const Program program = partition(sharded);
    CAPTURE(to_string(program));
    const std::vector<CollectiveCount> counts = count_collectives(program);
    REQUIRE(counts.size() == 1);
    CHECK(counts[0].kind == CollectiveKind::ragged_all_to_all);
    CHECK(counts[0].wire == Bytes(3 * 4 * 4));
    REQUIRE_NOTHROW(verify(program));
    CHECK(read_program("program", to_string(program)) == program);
    check_outputs(sharded, program, values(sharded.graph));
  }
  // Two members on a device: they are all on one while rows are sent.
  const Split split{{12}, {"x"}};
  const ShardedGraph sharded = shard_graph(PartsGraph(test, split).take(), {}, split.mesh());
  check_outputs(sharded, partition(sharded), values(sharded.graph));
}

TEST_CASE("a permute with senders that are not there or send twice is refused") {
  Dims source;
  for (std::int64_t to = 0; to < 24; ++to) source.push_back((to + 1) % 24);
  const PartsCase test{
      "ring", Op::ppermute, {f32_of({24, 4})}, {{"dim", std::int64_t{0}}, {"source", source}}};
  const Split split{{24}, {"x"}};
  const Program program = partition(shard_graph(PartsGraph(test, split).take(), {}, split.mesh()));
  const auto refusal = [&](const Collective& wrong) { return refusal_with(program, wrong); };
  const Collective right = *program.main().instructions[0].collective;
  CHECK(refusal(right) == "none");
  const std::string does_not_fit =
      "body 0, instruction 0 (collective_permute): its dims do not fit f32[1,4] and groups of 24";
  Collective wrong = right;
  wrong.senders[0] = 2;
  CHECK(refusal(wrong) == does_not_fit);
  wrong.senders[0] = 24;
  CHECK(refusal(wrong) == does_not_fit);
  wrong.senders.pop_back();
  CHECK(refusal(wrong) == does_not_fit);
  wrong = right;
  wrong.wire = Bytes(0);
  CHECK(refusal(wrong) == "body 0, instruction 0 (collective_permute): wire 0, expected 16");
}

TEST_CASE("what one device has of a slice is sent by it alone") {
  const Split split{{2, 4}, {"y", "x"}};
  for (const std::int64_t row : {0, 5, 47}) {
    const PartsCase test{"one row", Op::slice, {f32_of({48, 4})}, slice_of(row, row + 1, 1)};
    const ShardedGraph sharded = shard_graph(PartsGraph(test, split).take(), {}, split.mesh());
    const Program program = partition(sharded);
    const std::vector<Instruction>& list = program.main().instructions;
    REQUIRE(list.size() == 2);
    REQUIRE(list[1].collective);
    CHECK(list[1].collective->kind == CollectiveKind::collective_broadcast);
    CHECK(list[1].collective->source == row / 6);
    CHECK(list[1].collective->wire == Bytes(4 * 4));
    check_outputs(sharded, program, values_of(sharded.graph, test.index_limit));
  }
}

TEST_CASE("a window that is not what it costs or has no dim is refused") {
  const PartsCase test{"halo",
                       Op::reduce_window_sum,
                       {f32_of({48, 4})},
                       windows({3, 1}, {1, 1}, {1, 0}, {1, 0}, {1, 1}, {1, 1})};
  const Split split{{4}, {"x"}};
  Program program = partition(shard_graph(PartsGraph(test, split).take(), {}, split.mesh()));
  REQUIRE_NOTHROW(verify(program));
  Instruction& fetch = program.bodies[0].instructions[0];
  REQUIRE(fetch.collective->window == PartWindow{-1, 12, 14});
  CHECK(fetch.collective->wire.count() == 2 * 4 * 4);  // a row to either side
  const auto refusal = [&](const Collective& wrong) { return refusal_with(program, wrong); };
  Collective wrong = *fetch.collective;
  wrong.wire = Bytes(16);
  CHECK(refusal(wrong) == "body 0, instruction 0 (collective_permute): wire 16, expected 32");
  wrong = *fetch.collective;
  wrong.dim = 2;
  CHECK(
      refusal(wrong) ==
      "body 0, instruction 0 (collective_permute): its dims do not fit f32[12,4] and groups of 4");
}
