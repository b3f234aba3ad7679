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
  REQUIRE(found.size() == 4);  // also the share that each axis leaves whole
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

TEST_CASE("every kind of finding is found by its id and says what it is and what to do") {
  for (const FindingKind& kind : finding_table()) {
    CAPTURE(kind.id);
    CHECK(finding_kind(kind.id) == &kind);
    CHECK_FALSE(kind.help.empty());
    CHECK_FALSE(kind.act.empty());
    CHECK((kind.find != nullptr || kind.severity == Severity::error));
  }
  CHECK(finding_kind("axis-unusd") == nullptr);
}

TEST_CASE("the last word about a finding decides how loud it is") {
  Scene scene = guide();
  const auto severity_at = [&](std::vector<FindingLevel> words) {
    std::vector<FindingLevelConfig> levels;
    for (const FindingLevel word : words) levels.push_back({"replicated-large", word, {}});
    return find_all(scene.model, scene.sharded, scene.program, scene.rules, levels).at(0).severity;
  };
  CHECK(severity_at({}) == Severity::note);
  CHECK(severity_at({FindingLevel::error}) == Severity::error);
  CHECK(severity_at({FindingLevel::error, FindingLevel::warn}) == Severity::warning);
  CHECK(severity_at({FindingLevel::off, FindingLevel::note}) == Severity::note);
}

TEST_CASE("a finding that is off is not told and the command line comes after the file") {
  Scene scene = guide();
  scene.rules.findings = {{"replicated-large", FindingLevel::off, {"rules.yaml", 9, 3}}};
  CHECK(scene.find().empty());
  const std::vector<FindingLevelConfig> typed = {
      {"replicated-large", FindingLevel::error, {"--finding"}}};
  const auto found = find_all(scene.model, scene.sharded, scene.program, scene.rules, typed);
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::error);
}

TEST_CASE("levels of unknown findings and of mistakes that stop planning are refused together") {
  std::string text;
  try {
    apply_levels({}, std::vector<FindingLevelConfig>{
                         {"axis-unusd", FindingLevel::off, {"rules.yaml", 9, 3}},
                         {"indivisible", FindingLevel::warn, {"rules.yaml", 10, 3}},
                         {"indivisible", FindingLevel::error, {"rules.yaml", 11, 3}}});
  } catch (const Error& error) {
    for (const Diagnostic& one : error.diagnostics()) text += to_string(one) + '\n';
  }
  CHECK(text ==
        "rules.yaml:9:3: error: there is no finding called 'axis-unusd' [unknown-finding]\n"
        "  hint: did you mean 'axis-unused'? `shard-plan findings --list` lists them\n"
        "rules.yaml:10:3: error: 'indivisible' is always an error: there is no plan where it "
        "occurs [fixed-level]\n"
        "  hint: pad to a legal size, take a legal number of devices, or split another dim\n");
}
