#include "exec/reference.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

#include "exec/numbers.h"

using namespace shard;
using namespace shard::test;

namespace {

using Dims = std::vector<std::int64_t>;

/// A graph put together line by line.
class GraphMaker {
 public:
  GraphMaker() { graph.regions.resize(1); }

  ValueId value(const TensorType& type, NodeId producer = NodeId::none) {
    GraphValue made;
    made.type = type;
    made.producer = producer;
    graph.values.push_back(made);
    return id_at<ValueId>(graph.values.size() - 1);
  }

  ValueId input(const TensorType& type) {
    const ValueId id = value(type);
    GraphInput made;
    made.value = id;
    graph.inputs.push_back(made);
    graph.regions[0].parameters.push_back(id);
    return id;
  }

  std::vector<ValueId> node(int region, Op op, std::vector<ValueId> operands,
                            const std::vector<TensorType>& types, Attributes attributes = {},
                            RegionId inner = RegionId::none) {
    Node made;
    made.op = op;
    made.attributes = std::move(attributes);
    made.operands = std::move(operands);
    made.region = inner;
    const NodeId id = id_at<NodeId>(graph.nodes.size());
    for (const TensorType& type : types) made.results.push_back(value(type, id));
    graph.nodes.push_back(made);
    graph.regions[static_cast<std::size_t>(region)].nodes.push_back(id);
    return made.results;
  }

  void output(ValueId id) {
    GraphOutput made;
    made.value = id;
    graph.outputs.push_back(made);
    graph.regions[0].results.push_back(id);
  }

  Graph graph;
};

}  // namespace

TEST_CASE("the reference multiplies matrices of numbers known by heart") {
  const HostTensor a = tensor({DType::f32, {2, 2}}, {1, 2, 3, 4});
  const HostTensor b = tensor({DType::f32, {2, 2}}, {5, 6, 7, 8});
  const auto product = [&](std::int64_t lhs, std::int64_t rhs) {
    return numbers_of(run_reference_op(Op::dot, {a, b},
                                       {{"lhs_batch", Dims{}},
                                        {"rhs_batch", Dims{}},
                                        {"lhs_contract", Dims{lhs}},
                                        {"rhs_contract", Dims{rhs}}})[0]);
  };
  CHECK(product(1, 0) == std::vector<double>{19, 22, 43, 50});
  CHECK(product(1, 1) == std::vector<double>{17, 23, 39, 53});
  CHECK(product(0, 0) == std::vector<double>{26, 30, 38, 44});
}

TEST_CASE("the reference reduces and broadcasts and transposes numbers known by heart") {
  const HostTensor a = tensor({DType::f32, {2, 3}}, {1, 2, 3, 4, 5, 6});
  CHECK(numbers_of(run_reference_op(Op::reduce_sum, {a}, {{"dims", Dims{0}}})[0]) ==
        std::vector<double>{5, 7, 9});
  CHECK(numbers_of(run_reference_op(Op::reduce_max, {a}, {{"dims", Dims{1}}})[0]) ==
        std::vector<double>{3, 6});
  CHECK(numbers_of(run_reference_op(Op::transpose, {a}, {{"order", Dims{1, 0}}})[0]) ==
        std::vector<double>{1, 4, 2, 5, 3, 6});
  const HostTensor v = tensor({DType::f32, {2}}, {7, 8});
  CHECK(numbers_of(
            run_reference_op(Op::broadcast, {v}, {{"shape", Dims{2, 2}}, {"dims", Dims{0}}})[0]) ==
        std::vector<double>{7, 7, 8, 8});
}

