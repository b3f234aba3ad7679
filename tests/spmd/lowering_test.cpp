// Where collectives come from: constraints, sums, operands that differ, loops.

#include "spmd/lowering.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>

#include "shard/graph_maker.h"
#include "spmd/fuse.h"
#include "spmd/partition.h"
#include "spmd/partitioner.h"
#include "spmd/random_program.h"
#include "spmd/words.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::string collectives(const Program& program, std::size_t body) {
  std::string text;
  for (const Instruction& instruction : program.bodies[body].instructions) {
    if (!instruction.collective || instruction.collective->wire == Bytes(0)) continue;
    text += std::string(name(instruction.collective->kind));
    for (const AxisRef& axis : instruction.collective->axes)
      text += " " + to_string(program.mesh, axis);
    text += " wire " + std::to_string(instruction.collective->wire.count()) + "\n";
  }
  return text;
}

Program planned(const Graph& graph) {
  Program program = partition(shard_graph(graph, {}, guide_mesh()));
  verify(program);
  return program;
}

Sharding split(const std::vector<Axes>& dims) {
  Sharding sharding;
  for (const Axes& axes : dims) sharding.dims.push_back({axes, false});
  return sharding;
}

}  // namespace

TEST_CASE("constraints that undo each other move nothing") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", "model"}), Role::input);
  const ValueId turned = make.constrain(x, placed({"model", "data"}));
  make.output("y", make.constrain(turned, placed({"data", "model"})), placed({"data", "model"}));
  CHECK(collectives(planned(make.graph), 0).empty());
}

TEST_CASE("a constraint that somebody reads is a reshard") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", ""}), Role::input);
  const ValueId turned = make.constrain(x, placed({"", "data"}));
  make.output("y", make.build.emit(Op::relu, {turned}), placed({"", "data"}));
  CHECK(collectives(planned(make.graph), 0) == "all_to_all data wire 128\n");
}

TEST_CASE("a sum goes straight to where it is wanted") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"", "model"}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {}, placed({"model", ""}));
  const ValueId whole = make.constrain(make.dot(x, w), placed({"", ""}));
  make.output("y", make.constrain(whole, placed({"model", ""})), placed({"model", ""}));
  CHECK(collectives(planned(make.graph), 0) == "reduce_scatter model wire 768\n");
}

TEST_CASE("a sum in place is one all_reduce and leaves idle axes alone") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"", "model"}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {}, placed({"model", ""}));
  make.output("y", make.dot(x, w), placed({"", ""}));
  CHECK(collectives(planned(make.graph), 0) == "all_reduce model wire 1536\n");
}

TEST_CASE("where nothing is cheaper than Shardy's way the outer axes carry less than there") {
  GraphMaker make;
  const ValueId w = make.input("w", {16, 16}, {}, placed({"model", "data"}));
  make.output("y", make.build.emit(Op::relu, {w}), placed({"", ""}));
  CHECK(collectives(planned(make.graph), 0) ==
        "all_gather data wire 128\nall_gather model wire 768\n");
}

TEST_CASE("two sums are added before they are reduced") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"", "model"}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {}, placed({"model", ""}));
  const ValueId v = make.input("v", {16, 32}, {}, placed({"model", ""}));
  const ValueId one = make.build.emit(Op::negate, {make.dot(x, w)});
  make.output("y", make.build.emit(Op::add, {one, make.dot(x, v)}), placed({"", ""}));
  const Program program = planned(make.graph);
  CHECK(collectives(program, 0) == "all_reduce model wire 1536\n");
  CHECK(program.main().instructions.back().collective->why.kind ==
        CollectiveReason::Kind::partial_sum);
}

namespace {

/// x1 w1 + x2 w2 + ..., every product over a dim that is split; w is also split as the rows of x.
std::string collectives_of_terms(int terms) {
  GraphMaker make;
  ValueId total = ValueId::none;
  for (int i = 0; i < terms; ++i) {
    const std::string number = std::to_string(i);
    const ValueId x =
        make.input("x" + number, {64, 16}, {}, placed({"data", "model"}), Role::input);
    const ValueId w = make.input("w" + number, {16, 48}, {}, placed({"model", "data"}));
    const ValueId product = make.dot(x, w);
    total = i == 0 ? product : make.build.emit(Op::add, {total, product});
  }
  make.output("y", total, placed({"data", ""}));
  return collectives(planned(make.graph), 0);
}

}  // namespace

TEST_CASE("terms of one sum share its reduction where each alone had rather been gathered") {
  const std::string gathered =
      "all_gather model wire 1536\nall_gather data wire 384\nall_gather model wire 2304\n";
  CHECK(collectives_of_terms(1) == gathered);
  CHECK(collectives_of_terms(2) == gathered + gathered);
  for (const int terms : {3, 40}) {
    std::string shared;
    for (int i = 0; i < terms; ++i) shared += "all_gather data wire 384\n";
    CHECK(collectives_of_terms(terms) == shared + "all_reduce model wire 9216\n");
  }
}

TEST_CASE("a sum that somebody else reads whole is reduced at once") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"", "model"}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {}, placed({"model", ""}));
  const ValueId v = make.input("v", {16, 32}, {}, placed({"model", ""}));
  const ValueId one = make.dot(x, w);
  make.output("z", make.build.emit(Op::relu, {one}), placed({"", ""}));
  make.output("y", make.build.emit(Op::add, {one, make.dot(x, v)}), placed({"", ""}));
  CHECK(collectives(planned(make.graph), 0) ==
        "all_reduce model wire 1536\nall_reduce model wire 1536\n");
}

