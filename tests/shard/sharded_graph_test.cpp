#include "shard/sharded_graph.h"

#include <doctest/doctest.h>

#include "graph_maker.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Labels = std::vector<std::string>;

ShardedGraph sharded(const GraphMaker& maker, const RulesConfig& rules = {}) {
  verify(maker.graph);
  ShardedGraph answer = shard_graph(maker.graph, rules, guide_mesh());
  verify(answer.graph);
  return answer;
}

std::string refusal(const GraphMaker& maker, const RulesConfig& rules = {}) {
  try {
    shard_graph(maker.graph, rules, guide_mesh());
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

const Labels batch_embed = {"batch", "embed"};

}  // namespace

TEST_CASE("a matmul takes its rows from the left and its columns from the right") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, batch_embed, placed({"data", ""}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {"embed", "hidden"}, placed({"", "model"}));
  const ValueId y = make.dot(x, w);
  make.output("y", y);
  const ShardedGraph answer = sharded(make);
  CHECK(make.specs(answer, {x, w, y}) == "P('data', None)\nP(None, 'model')\nP('data', 'model')\n");
  CHECK(spec_text(answer.mesh, answer.output_shardings[0]) == "P('data', 'model')");
  CHECK(answer.conflicts.empty());
  const ValueReasons& why = answer.reasons[index_of(y)];
  REQUIRE(why[0].size() == 1);
  CHECK(why[0][0].kind == ReasonKind::propagated);
  CHECK(why[0][0].from == x);
  CHECK(why[0][0].label == "batch");
  CHECK(why[0][0].via == NodeId{0});
  CHECK(why[0][0].axes == Axes{answer.mesh.full(0)});
  REQUIRE(why[1].size() == 1);
  CHECK(why[1][0].from == w);
  CHECK(why[1][0].label == "hidden");
}

TEST_CASE("a contracted dim split on both sides leaves the result whole along it") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", "model"}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {}, placed({"model", ""}));
  const ValueId y = make.dot(x, w);
  make.output("y", y);
  CHECK(make.specs(sharded(make), {y}) == "P('data', None)\n");
}

TEST_CASE("what one tensor cannot hold is a conflict that says who has the axis") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, batch_embed, placed({"data", ""}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {"embed", "hidden"}, placed({"data", ""}));
  const ValueId y = make.dot(x, w);
  make.output("y", y);
  const ShardedGraph answer = sharded(make);
  CHECK(make.specs(answer, {y}) == "P('data', None)\n");
  REQUIRE(answer.conflicts.size() == 1);
  const Conflict& conflict = answer.conflicts[0];
  CHECK(conflict.loser == x);
  CHECK(conflict.dim == 1);
  CHECK(conflict.from == w);
  CHECK(conflict.label == "embed");
  CHECK(conflict.axes == Axes{answer.mesh.full(0)});
  CHECK(conflict.why == "dim 0 has data already");
}

TEST_CASE("a given sharding is not changed and says so") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", ""}));
  const ValueId w = make.input("w", {8, 16}, {}, placed({"", "model"}));
  const ValueId y = make.build.emit(Op::add, {x, w});
  make.output("y", y);
  const ShardedGraph answer = sharded(make);
  CHECK(make.specs(answer, {x, w, y}) == "P('data', None)\nP(None, 'model')\nP('data', 'model')\n");
  REQUIRE(answer.conflicts.size() == 2);
  CHECK(answer.conflicts[0].loser == w);
  CHECK(answer.conflicts[0].why == "its sharding is given: whole");
  CHECK(answer.conflicts[1].loser == x);
}

