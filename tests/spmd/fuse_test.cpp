// Chains of elementwise ops as one instruction: which are found, how they read, what is refused.

#include <doctest/doctest.h>

#include "programs.h"
#include "random_program.h"
#include "simulated_memory.h"
#include "spmd/fuse.h"
#include "spmd/fused_form.h"
#include "spmd/partition.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// A program of one device with these buffers and instructions; its last buffer is the output.
std::string one_device_text(const std::string& buffers, const std::string& instructions,
                            int result) {
  return "program f\nmesh data=1\n\ninputs\n  %0 \"x\" f32[8,16] [{}, {}] input\n"
         "  %1 \"w\" f32[16] [{}] parameter\n\noutputs\n  %" +
         std::to_string(result) +
         " \"y\" f32[8,16] [{}, {}] output\n\nbuffers\n  %0 f32[8,16] input at 0 \"x\"\n"
         "  %1 f32[16] parameter at 512 \"w\"\n" +
         buffers + "\nbody 0 (%0, %1) -> (%" + std::to_string(result) + ")\n" + instructions +
         "\nmemory peak 0 instruction 0 live 0\n  live ()\n";
}

Program softmax_by_ops() {
  return read_program(
      "p.txt", one_device_text("  %2 f32[8] activation at 0\n"
                               "  %3 f32[8,16] activation at 0\n"
                               "  %4 f32[8,16] activation at 0\n"
                               "  %5 f32[8,16] activation at 0\n"
                               "  %6 f32[8] activation at 0\n"
                               "  %7 f32[8,16] activation at 0\n"
                               "  %8 f32[8,16] output at 0\n",
                               "  0: %2 = reduce_max(%0) {dims=[1]}; forward node 0\n"
                               "  1: %3 = broadcast(%2) {shape=[8,16], dims=[0]}; forward node 1\n"
                               "  2: %4 = subtract(%0, %3); forward node 2\n"
                               "  3: %5 = exp(%4); forward node 3\n"
                               "  4: %6 = reduce_sum(%5) {dims=[1]}; forward node 4\n"
                               "  5: %7 = broadcast(%6) {shape=[8,16], dims=[0]}; forward node 5\n"
                               "  6: %8 = divide(%5, %7); forward node 6\n",
                               8));
}

const char* const fused_softmax = R"(program f
mesh data=1

inputs
  %0 "x" f32[8,16] [{}, {}] input
  %1 "w" f32[16] [{}] parameter

outputs
  %2 "y" f32[8,16] [{}, {}] output

buffers
  %0 f32[8,16] input at 0 "x"
  %1 f32[16] parameter at 512 "w"
  %2 f32[8,16] output at 576

body 0 (%0, %1) -> (%2)
  0: %2 = fused(%0) [reduce_max(0) {dims=[1]} node 0, broadcast(1) {shape=[8,16], dims=[0]} node 1, subtract(0, 2) node 2, exp(3) node 3, reduce_sum(4) {dims=[1]} node 4, broadcast(5) {shape=[8,16], dims=[0]} node 5, divide(4, 6) node 6] -> (7); forward node 6

memory peak 1088 instruction 0 live 1088
  live (%0, %2, %1)
  input 512
  parameter 64
  output 512
)";

std::string loop_verdict(const std::string& text) {
  return messages_of([&] { verify(read_program("p.txt", text)); });
}

std::string bad_loop(const std::string& what) {
  return "error: body 0, instruction 0 (fused): " + what + " [bad-program]\n";
}

/// The program's instructions as `name name; name`, of a fused one its steps'.
std::string loops_of(const Program& program) {
  std::string text;
  for (const Instruction& one : program.main().instructions) {
    text += text.empty() ? "" : "; ";
    if (one.kind == Instruction::Kind::collective) text += "collective";
    if (one.kind == Instruction::Kind::compute) text += def(one.op).name;
    for (const FusedStep& step : one.steps)
      text += (&step == one.steps.data() ? "[" : " ") + std::string(def(step.op).name);
    if (!one.steps.empty()) text += "]";
  }
  return text;
}

}  // namespace

TEST_CASE("a softmax is one loop over rows that stores nothing between its steps") {
  CHECK(to_string(fused(softmax_by_ops())) == fused_softmax);
  CHECK(loop_verdict(fused_softmax) == "nothing");
  CHECK(to_string(read_program("p.txt", fused_softmax)) == fused_softmax);
}

TEST_CASE("a chain ends at a collective and where another instruction reads it") {
  CHECK(loops_of(fused(read_program("p.txt", straight_text))) == "dot; collective; relu; scale");
  const std::string text = one_device_text(
      "  %2 f32[8,16] activation at 0\n  %3 f32[8,16] activation at 0\n"
      "  %4 f32[16,8] activation at 0\n  %5 f32[8,16] activation at 0\n"
      "  %6 f32[8,16] activation at 0\n  %7 f32[8,16] output at 0\n",
      "  0: %2 = exp(%0); forward\n  1: %3 = negate(%2); forward\n"
      "  2: %4 = transpose(%3) {order=[1,0]}; forward\n"
      "  3: %5 = transpose(%4) {order=[1,0]}; forward\n"
      "  4: %6 = add(%5, %3); forward\n  5: %7 = sqrt(%6); forward\n",
      7);
  CHECK(loops_of(fused(read_program("p.txt", text))) ==
        "[exp negate]; transpose; transpose; [add sqrt]");
}

