// The Flax guide's model on data 2 x model 4: its collectives, bytes, schedule and memory.

#include <doctest/doctest.h>

#include "spmd/words.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace {

std::string axes_text(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  std::string text;
  for (const AxisRef& axis : axes) text += (text.empty() ? "" : ",") + to_string(mesh, axis);
  return text;
}

/// `all_reduce model: 6 x 16384 B, wire 147456 B`, one line per count.
std::string counts_text(const Program& program) {
  std::string text;
  for (const CollectiveCount& count : count_collectives(program)) {
    text += std::string(name(count.kind)) + " " + axes_text(program.mesh, count.axes) + ": " +
            std::to_string(count.count) + " x " + std::to_string(count.payload.count()) +
            " B, wire " + std::to_string(count.wire.count()) + " B\n";
  }
  return text;
}

/// `all_reduce model: 2 together, 1 times`, one line per merged collective.
std::string merged_text(const Program& program) {
  std::string text;
  for (const MergedCollective& merged : xla_merge(program)) {
    text += std::string(name(merged.kind)) + " " + axes_text(program.mesh, merged.axes) + ": " +
            std::to_string(merged.members.size()) + " together, " + std::to_string(merged.times) +
            " times\n";
  }
  return text;
}

Overrides returning(const std::string& what) {
  Overrides overrides;
  overrides.set.push_back("train.returns=" + what);
  return overrides;
}

/// Why a collective is there: `backward partial_sum over batch`.
std::string reason_text(const Instruction& instruction) {
  const CollectiveReason& why = instruction.collective->why;
  return std::string(name(why.phase)) + " " + std::string(name(why.kind)) + " over " + why.label;
}

}  // namespace

TEST_CASE("the step that returns the state has six all_reduces over model and eight over data") {
  const Program program = plan_shipped("guide_mlp", "flax_guide").program;
  CHECK(counts_text(program) ==
        "all_reduce model: 6 x 16384 B, wire 147456 B\n"
        "all_reduce data: 8 x 1048576 B, wire 8388608 B\n");
}

TEST_CASE("the step that returns the loss too sums it up before it is reduced") {
  const Planned planned = plan_shipped("guide_mlp", "flax_guide", returning("[state, loss]"));
  CHECK(counts_text(planned.program) ==
        "all_reduce model: 6 x 16384 B, wire 147456 B\n"
        "all_reduce data,model: 1 x 4 B, wire 7 B\n"
        "all_reduce data: 8 x 1048576 B, wire 8388608 B\n");
  CHECK(counts_text(partition(planned.sharded, PartitionMode::compatible)) ==
        "all_reduce model: 7 x 16384 B, wire 172032 B\n"
        "all_reduce data: 1 x 4 B, wire 4 B\n"
        "all_reduce data: 8 x 1048576 B, wire 8388608 B\n");
}

TEST_CASE("the scanned step runs its whole body so it has eight over model") {
  const Program program = plan_shipped("guide_mlp_scan", "flax_guide").program;
  CHECK(counts_text(program) ==
        "all_reduce model: 8 x 16384 B, wire 196608 B\n"
        "all_reduce data: 8 x 1048576 B, wire 8388608 B\n");
}

TEST_CASE("the logical model partitions as the one with mesh axes") {
  CHECK(counts_text(plan_shipped("guide_logical_mlp", "flax_guide").program) ==
        counts_text(plan_shipped("guide_mlp", "flax_guide").program));
}

TEST_CASE("XLA would merge independent all_reduces as its dumps show") {
  const Program unrolled =
      partition(plan_shipped("guide_mlp", "flax_guide", returning("[state, loss]")).sharded,
                PartitionMode::compatible);
  CHECK(merged_text(unrolled) ==
        "all_reduce model: 1 together, 1 times\n"
        "all_reduce model: 1 together, 1 times\n"
        "all_reduce model: 1 together, 1 times\n"
        "all_reduce model: 2 together, 1 times\n"
        "all_reduce data: 9 together, 1 times\n"
        "all_reduce model: 1 together, 1 times\n"
        "all_reduce model: 1 together, 1 times\n");
  const Program scanned = plan_shipped("guide_mlp_scan", "flax_guide").program;
  CHECK(merged_text(scanned) ==
        "all_reduce model: 1 together, 4 times\n"
        "all_reduce data: 2 together, 4 times\n"
        "all_reduce model: 1 together, 4 times\n");
}

