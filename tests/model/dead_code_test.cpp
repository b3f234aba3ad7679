#include <doctest/doctest.h>

#include "model/graph_builder.h"
#include "model/model.h"

using namespace shard;

namespace {

/// A graph with one input `x : f32[4]`; the layers are relu_0 and so on.
struct Fixture {
  Graph graph;
  GraphBuilder builder{graph};
  ValueId x = input("x", {4});

  ValueId input(const std::string& name, Shape shape) {
    const std::vector<std::string> labels(shape.size());
    const ValueId value = builder.add_value({DType::f32, std::move(shape)}, name, labels, {});
    graph.inputs.push_back({value, name, Role::input, -1, {}});
    graph.regions.front().parameters.push_back(value);
    return value;
  }
  ValueId emit(const std::string& layer, Op op, std::initializer_list<ValueId> operands) {
    builder.origin.name = layer;
    return builder.emit(op, operands);
  }
  void output(ValueId value) {
    graph.outputs.push_back({value, "y", Role::output, -1, -1, std::nullopt});
    graph.regions.front().results.push_back(value);
  }
};

}  // namespace

TEST_CASE("nodes that no output needs go and their layers are named once") {
  Fixture f;
  f.graph.name = "f";
  const ValueId used = f.emit("a", Op::relu, {f.x});
  const ValueId unused = f.emit("b", Op::exp, {used});
  f.emit("b", Op::log, {unused});
  f.emit("c", Op::log, {unused});
  f.output(f.emit("c", Op::negate, {used}));
  CHECK(remove_dead_code(f.graph) == std::vector<std::string>{"b"});
  verify(f.graph);
  CHECK(to_string(f.graph) ==
        "f\n"
        "  in  %0 : f32[4]  # x  null\n"
        "  %1 = relu(%0) : f32[4]  # a\n"
        "  %2 = negate(%1) : f32[4]  # c\n"
        "  out %2 : f32[4]  # y\n");
}

TEST_CASE("a loop loses the carries and stacks that nothing needs") {
  Fixture f;
  f.graph.name = "f";
  const ValueId y = f.input("y", {4});
  const ValueId stack = f.input("stack", {3, 4});
  const ValueId other = f.input("other", {3, 4});
  const RegionId region = f.builder.add_region();
  const auto parameter = [&] { return f.builder.add_value({DType::f32, {4}}, "", {""}, {}); };
  std::vector<ValueId> inner{parameter(), parameter(), parameter(), parameter()};
  f.builder.enter(region);
  const ValueId a = f.emit("a", Op::add, {inner[0], inner[2]});
  const ValueId b = f.emit("b", Op::add, {inner[1], inner[3]});
  const ValueId c = f.emit("c", Op::exp, {a});
  f.builder.enter(id_at<RegionId>(0));
  f.graph.regions[1].parameters = inner;
  f.graph.regions[1].results = {a, b, c};
  f.builder.origin.name = "loop";
  const NodeId loop = f.builder.add_repeat(region, {f.x, y, stack, other},
                                           Attributes{{"times", std::int64_t{3}},
                                                      {"carries", std::int64_t{2}},
                                                      {"stacked", std::int64_t{2}},
                                                      {"reverse", std::int64_t{0}}});
  f.output(f.builder.add_result(loop, {DType::f32, {4}}, {""}));
  f.builder.add_result(loop, {DType::f32, {4}}, {""});
  f.builder.add_result(loop, {DType::f32, {3, 4}}, {"", ""});
  verify(f.graph);
  CHECK(remove_dead_code(f.graph) == std::vector<std::string>{"b", "c"});
  verify(f.graph);
  CHECK(to_string(f.graph) ==
        "f\n"
        "  in  %0 : f32[4]  # x  null\n"
        "  in  %1 : f32[4]  # y  null\n"
        "  in  %2 : f32[3,4]  # stack  null\n"
        "  in  %3 : f32[3,4]  # other  null\n"
        "  %4 = repeat(%0, %2) {times=3, carries=1, stacked=1, reverse=0} : f32[4]  # loop\n"
        "    in  %5 : f32[4]  # carry\n"
        "    in  %6 : f32[4]  # slice\n"
        "    %7 = add(%5, %6) : f32[4]  # a\n"
        "    out %7 : f32[4]\n"
        "  out %4 : f32[4]  # y\n");
}

TEST_CASE("a carry stays when the next iteration reads it") {
  // (x, y) -> (x + y, y * y): only x comes out, but it needs y.
  Fixture f;
  const ValueId y = f.input("y", {4});
  const RegionId region = f.builder.add_region();
  const ValueId inner_x = f.builder.add_value({DType::f32, {4}}, "", {""}, {});
  const ValueId inner_y = f.builder.add_value({DType::f32, {4}}, "", {""}, {});
  f.builder.enter(region);
  const ValueId sum = f.emit("sum", Op::add, {inner_x, inner_y});
  const ValueId square = f.emit("square", Op::multiply, {inner_y, inner_y});
  f.builder.enter(id_at<RegionId>(0));
  f.graph.regions[1].parameters = {inner_x, inner_y};
  f.graph.regions[1].results = {sum, square};
  const NodeId loop = f.builder.add_repeat(region, {f.x, y},
                                           Attributes{{"times", std::int64_t{3}},
                                                      {"carries", std::int64_t{2}},
                                                      {"stacked", std::int64_t{0}},
                                                      {"reverse", std::int64_t{0}}});
  f.output(f.builder.add_result(loop, {DType::f32, {4}}, {""}));
  f.builder.add_result(loop, {DType::f32, {4}}, {""});
  CHECK(remove_dead_code(f.graph).empty());
  verify(f.graph);
  CHECK(f.graph.nodes[0].results.size() == 2);
  CHECK(f.graph.nodes[0].attributes.integer("carries") == 2);
}