TEST_CASE("chains of two phases or iterations stay apart") {
  const std::string buffers = "  %2 f32[8,16] activation at 0\n  %3 f32[8,16] output at 0\n";
  CHECK(loops_of(fused(read_program(
            "p.txt",
            one_device_text(buffers, "  0: %2 = exp(%0); forward\n  1: %3 = negate(%2); backward\n",
                            3)))) == "exp; negate");
  CHECK(loops_of(fused(read_program(
            "p.txt", one_device_text(buffers,
                                     "  0: %2 = exp(%0); forward repeat 0 iteration 1 to 1\n"
                                     "  1: %3 = negate(%2); forward repeat 0 iteration 2 to 2\n",
                                     3)))) == "exp; negate");
}

TEST_CASE("a broadcast that a later chain reads is made in that chain once more") {
  const std::string buffers =
      "  %2 f32[8] activation at 0\n  %3 f32[8,16] activation at 0\n"
      "  %4 f32[8,16] activation at 0\n  %5 f32[8,16] activation at 0\n"
      "  %6 f32[8,16] output at 0\n";
  const auto loops = [&](const std::string& reader) {
    return loops_of(fused(read_program(
        "p.txt", one_device_text(buffers,
                                 "  0: %2 = reduce_sum(%0) {dims=[1]}; forward\n"
                                 "  1: %3 = broadcast(%2) {shape=[8,16], dims=[0]}; forward\n"
                                 "  2: %4 = multiply(%0, %3); forward\n" +
                                     reader + "  4: %6 = add(%5, %4); backward\n",
                                 6))));
  };
  CHECK(loops("  3: %5 = divide(%4, %3); backward\n") ==
        "[reduce_sum broadcast multiply]; [broadcast divide add]");
  // Who needs it as it is lets it be kept.
  CHECK(loops("  3: %5 = reverse(%3) {dims=[1]}; backward\n") ==
        "[reduce_sum broadcast multiply]; reverse; add");
}

TEST_CASE("a loop keeps what a broadcast repeats and not the broadcast") {
  const shard::test::Planned planned = shard::test::plan_texts(R"(name: scanned
sizes: {batch: 4, embed: 16, hidden: 8}
inputs: {x: [batch, embed]}
blocks:
  Block:
    - residual: [rms_norm, {dense: hidden}, {dense: embed}]
layers:
  - repeat: {block: Block, times: 3, scan: true}
train: {loss: sum, optimizer: {sgd: {learning_rate: 1e-2}}, returns: [state]}
)",
                                                               "mesh: {data: 2}\n"
                                                               "rules: [[batch, data]]\n");
  const auto kept = [](const Program& program) {
    std::vector<std::string> names;
    for (const Buffer& buffer : program.buffers) {
      const bool is_kept = buffer.stacked_of != BufferId::none;
      if (is_kept && buffer.name.ends_with(":broadcast")) names.push_back(buffer.name);
    }
    return names.size();
  };
  const Program program = fused(planned.program);
  CHECK(kept(planned.program) > 0);
  CHECK(kept(program) == 0);
  CHECK(program.memory.peak < planned.program.memory.peak);
  CHECK(messages_of([&] { verify(program); }) == "nothing");
  CHECK(run_in_memory(program) == "");
}

TEST_CASE("a row too wide for the cache is not reduced inside a loop") {
  std::string text = one_device_text(
      "  %2 f32[8] activation at 0\n  %3 f32[8] activation at 0\n"
      "  %4 f32[8,16] output at 0\n",
      "  0: %2 = reduce_sum(%0) {dims=[1]}; forward\n"
      "  1: %3 = sqrt(%2); forward\n"
      "  2: %4 = broadcast(%3) {shape=[8,16], dims=[0]}; forward\n",
      4);
  CHECK(loops_of(fused(read_program("p.txt", text))) == "[reduce_sum sqrt broadcast]");
  for (std::size_t at = 0; (at = text.find("8,16]", at)) != std::string::npos;)
    text.replace(at, 5, "8,16385]");
  CHECK(loops_of(fused(read_program("p.txt", text))) == "reduce_sum; sqrt; broadcast");
}

