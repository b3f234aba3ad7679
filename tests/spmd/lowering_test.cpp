// Where collectives come from: constraints, sums, operands that differ, loops.

#include "spmd/lowering.h"

#include <doctest/doctest.h>

#include "shard/graph_maker.h"
#include "spmd/partition.h"
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
  // A free axis shares the work: half the sum each, put together at the end.
  CHECK(collectives(planned(make.graph), 0) ==
        "reduce_scatter model wire 384\nall_gather data wire 128\n");
}

TEST_CASE("operands that differ take the way that sends least") {
  GraphMaker make;
  const ValueId x = make.input("x", {512, 16}, {}, placed({"data", ""}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {}, placed({"model", ""}));
  make.output("y", make.dot(x, w), placed({"data", ""}));
  CHECK(collectives(planned(make.graph), 0) == "all_gather model wire 1536\n");
}

TEST_CASE("what no iteration changes is gathered once before the loop") {
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
  graph.inputs = {{x, "x", Role::input, -1, {}, {}}, {w, "w", Role::parameter, -1, {}, {}}};
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
  const Program program = partition(sharded);
  verify(program);
  CHECK(collectives(program, 0) == "all_gather model wire 768\n");
  CHECK(collectives(program, 1).empty());
}
