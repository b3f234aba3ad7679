#include "shard/padding.h"

#include <doctest/doctest.h>

#include <limits>

#include "graph_maker.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::string padded(GraphMaker& make, const std::vector<PaddingNeed>& needs) {
  Diagnostics diagnostics;
  pad_graph(make.graph, needs, diagnostics);
  for (const Diagnostic& one : diagnostics.all()) return to_string(one);
  verify(make.graph);
  return to_string(make.graph);
}

std::string types(const GraphMaker& make, const std::vector<ValueId>& values) {
  std::string text;
  for (const ValueId value : values) text += to_string(make.graph.value(value).type) + "\n";
  return text;
}

}  // namespace

TEST_CASE("every dim tied to a padded one is padded and sums over it do not see the padding") {
  GraphMaker make;
  const ValueId x = make.input("x", {2, 10}, {"batch", "embed"}, placed({"", ""}), Role::input);
  const ValueId w = make.input("w", {10, 4}, {"embed", "hidden"}, placed({"model", ""}));
  const ValueId y = make.dot(make.build.emit(Op::relu, {x}), w);
  make.output("y", y);
  padded(make, {{w, 0, 4, "w", {}}});
  CHECK(types(make, {x, w, y}) == "f32[2,12]\nf32[12,4]\nf32[2,4]\n");
  int masks = 0;
  for (const Node& node : make.graph.nodes) masks += node.op == Op::select ? 1 : 0;
  CHECK(masks == 2);
}

TEST_CASE("a dim that several arrays split differently is padded to a multiple of all parts") {
  GraphMaker make;
  const ValueId x = make.input("x", {5}, {}, placed({""}));
  const ValueId y = make.build.emit(Op::relu, {x});
  make.output("y", y);
  padded(make, {{x, 0, 4, "x", {}}, {y, 0, 6, "y", {}}});
  CHECK(types(make, {x, y}) == "f32[12]\nf32[12]\n");
}

TEST_CASE("a loop's carry and the slices of stacked arrays are padded inside and outside") {
  GraphMaker make;
  const ValueId x = make.input("x", {2, 10}, {}, placed({"", ""}), Role::input);
  const ValueId stack = make.input("w", {3, 10, 10}, {}, placed({"", "model", ""}));
  const ValueId carry = make.build.add_value({DType::f32, {2, 10}}, "", {"", ""}, {});
  const ValueId slice = make.build.add_value({DType::f32, {10, 10}}, "", {"", ""}, {});
  const RegionId region = make.build.add_region();
  const RegionId around = make.build.enter(region);
  const ValueId next = make.dot(carry, slice);
  make.build.enter(around);
  make.graph.regions[index_of(region)].parameters = {carry, slice};
  make.graph.regions[index_of(region)].results = {next};
  const NodeId loop = make.build.add_repeat(region, {x, stack},
                                            Attributes{{"times", std::int64_t{3}},
                                                       {"carries", std::int64_t{1}},
                                                       {"stacked", std::int64_t{1}},
                                                       {"reverse", std::int64_t{0}}});
  const ValueId y = make.build.add_result(loop, {DType::f32, {2, 10}}, {"", ""});
  make.output("y", y);
  padded(make, {{stack, 1, 4, "w", {}}});
  CHECK(types(make, {x, stack, carry, slice, next, y}) ==
        "f32[2,12]\nf32[3,12,12]\nf32[2,12]\nf32[12,12]\nf32[2,12]\nf32[2,12]\n");
}

