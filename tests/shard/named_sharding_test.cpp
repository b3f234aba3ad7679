#include "shard/named_sharding.h"

#include <doctest/doctest.h>

#include "config/read_spec.h"
#include "shard/resolve.h"
#include "shard/sdy_text.h"

using namespace shard;

namespace {

Mesh mesh_of_types(AxisType x, AxisType y) {
  return Mesh({{MeshAxis("x"), 2, {}, x}, {MeshAxis("y"), 4, {}, y}});
}

/// `ID: MESSAGE (HINT)` of each mistake, a line each.
std::string mistakes(const Mesh& mesh, const std::string& spec) {
  std::string text;
  for (const SpecMistake& one : axis_type_mistakes(mesh, read_partition_text(spec, {}), "w")) {
    text += one.id + ": " + one.message + " (" + one.hint + ")\n";
  }
  return text;
}

/// What the resolver says of a constraint of an array of rank 2.
std::string told(const Mesh& mesh, const SpecConfig& spec, Part part) {
  RulesConfig rules;
  rules.rules = {{LogicalAxis("a"), {{MeshAxis("x")}, false}, {}}};
  Diagnostics diagnostics;
  Resolver resolver(rules, mesh, diagnostics);
  const TensorType type{DType::f32, {8, 8}};
  resolver.resolve({spec, type, part, "w"});
  std::string text;
  for (const Diagnostic& one : diagnostics.all()) {
    text += one.id + ": " + one.message + " (" + one.hint + ")\n";
  }
  return text;
}

using enum AxisType;

}  // namespace

TEST_CASE("axis types say which axes a spec may name") {
  CHECK(mistakes(mesh_of_types(automatic, explicit_types), "P(UNCONSTRAINED, unreduced={y})")
            .empty());
  CHECK(mistakes(mesh_of_types(explicit_types, explicit_types), "P(UNCONSTRAINED, x)") ==
        "unconstrained-without-auto: P(UNCONSTRAINED, 'x') of w cannot contain UNCONSTRAINED when "
        "no mesh axis is of type Auto: x Explicit, y Explicit (write None for a dim that is not "
        "split)\n");
  CHECK(mistakes(mesh_of_types(automatic, explicit_types), "P(unreduced={x, z}, reduced={y})") ==
        "unknown-mesh-axis: Unreduced axis 'z' of P(unreduced={'x', 'z'}, reduced={'y'}) for w is "
        "not found in mesh x 2 x y 4 (did you mean 'x'? the mesh has: x, y)\n"
        "unreduced-axis-type: Unreduced axes can only refer to mesh axes that is of type "
        "`Explicit`, and 'x' of P(unreduced={'x', 'z'}, reduced={'y'}) for w is Auto (leave it "
        "out: on axes of type Auto the compiler completes sums by itself)\n");
  CHECK(mistakes(mesh_of_types(automatic, explicit_types), "P(y, reduced={x})") ==
        "unreduced-axis-type: Reduced axes can only refer to mesh axes that is of type "
        "`Explicit`, and 'x' of P('y', reduced={'x'}) for w is Auto (leave it out: on axes of type "
        "Auto the compiler completes sums by itself)\n");
  CHECK(mistakes(mesh_of_types(manual, automatic), "P(y)") ==
        "manual-axis: mesh axis 'x' is of type Manual, so w has a shape on each device only inside "
        "a shard_map body (give the axis the type auto or explicit)\n");
}

TEST_CASE("the resolver says what a constraint may not be") {
  LogicalSpec nested{{LogicalAxis("a"), std::nullopt}, {{}, {{MeshAxis("y")}, false}}};
  const SpecConfig names{nested, {}};
  CHECK(told(mesh_of_types(automatic, automatic), names, Part::params).empty());
  CHECK(told(mesh_of_types(automatic, automatic), names, Part::activations) ==
        "nested-names: the names [a, [y]] of w have a list of mesh axes among them, which Flax "
        "takes for a tree of names in a constraint (place all dims by mesh axes: P(...))\n");
  const SpecConfig split{read_partition_text("P(x)", {}), {}};
  CHECK(told(mesh_of_types(explicit_types, automatic), split, Part::activations).empty());
  CHECK(told(mesh_of_types(explicit_types, explicit_types), split, Part::activations) ==
        "explicit-constraint: a constraint can only refer to Auto axes, and every axis of the mesh "
        "x 2 x y 4 is Explicit: P('x',) of w (on Explicit axes a value is split by the types of "
        "the program)\n");
}

TEST_CASE("a sum that is left unreduced is refused and not dropped") {
  const SpecConfig sum{read_partition_text("P(x, unreduced={y})", {}), {}};
  CHECK(told(mesh_of_types(explicit_types, explicit_types), sum, Part::params) ==
        "not-yet: P('x', unreduced={'y'}) of w leaves a sum unreduced, which is not supported yet "
        "(leave it out: partial sums are completed where they arise)\n");
}

TEST_CASE("axes of type Auto may still be added to every dim") {
  const Mesh mesh({{MeshAxis("x"), 2, {}, automatic},
                   {MeshAxis("y"), 4, {}, explicit_types},
                   {MeshAxis("z"), 2, {}, explicit_types}});
  const Sharding sharding = named_sharding(mesh, read_partition_text("P(y)", {}), 2);
  CHECK(sdy_sharding(mesh, opened_for_auto(mesh, sharding)) ==
        "#sdy.sharding<@mesh, [{\"y\", ?}, {?}], replicated={\"z\"}>");
  const Mesh whole = mesh_of_types(explicit_types, explicit_types);
  const Sharding fixed = named_sharding(whole, read_partition_text("P(y)", {}), 2);
  CHECK(opened_for_auto(whole, fixed) == fixed);
}

TEST_CASE("constraints by logical names are none without any rules") {
  const RulesConfig rules;
  const Mesh mesh = mesh_of_types(automatic, automatic);
  Diagnostics diagnostics;
  Resolver resolver(rules, mesh, diagnostics);
  const SpecConfig names{LogicalSpec{{LogicalAxis("a"), LogicalAxis("a")}}, {}};
  const TensorType type{DType::f32, {8, 8}};
  CHECK_FALSE(resolver.resolve({names, type, Part::activations, "h"}).is_constraint);
  CHECK(diagnostics.all().empty());
}