TEST_CASE("what is broadcast is brought to other devices before it is large") {
  GraphMaker make;
  const ValueId x = make.input("x", {16}, {}, placed({"model"}), Role::input);
  const ValueId rows = make.build.emit(
      Op::broadcast, {x}, {{"shape", Shape{64, 16}}, {"dims", std::vector<std::int64_t>{1}}});
  const ValueId split = make.constrain(rows, placed({"", "model"}));
  make.output("y", make.build.emit(Op::relu, {split}), placed({"", "model"}));
  make.output("z", make.build.emit(Op::relu, {make.constrain(rows, placed({"", ""}))}),
              placed({"", ""}));
  CHECK(collectives(planned(make.graph), 0) == "all_gather model wire 48\n");
}

TEST_CASE("what a partitioner knows of other graphs changes no program") {
  std::map<std::string, std::unique_ptr<Partitioner>> by_mesh;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const ShardedGraph graph = random_sharded_graph(seed);
    std::string axes;
    for (const MeshAxisInfo& axis : graph.mesh.axes())
      axes += axis.name.text() + "=" + std::to_string(axis.size) + " ";
    std::unique_ptr<Partitioner>& partitioner = by_mesh[axes];
    if (partitioner == nullptr) partitioner = std::make_unique<Partitioner>(graph.mesh);
    CHECK(partitioner->run(graph).program == partition(graph));
  }
  CHECK(by_mesh.size() < 150);  // most are shared
}

TEST_CASE("a partitioner that weighed both modes says which one made the program") {
  std::map<PartitionMode, int> times;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const ShardedGraph graph = random_sharded_graph(seed);
    Partitioner partitioner(graph.mesh);
    const PartitionedProgram made = partitioner.run(graph);
    CHECK(made.program == partitioner.run_as(made.mode, graph));
    ++times[made.mode];
  }
  CHECK(times[PartitionMode::compatible] > 10);
  CHECK(times[PartitionMode::cheapest] > 10);
}

TEST_CASE("a program without offsets gets those it would have had when its memory is planned") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const ShardedGraph graph = random_sharded_graph(seed);
    Partitioner partitioner(graph.mesh);
    Program program = partitioner.run(graph, PartitionMode::cheapest, Offsets::left_out).program;
    CHECK(program.memory == MemoryPlan{});
    Program chains = fused(program, Offsets::left_out);
    plan_memory(program);
    CHECK(program == partition(graph));
    plan_memory(chains);
    CHECK(chains == fused(program));
  }
}

TEST_CASE("random graphs never send more than in the compatible mode") {
  int cheaper = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const ShardedGraph graph = random_sharded_graph(seed);
    const Bytes least = wire_of(partition(graph));
    const Bytes most = wire_of(partition(graph, PartitionMode::compatible));
    CHECK(least <= most);
    cheaper += least < most ? 1 : 0;
  }
  CHECK(cheaper >= 50);
}

TEST_CASE("operands that differ take the way that sends least") {
  GraphMaker make;
  const ValueId x = make.input("x", {512, 16}, {}, placed({"data", ""}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {}, placed({"model", ""}));
  make.output("y", make.dot(x, w), placed({"data", ""}));
  CHECK(collectives(planned(make.graph), 0) == "all_gather model wire 1536\n");
}

namespace {

/// y = x + 5 w in a loop, w split over model; `role` is that of w.
ShardedGraph loop_over(Role role) {
  ShardedGraph sharded;
  sharded.mesh = guide_mesh();
  Graph& graph = sharded.graph;
  GraphBuilder build(graph);
  const TensorType type{DType::f32, {16, 16}};
  const auto add = [&](const std::string& name, const Sharding& sharding) {
    const ValueId value = build.add_value(type, name, {}, {});
    sharded.shardings.resize(graph.values.size(), split({{}, {}}));
    sharded.shardings[index_of(value)] = sharding;
    return value;
  };
  const Sharding whole = split({{}, {}}), rows = split({{sharded.mesh.full(1)}, {}});
  const ValueId x = add("x", whole), w = add("w", rows);
  graph.regions.front().parameters = {x, w};
  graph.inputs = {{x, "x", Role::input, -1, {}, {}}, {w, "w", role, -1, {}, {}}};
  const RegionId region = build.add_region();
  const RegionId before = build.enter(region);
  const ValueId carry = add("", whole), inside = add("", rows);
  const ValueId sum = build.emit(Op::add, {carry, inside});
  sharded.shardings.resize(graph.values.size(), whole);
  graph.regions[index_of(region)].parameters = {carry, inside};
  graph.regions[index_of(region)].results = {sum};
  build.enter(before);
  const NodeId loop = build.add_repeat(region, {x, w},
                                       {{"times", std::int64_t{5}},
                                        {"carries", std::int64_t{1}},
                                        {"stacked", std::int64_t{0}},
                                        {"reverse", std::int64_t{0}}});
  const ValueId y = build.add_result(loop, type, {});
  sharded.shardings.resize(graph.values.size(), whole);
  graph.regions.front().results = {y};
  graph.outputs = {{y, "y", Role::output, -1, -1, std::nullopt, {}}};
  sharded.output_shardings = {whole};
  return sharded;
}

}  // namespace

TEST_CASE("what no iteration changes is gathered once before the loop") {
  const Program program = partition(loop_over(Role::input));
  verify(program);
  CHECK(collectives(program, 0) == "all_gather model wire 768\n");
  CHECK(collectives(program, 1).empty());
}

TEST_CASE("state is gathered in every iteration so that it stays split") {
  const Program program = partition(loop_over(Role::parameter));
  verify(program);
  CHECK(collectives(program, 0).empty());
  CHECK(collectives(program, 1) == "all_gather model wire 768\n");
}
