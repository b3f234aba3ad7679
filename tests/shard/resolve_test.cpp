#include "shard/resolve.h"

#include <doctest/doctest.h>

#include "specs.h"

using namespace shard;
using namespace shard::tests;

namespace {

const Location rule_place{"r.yaml", 3, 5, 4};

/// Asks one resolver on the mesh data 2 x model 4.
struct Desk {
  RulesConfig rules;
  Mesh mesh{{{MeshAxis("data"), 2, {}}, {MeshAxis("model"), 4, {}}}};
  Diagnostics diagnostics;

  void rule(const std::string& name, const std::vector<std::string>& axes) {
    Location at = rule_place;
    at.line += static_cast<int>(rules.rules.size());
    rules.rules.push_back({LogicalAxis(name), entry(axes), at});
  }

  Resolved ask(Resolver& resolver, const SpecConfig& spec, const Shape& shape,
               Part part = Part::params) {
    const TensorType type{DType::f32, shape};
    return resolver.resolve({spec, type, part, "w"});
  }

  template <class Spec>
  Resolved ask(const Spec& spec, const Shape& shape, Part part = Part::params) {
    Resolver resolver(rules, mesh, diagnostics);
    return ask(resolver, SpecConfig{spec, spec_place}, shape, part);
  }

  std::string told() const {
    std::string text;
    for (const Diagnostic& one : diagnostics.all()) text += to_string(one) + "\n";
    return text;
  }
};

Desk guide_desk() {
  Desk desk;
  desk.rule("batch", {"data"});
  desk.rule("hidden", {"model"});
  return desk;
}

}  // namespace

TEST_CASE("logical names go through the rules and each dim knows why") {
  Desk desk = guide_desk();
  const Resolved answer = desk.ask(logical({"embed", "hidden", ""}), {8, 16, 3});
  CHECK(desk.told().empty());
  CHECK(spec_text(desk.mesh, answer.sharding) == "P(None, 'model', None)");
  CHECK(to_string(answer.spec) == "P(None, 'model', None)");
  CHECK(answer.reasons[0][0].kind == ReasonKind::no_rule);
  CHECK(answer.reasons[0][0].logical == LogicalAxis("embed"));
  CHECK(answer.reasons[1][0].kind == ReasonKind::rule);
  CHECK(answer.reasons[1][0].rule == 2);
  CHECK(answer.reasons[1][0].at == Location{"r.yaml", 4, 5, 4});
  CHECK(answer.reasons[1][0].axes == Axes{desk.mesh.full(1)});
  CHECK(answer.reasons[2][0].kind == ReasonKind::explicit_spec);
}

TEST_CASE("a rule whose axis is taken is skipped whole and the dim says by whom") {
  Desk desk;
  desk.rule("a", {"data"});
  desk.rule("b", {"model", "data"});
  const Resolved answer = desk.ask(logical({"b", "a"}), {8, 8});
  CHECK(to_string(answer.spec) == "P(None, 'data')");
  CHECK(answer.reasons[0][0].kind == ReasonKind::blocked);
  CHECK(answer.reasons[0][0].other_dim == 1);
  CHECK(answer.reasons[0][0].rule == 2);
}

TEST_CASE("a rule that says None blocks later rules of that name") {
  Desk desk;
  desk.rule("a", {});
  desk.rule("a", {"data"});
  const Resolved answer = desk.ask(logical({"a"}), {8});
  CHECK(to_string(answer.spec) == "P(None,)");
  CHECK(answer.reasons[0][0].kind == ReasonKind::rule_none);
}

TEST_CASE("mesh axes do not go through the rules") {
  Desk desk = guide_desk();
  const Resolved answer = desk.ask(mesh_axes({{"model"}}), {8, 16});
  CHECK(spec_text(desk.mesh, answer.sharding) == "P('model', None)");
  CHECK(answer.reasons[0][0].kind == ReasonKind::explicit_spec);
  CHECK(answer.reasons[0][0].at == spec_place);
}

TEST_CASE("an array without a spec is whole everywhere") {
  Desk desk = guide_desk();
  Resolver resolver(desk.rules, desk.mesh, desk.diagnostics);
  const Resolved answer = desk.ask(resolver, {}, {8, 16});
  CHECK(answer.sharding == replicated_sharding(2));
  CHECK(answer.reasons[1][0].kind == ReasonKind::unannotated);
}

