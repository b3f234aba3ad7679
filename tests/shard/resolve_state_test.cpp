// States resolved once per class of leaves that get the same answer.
#include <doctest/doctest.h>

#include "config/load.h"
#include "model/arrays_model.h"
#include "shard/resolve_state.h"

namespace shard {
namespace {

RulesConfig rules_of(const std::string& text) {
  MemoryReader reader({{"rules.yaml", text}});
  Sources sources(reader);
  return read_rules(merge_rules_file("rules.yaml", {}, sources));
}

Model model_of(const std::string& text) {
  MemoryReader reader({{"m.yaml", text}});
  Sources sources(reader);
  return build_arrays_model(read_arrays(merge_model_file("m.yaml", {}, sources)));
}

constexpr const char* layers = R"(arrays:
  params/layer_{0..3}/up: f32[embed=8, mlp=16]
  params/layer_{0..3}/scale: f32[norm=8]
  params/other: f32[embed=8, mlp=16]
optimizer: {sgd: {momentum: 0.9}}
)";

constexpr const char* plain_rules = R"(mesh: {fsdp: 2, tensor: 4}
rules: [[embed, fsdp], [mlp, tensor]]
)";

TEST_CASE("leaves with the same axes and type and part are one class") {
  const Model model = model_of(layers);
  const StateClasses classes(model.state);
  REQUIRE(classes.classes().size() == 5);
  CHECK(classes.classes()[0] == std::vector<int>{0});                   // step
  CHECK(classes.classes()[1] == std::vector<int>{1, 2, 3, 4, 9});       // up, other
  CHECK(classes.classes()[2] == std::vector<int>{5, 6, 7, 8});          // scale
  CHECK(classes.classes()[3] == std::vector<int>{10, 11, 12, 13, 18});  // their traces
  CHECK(classes.classes()[4] == std::vector<int>{14, 15, 16, 17});
}

TEST_CASE("a class is resolved once and stands for all its arrays") {
  Model model = model_of(layers);
  const RulesConfig rules = rules_of(plain_rules);
  const Mesh mesh = make_mesh(rules);
  Diagnostics diagnostics;
  const StateClasses classes(model.state);
  const ResolvedState state = resolve_state(model.state, classes, rules, mesh, diagnostics);
  CHECK(diagnostics.all().empty());
  CHECK(state.classes[1].count == 5);
  CHECK(spec_text(mesh, state.of(9).sharding) == "P('fsdp', 'tensor')");
  CHECK(state.uses[0].fired == 10);
  REQUIRE(state.unmatched.size() == 1);
  CHECK(state.unmatched[0].first == LogicalAxis("norm"));
  // Leaf by leaf the answers are the same.
  for (std::size_t leaf = 0; leaf < model.state.size(); ++leaf) {
    CAPTURE(leaf);
    Resolver resolver(rules, mesh, diagnostics);
    const StateLeaf& one = model.state[leaf];
    const Resolved alone =
        resolver.resolve({one.placement, one.type, part_of(one.role), one.path, one.labels, 1});
    CHECK(closed(alone.sharding) == state.of(static_cast<int>(leaf)).sharding);
    const ValueReasons reasons = reasons_of(state, model.state, static_cast<int>(leaf));
    REQUIRE(reasons.size() == alone.reasons.size());
    for (std::size_t dim = 0; dim < reasons.size(); ++dim) {
      CHECK(reasons[dim].front().kind == alone.reasons[dim].front().kind);
      CHECK(reasons[dim].front().at == alone.reasons[dim].front().at);
    }
  }
}

TEST_CASE("placement by path splits a class") {
  Model model = model_of(layers);
  const RulesConfig rules =
      rules_of(std::string(plain_rules) + "paths: [[\"params/layer_2/*\", \"P(None, fsdp)\"]]\n");
  Diagnostics diagnostics;
  const Mesh mesh = make_mesh(rules);
  const ResolvedState state =
      resolve_state(model.state, StateClasses(model.state), rules, mesh, diagnostics);
  CHECK(spec_text(mesh, state.of(2).sharding) == "P('fsdp', 'tensor')");
  CHECK(spec_text(mesh, state.of(3).sharding) == "P(None, 'fsdp')");
  CHECK(spec_text(mesh, state.of(4).sharding) == "P('fsdp', 'tensor')");
}

TEST_CASE("sizes that are unknown are split by name") {
  Model model = model_of(layers);
  StateLeaf& leaf = model.state[1];
  leaf.type.shape = {unknown_size, unknown_size};
  model.apply.values[1].type = leaf.type;
  const RulesConfig rules =
      rules_of("mesh: {fsdp: 3}\nrules: [[mlp, fsdp]]\nunmatched: unsharded\n");
  const std::span<const StateLeaf> one(&model.state[1], 1);
  Diagnostics diagnostics;
  const Mesh mesh = make_mesh(rules);
  const ResolvedState state = resolve_state(one, StateClasses(one), rules, mesh, diagnostics);
  CHECK(diagnostics.all().empty());
  CHECK(spec_text(mesh, state.of(0).sharding) == "P(None, 'fsdp')");
  CHECK(to_string(local_shape(one[0].type.shape, state.of(0).sharding)) == "?,?");
  CHECK(bytes_of(one[0].type) == Bytes(0));
}

TEST_CASE("mistakes are told once for all leaves written in one place") {
  Model model = model_of(layers);
  const RulesConfig rules = rules_of("mesh: {fsdp: 3}\nrules: [[mlp, fsdp]]\n");
  std::vector<std::string> messages;
  try {
    shard_state(model, rules, make_mesh(rules));
  } catch (const Error& error) {
    for (const Diagnostic& one : error.diagnostics())
      messages.push_back(one.id + " " + one.message);
  }
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].starts_with("indivisible dim 1 (mlp) of params/layer_0/up has size 16"));
  CHECK(messages[1].starts_with("indivisible dim 1 (mlp) of params/other has size 16"));
}

}  // namespace
}  // namespace shard