TEST_CASE("a constraint speaks about its operand and is the reason of both") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, batch_embed, placed({"", ""}), Role::input);
  const ValueId w = make.input("w", {16, 32}, {"embed", "hidden"}, placed({"", ""}));
  const ValueId y = make.dot(x, w);
  const ValueId z = make.constrain(y, named({"batch", "hidden"}, 5));
  make.output("z", z);
  RulesConfig rules;
  rules.rules.push_back({LogicalAxis("hidden"), {{MeshAxis("model")}, false}, {"r.yaml", 2, 5, 1}});
  const ShardedGraph answer = sharded(make, rules);
  CHECK(make.specs(answer, {y, z}) == "P(None, 'model')\nP(None, 'model')\n");
  CHECK(spec_text(answer.mesh, answer.constraints[0]) == "P(None, 'model')");
  const Reason& of_operand = answer.reasons[index_of(y)][1].front();
  CHECK(of_operand.kind == ReasonKind::constraint);
  CHECK(of_operand.at == Location{"m.yaml", 5, 3, 1});
  const std::vector<Reason>& of_result = answer.reasons[index_of(z)][1];
  REQUIRE(of_result.size() == 2);
  CHECK(of_result[0].kind == ReasonKind::constraint);
  CHECK(of_result[1].kind == ReasonKind::rule);
  CHECK(answer.rule_uses[0].fired == 1);
  REQUIRE(answer.unmatched.size() == 1);
  CHECK(answer.unmatched[0].first == LogicalAxis("batch"));
}

TEST_CASE("two different constraints on one value both reach it by propagation") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", ""}), Role::input);
  const ValueId y = make.build.emit(Op::relu, {x});
  make.output("a", make.constrain(y, placed({"model", ""})));
  make.output("b", make.constrain(y, placed({"", "model"})));
  CHECK(make.specs(sharded(make), {y}) == "P('data', 'model')\n");
}

TEST_CASE("an unconstrained dim is left to propagation") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", ""}), Role::input);
  const ValueId y = make.constrain(x, placed({"?", "model"}));
  make.output("y", y);
  const ShardedGraph answer = sharded(make);
  CHECK(make.specs(answer, {y}) == "P('data', 'model')\n");
  CHECK(answer.reasons[index_of(y)][0].back().kind == ReasonKind::propagated);
}

TEST_CASE("a null constraint is none") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", ""}), Role::input);
  const ValueId y = make.constrain(x, {});
  make.output("y", y);
  CHECK(make.specs(sharded(make), {y}) == "P('data', None)\n");
}

TEST_CASE("an output's placement reaches what is returned and gives the reason") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"", ""}), Role::input);
  const ValueId y = make.build.emit(Op::relu, {x});
  make.output("y", y, placed({"data", ""}, 9));
  const ShardedGraph answer = sharded(make);
  CHECK(make.specs(answer, {y}) == "P('data', None)\n");
  const Reason& why = answer.reasons[index_of(y)][0].front();
  CHECK(why.kind == ReasonKind::output);
  CHECK(why.output == 0);
  CHECK(why.at == Location{"m.yaml", 9, 3, 1});
}

TEST_CASE("unannotated state is whole and an unannotated data input is left to propagation") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, {}, Role::input);
  const ValueId w = make.input("w", {8, 16}, {}, {}, Role::parameter);
  const ValueId v = make.input("v", {8, 16}, {}, placed({"data", ""}), Role::parameter);
  const ValueId y = make.build.emit(Op::add, {x, v});
  make.output("y", make.build.emit(Op::add, {y, w}));
  const ShardedGraph answer = sharded(make);
  CHECK(make.specs(answer, {x, w}) == "P('data', None)\nP()\n");
  CHECK(answer.reasons[index_of(x)][0].front().kind == ReasonKind::propagated);
  CHECK(answer.reasons[index_of(w)][0].front().kind == ReasonKind::unannotated);
}

TEST_CASE("a constant is made once per sharding that its uses need") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", ""}), Role::input);
  const ValueId w = make.input("w", {8, 16}, {}, placed({"", "model"}), Role::input);
  const ValueId one = make.constant({8, 16}, 1);
  make.output("a", make.build.emit(Op::add, {x, one}));
  make.output("b", make.build.emit(Op::add, {w, one}));
  make.output("c", make.build.emit(Op::multiply, {x, one}));
  CHECK(to_string(sharded(make)) == R"(mesh data 2 x model 4

  in  %0 : f32[8,16] @ P('data', None)  # x  P('data', None)
  in  %1 : f32[8,16] @ P(None, 'model')  # w  P(None, 'model')
  %2 = constant() {shape=[8,16], value=1.0, dtype="f32"} : f32[8,16] @ P('data', None)
  %6 = constant() {shape=[8,16], value=1.0, dtype="f32"} : f32[8,16] @ P(None, 'model')
  %3 = add(%0, %2) : f32[8,16] @ P('data', None)
  %4 = add(%1, %6) : f32[8,16] @ P(None, 'model')
  %5 = multiply(%0, %2) : f32[8,16] @ P('data', None)
  out %3 : f32[8,16] @ P('data', None)  # a
  out %4 : f32[8,16] @ P(None, 'model')  # b
  out %5 : f32[8,16] @ P('data', None)  # c
)");
}