TEST_CASE("the reference walks loops with carries and slices and outputs from either end") {
  for (const std::int64_t reverse : {0, 1}) {
    GraphMaker maker;
    const TensorType scalar{DType::f32, {}}, stacked{DType::f32, {3}};
    const ValueId start = maker.input(scalar), xs = maker.input(stacked);
    const ValueId factor = maker.input(scalar);
    maker.graph.regions.emplace_back();
    const ValueId carry = maker.value(scalar), x = maker.value(scalar), f = maker.value(scalar);
    const ValueId scaled = maker.node(1, Op::multiply, {carry, f}, {scalar})[0];
    const ValueId next = maker.node(1, Op::add, {scaled, x}, {scalar})[0];
    maker.graph.regions[1].parameters = {carry, x, f};
    maker.graph.regions[1].results = {next, scaled};
    const std::vector<ValueId> results =
        maker.node(0, Op::repeat, {start, xs, factor}, {scalar, stacked},
                   {{"times", std::int64_t{3}},
                    {"carries", std::int64_t{1}},
                    {"stacked", std::int64_t{1}},
                    {"reverse", reverse}},
                   id_at<RegionId>(1));
    maker.output(results[0]);
    maker.output(results[1]);
    const std::vector<HostTensor> outputs = run_reference(
        maker.graph, {tensor(scalar, {1}), tensor(stacked, {1, 2, 3}), tensor(scalar, {10})});
    REQUIRE(outputs.size() == 2);
    if (reverse == 0) {
      CHECK(numbers_of(outputs[0])[0] == 1123);
      CHECK(numbers_of(outputs[1]) == std::vector<double>{10, 110, 1120});
    } else {
      CHECK(numbers_of(outputs[0])[0] == 1321);
      CHECK(numbers_of(outputs[1]) == std::vector<double>{1320, 130, 10});
    }
  }
}

TEST_CASE("outputs of the reference are rounded once") {
  GraphMaker maker;
  const TensorType type{DType::bf16, {1}};
  const ValueId x = maker.input(type);
  const ValueId third = maker.node(0, Op::scale, {x}, {type}, {{"value", 1.0 / 3}})[0];
  maker.output(maker.node(0, Op::scale, {third}, {type}, {{"value", 3.0}})[0]);
  CHECK(numbers_of(run_reference(maker.graph, {tensor(type, {1})})[0])[0] == 1);
}

TEST_CASE("the reference rounds what is kept in 16 bits and nothing else") {
  for (const auto& [dtype, expected] :
       {std::pair(DType::bf16, 1.001953125), std::pair(DType::f32, 1.0)}) {
    GraphMaker maker;
    const TensorType narrow{dtype, {1}}, wide{DType::f64, {1}};
    const ValueId x = maker.input(narrow);
    const ValueId third = maker.node(0, Op::scale, {x}, {narrow}, {{"value", 1.0 / 3}})[0];
    const ValueId same =
        maker.node(0, Op::convert, {third}, {wide}, {{"dtype", std::string("f64")}})[0];
    maker.output(maker.node(0, Op::scale, {same}, {wide}, {{"value", 3.0}})[0]);
    CHECK(numbers_of(run_reference(maker.graph, {tensor(narrow, {1})})[0])[0] == expected);
  }
}

TEST_CASE("rounded anyhow a number is one of its two neighbours in the format") {
  for (const DType dtype : {DType::bf16, DType::f16, DType::f8_e4m3fn, DType::f8_e5m2}) {
    GraphMaker maker;
    const TensorType type{dtype, {3}};
    const ValueId x = maker.input(type);
    maker.output(maker.node(0, Op::scale, {x}, {type}, {{"value", 1.0 / 3}})[0]);
    const std::vector<HostTensor> inputs{tensor(type, {1, -1, 0})};
    const double nearest = numbers_of(run_reference(maker.graph, inputs)[0])[0];
    std::mt19937_64 random(1);
    std::set<double> found;
    for (int i = 0; i < 20; ++i) {
      const std::vector<double> some =
          numbers_of(run_reference_rounded_anyhow(maker.graph, inputs, random)[0]);
      found.insert({some[0], -some[1]});
      CHECK(some[2] == 0);
    }
    REQUIRE(found.size() == 2);
    CHECK(found.contains(nearest));
    CHECK(*found.begin() < 1.0 / 3);
    CHECK(*found.rbegin() > 1.0 / 3);
  }
}

TEST_CASE("the memory of the reference counts what is alive together") {
  GraphMaker maker;
  const TensorType type{DType::f32, {1000}};
  ValueId x = maker.input(type);
  for (int i = 0; i < 10; ++i) x = maker.node(0, Op::negate, {x}, {type})[0];
  maker.output(x);
  // The input, two values at a time, and the rounded output.
  CHECK(reference_bytes(maker.graph) == Bytes(8000 + 2 * 8000 + 4000));
}