TEST_CASE("axes of size one are in the spec and not in the sharding") {
  Desk desk;
  desk.mesh = Mesh({{MeshAxis("data"), 1, {}}, {MeshAxis("model"), 4, {}}});
  desk.rule("a", {"data", "model"});
  const Resolved answer = desk.ask(logical({"a"}), {8});
  CHECK(to_string(answer.spec) == "P(('data', 'model'),)");
  CHECK(spec_text(desk.mesh, answer.sharding) == "P('model',)");
  CHECK(answer.sharding.dims[0].axes.size() == 1);
}

TEST_CASE("rules of a part are asked before the general ones") {
  Desk desk = guide_desk();
  Location at{"r.yaml", 9, 1, 1};
  desk.rules.rules_for.push_back({Part::optimizer, {{LogicalAxis("hidden"), entry({"data"}), at}}});
  Resolver resolver(desk.rules, desk.mesh, desk.diagnostics);
  const SpecConfig spec{logical({"hidden"}), spec_place};
  const Resolved own = desk.ask(resolver, spec, {8}, Part::optimizer);
  const Resolved general = desk.ask(resolver, spec, {8}, Part::params);
  CHECK(to_string(own.spec) == "P('data',)");
  CHECK(own.reasons[0][0].rule == 3);
  CHECK(to_string(general.spec) == "P('model',)");
  REQUIRE(resolver.uses().size() == 3);
  CHECK(resolver.uses()[0].named == 0);
  CHECK(resolver.uses()[1].fired == 1);
  CHECK(resolver.uses()[1].named == 2);
  CHECK(resolver.uses()[2].fired == 1);
  CHECK(resolver.uses()[2].at == at);
}

TEST_CASE("names without a rule are remembered once with where") {
  Desk desk = guide_desk();
  Resolver resolver(desk.rules, desk.mesh, desk.diagnostics);
  desk.ask(resolver, {logical({"embed"}), spec_place}, {8});
  desk.ask(resolver, {logical({"embed", "hidden"}), rule_place}, {8, 8});
  REQUIRE(resolver.unmatched().size() == 1);
  CHECK(resolver.unmatched()[0].first == LogicalAxis("embed"));
  CHECK(resolver.unmatched()[0].second == spec_place);
}

TEST_CASE("a name on two dims is refused") {
  Desk desk = guide_desk();
  desk.ask(logical({"embed", "embed", "hidden"}), {8, 8, 8});
  CHECK(desk.told() ==
        "m.yaml:7:9: error: dims 'embed' occur more than once in array names [embed, embed, "
        "hidden] of w [duplicate-logical-name]\n"
        "  hint: give each dim a name of its own, or None\n");
}

TEST_CASE("an unknown mesh axis of a rule is refused at the rule once for all arrays") {
  Desk desk;
  desk.rule("a", {"modle"});
  Resolver resolver(desk.rules, desk.mesh, desk.diagnostics);
  desk.ask(resolver, {logical({"a"}), spec_place}, {8});
  desk.ask(resolver, {logical({"a", "b"}), spec_place}, {8, 8});
  CHECK(desk.told() ==
        "r.yaml:3:5: error: mesh axis 'modle' of P('modle',) for w is not found in mesh data 2 x "
        "model 4 [unknown-mesh-axis]\n"
        "  hint: did you mean 'model'? the mesh has: data, model\n");
}

TEST_CASE("every unknown mesh axis of a spec is told") {
  Desk desk;
  desk.ask(mesh_axes({{"fsdp"}, {"dat", "model"}}), {8, 8});
  CHECK(desk.told() ==
        "m.yaml:7:9: error: mesh axis 'fsdp' of P('fsdp', ('dat', 'model')) for w is not found in "
        "mesh data 2 x model 4 [unknown-mesh-axis]\n"
        "  hint: the mesh has: data, model\n"
        "m.yaml:7:9: error: mesh axis 'dat' of P('fsdp', ('dat', 'model')) for w is not found in "
        "mesh data 2 x model 4 [unknown-mesh-axis]\n"
        "  hint: did you mean 'data'? the mesh has: data, model\n");
}

TEST_CASE("a mesh axis used twice in one spec is refused") {
  Desk desk;
  const Resolved answer = desk.ask(mesh_axes({{"data"}, {"model", "data"}}), {8, 8});
  CHECK(desk.told() ==
        "m.yaml:7:9: error: P('data', ('model', 'data')) of w has duplicate entries for `data` "
        "[duplicate-mesh-axis]\n"
        "  hint: a mesh axis can split at most one dim of an array\n");
  CHECK(spec_text(desk.mesh, answer.sharding) == "P('data', 'model')");
}

