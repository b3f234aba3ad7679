// What a rules file may say beside its rules: the resolver, placement by path, what does not fit.

#include <doctest/doctest.h>

#include "shard/misfit.h"
#include "shard/path_rules.h"
#include "shard/resolve.h"
#include "specs.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// Asks on the mesh a 2, b 4, c 3.
struct PolicyDesk {
  RulesConfig rules;
  Mesh mesh{{{MeshAxis("a"), 2, {}}, {MeshAxis("b"), 4, {}}, {MeshAxis("c"), 3, {}}}};
  Diagnostics diagnostics;

  static RuleConfig rule(const std::string& name, const std::vector<std::string>& axes) {
    return {LogicalAxis(name), mesh_axes({axes}).entries.front(), {"r.yaml", 3, 5, 4}};
  }

  /// The spec of an array, and what its dims are told.
  std::string ask(const SpecConfig& spec, const Shape& shape, Part part = Part::params,
                  const std::string& path = "params/w", const std::string& followed = "") {
    Resolver resolver(rules, mesh, diagnostics);
    const TensorType type{DType::f32, shape};
    const Resolved answer = resolver.resolve({spec, type, part, path, {}, 1, followed});
    std::string text = spec_text(mesh, answer.sharding);
    for (std::size_t dim = 0; dim < answer.reasons.size(); ++dim) {
      for (const Reason& reason : answer.reasons[dim]) {
        const char* word = reason.kind == ReasonKind::dropped         ? "dropped"
                           : reason.kind == ReasonKind::padded        ? "padded"
                           : reason.kind == ReasonKind::taken_as_axis ? "taken as axis"
                                                                      : "";
        if (*word == '\0') continue;
        text += std::string("; ") + word + " " + std::to_string(dim);
        for (const AxisRef& axis : reason.axes) text += " " + to_string(mesh, axis);
      }
    }
    return text;
  }

  std::string told() const {
    std::string text;
    for (const Diagnostic& one : diagnostics.all()) text += to_string(one) + "\n";
    return text;
  }
};

}  // namespace

TEST_CASE("NNX reads rules as a dictionary and takes unknown names for mesh axes") {
  PolicyDesk desk;
  desk.rules.resolver = RuleResolver::nnx;
  desk.rules.rules = {PolicyDesk::rule("embed", {"a"}), PolicyDesk::rule("mlp", {"b"}),
                      PolicyDesk::rule("embed", {"c"})};
  CHECK(desk.ask({logical({"embed", "mlp"}), spec_place}, {6, 8}) == "P('c', 'b')");
  CHECK(desk.ask({logical({"a", "mlp"}), spec_place}, {6, 8}) == "P('a', 'b'); taken as axis 0 a");
  CHECK(desk.told().empty());
  CHECK(desk.ask({logical({"heds", "mlp"}), spec_place}, {6, 8}) ==
        "P(None, 'b'); taken as axis 0");
  CHECK(desk.told() ==
        "m.yaml:7:9: error: mesh axis 'heds' of P('heds', 'b') for params/w is not found in mesh a "
        "2 x b 4 x c 3 [unknown-mesh-axis]\n"
        "  hint: no rule names it, so NNX takes it for a mesh axis: add a rule [heds, null]\n");
}

TEST_CASE("NNX lets two dims ask for one mesh axis and building the sharding refuses it") {
  PolicyDesk desk;
  desk.rules.resolver = RuleResolver::nnx;
  desk.rules.rules = {PolicyDesk::rule("embed", {"a", "b"}), PolicyDesk::rule("lora", {"a", "b"})};
  desk.ask({logical({"embed", "lora"}), spec_place}, {8, 8});
  CHECK(desk.told() ==
        "r.yaml:3:5: error: P(('a', 'b'), ('a', 'b')) of params/w has duplicate entries for `a` "
        "[duplicate-mesh-axis]\n"
        "  hint: a mesh axis can split at most one dim of an array\n"
        "r.yaml:3:5: error: P(('a', 'b'), ('a', 'b')) of params/w has duplicate entries for `b` "
        "[duplicate-mesh-axis]\n"
        "  hint: a mesh axis can split at most one dim of an array\n");
}

TEST_CASE("rules of a part come before the general ones under both resolvers") {
  PolicyDesk desk;
  desk.rules.rules = {PolicyDesk::rule("embed", {"a"})};
  desk.rules.rules_for = {{Part::optimizer, {PolicyDesk::rule("embed", {"b"})}}};
  const SpecConfig spec{logical({"embed"}), spec_place};
  for (const RuleResolver resolver : {RuleResolver::linen, RuleResolver::nnx}) {
    desk.rules.resolver = resolver;
    CHECK(desk.ask(spec, {8}, Part::params) == "P('a',)");
    CHECK(desk.ask(spec, {8}, Part::optimizer) == "P('b',)");
  }
}

