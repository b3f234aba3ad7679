// Programs as text, and back.

#include <doctest/doctest.h>

#include "programs.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::string read_messages(const std::string& text) {
  return messages_of([&] { read_program("p.txt", text); });
}

}  // namespace

TEST_CASE("a program prints as it was read") {
  CHECK(to_string(read_program("p.txt", straight_text)) == straight_text);
  CHECK(to_string(read_program("p.txt", loop_text)) == loop_text);
}

TEST_CASE("every field of a program survives its text") {
  Program program = read_program("p.txt", straight_text);
  program.name = "a \"quoted\" name";
  program.mesh =
      Mesh({{MeshAxis("da ta"), 2, {}, AxisType::explicit_types}, {MeshAxis("model"), 4, {}}},
           {0, 1, 2, 3, 7, 6, 5, 4});
  program.inputs[0].state_leaf = 3;
  program.inputs[0].sharding.dims[0].is_open = true;
  program.inputs[1].sharding.replicated = {{0, 1, 2}};
  program.outputs[0].sharding.unreduced = {{1, 2, 2}};
  program.buffers[2].name = "back\\slash\nline";
  program.buffers[2].value = ValueId::none;
  Instruction& reduce = program.bodies[0].instructions[1];
  reduce.iteration = {2, 5, 9};
  reduce.node = NodeId::none;
  Collective& collective = *reduce.collective;
  collective.axes = {{1, 1, 2}, {1, 2, 2}};
  collective.dim = 1;
  collective.split_dim = 0;
  collective.source = 3;
  collective.from = {{{{0, 1, 2}}, false}, {{}, false}};
  collective.to = {{{}, false}, {{{0, 1, 2}}, true}};
  collective.why = {
      CollectiveReason::Kind::carry, Phase::update, NodeId::none, "a, b", "P('x', None)", "P()"};
  program.memory.by_category.clear();
  CHECK(read_program("p.txt", to_string(program)) == program);
}

TEST_CASE("a misspelt word names its place and the nearest valid one") {
  CHECK(read_messages(edited(straight_text, "all_reduce", "all_redduce")) ==
        "p.txt:22:11: error: found 'all_redduce', expected an op, a collective, 'fused' or 'loop' "
        "[program-syntax]\n"
        "  hint: did you mean 'all_reduce'?\n");
  CHECK(read_messages(edited(straight_text, "activation at", "activaton at")) ==
        "p.txt:15:16: error: found 'activaton', expected a category "
        "[program-syntax]\n"
        "  hint: did you mean 'activation'? valid: input, parameter, optimizer, gradient, "
        "activation, collective, output\n");
  CHECK(read_messages(edited(straight_text, "data=2", "data=2:Explict")) ==
        "p.txt:2:13: error: found 'Explict', expected a type of mesh axis [program-syntax]\n"
        "  hint: did you mean 'Explicit'? valid: Auto, Explicit, Manual\n");
  CHECK(read_messages(edited(straight_text, "[{data}", "[{dta}")) ==
        "p.txt:5:22: error: mesh axis 'dta' is not in the mesh [program-syntax]\n"
        "  hint: did you mean 'data'? the mesh has: data, model\n");
  CHECK(read_messages(edited(straight_text, "f32[4,4]", "f23[4,4]")) ==
        "p.txt:13:6: error: found 'f23', expected a type like f32[8,4] [program-syntax]\n"
        "  hint: did you mean 'f32'?\n");
}

TEST_CASE("a broken line says what was found and expected") {
  CHECK(read_messages("") ==
        "p.txt:1:1: error: found the end of the line, expected 'program' [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "model=4", "model=0")) ==
        "p.txt:2:19: error: a mesh axis has at least size 1 [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "model=4", "model=9223372036854775807")) ==
        "p.txt:2:37: error: more than 2^63 devices [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "model=4", "model=4\ndevices 0 1")) ==
        "p.txt:3:1: error: 2 device ids for 8 devices [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "{model}]", "{model:(1)3}]")) ==
        "p.txt:5:30: error: axis model of size 4 has no part :(1)3 [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "f32[4,4]", "f32[4,-4]")) ==
        "p.txt:13:13: error: a size is not negative [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "f32[4,4]", "f32[4611686018427387904,4]")) ==
        "p.txt:13:32: error: more than 2^63 bytes in one array [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "  %1 f32", "  %7 f32")) ==
        "p.txt:14:3: error: buffers are listed in order, this one must be %1 [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "  2: %4", "  5: %4")) ==
        "p.txt:23:3: error: found '5', expected number 2, they are listed in order "
        "[program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "payload 512", "payload many")) ==
        "p.txt:22:46: error: found 'many', expected a whole number [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "payload 512", "payload 9223372036854775808")) ==
        "p.txt:22:46: error: found '9223372036854775808', expected a number below 2^63 "
        "[program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "over \"embed\"", "over \"embed")) ==
        "p.txt:22:121: error: found the end of the line, expected a closing quote "
        "[program-syntax]\n");
  CHECK(
      read_messages(edited(straight_text, "{value=0.5}", "{value=}")) ==
      "p.txt:24:21: error: attributes: expected a number, a list or quoted text at character 8 of "
      "'{value=}' [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "{value=0.5}", "{value=0.5")) ==
        "p.txt:24:21: error: found '{', expected a closing bracket [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "node 1\n", "node -7\n")) ==
        "p.txt:23:34: error: -7 is no position [program-syntax]\n");
  CHECK(read_messages(edited(straight_text, "memory", "memries")) ==
        "p.txt:26:1: error: found 'memries', expected number 4, they are listed in order "
        "[program-syntax]\n");
  CHECK(read_messages(straight_text.substr(0, straight_text.find("memory"))) ==
        "p.txt:26:1: error: found the end of the line, expected 'body' or 'memory' "
        "[program-syntax]\n"
        "  hint: valid: body, memory\n");
}
