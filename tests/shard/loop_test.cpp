// Shardings through `repeat`.

#include <doctest/doctest.h>

#include "graph_maker.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// Four layers `h = relu(h @ W[i]) + b` that also stack each h.
struct Loop {
  GraphMaker make;
  ValueId x, weights, bias;
  ValueId carry, slice, invariant, product, next;
  ValueId last, stacked;

  Loop(SpecConfig x_spec, SpecConfig weights_spec, SpecConfig bias_spec) {
    x = make.input("x", {8, 16}, {"batch", "embed"}, std::move(x_spec), Role::input);
    weights = make.input("w", {4, 16, 16}, {"layer", "embed", "hidden"}, std::move(weights_spec));
    bias = make.input("b", {8, 16}, {}, std::move(bias_spec));
    const RegionId body = make.build.add_region();
    carry = parameter(body, {8, 16});
    slice = parameter(body, {16, 16});
    invariant = parameter(body, {8, 16});
    const RegionId outside = make.build.enter(body);
    product = make.dot(carry, slice);
    next = make.build.emit(Op::add, {product, invariant});
    make.graph.regions[index_of(body)].results = {next, product};
    make.build.enter(outside);
    const NodeId loop = make.build.add_repeat(body, {x, weights, bias},
                                              {{"times", std::int64_t{4}},
                                               {"carries", std::int64_t{1}},
                                               {"stacked", std::int64_t{1}},
                                               {"reverse", std::int64_t{0}}});
    last = make.build.add_result(loop, {DType::f32, {8, 16}}, Labels(2));
    stacked = make.build.add_result(loop, {DType::f32, {4, 8, 16}}, Labels(3));
    make.output("last", last);
    make.output("stacked", stacked);
    verify(make.graph);
  }

  ShardedGraph sharded() const {
    ShardedGraph answer = shard_graph(make.graph, {}, guide_mesh());
    verify(answer.graph);
    return answer;
  }

 private:
  using Labels = std::vector<std::string>;

  ValueId parameter(RegionId body, const Shape& shape) {
    const ValueId value = make.build.add_value({DType::f32, shape}, "", Labels(shape.size()), {});
    make.graph.regions[index_of(body)].parameters.push_back(value);
    return value;
  }
};

}  // namespace

TEST_CASE("a carry has one sharding before during and after the loop") {
  const Loop loop(placed({"data", ""}), placed({"", "", ""}), placed({"", ""}));
  const ShardedGraph answer = loop.sharded();
  CHECK(loop.make.specs(answer, {loop.carry, loop.product, loop.next, loop.last}) ==
        "P('data', None)\nP('data', None)\nP('data', None)\nP('data', None)\n");
  const Reason& why = answer.reasons[index_of(loop.carry)][0].front();
  CHECK(why.kind == ReasonKind::propagated);
  CHECK(why.from == loop.x);
  CHECK(answer.graph.node(why.via).op == Op::repeat);
}

TEST_CASE("a slice has its stacked array's sharding without the leading dim") {
  const Loop loop(placed({"data", ""}), placed({"", "", "model"}), placed({"", ""}));
  const ShardedGraph answer = loop.sharded();
  CHECK(loop.make.specs(answer, {loop.weights, loop.slice, loop.product, loop.stacked}) ==
        "P(None, None, 'model')\nP(None, 'model')\nP('data', 'model')\n"
        "P(None, 'data', 'model')\n");
}

TEST_CASE("a split leading dim of a stacked array does not reach into the loop") {
  const Loop loop(placed({"", ""}), placed({"model", "data", ""}), placed({"", ""}));
  const ShardedGraph answer = loop.sharded();
  CHECK(loop.make.specs(answer, {loop.weights, loop.slice, loop.stacked}) ==
        "P('model', 'data', None)\nP('data', None)\nP(None, None, 'data')\n");
}

TEST_CASE("an invariant is an edge into the loop") {
  const Loop loop(placed({"", ""}), placed({"", "", ""}), placed({"data", ""}));
  const ShardedGraph answer = loop.sharded();
  CHECK(loop.make.specs(answer, {loop.bias, loop.invariant, loop.next}) ==
        "P('data', None)\nP('data', None)\nP('data', None)\n");
}
