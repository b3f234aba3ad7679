// What the passes after lowering make of small graphs.

#include <doctest/doctest.h>

#include "shard/graph_maker.h"
#include "spmd/partition.h"
#include "spmd/words.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// One line per collective: kind, axes, dim, payload, why.
std::string collectives(const Program& program) {
  std::string text;
  for (const Instruction& instruction : program.main().instructions) {
    if (!instruction.collective) continue;
    const Collective& one = *instruction.collective;
    text += std::string(name(one.kind));
    for (const AxisRef& axis : one.axes) text += " " + to_string(program.mesh, axis);
    if (one.dim >= 0) text += " dim " + std::to_string(one.dim);
    text +=
        " payload " + std::to_string(one.payload.count()) + ", " + std::string(name(one.why.kind));
    if (!one.why.label.empty()) text += " over " + one.why.label;
    if (!one.why.to_spec.empty()) text += " from " + one.why.from_spec + " to " + one.why.to_spec;
    text += "\n";
  }
  return text;
}

/// h = x @ w with the contraction split over model.
struct Product {
  GraphMaker make;
  ValueId x, w, h;

  Product() {
    x = make.input("x", {8, 16}, {"batch", "embed"}, placed({"data", "model"}), Role::input);
    w = make.input("w", {16, 32}, {"embed", "hidden"}, placed({"model", ""}));
    h = make.dot(x, w);
  }

  Program program() const {
    Program program = partition(shard_graph(make.graph, {}, guide_mesh()));
    verify(program);
    return program;
  }
};

}  // namespace

TEST_CASE("a partial sum is reduced once for all its readers") {
  Product product;
  product.make.output("a", product.make.build.emit(Op::relu, {product.h}), placed({"data", ""}));
  product.make.output("b", product.make.build.emit(Op::negate, {product.h}), placed({"data", ""}));
  CHECK(collectives(product.program()) == "all_reduce model payload 512, partial_sum over embed\n");
}

TEST_CASE("a partial sum that is only cut along its axes is scattered") {
  Product product;
  product.make.output("y", product.make.constrain(product.h, placed({"data", "model"})),
                      placed({"data", "model"}));
  CHECK(collectives(product.program()) ==
        "reduce_scatter model dim 1 payload 512, partial_sum over embed from P('data', None) to "
        "P('data', 'model')\n");
}

TEST_CASE("a partial sum that is needed whole too is not scattered") {
  Product product;
  product.make.output("whole", product.make.constrain(product.h, placed({"data", ""})),
                      placed({"data", ""}));
  product.make.output("cut", product.make.constrain(product.h, placed({"data", "model"})),
                      placed({"data", "model"}));
  CHECK(collectives(product.program()).find("all_reduce model payload 512") == 0);
}

TEST_CASE("equal reshards of one value are made once") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", "model"}), Role::input);
  const ValueId a = make.constrain(x, placed({"data", ""}));
  const ValueId b = make.constrain(x, placed({"data", ""}));
  make.output("a", make.build.emit(Op::relu, {a}), placed({"data", ""}));
  make.output("b", make.build.emit(Op::negate, {b}), placed({"data", ""}));
  CHECK(collectives(partition(shard_graph(make.graph, {}, guide_mesh()))) ==
        "all_gather model dim 1 payload 256, constraint from P('data', 'model') to P('data', "
        "None)\n");
}

TEST_CASE("a slice that undoes a gather is dropped and then the gather") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", "model"}), Role::input);
  const ValueId whole = make.constrain(x, placed({"data", ""}));
  const ValueId again = make.constrain(whole, placed({"data", "model"}));
  make.output("y", make.build.emit(Op::relu, {again}), placed({"data", "model"}));
  CHECK(collectives(partition(shard_graph(make.graph, {}, guide_mesh()))).empty());
}

TEST_CASE("a constraint that changes nothing is its operand") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", ""}), Role::input);
  make.output("y", make.constrain(x, placed({"data", ""})), placed({"data", ""}));
  const Program program = partition(shard_graph(make.graph, {}, guide_mesh()));
  CHECK(program.main().instructions.empty());
  CHECK(program.outputs[0].buffer == program.inputs[0].buffer);
}

TEST_CASE("an array made of one number is made in parts") {
  GraphMaker make;
  const ValueId x = make.input("x", {8, 16}, {}, placed({"data", "model"}), Role::input);
  const ValueId ones = make.constant({8, 16}, 1.0);
  make.output("y", make.build.emit(Op::add, {x, ones}), placed({"data", "model"}));
  const Program program = partition(shard_graph(make.graph, {}, guide_mesh()));
  CHECK(collectives(program).empty());
  CHECK(program.main().instructions[0].attributes.integers("shape") == Shape{4, 4});
}

TEST_CASE("a maximum over a split dim is reduced by maximum") {
  GraphMaker make;
  const ValueId x =
      make.input("x", {8, 16}, {"batch", "embed"}, placed({"data", "model"}), Role::input);
  make.output("y", make.build.emit(Op::reduce_max, {x}, {{"dims", Shape{1}}}), placed({"data"}));
  const Program program = partition(shard_graph(make.graph, {}, guide_mesh()));
  CHECK(collectives(program) == "all_reduce model payload 16, partial_sum over embed\n");
  CHECK(program.main().instructions[1].collective->reduction == Reduction::max);
}

TEST_CASE("fsdp scatters the gradient of a large batch into the parameter's own split") {
  GraphMaker make;
  const ValueId x =
      make.input("x", {4096, 16}, {"batch", "embed"}, placed({"data", ""}), Role::input);
  const ValueId g =
      make.input("g", {4096, 32}, {"batch", "hidden"}, placed({"data", ""}), Role::input);
  const ValueId gradient = make.build.emit(Op::dot, {x, g},
                                           {{"lhs_batch", Shape{}},
                                            {"rhs_batch", Shape{}},
                                            {"lhs_contract", Shape{0}},
                                            {"rhs_contract", Shape{0}}});
  make.output("dw", gradient, placed({"data", ""}));
  CHECK(collectives(partition(shard_graph(make.graph, {}, guide_mesh()))) ==
        "reduce_scatter data dim 0 payload 2048, partial_sum over batch from P() to P('data', "
        "None)\n");
}