TEST_CASE("both answers of a decision respect the rules of its part") {
  PolicyDesk desk;
  desk.rules.rules = {PolicyDesk::rule("embed", {"a"})};
  desk.rules.rules_for = {{Part::optimizer, {PolicyDesk::rule("embed", {"b"})}}};
  Resolver resolver(desk.rules, desk.mesh, desk.diagnostics);
  const SpecConfig spec{logical({"embed"}), spec_place};
  const TensorType type{DType::f32, {8}};
  resolver.resolve({spec, type, Part::optimizer, "opt_state/0/mu/w"});
  REQUIRE(resolver.decisions().size() == 1);
  CHECK(to_string(resolver.decisions().front().linen) == "P('b',)");
  CHECK(to_string(resolver.decisions().front().nnx) == "P('b',)");
}

TEST_CASE("axes that do not divide are dropped one by one from major to minor") {
  const Axes axes = {{0, 1, 2}, {1, 1, 4}, {2, 1, 3}};
  CHECK(fitted_axes(axes, 12).kept == Axes{{0, 1, 2}, {2, 1, 3}});
  CHECK(fitted_axes(axes, 12).dropped == Axes{{1, 1, 4}});
  CHECK(fitted_axes(axes, 24).dropped.empty());
  CHECK(fitted_axes(axes, 7).kept.empty());
}

TEST_CASE("dropped axes are told and nothing else is") {
  PolicyDesk desk;
  desk.rules.misfit = Misfit::drop_axes;
  CHECK(desk.ask({mesh_axes({{"a", "b", "c"}, {}}), spec_place}, {12, 4}) ==
        "P(('a', 'c'), None); dropped 0 b");
  CHECK(desk.told().empty());
}

TEST_CASE("a dim that its axes do not divide is padded where the rules say so") {
  PolicyDesk desk;
  desk.rules.misfit = Misfit::pad;
  const SpecConfig spec{mesh_axes({{"a", "b"}, {}}), spec_place};
  CHECK(desk.ask(spec, {12, 4}) == "P(('a', 'b'), None); padded 0 a b");
  CHECK(desk.told().empty());
  CHECK(local_shape({12, 4}, [&] {
          Resolver resolver(desk.rules, desk.mesh, desk.diagnostics);
          const TensorType type{DType::f32, {12, 4}};
          return resolver.resolve({spec, type, Part::params, "w"}).sharding;
        }()) == Shape{2, 4});
}

TEST_CASE("the first glob that has a path places the array whatever its own spec says") {
  PolicyDesk desk;
  desk.rules.rules = {PolicyDesk::rule("embed", {"c"})};
  desk.rules.paths = {{"*/kernel", {mesh_axes({{"a"}}), {"r.yaml", 5, 5, 1}}, {"r.yaml", 5, 5, 1}},
                      {"params/*", {logical({"embed"}), {"r.yaml", 6, 5, 1}}, {"r.yaml", 6, 5, 1}},
                      {"*", {}, {"r.yaml", 7, 5, 1}}};
  const SpecConfig spec{mesh_axes({{"b"}}), spec_place};
  CHECK(desk.ask(spec, {12}, Part::params, "params/Dense_0/kernel") == "P('a',)");
  CHECK(desk.ask(spec, {12}, Part::params, "params/Dense_0/bias") == "P('c',)");
  CHECK(desk.ask(spec, {12}, Part::inputs, "x") == "P()");
  // A constraint inside the program has no path.
  CHECK(desk.ask(spec, {12}, Part::activations, "Dense_0") == "P('b',)");
  CHECK(desk.told().empty());
}

TEST_CASE("an optimizer's slot goes where its parameter goes") {
  const std::vector<PathRuleConfig> rules = {{"params/W2", {}, {}}, {"*/nu/*", {}, {}}};
  PathRules paths(rules);
  CHECK(paths.find("opt_state/0/mu/W2", "params/W2") == 0);
  CHECK(paths.find("opt_state/0/nu/W2", "params/W2") == 1);
  CHECK(paths.find("opt_state/0/mu/W1", "params/W1") == -1);
  CHECK(paths.find("opt_state/0/count", "") == -1);
  CHECK(paths.take("params/W2", "", 3) == &rules[0]);
  CHECK(paths.take("x", "", 1) == nullptr);
  CHECK(paths.arrays() == std::vector<std::int64_t>{3, 0});

  MirroredParameters parameters;
  parameters.add("params/Block_0/W2");
  parameters.add("params/W2");
  CHECK(parameters.find("opt_state/0/mu/Block_0/W2") == "params/Block_0/W2");
  CHECK(parameters.find("opt_state/0/mu/W2") == "params/W2");
  CHECK(parameters.find("opt_state/0/count").empty());
}
