#include "check/reshards.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "check/findings.h"
#include "spmd/partition.h"
#include "support/model_configs.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// d [16,16,16] placed P(y, None, x) on a mesh x 4 x y 2, and wanted as P(None, (x, y), None).
struct Exchange {
  ModelConfig config;
  RulesConfig rules;
  Model model;
  ShardedGraph sharded;

  Exchange() {
    ModelBuilder build({{"a", 16}, {"b", 16}, {"c", 16}});
    build.input("d", {"a", "b", "c"});
    build.config.inputs.front().type.placement = mesh_spec({"y", "", "x"});
    SpecConfig wanted = mesh_spec({"", "x", ""});
    PartitionSpec both = *wanted.mesh();
    both.entries[1].axes.emplace_back("y");
    wanted.spec = both;
    wanted.at = line(10, 18);
    build.layer(constrain(wanted));
    config = build.config;
    model = build_model(config);
    const Mesh mesh({{MeshAxis("x"), 4, {}}, {MeshAxis("y"), 2, {}}});
    sharded = shard_graph(model.apply, rules, mesh);
  }

  Collective step(CollectiveKind kind, int axis, int dim, std::int64_t wire) const {
    Collective collective;
    collective.kind = kind;
    collective.axes = {sharded.mesh.full(axis)};
    collective.dim = dim;
    collective.wire = Bytes(wire);
    collective.why = {CollectiveReason::Kind::constraint,
                      Phase::forward,
                      id_at<NodeId>(0),
                      "",
                      "P('y', None, 'x')",
                      "P(None, ('x', 'y'), None)"};
    return collective;
  }

  /// Everything is gathered on every device, then cut.
  Program by_way_of_whole() const {
    Program program;
    program.mesh = sharded.mesh;
    program.bodies.emplace_back();
    for (const Shape& shape :
         {Shape{8, 16, 4}, {8, 16, 16}, {16, 16, 16}, {16, 4, 16}, {16, 2, 16}}) {
      Buffer buffer;
      buffer.type = {DType::f32, shape};
      buffer.value = id_at<ValueId>(0);
      program.buffers.push_back(buffer);
    }
    const std::vector<Collective> steps = {
        step(CollectiveKind::all_gather, 0, 2, 6144), step(CollectiveKind::all_gather, 1, 0, 8192),
        step(CollectiveKind::all_slice, 0, 1, 0), step(CollectiveKind::all_slice, 1, 1, 0)};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Instruction one;
      one.kind = Instruction::Kind::collective;
      one.collective = steps[i];
      one.operands = {id_at<BufferId>(i)};
      one.results = {id_at<BufferId>(i + 1)};
      program.bodies.front().instructions.push_back(one);
    }
    return program;
  }
};

}  // namespace

TEST_CASE("a reshard that gathers everything and cuts it is one full rematerialization") {
  const Exchange scene;
  const std::vector<Reshard> found = reshards_of(scene.sharded, scene.by_way_of_whole());
  REQUIRE(found.size() == 1);
  CHECK(found[0].is_full_remat);
  CHECK(found[0].is_asked_for);
  CHECK(found[0].moves.size() == 2);
  CHECK(found[0].wire == Bytes(14'336));
  CHECK(found[0].whole == Bytes(16'384));
}

TEST_CASE("the exchange that is planned for it holds nothing whole") {
  const Exchange scene;
  const std::vector<Reshard> found = reshards_of(scene.sharded, partition(scene.sharded));
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].is_full_remat);
  CHECK(found[0].wire == Bytes(2'560));
}

TEST_CASE("a full rematerialization is found with the op and both specs and a planned fix") {
  const Exchange scene;
  const Program program = scene.by_way_of_whole();
  const auto found = find_all(scene.model, scene.sharded, program, scene.rules, {}, &scene.config);
  std::string text;
  for (const Finding& one : found) {
    if (one.id == "full-remat") text += one.message + '\n' + one.fix + '\n';
  }
  CHECK(text ==
        "a constraint wants d as P(None, ('x', 'y'), None), it is P('y', None, 'x'): every device "
        "gets all of it, 16,384 B, and cuts its piece out: all_gather over x, all_gather over y, "
        "1 time per step, 14,336 B on the wire\n"
        "the input d placed P(None, ('x', 'y'), None), model.yaml:2:5: wire per device and step "
        "14,336 -> 0 B\n");
}

TEST_CASE("a full rematerialization in a loop's body is found with its iterations") {
  const Exchange scene;
  Program program = scene.by_way_of_whole();
  Instruction loop;
  loop.kind = Instruction::Kind::loop;
  loop.body = 1;
  loop.attributes = {{"times", std::int64_t{3}}};
  program.bodies.push_back(program.bodies.front());
  program.bodies.front().instructions = {loop};
  const std::vector<Reshard> found = reshards_of(scene.sharded, program);
  REQUIRE(found.size() == 1);
  CHECK(found[0].is_full_remat);
  CHECK(found[0].count == 3);
  CHECK(found[0].wire == Bytes(3 * 14'336));
  std::string text;
  for (const Finding& one :
       find_all(scene.model, scene.sharded, program, scene.rules, {}, &scene.config)) {
    if (one.id == "full-remat") text += one.message + '\n';
  }
  CHECK(text ==
        "a constraint wants d as P(None, ('x', 'y'), None), it is P('y', None, 'x'): every device "
        "gets all of it, 16,384 B, and cuts its piece out: all_gather over x, all_gather over y, "
        "3 times per step, 43,008 B on the wire\n");
}

TEST_CASE("implicit reshards are looked for on request and then are errors") {
  ModelBuilder build({{"m", 8}, {"k", 8}, {"n", 32}});
  build.input("x", {"m", "k"});
  build.config.inputs.front().type.placement = mesh_spec({"d", ""});
  LayerConfig layer = dense("n");
  layer.kernel = mesh_spec({"d", ""});
  build.layer(layer);
  const Model model = build_model(build.config);
  const RulesConfig rules;
  const ShardedGraph sharded = shard_graph(model.apply, rules, Mesh({{MeshAxis("d"), 8, {}}}));
  const Program program = partition(sharded);
  const auto count = [&](const std::vector<FindingLevelConfig>& levels) {
    const auto found = find_all(model, sharded, program, rules, levels, &build.config);
    return std::count_if(found.begin(), found.end(),
                         [](const Finding& one) { return one.id == "implicit-reshard"; });
  };
  CHECK(count({}) == 0);
  CHECK(count({{"implicit-reshard", FindingLevel::off, {}}}) == 0);
  REQUIRE(count({{"implicit-reshard", FindingLevel::error, {}}}) == 1);
  const Finding found =
      find_all(model, sharded, program, rules,
               std::vector<FindingLevelConfig>{{"implicit-reshard", FindingLevel::error, {}}},
               &build.config)
          .front();
  CHECK(found.severity == Severity::error);
  CHECK(found.message ==
        "dot of Dense_0 wants its operand params/Dense_0/kernel as P(), it is P('d', None), and "
        "nothing asks for that: all_gather over d, 1 time per step, 896 B on the wire");
  CHECK(
      found.fix ==
      "constrain: {kernel: \"P()\"} on the dense at model.yaml:10:5: wire per device and step 896 "
      "-> 896 B");
}
