// Programs that people have reported, with what is moved for them: counted, not timed.
#include <doctest/doctest.h>

#include "shard/graph_maker.h"
#include "spmd/partition.h"
#include "spmd/words.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Dims = std::vector<std::int64_t>;

Mesh mesh_of_axes(const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  std::vector<MeshAxisInfo> infos;
  for (const auto& [name, size] : axes) infos.push_back({MeshAxis(name), size, {}});
  return Mesh(infos);
}

/// `all_reduce over x: 1 x 256 B, wire 256 B`, one line each.
std::string sent(const ShardedGraph& sharded) {
  std::string text;
  for (const CollectiveCount& one : count_collectives(partition(sharded))) {
    std::string axes;
    for (const AxisRef& axis : one.axes)
      axes += (axes.empty() ? "" : ",") + to_string(sharded.mesh, axis);
    text += std::string(name(one.kind)) + " over " + axes + ": " + std::to_string(one.count) +
            " x " + with_commas(one.payload) + " B, wire " + with_commas(one.wire) + " B\n";
  }
  return text;
}

ShardedGraph sharded(GraphMaker& make, const Mesh& mesh) {
  verify(make.graph);
  return shard_graph(make.graph, {}, mesh);
}

}  // namespace

TEST_CASE("a partial sum over two axes stays partial and is reduced once over both") {
  GraphMaker make;
  const ValueId a = make.input("a", {8, 4}, {"j", "i"}, placed({"X,Y", ""}), Role::input);
  const ValueId b = make.input("b", {8}, {"j"}, placed({"X,Y"}), Role::input);
  const ValueId y = make.build.emit(Op::dot, {a, b},
                                    {{"lhs_batch", Dims{}},
                                     {"rhs_batch", Dims{}},
                                     {"lhs_contract", Dims{0}},
                                     {"rhs_contract", Dims{0}}});
  make.output("y", y, placed({""}));
  // 4 f32 on each device; all 4 devices in one group.
  CHECK(sent(sharded(make, mesh_of_axes({{"X", 2}, {"Y", 2}}))) ==
        "all_reduce over X,Y: 1 x 16 B, wire 24 B\n");
}

TEST_CASE("taking an index of a dim that is whole moves nothing") {
  GraphMaker make;
  const ValueId a = make.input("a", {4, 3}, {}, placed({"S", ""}), Role::input);
  const ValueId column = make.build.emit(
      Op::slice, {a}, {{"start", Dims{0, 1}}, {"limit", Dims{4, 2}}, {"stride", Dims{1, 1}}});
  const ValueId y = make.build.emit(Op::reshape, {column}, {{"shape", Dims{4}}});
  make.output("y", y);
  const ShardedGraph graph = sharded(make, mesh_of_axes({{"S", 4}}));
  CHECK(make.specs(graph, {y}) == "P('S',)\n");
  CHECK(sent(graph).empty());
}

TEST_CASE("a split feature dim becomes heads and back without moving anything") {
  GraphMaker make;
  const ValueId q = make.input("q", {8, 1024, 640}, {}, placed({"data", "", "model"}), Role::input);
  const ValueId heads = make.build.emit(Op::reshape, {q}, {{"shape", Dims{8, 1024, 5, 128}}});
  const ValueId back = make.build.emit(Op::reshape, {heads}, {{"shape", Dims{8, 1024, 640}}});
  make.output("y", back);
  const ShardedGraph graph = sharded(make, mesh_of_axes({{"data", 2}, {"model", 5}}));
  CHECK(make.specs(graph, {heads, back}) ==
        "P('data', None, 'model', None)\nP('data', None, 'model')\n");
  CHECK(sent(graph).empty());
}

TEST_CASE("merging dims is free where the outer one is split and moves where the inner one is") {
  const auto merged = [](const std::vector<std::string>& split) {
    GraphMaker make;
    const ValueId x = make.input("x", {8, 4}, {}, placed(split), Role::input);
    const ValueId y = make.build.emit(Op::reshape, {x}, {{"shape", Dims{32}}});
    make.output("y", y);
    const ShardedGraph graph = sharded(make, mesh_of_axes({{"x", 2}, {"y", 2}}));
    return make.specs(graph, {y}) + sent(graph);
  };
  CHECK(merged({"x", ""}) == "P('x',)\n");
  CHECK(merged({"", "y"}) == "P()\nall_gather over y: 1 x 128 B, wire 64 B\n");
  // Half of every shard has to leave: (x, y) on the merged dim would not be where the bytes are.
  CHECK(merged({"x", "y"}) == "P('x',)\nall_gather over y: 1 x 64 B, wire 32 B\n");
}

TEST_CASE("microbatches by a leading dim of strided rows are free and by contiguous rows are not") {
  const auto split = [](bool by_outer_dim) {
    GraphMaker make;
    const ValueId x = make.input("x", {8, 2048}, {}, placed({"data", ""}), Role::input);
    ValueId parts = ValueId::none;
    if (by_outer_dim) {
      parts = make.build.emit(Op::reshape, {x}, {{"shape", Dims{2, 4, 2048}}});
    } else {
      const ValueId rows = make.build.emit(Op::reshape, {x}, {{"shape", Dims{4, 2, 2048}}});
      parts = make.build.emit(Op::transpose, {rows}, {{"order", Dims{1, 0, 2}}});
    }
    make.output("y", make.constrain(parts, placed({"", "data", ""})));
    return sent(sharded(make, mesh_of_axes({{"data", 4}})));
  };
  CHECK(split(false).empty());
  CHECK(!split(true).empty());
}

TEST_CASE("a chain that starts from a scalar takes the place its user wants") {
  GraphMaker make;
  const ValueId scalar = make.input("s", {}, {}, placed({}), Role::input);
  const ValueId t = make.input("t", {512, 256}, {}, placed({"a,b", ""}), Role::input);
  const ValueId wide =
      make.build.emit(Op::broadcast, {scalar}, {{"shape", Dims{256, 2, 256}}, {"dims", Dims{}}});
  const ValueId turned = make.build.emit(Op::transpose, {wide}, {{"order", Dims{1, 0, 2}}});
  const ValueId flat = make.build.emit(Op::reshape, {turned}, {{"shape", Dims{512, 256}}});
  make.output("y", make.build.emit(Op::add, {flat, t}));
  const ShardedGraph graph = sharded(make, mesh_of_axes({{"a", 8}, {"b", 4}}));
  CHECK(sent(graph).empty());
}
