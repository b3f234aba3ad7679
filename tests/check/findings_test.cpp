#include "check/findings.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

/// Hand-made facts: one input x[8,1024] and kernels [1024,1024] named [embed, hidden].
struct Scene {
  Model model;
  ShardedGraph sharded;
  Program program;
  RulesConfig rules;

  explicit Scene(const std::vector<std::pair<std::string, std::int64_t>>& axes) {
    std::vector<MeshAxisInfo> infos;
    for (const auto& [name, size] : axes) {
      infos.push_back(
          {MeshAxis(name), size, {"rules.yaml", 1, 7 + static_cast<int>(infos.size())}});
    }
    sharded.mesh = Mesh(infos);
  }

  /// Adds an argument; per dim the mesh axes (positions) that split it.
  void add(const std::string& path, Role role, const Shape& shape,
           const std::vector<std::vector<int>>& split) {
    Sharding sharding;
    for (const auto& dim : split) {
      sharding.dims.emplace_back();
      for (const int axis : dim) sharding.dims.back().axes.push_back(sharded.mesh.full(axis));
    }
    GraphInput input;
    input.value = id_at<ValueId>(sharded.shardings.size());
    input.path = path;
    input.role = role;
    sharded.graph.values.push_back({{DType::f32, shape}, path, {}, NodeId::none, {"m.yaml", 4, 3}});
    if (role == Role::parameter) {
      input.state_leaf = static_cast<int>(model.state.size());
      StateLeaf leaf;
      leaf.path = path;
      leaf.type = {DType::f32, shape};
      leaf.placement.spec = LogicalSpec{{LogicalAxis("embed"), LogicalAxis("hidden")}};
      leaf.at = {"m.yaml", 8, 7};
      model.state.push_back(leaf);
    }
    sharded.graph.inputs.push_back(input);
    sharded.shardings.push_back(sharding);
  }

  void add_rule(const std::string& logical, const std::string& axis, RuleUse use) {
    const int line = 3 + static_cast<int>(rules.rules.size());
    rules.rules.push_back(
        {LogicalAxis(logical), {{MeshAxis(axis)}, false}, {"rules.yaml", line, 5}});
    use.at = rules.rules.back().at;
    sharded.rule_uses.push_back(use);
  }

  std::vector<Finding> find() const { return find_all(model, sharded, program, rules); }
};

const Shape batch_shape = {8, 1024};
const Shape kernel_shape = {1024, 1024};

/// The guide: x over data, kernels over model.
Scene guide() {
  Scene scene({{"data", 2}, {"model", 4}});
  scene.add("x", Role::input, batch_shape, {{0}, {}});
  scene.add("params/B_0/kernel", Role::parameter, kernel_shape, {{}, {1}});
  scene.add("params/B_1/kernel", Role::parameter, kernel_shape, {{}, {1}});
  scene.add_rule("batch", "data", {1, 1, {}});
  scene.add_rule("hidden", "model", {2, 2, {}});
  return scene;
}

}  // namespace

TEST_CASE("state copied over an axis that splits only the batch is a note with the rule to add") {
  CHECK(
      guide().find() ==
      std::vector<Finding>{
          {Severity::note,
           "replicated-large",
           {"m.yaml", 8, 7},
           "2 arrays are copied over data (x2): 1,048,576 B per device would go if they were split",
           "the rule [embed, data]",
           Bytes(1'048'576)}});
}

TEST_CASE("state that is whole on every device is a warning") {
  Scene scene({{"data", 8}});
  scene.add("x", Role::input, batch_shape, {{0}, {}});
  scene.add("params/kernel", Role::parameter, kernel_shape, {{}, {}});
  CHECK(
      scene.find() ==
      std::vector<Finding>{
          {Severity::warning,
           "replicated-large",
           {"m.yaml", 8, 7},
           "1 array is whole on all 8 devices: 3,670,016 B per device would go if they were split",
           "the rule [embed, data]",
           Bytes(3'670'016)}});
}

TEST_CASE("state copied over an axis that splits other state is a warning") {
  Scene scene = guide();
  scene.add("params/other", Role::parameter, kernel_shape, {{}, {0}});
  const std::vector<Finding> found = scene.find();
  REQUIRE(found.size() == 2);
  CHECK(found[0].severity == Severity::warning);
  CHECK(found[0].message ==
        "1 array is copied over model (x4): 1,572,864 B per device would go if they were split");
  CHECK(found[0].fix == "the rule [embed, model]");
  CHECK(found[1].severity == Severity::warning);
}

TEST_CASE("state placed by a written spec gets a spec as its fix") {
  Scene scene = guide();
  for (StateLeaf& leaf : scene.model.state) leaf.placement.spec = PartitionSpec{};
  REQUIRE(scene.find().size() == 1);
  CHECK(scene.find()[0].fix ==
        "P('data', 'model') instead of P(None, 'model') for params/B_0/kernel and its like");
}

TEST_CASE("small state may be copied without a word") {
  Scene scene({{"data", 2}});
  scene.add("x", Role::input, batch_shape, {{0}, {}});
  scene.add("params/bias", Role::parameter, {8, 8}, {{}, {}});
  CHECK(scene.find().empty());
}

