// Properties of partitioned random graphs.

#include <doctest/doctest.h>

#include <map>

#include "programs.h"
#include "random_program.h"
#include "simulated_memory.h"
#include "spmd/partition.h"
#include "spmd/words.h"

using namespace shard;
using namespace shard::tests;

TEST_CASE("partitioned random graphs verify and read back equal") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Program program = partition(random_sharded_graph(seed));
    CHECK(messages_of([&] { verify(program); }) == "nothing");
    CHECK(read_program("random.txt", to_string(program)) == program);
  }
}

TEST_CASE("nobody writes over a buffer that is read later") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    CHECK(run_in_memory(partition(random_sharded_graph(seed))) == "");
  }
}

TEST_CASE("random graphs meet every collective and copies and loops in loops") {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Program program = partition(random_sharded_graph(seed));
    for (const Body& body : program.bodies) {
      for (const Instruction& instruction : body.instructions) {
        if (instruction.collective) ++seen[std::string(name(instruction.collective->kind))];
        if (instruction.kind == Instruction::Kind::compute && instruction.op == Op::convert)
          ++seen["copy"];
        if (instruction.kind == Instruction::Kind::loop)
          ++seen[&body == &program.main() ? "loop" : "loop in a loop"];
      }
    }
    for (const ProgramOutput& output : program.outputs) seen["donation"] += output.donates >= 0;
    for (const Buffer& buffer : program.buffers)
      seen["view"] += buffer.stacked_of != BufferId::none;
  }
  for (const char* what :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute",
        "all_slice", "copy", "loop", "loop in a loop", "donation", "view"}) {
    CAPTURE(what);
    CHECK(seen[what] >= 10);
  }
}

TEST_CASE("partitioning twice gives the same program") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const ShardedGraph graph = random_sharded_graph(seed);
    CHECK(partition(graph) == partition(graph));
  }
}

TEST_CASE("the simulated memory sees buffers that are written over") {
  const Program right = read_program("p.txt", straight_text);
  CHECK(run_in_memory(right) == "");
  Program wrong = right;
  wrong.buffers[2].offset = wrong.buffers[3].offset = wrong.buffers[4].offset = Bytes(64);
  CHECK(run_in_memory(wrong) == "%1 was written over before instruction 3 of body 0 read it");
}