TEST_CASE("what is computed from constants alone is made once per sharding too") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", ""}), Role::input);
  const ValueId w = make.input("w", {8, 16}, {}, placed({"", "model"}), Role::input);
  const ValueId half = make.build.emit(Op::negate, {make.constant({8, 16}, 1)});
  make.output("a", make.build.emit(Op::add, {x, half}));
  make.output("b", make.build.emit(Op::add, {w, half}));
  make.output("half", half, placed({"", ""}));
  const ShardedGraph answer = sharded(make);
  CHECK(answer.graph.nodes.size() == make.graph.nodes.size() + 4);
  for (const Node& node : answer.graph.nodes) {
    if (node.op != Op::negate) continue;
    CHECK(answer.sharding(node.operands[0]) == answer.sharding(node.results[0]));
  }
  CHECK(answer.output_shardings[2] == replicated_sharding(2));
}

TEST_CASE("all mistakes of placement are told in one run") {
  GraphMaker make;
  const ValueId x = make.input("x", {7, 16}, batch_embed, placed({"data", ""}, 1), Role::input);
  const ValueId y = make.constrain(x, placed({"", "fsdp"}, 2));
  make.output("y", y, placed({"", "", ""}, 3));
  CHECK(refusal(make) ==
        "m.yaml:1:3: error: dim 0 (batch) of x has size 7, and P('data', None) splits it 2 ways "
        "(data 2), which should evenly divide the shape 7,16 [indivisible]\n"
        "  hint: nearest legal sizes: 6 or 8 (padding 1); dim 1 (embed) divides: P(None, 'data'), "
        "224 B per device, without 448 B\n"
        "m.yaml:2:3: error: mesh axis 'fsdp' of P(None, 'fsdp') for x is not found in mesh data 2 "
        "x model 4 [unknown-mesh-axis]\n"
        "  hint: the mesh has: data, model\n"
        "m.yaml:3:3: error: P(None, None, None) is only valid for values of rank at least 3, but "
        "y is f32[7,16] of rank 2 [rank-mismatch]");
}

TEST_CASE("padding is not offered along axes of type explicit") {
  GraphMaker make;
  const ValueId x = make.input("x", {7, 16}, batch_embed, placed({"data", "model"}, 1));
  make.output("y", make.build.emit(Op::negate, {x}));
  RulesConfig rules;
  rules.misfit = Misfit::pad;
  const Mesh mesh(
      {{MeshAxis("data"), 2, {}, AxisType::explicit_types}, {MeshAxis("model"), 4, {}}});
  std::string told;
  try {
    shard_graph(make.graph, rules, mesh);
  } catch (const Error& error) {
    for (const Diagnostic& one : error.diagnostics()) told += to_string(one) + "\n";
  }
  CHECK(told ==
        "m.yaml:1:3: error: dim 0 of x has size 7, and axes of type explicit split it 2 ways (data "
        "2), "
        "which should evenly divide the shape 7,16 [indivisible]\n"
        "  hint: `misfit: pad` pads over axes of type auto alone\n");
}

TEST_CASE("an output that is a copy of a constant is handed over without its padding") {
  GraphMaker make;
  const ValueId x = make.input("x", {5, 8}, batch_embed, placed({"data", ""}));
  const ValueId ones = make.constant({5, 8}, 1);
  make.output("sum", make.build.emit(Op::add, {x, ones}));
  make.output("ones", ones);
  make.output("again", ones, placed({"", "model"}));
  RulesConfig rules;
  rules.misfit = Misfit::pad;
  const ShardedGraph answer = shard_graph(make.graph, rules, guide_mesh());
  for (std::size_t i = 0; i < answer.graph.outputs.size(); ++i)
    CHECK(to_string(answer.given_output_type(i)) == "f32[5,8]");
}