TEST_CASE("a spec longer than the rank is refused") {
  Desk desk = guide_desk();
  desk.ask(mesh_axes({{}, {}}), {8});
  desk.ask(mesh_axes({{"data"}}), {});
  desk.ask(logical({"batch", "embed"}), {8});
  CHECK(desk.told() ==
        "m.yaml:7:9: error: P(None, None) is only valid for values of rank at least 2, but w is "
        "f32[8] of rank 1 [rank-mismatch]\n"
        "m.yaml:7:9: error: P('data',) is only valid for values of rank at least 1, but w is "
        "f32[] of rank 0 [rank-mismatch]\n"
        "  hint: For scalars the PartitionSpec should be P()\n"
        "m.yaml:7:9: error: [batch, embed] is only valid for values of rank at least 2, but w is "
        "f32[8] of rank 1 [rank-mismatch]\n");
}

TEST_CASE("a dim that does not divide names its factors and the nearest legal sizes") {
  Desk desk = guide_desk();
  const Resolved answer = desk.ask(mesh_axes({{}, {"data", "model"}}), {8, 20});
  CHECK(desk.told() ==
        "m.yaml:7:9: error: dim 1 of w has size 20, and P(None, ('data', 'model')) splits it 8 "
        "ways (data 2 x model 4), which should evenly divide the shape 8,20 [indivisible]\n"
        "  hint: nearest legal sizes: 16 or 24 (padding 4); 20 divides into 2, 4, 5 or 10; dim 0 "
        "divides: P(('data', 'model'), None), 80 B per device, without 640 B\n");
  CHECK(answer.sharding == replicated_sharding(2));
}

TEST_CASE("a dim that does not divide is called by its label") {
  Desk desk = guide_desk();
  desk.ask(logical({"batch"}), {1});
  CHECK(desk.told() ==
        "m.yaml:7:9: error: dim 0 (batch) of w has size 1, and P('data',) splits it 2 ways (data "
        "2), by rule 1 at r.yaml:3:5, which should evenly divide the shape 1 [indivisible]\n"
        "  hint: nearest legal sizes: 2 (padding 1)\n");
}

TEST_CASE("unmatched names are an error where the file says so") {
  Desk desk = guide_desk();
  desk.rules.unmatched = Unmatched::error;
  desk.ask(logical({"batch", "hiden"}), {8, 8});
  CHECK(desk.told() ==
        "m.yaml:7:9: error: 'hiden' of [batch, hiden], the names of w, did not match a rule "
        "[unmatched-name]\n"
        "  hint: did you mean 'hidden'? the rules name: batch, hidden\n");
}

TEST_CASE("an unmatched name drops a constraint where the file says so") {
  Desk desk = guide_desk();
  desk.rules.unmatched = Unmatched::no_constraint;
  CHECK_FALSE(desk.ask(logical({"batch", "embed"}), {8, 8}, Part::activations).is_constraint);
  CHECK(desk.ask(logical({"batch", ""}), {8, 8}, Part::activations).is_constraint);
  CHECK(desk.ask(logical({"batch", "embed"}), {8, 8}, Part::params).is_constraint);
  CHECK(desk.told().empty());
}

TEST_CASE("UNCONSTRAINED dims are open in constraints and refused in arguments") {
  Desk desk;
  PartitionSpec spec = mesh_axes({{"data"}, {}});
  spec.entries[1].is_unconstrained = true;
  const Resolved answer = desk.ask(spec, {8, 8}, Part::activations);
  CHECK(to_string(desk.mesh, answer.sharding) == R"([{"data"}, {?}])");
  CHECK(answer.reasons[1][0].kind == ReasonKind::unconstrained);
  CHECK(desk.told().empty());
  desk.ask(spec, {8, 8}, Part::params);
  desk.ask(spec, {8, 8}, Part::outputs);
  CHECK(desk.told() ==
        "m.yaml:7:9: error: Unconstrained dims are not allowed when passed to in_shardings: "
        "P('data', UNCONSTRAINED) of w [unconstrained-argument]\n"
        "  hint: write None for a dim that is not split\n"
        "m.yaml:7:9: error: Unconstrained dims are not allowed when passed to out_shardings: "
        "P('data', UNCONSTRAINED) of w [unconstrained-argument]\n"
        "  hint: write None for a dim that is not split\n");
}

TEST_CASE("a text of XLA is placed as the spec that says the same") {
  Desk desk;
  const ShardingText text{"{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"};
  const Resolved answer = desk.ask(text, {8, 16});
  CHECK(desk.told().empty());
  CHECK(answer.spec == mesh_axes({{}, {"model"}}));
  CHECK(answer.sharding == desk.ask(mesh_axes({{}, {"model"}}), {8, 16}).sharding);
  CHECK(answer.reasons[1][0].kind == ReasonKind::explicit_spec);
  CHECK(answer.reasons[1][0].axes == Axes{desk.mesh.full(1)});
  CHECK(desk.ask(ShardingText{"{replicated}"}, {8}).spec == PartitionSpec{});
}