TEST_CASE("a mesh axis that nothing uses is a warning with its cause") {
  Scene scene({{"data", 2}, {"model", 4}});
  scene.add("x", Role::input, batch_shape, {{0}, {}});
  SUBCASE("no rule brings it") {
    CHECK(scene.find() ==
          std::vector<Finding>{{Severity::warning,
                                "axis-unused",
                                {"rules.yaml", 1, 8},
                                "no array uses model (4), so 4 devices at a time do the same work: "
                                "no rule brings it to a logical axis",
                                "",
                                Bytes(0)}});
  }
  SUBCASE("its rule names nothing") {
    scene.add_rule("hidden", "model", {});
    CHECK(scene.find()[0].message ==
          "no array uses model (4), so 4 devices at a time do the same work: rule 1 brings it to "
          "'hidden', which no array has");
  }
  SUBCASE("its rule never decides") {
    scene.add_rule("hidden", "model", {0, 3, {}});
    CHECK(scene.find()[0].message ==
          "no array uses model (4), so 4 devices at a time do the same work: rule 1 brings it to "
          "'hidden', but never decides");
  }
}

TEST_CASE("inputs that are nowhere split are a warning") {
  Scene scene({{"model", 4}});
  scene.add("x", Role::input, batch_shape, {{}, {}});
  scene.add("params/kernel", Role::parameter, kernel_shape, {{}, {0}});
  CHECK(scene.find() ==
        std::vector<Finding>{{Severity::warning,
                              "no-input-split",
                              {"m.yaml", 4, 3},
                              "no input is split: each of the 4 devices takes the whole batch",
                              "split a dim of x over a mesh axis",
                              Bytes(0)}});
}

TEST_CASE("a mesh axis of one device is a note") {
  Scene scene({{"data", 2}, {"model", 1}});
  scene.add("x", Role::input, batch_shape, {{0}, {}});
  CHECK(scene.find() ==
        std::vector<Finding>{{Severity::note,
                              "size-1-axis",
                              {"rules.yaml", 1, 8},
                              "mesh axis model has one device: what names it is not split",
                              "",
                              Bytes(0)}});
}

TEST_CASE("a rule whose name no array has is a note") {
  Scene scene = guide();
  scene.add_rule("vocabulary", "model", {});
  const std::vector<Finding> found = scene.find();
  REQUIRE(found.size() == 2);
  CHECK(found[1] == Finding{Severity::note,
                            "rule-never-used",
                            {"rules.yaml", 5, 5},
                            "rule 3 [vocabulary, model] is never used: no array has a dim called "
                            "vocabulary",
                            "",
                            Bytes(0)});
}

TEST_CASE("a model that asks no rule blames none") {
  Scene scene = guide();
  for (RuleUse& use : scene.sharded.rule_uses) use = RuleUse{};
  REQUIRE(scene.find().size() == 1);
  CHECK(scene.find()[0].id == "replicated-large");
}

TEST_CASE("a rule that always loses is a note") {
  Scene scene = guide();
  scene.add_rule("hidden", "data", {0, 2, {}});
  const std::vector<Finding> found = scene.find();
  REQUIRE(found.size() == 2);
  CHECK(found[1] ==
        Finding{Severity::note,
                "rule-shadowed",
                {"rules.yaml", 5, 5},
                "rule 3 [hidden, data] never decides: 2 dims have that name, but earlier rules or "
                "taken mesh axes always win",
                "",
                Bytes(0)});
}

TEST_CASE("names that no rule has are one note") {
  Scene scene = guide();
  scene.sharded.unmatched = {{LogicalAxis("embed"), {"m.yaml", 8, 14}},
                             {LogicalAxis("length"), {"m.yaml", 9, 14}}};
  const std::vector<Finding> found = scene.find();
  REQUIRE(found.size() == 2);
  CHECK(found[1] == Finding{Severity::note,
                            "unmatched-name",
                            {"m.yaml", 8, 14},
                            "no rule names embed, length: these dims stay whole",
                            "",
                            Bytes(0)});
}

TEST_CASE("a name and an unused rule that are nearly the same are one warning") {
  Scene scene = guide();
  scene.add_rule("vocabb", "model", {});
  scene.sharded.unmatched = {{LogicalAxis("vocab"), {"m.yaml", 8, 14}}};
  const std::vector<Finding> found = scene.find();
  REQUIRE(found.size() == 2);
  CHECK(found[0] == Finding{Severity::warning,
                            "unmatched-name",
                            {"m.yaml", 8, 14},
                            "no rule names vocab, and no array has a dim called vocabb",
                            "is the rule for 'vocabb' meant for 'vocab'?",
                            Bytes(0)});
}

TEST_CASE("a remark of the model's builder is a finding") {
  Scene scene({{"data", 2}});
  scene.add("x", Role::input, batch_shape, {{0}, {}});
  scene.model.notes = {
      {Severity::warning, "no-effect", {"m.yaml", 3, 1}, "it has none", "drop it"}};
  CHECK(
      scene.find() ==
      std::vector<Finding>{
          {Severity::warning, "no-effect", {"m.yaml", 3, 1}, "it has none", "drop it", Bytes(0)}});
}

TEST_CASE("a plan fits up to the last byte") {
  CHECK(Fit{Bytes(640), Bytes(640)}.fits());
  CHECK_FALSE(Fit{Bytes(640), Bytes(641)}.fits());
}

TEST_CASE("every kind of finding has an id and a line of help") {
  for (const FindingKind& kind : finding_table()) {
    CHECK_FALSE(kind.id.empty());
    CHECK_FALSE(kind.help.empty());
  }
}
