// JAX's own pictures, recorded.

#include <doctest/doctest.h>

#include "model/graph_builder.h"
#include "report/picture.h"
#include "shard/sharded_graph.h"
#include "support/goldens.h"

using namespace shard;
using namespace shard::tests;

namespace {

constexpr const char* refused = "refused";

std::string drawn(const json& asked, const Mesh& mesh, const Shape& shape,
                  const std::optional<Sharding>& sharding) {
  if (!has_jax_picture(shape) || !sharding || !divides_evenly(shape, *sharding)) return refused;
  if (product(sharding->unreduced) > 1) return refused;
  PictureOptions options;
  options.max_width = asked.value("max_width", options.max_width);
  options.min_width = asked.value("min_width", options.min_width);
  options.scale = asked.value("scale", options.scale);
  return jax_picture(mesh, *sharding, shape, options);
}

std::string drawn(const json& asked) {
  const Mesh mesh = mesh_of(asked.at("mesh"));
  const Shape shape = asked.at("shape").get<Shape>();
  return drawn(asked, mesh, shape, sharding_of(mesh, asked.at("spec"), shape.size()));
}

/// The functions of one matrix whose results were drawn inside of jit.
ValueId applied(GraphBuilder& build, const std::string& expression, ValueId x) {
  using Dims = std::vector<std::int64_t>;
  if (expression == "sin") return build.emit(Op::sin, {x});
  if (expression == "sum0") return build.emit(Op::reduce_sum, {x}, {{"dims", Dims{0}}});
  const ValueId turned = build.emit(Op::transpose, {x}, {{"order", Dims{1, 0}}});
  if (expression == "transpose") return turned;
  REQUIRE(expression == "dot");
  return build.emit(Op::dot, {x, turned}, dot_attributes({}, {}, {1}, {0}));
}

/// What the engine chooses for the expression's result, drawn.
std::string drawn_inside_jit(const json& asked) {
  const Mesh mesh = mesh_of(asked.at("mesh"));
  PartitionSpec spec;
  for (const json& entry : asked.at("spec")) spec.entries.push_back(*entry_of(entry));
  Graph graph;
  GraphBuilder build(graph);
  const TensorType type{DType::f32, asked.at("shape").get<Shape>()};
  const ValueId x = build.add_value(type, "x", {"", ""}, {});
  graph.regions[0].parameters = {x};
  graph.inputs.push_back({x, "x", Role::input, -1, SpecConfig{spec, {}}});
  const ValueId y = applied(build, asked.at("expression").get<std::string>(), x);
  graph.regions[0].results = {y};
  graph.outputs.emplace_back().value = y;
  const ShardedGraph sharded = shard_graph(graph, {}, mesh);
  return drawn(asked, mesh, graph.value(y).type.shape, sharded.output_shardings.front());
}

}  // namespace

TEST_CASE("pictures are what JAX draws") {
  const std::optional<json> recording = read_goldens("semantics/pictures.json");
  if (!recording) return;
  Conformance conformance("semantics/pictures.json");
  for (const json& one : *recording) {
    const json& answer = one.at("out");
    const std::string expected =
        answer.contains("text") ? answer.at("text").get<std::string>() : refused;
    const bool is_in_jit = one.at("kind") == "jit";
    conformance.expect(one.at("id").get<std::string>(),
                       is_in_jit ? drawn_inside_jit(one.at("in")) : drawn(one.at("in")), expected);
  }
  CHECK(conformance.matched() == conformance.total());
}