TEST_CASE("every collective of the guide says what is summed and when") {
  const Program program = plan_shipped("guide_mlp", "flax_guide").program;
  std::vector<std::string> reasons;
  for (const Instruction& instruction : program.main().instructions) {
    if (instruction.collective) reasons.push_back(reason_text(instruction));
  }
  const std::string forward = "forward partial_sum over hidden";
  const std::string into_layer = "backward partial_sum over hidden";
  const std::string gradient = "backward partial_sum over batch";
  CHECK(reasons == std::vector<std::string>{forward, forward, forward, gradient, into_layer,
                                            gradient, gradient, into_layer, gradient, gradient,
                                            into_layer, gradient, gradient, gradient});
}

TEST_CASE("an update follows the gradient it reads") {
  const Program program = plan_shipped("guide_mlp", "flax_guide").program;
  const std::vector<Instruction>& list = program.main().instructions;
  int updates = 0;
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (list[i].op != Op::adam_update || list[i].kind != Instruction::Kind::compute) continue;
    ++updates;
    CHECK(list[i].operands[3] == list[i - 1].results[0]);
  }
  CHECK(updates == 8);
}

TEST_CASE("the new state is written over the old and one gradient is live at a time") {
  const Program program = plan_shipped("guide_mlp", "flax_guide").program;
  verify(program);
  for (const ProgramOutput& output : program.outputs) {
    REQUIRE(output.donates >= 0);
    const ProgramInput& input = program.inputs[static_cast<std::size_t>(output.donates)];
    CHECK(program.buffer(output.buffer).offset == program.buffer(input.buffer).offset);
    CHECK(output.path == input.path);
  }
  const std::vector<CategoryBytes> expected = {{Category::input, Bytes(16384)},
                                               {Category::parameter, Bytes(8388608)},
                                               {Category::optimizer, Bytes(16777224)},
                                               {Category::gradient, Bytes(1048576)},
                                               {Category::activation, Bytes(86016)}};
  CHECK(program.memory.by_category == expected);
  CHECK(program.memory.peak_live == Bytes(26316808));
  // Two scalars take 64 bytes each; nothing else is lost.
  CHECK(program.memory.peak == Bytes(26316808 + 60));
}

TEST_CASE("slices and stacked gradients of a scanned model are never copied") {
  const Program program = plan_shipped("guide_mlp_scan", "flax_guide").program;
  verify(program);
  REQUIRE(program.bodies.size() == 3);
  // The one copy keeps a layer's input, which the next layer writes over.
  std::vector<std::string> copies;
  for (const Body& body : program.bodies) {
    for (const Instruction& instruction : body.instructions) {
      if (instruction.kind == Instruction::Kind::compute && instruction.op == Op::convert)
        copies.push_back(program.buffer(instruction.results[0]).name);
    }
  }
  CHECK(copies == std::vector<std::string>{"x:inside:copy"});
  const Bytes stacked_gradients(2 * 4194304);
  CHECK(program.memory.by_category[3].category == Category::gradient);
  CHECK(program.memory.by_category[3].bytes == stacked_gradients);
}

TEST_CASE("every shipped pair of model and rules verifies and reads back equal") {
  for (const char* rules : {"flax_guide", "dp", "fsdp", "tp", "fsdp_tp"}) {
    for (const bool train : {true, false}) {
      CAPTURE(rules);
      CAPTURE(train);
      const Program program = plan_shipped("mlp", rules, {}, train).program;
      CHECK_NOTHROW(verify(program));
      CHECK(read_program("mlp.txt", to_string(program)) == program);
    }
  }
}