TEST_CASE("a text of XLA that cuts inside an axis is taken as it is") {
  Desk desk;
  desk.mesh = Mesh({{MeshAxis("x"), 8}});
  const ShardingText text{"{devices=[2,4]<=[8]}"};
  const Resolved answer = desk.ask(text, {8, 16});
  CHECK(desk.told().empty());
  CHECK(to_string(desk.mesh, answer.sharding) == R"([{"x":(1)2}, {"x":(2)4}])");
  CHECK(answer.reasons[1][0].axes == Axes{{0, 2, 4}});
  desk.ask(text, {8, 6});
  CHECK(
      desk.told() ==
      R"T(m.yaml:7:9: error: dim 1 of w has size 6, and P('x:(1)2', 'x:(2)4') splits it 4 ways (x:(2)4 4), which should evenly divide the shape 8,6 [indivisible]
  hint: nearest legal sizes: 4 or 8 (padding 2); 6 divides into 1, 2, 3 or 6; no other dim is a free multiple of 4
)T");
}

TEST_CASE("dims of a text of XLA come and go with those of its array") {
  Desk desk;
  ShardingText text{"{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"};
  text.edits = {{0, entry({"data"})}};
  CHECK(desk.ask(text, {2, 8, 16}).spec == mesh_axes({{"data"}, {}, {"model"}}));
  text.edits = {{0, entry({})}, {1}};
  CHECK(desk.ask(text, {2, 16}).spec == mesh_axes({{}, {"model"}}));
  CHECK(desk.told().empty());
}

TEST_CASE("mistakes of a text of XLA are told where it stands") {
  Desk desk;
  Resolver resolver(desk.rules, desk.mesh, desk.diagnostics);
  const auto ask = [&](const ShardingText& text, const Shape& shape) {
    desk.ask(resolver, {text, spec_place}, shape);
  };
  ask({"{devices=[2,4]<=[8]}"}, {8});
  ask({"{devices=[2,2]<=[4]}"}, {8, 8});
  ask({"{devices=}"}, {8, 8});
  ask({"{unreduced}"}, {8, 8});
  ask({"{replicated}", {{0, entry({"modle"})}}}, {8, 8});
  ask({"{devices=[2,4]<=[8]}", {{0, entry({"model"})}}}, {4, 8, 8});
  ask({"{devices=[2,4]<=[8]}"}, {8, 6});
  CHECK(desk.told() ==
        R"T(m.yaml:7:9: error: w: the sharding has 2 dims, the array 1 [rank-mismatch]
m.yaml:7:9: error: w: the sharding is for 4 devices, the mesh data 2 x model 4 has 8 [mesh-size]
m.yaml:7:9: error: w: '{devices=}' is not a tiled sharding: 'devices=' is no kind of sharding [spec-syntax]
  hint: XLA writes {devices=[2,4]<=[8]}, {devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate} or {replicated}
m.yaml:7:9: error: Unreduced axes can only refer to mesh axes that is of type `Explicit`, and 'data' of P(unreduced={'data', 'model'}) for w is Auto [unreduced-axis-type]
  hint: leave it out: on axes of type Auto the compiler completes sums by itself
m.yaml:7:9: error: Unreduced axes can only refer to mesh axes that is of type `Explicit`, and 'model' of P(unreduced={'data', 'model'}) for w is Auto [unreduced-axis-type]
  hint: leave it out: on axes of type Auto the compiler completes sums by itself
m.yaml:7:9: error: P(unreduced={'data', 'model'}) of w leaves a sum unreduced, which is not supported yet [not-yet]
  hint: leave it out: partial sums are completed where they arise
m.yaml:7:9: error: w: the mesh has no axis 'modle' [unknown-mesh-axis]
  hint: did you mean 'model'? the axes: data, model
m.yaml:7:9: error: w: 'model' splits the added dim and another one of the text [duplicate-mesh-axis]
  hint: an axis can split one dim of an array
m.yaml:7:9: error: dim 1 of w has size 6, and P('data', 'model') splits it 4 ways (model 4), which should evenly divide the shape 8,6 [indivisible]
  hint: nearest legal sizes: 4 or 8 (padding 2); 6 divides into 1, 2, 3 or 6; no other dim is a free multiple of 4
)T");
}