TEST_CASE("steps that are no loop are refused") {
  const std::string text = fused_softmax;
  CHECK(loop_verdict(edited(text, "exp(3)", "exp(9)")) ==
        bad_loop("step 3 (exp): there is no value 9 before it"));
  CHECK(loop_verdict(edited(text, "exp(3)", "transpose(3)")) ==
        bad_loop("step 3 (transpose): it cannot be a step"));
  CHECK(loop_verdict(edited(text, "exp(3)", "exp(3, 3)")) ==
        bad_loop("step 3 (exp): 2 operands, expected 1"));
  CHECK(loop_verdict(edited(text, "reduce_sum(4) {dims=[1]}", "reduce_sum(4) {dims=[0]}")) ==
        bad_loop(
            "step 4 (reduce_sum): its operands are of other shapes than a loop over its result"));
  CHECK(loop_verdict(edited(text, "reduce_sum(4) {dims=[1]}", "reduce_sum(4)")) ==
        bad_loop("step 4 (reduce_sum): attributes of this op are missing or of another type: ''"));
  CHECK(loop_verdict(edited(text, "reduce_max(0) {dims=[1]} node 0, broadcast(1) {shape=[8,16]",
                            "reduce_max(0) {dims=[1]} node 0, broadcast(1) {shape=[8,15]")) ==
        bad_loop("step 1 (broadcast): it is over 8,15, the steps before it over 8,16"));
  CHECK(loop_verdict(edited(text, "-> (7)", "-> (0)")) == bad_loop("no step makes value 0"));
  CHECK(loop_verdict(edited(text, "-> (7)", "-> (5)")) ==
        bad_loop("%2 is f32[8,16], expected f32[8]"));
  CHECK(loop_verdict(edited(text, "-> (7)", "-> (6, 7)")) == bad_loop("1 results, expected 2"));
}

namespace {

/// Two heads of 8 queries, 16 keys and size 4, no array of scores.
const char* const attention_text = R"(program f
mesh data=1

inputs
  %0 "q" f32[2,8,4] [{}, {}, {}] input
  %1 "k" f32[2,16,4] [{}, {}, {}] input
  %2 "v" f32[2,16,4] [{}, {}, {}] input

outputs
  %3 "y" f32[2,8,4] [{}, {}, {}] output

buffers
  %0 f32[2,8,4] input at 0 "q"
  %1 f32[2,16,4] input at 256 "k"
  %2 f32[2,16,4] input at 768 "v"
  %3 f32[2,8,4] output at 1280

body 0 (%0, %1, %2) -> (%3)
  0: %3 = fused(%0, %1, %2) [dot(0, 1) {lhs_batch=[0], rhs_batch=[0], lhs_contract=[2], rhs_contract=[2]}, exp(3), reduce_sum(4) {dims=[2]}, broadcast(5) {shape=[2,8,16], dims=[0,1]}, divide(4, 6), dot(7, 2) {lhs_batch=[0], rhs_batch=[0], lhs_contract=[2], rhs_contract=[1]}] -> (8); forward

memory peak 1536 instruction 0 live 1536
  live (%1, %2, %0, %3)
  input 1280
  output 256
)";

}  // namespace

TEST_CASE("products around a loop over rows read back equal and are named") {
  CHECK(loop_verdict(attention_text) == "nothing");
  const Program program = read_program("p.txt", attention_text);
  CHECK(to_string(program) == attention_text);
  CHECK(fused_name(program.main().instructions.front()) == "fused attention");
}

TEST_CASE("products that are no part of a loop over rows are refused") {
  const std::string text = attention_text;
  CHECK(loop_verdict(edited(text, "dot(7, 2)", "dot(7, 7)")) ==
        bad_loop("step 5 (dot): contracted sizes differ: 16 and 8"));
  const std::string sums = "{lhs_batch=[0], rhs_batch=[0], lhs_contract=[2], rhs_contract=";
  CHECK(loop_verdict(edited(text, "dot(7, 2) " + sums + "[1]}", "dot(7, 7) " + sums + "[2]}")) ==
        bad_loop("step 5 (dot): its operands are of other shapes than a loop over its result"));
  CHECK(loop_verdict(edited(text, "[dot(0, 1)", "[exp(0), dot(3, 1)")) ==
        bad_loop("step 3 (reduce_sum): value 4 is not whole before the end of the loop"));
  CHECK(loop_verdict(edited(text, "-> (8)", "-> (7)")) ==
        bad_loop("value 8 is a sum of products, and no result"));
  CHECK(loop_verdict(edited(text, "rhs_contract=[1]}]", "rhs_contract=[1]}, exp(8)]")) ==
        bad_loop("step 6 (exp): value 8 is not whole before the end of the loop"));
}

TEST_CASE("an unknown step is told with the nearest op") {
  CHECK(messages_of([&] { read_program("p.txt", edited(fused_softmax, "exp(3)", "expp(3)")); }) ==
        "p.txt:17:124: error: found 'expp', expected an op [program-syntax]\n"
        "  hint: did you mean 'exp'?\n");
}

TEST_CASE("fused random graphs verify and read back equal and write over nothing that is read") {
  std::size_t chains = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Program program = fused(partition(random_sharded_graph(seed)));
    CHECK(messages_of([&] { verify(program); }) == "nothing");
    CHECK(read_program("random.txt", to_string(program)) == program);
    CHECK(run_in_memory(program) == "");
    for (const Instruction& one : program.main().instructions) chains += !one.steps.empty();
  }
  CHECK(chains > 100);
}