TEST_CASE("windows over a padded dim grow until there are as many as the padded result has") {
  GraphMaker make;
  const ValueId x = make.input("x", {10, 4}, {}, placed({"model", ""}));
  const std::vector<std::int64_t> ones{1, 1}, side{1, 0};
  const ValueId y = make.build.emit(Op::reduce_window_max, {x},
                                    Attributes{{"window", std::vector<std::int64_t>{3, 1}},
                                               {"strides", ones},
                                               {"low", side},
                                               {"high", side},
                                               {"dilation", ones},
                                               {"base_dilation", ones}});
  make.output("y", y);
  padded(make, {{x, 0, 4, "x", {}}});
  CHECK(types(make, {x, y}) == "f32[12,4]\nf32[12,4]\n");
  const Node& node = make.graph.node(make.graph.value(y).producer);
  CHECK(node.attributes.integers("high") == side);
  const Node& mask = make.graph.node(make.graph.value(node.operands[0]).producer);
  CHECK(mask.op == Op::select);
  const Node& instead = make.graph.node(make.graph.value(mask.operands[2]).producer);
  CHECK(instead.attributes.number("value") == -std::numeric_limits<double>::infinity());
}

TEST_CASE("a slice of a padded dim's only element takes the padding whatever its step") {
  using Numbers = std::vector<std::int64_t>;
  GraphMaker make;
  const ValueId x = make.input("x", {7, 1}, {}, placed({"", "model"}));
  const ValueId y = make.build.emit(
      Op::slice, {x},
      Attributes{{"start", Numbers{1, 0}}, {"limit", Numbers{6, 1}}, {"stride", Numbers{3, 2}}});
  make.output("y", y);
  padded(make, {{x, 1, 8, "x", {}}});
  CHECK(types(make, {x, y}) == "f32[7,8]\nf32[2,8]\n");
  const Node& slice = make.graph.node(make.graph.value(y).producer);
  CHECK(slice.op == Op::slice);
  CHECK(result_types(slice.op, types_of(make.graph, slice.operands), slice.attributes).front() ==
        TensorType{DType::f32, {2, 8}});
}

TEST_CASE("a sum so far is padded as it is and one from the end does not see the padding") {
  for (const std::int64_t reverse : {0, 1}) {
    GraphMaker make;
    const ValueId x = make.input("x", {10}, {}, placed({"model"}));
    const ValueId y = make.build.emit(Op::cumsum, {x},
                                      Attributes{{"dim", std::int64_t{0}}, {"reverse", reverse}});
    make.output("y", y);
    padded(make, {{x, 0, 4, "x", {}}});
    CHECK(types(make, {x, y}) == "f32[12]\nf32[12]\n");
    const Node& node = make.graph.node(make.graph.value(y).producer);
    CHECK((node.operands[0] == x) == (reverse == 0));
  }
}

TEST_CASE("an update of a padded array starts where it fits without the padding") {
  GraphMaker make;
  const ValueId x = make.input("x", {10}, {}, placed({"model"}));
  const ValueId update = make.input("u", {4}, {}, placed({""}));
  const ValueId start = make.build.emit(Op::convert, {make.input("s", {}, {}, placed({}))},
                                        {{"dtype", std::string("i32")}});
  const ValueId y = make.build.emit(Op::dynamic_update_slice, {x, update, start});
  make.output("y", y);
  padded(make, {{x, 0, 4, "x", {}}});
  CHECK(types(make, {x, y}) == "f32[12]\nf32[12]\n");
  const Node& node = make.graph.node(make.graph.value(y).producer);
  const Node& clamped = make.graph.node(make.graph.value(node.operands[2]).producer);
  CHECK(clamped.op == Op::clamp);
  const Node& most = make.graph.node(make.graph.value(clamped.operands[2]).producer);
  CHECK(most.attributes.number("value") == 6);
}

TEST_CASE("a dim that an op needs whole cannot be padded and the op is named") {
  GraphMaker make;
  const ValueId x = make.input("x", {10, 4}, {}, placed({"model", ""}));
  const ValueId y = make.build.emit(Op::reshape, {x}, Attributes{{"shape", Shape{40}}});
  make.output("y", y);
  CHECK(padded(make, {{x, 0, 4, "x", {"m.yaml", 3, 7, 1}}}) ==
        "m.yaml:3:7: error: dim 0 of x has size 10, and cannot be padded for 4 pieces: reshape "
        "works on the whole dim [indivisible]\n"
        "  hint: nearest legal sizes: 8 or 12");
  CHECK(types(make, {x, y}) == "f32[10,4]\nf32[40]\n");
}
