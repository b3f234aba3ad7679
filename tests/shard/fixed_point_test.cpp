// What must hold of any propagation, on random graphs.

#include "shard/fixed_point.h"

#include <doctest/doctest.h>

#include <random>

#include "graph_maker.h"
#include "shard/axes.h"
#include "shard/graph_flow.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// A chain of matmuls, elementwise ops, transposes and sums over square arrays, with random mesh
/// axes on the inputs and some constraints.
struct RandomGraph {
  explicit RandomGraph(std::uint64_t seed) : random(seed) {
    for (int i = 0; i < 4; ++i) {
      values.push_back(make.input("x" + std::to_string(i), {16, 16}, {}, spec(), Role::input));
    }
    values.push_back(make.constant({16, 16}, 1));
    for (int i = 0; i < 12; ++i) values.push_back(next());
    for (int i = 0; i < 3; ++i) make.output("y" + std::to_string(i), any());
  }

  std::uint64_t below(std::uint64_t count) { return random() % count; }
  ValueId any() { return values[below(values.size())]; }

  SpecConfig spec() {
    static const std::vector<std::vector<std::string>> choices = {
        {"", ""},           {"data", ""},       {"", "model"}, {"model", "data"},
        {"data,model", ""}, {"", "model,data"}, {"?", "data"}, {"model", "?"}};
    // Arguments may not be unconstrained, so they choose among the first six.
    return placed(choices[below(values.size() < 4 ? 6 : choices.size())]);
  }

  ValueId next() {
    const std::uint64_t what = below(5);
    const ValueId a = any();
    const ValueId b = any();
    switch (what) {
      case 0:
        return make.build.emit(Op::add, {a, b});
      case 1:
        return make.build.emit(Op::transpose, {a}, {{"order", std::vector<std::int64_t>{1, 0}}});
      case 2:
        return make.constrain(a, spec());
      case 3:
        return make.build.emit(Op::relu, {a});
      default:
        return make.dot(a, b);
    }
  }

  std::mt19937_64 random;
  GraphMaker make;
  std::vector<ValueId> values;
};

std::vector<Sharding> shardings_of(const FlowGraph& flow) {
  std::vector<Sharding> shardings;
  for (const FlowSlot& slot : flow.slots) shardings.push_back(slot.sharding);
  return shardings;
}

bool has_overlap(const Sharding& sharding) {
  Axes seen;
  for (const DimSharding& dim : sharding.dims) {
    for (const AxisRef& axis : dim.axes) {
      for (const AxisRef& other : seen) {
        if (overlaps(axis, other)) return true;
      }
      seen.push_back(axis);
    }
  }
  return false;
}

FlowGraph flow_of_inputs(const RandomGraph& random) {
  const Graph& graph = random.make.graph;
  RulesConfig rules;
  const Mesh mesh = guide_mesh();
  Diagnostics diagnostics;
  Resolver resolver(rules, mesh, diagnostics);
  const auto resolved = [&](const SpecConfig& spec, ValueId value, Part part) {
    return resolver.resolve({spec, graph.value(value).type, part, "x"}).sharding;
  };
  GivenShardings given;
  for (const GraphValue& value : graph.values) {
    given.values.push_back(open_sharding(value.type.rank()));
  }
  for (const GraphInput& input : graph.inputs) {
    given.values[index_of(input.value)] = resolved(input.placement, input.value, Part::inputs);
  }
  for (const SpecConfig& placement : graph.placements) {
    given.constraints.push_back(resolved(placement, graph.inputs.front().value, Part::activations));
  }
  given.results.assign(graph.outputs.size(), open_sharding(2));
  REQUIRE_FALSE(diagnostics.has_errors());
  return flow_of(graph, given).flow;
}

}  // namespace

TEST_CASE("propagation reaches a fixed point and running it again changes nothing") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    for (const Strategy strategy : {Strategy::aggressive, Strategy::basic}) {
      FlowGraph flow = flow_of_inputs(RandomGraph(seed));
      reach_fixed_point(flow, {strategy});
      const std::vector<Sharding> once = shardings_of(flow);
      CHECK(reach_fixed_point(flow, {strategy}).gains.empty());
      CHECK(shardings_of(flow) == once);
    }
  }
}

TEST_CASE("no mesh axis splits two dims of one array") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    FlowGraph flow = flow_of_inputs(RandomGraph(seed));
    reach_fixed_point(flow);
    for (const Sharding& sharding : shardings_of(flow)) CHECK_FALSE(has_overlap(sharding));
  }
}

TEST_CASE("closed dims never change and every gain is at the minor end") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    FlowGraph flow = flow_of_inputs(RandomGraph(seed));
    const std::vector<Sharding> before = shardings_of(flow);
    reach_fixed_point(flow);
    for (std::size_t slot = 0; slot < before.size(); ++slot) {
      for (std::size_t dim = 0; dim < before[slot].dims.size(); ++dim) {
        const Axes& after = flow.slots[slot].sharding.dims[dim].axes;
        CHECK(is_prefix(before[slot].dims[dim].axes, after));
        if (!before[slot].dims[dim].is_open) CHECK(before[slot].dims[dim].axes == after);
      }
    }
  }
}

TEST_CASE("random graphs are sharded evenly and stay well formed") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const RandomGraph random(seed);
    const ShardedGraph sharded = shard_graph(random.make.graph, {}, guide_mesh());
    CHECK_NOTHROW(verify(sharded.graph));
    for (std::size_t value = 0; value < sharded.shardings.size(); ++value) {
      CHECK(divides_evenly(sharded.graph.values[value].type.shape, sharded.shardings[value]));
    }
  }
}
