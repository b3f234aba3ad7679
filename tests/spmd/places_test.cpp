// Who writes over whom, and the copies where nobody can.

#include <doctest/doctest.h>

#include "shard/graph_maker.h"
#include "simulated_memory.h"
#include "spmd/partition.h"
#include "spmd/words.h"

using namespace shard;
using namespace shard::tests;

namespace {

struct Small {
  GraphMaker make;
  std::vector<ValueId> inputs;

  explicit Small(int count, const std::vector<std::string>& placement = {"data", "model"}) {
    for (int i = 0; i < count; ++i)
      inputs.push_back(make.input("in" + std::to_string(i), {8, 16}, {}, placed(placement)));
  }

  ValueId emit(Op op, std::initializer_list<ValueId> operands, Attributes attributes = {}) {
    return make.build.emit(op, operands, std::move(attributes));
  }

  void donate(ValueId value, int input) {
    make.output("out" + std::to_string(make.graph.outputs.size()), value,
                placed({"data", "model"}));
    make.graph.outputs.back().donates = input;
  }

  Program program() const {
    Program program = partition(shard_graph(make.graph, {}, guide_mesh()));
    verify(program);
    CHECK(run_in_memory(program) == "");
    return program;
  }
};

/// What the instructions of the main body do: `relu convert`.
std::string ops(const Program& program) {
  std::string text;
  for (const Instruction& instruction : program.main().instructions) {
    text += text.empty() ? "" : " ";
    text += instruction.collective ? name(instruction.collective->kind) : def(instruction.op).name;
  }
  return text;
}

}  // namespace

TEST_CASE("a chain of elementwise ops takes one place") {
  Small small(1);
  const ValueId a = small.emit(Op::relu, {small.inputs[0]});
  small.make.output("y", small.emit(Op::square, {small.emit(Op::negate, {a})}));
  const Program program = small.program();
  CHECK(ops(program) == "relu negate square");
  CHECK(program.memory.peak == Bytes(2 * 4 * 4 * 4));
}

TEST_CASE("a value that is read again is not written over") {
  Small small(1);
  const ValueId a = small.emit(Op::relu, {small.inputs[0]});
  const ValueId b = small.emit(Op::negate, {a});
  small.make.output("y", small.emit(Op::add, {a, b}));
  CHECK(small.program().memory.peak == Bytes(3 * 4 * 4 * 4));
}

TEST_CASE("new state is written over the old without a copy") {
  Small small(1);
  small.donate(small.emit(Op::negate, {small.emit(Op::relu, {small.inputs[0]})}), 0);
  const Program program = small.program();
  CHECK(ops(program) == "relu negate");
  CHECK(program.memory.peak == Bytes(64));
}

TEST_CASE("new state made before the old is read for the last time is copied at the end") {
  Small small(1);
  const ValueId next = small.emit(Op::relu, {small.inputs[0]});
  small.donate(next, 0);
  small.make.output("y", small.emit(Op::multiply, {next, small.inputs[0]}));
  CHECK(ops(small.program()) == "relu multiply convert");
}

TEST_CASE("state that is returned unchanged needs nothing") {
  Small small(1);
  small.donate(small.inputs[0], 0);
  const Program program = small.program();
  CHECK(program.main().instructions.empty());
  CHECK(program.memory.peak == Bytes(64));
}

TEST_CASE("state that trades places goes through a third") {
  Small small(2);
  small.donate(small.inputs[1], 0);
  small.donate(small.inputs[0], 1);
  const Program program = small.program();
  CHECK(ops(program) == "convert convert convert");
  CHECK(program.memory.peak == Bytes(3 * 64));
}

TEST_CASE("old state that is returned too is kept before it is written over") {
  Small small(1);
  small.donate(small.emit(Op::relu, {small.inputs[0]}), 0);
  small.make.output("old", small.inputs[0], placed({"data", "model"}));
  const Program program = small.program();
  CHECK(ops(program) == "convert relu");
  CHECK(program.memory.peak == Bytes(2 * 64));
}

TEST_CASE("one value for two states is copied once") {
  Small small(2);
  const ValueId sum = small.emit(Op::add, {small.inputs[0], small.inputs[1]});
  small.donate(sum, 0);
  small.donate(sum, 1);
  CHECK(ops(small.program()) == "add convert");
}

TEST_CASE("a donated output that is split otherwise gets a place of its own") {
  Small small(1);
  small.make.output("y", small.emit(Op::relu, {small.inputs[0]}), placed({"", ""}));
  small.make.graph.outputs.back().donates = 0;
  const Program program = small.program();
  CHECK(program.outputs[0].donates == -1);
}

TEST_CASE("a permute or a gather is not written over its operand") {
  Small small(1, {"data", ""});
  const ValueId moved =
      small.make.constrain(small.emit(Op::relu, {small.inputs[0]}), placed({"", ""}));
  small.make.output("y", moved, placed({"", ""}));
  const Program program = small.program();
  CHECK(ops(program) == "relu all_gather");
  CHECK(program.buffers.back().alias_of == BufferId::none);
}
