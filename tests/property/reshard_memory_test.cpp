// Reshards of a program under a limit of memory: other collectives, the same numbers.

#include <doctest/doctest.h>

#include "exec/cluster.h"
#include "exec/measure.h"
#include "exec/reference.h"
#include "planned_equals_counted.h"
#include "property/op_cases.h"
#include "spmd/partition.h"
#include "spmd/reshard_memory.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace {

const std::string layer =
    "sizes: {rows: 256, embed: 64, mlp: 128}\n"
    "inputs: {x: \"f32[rows@data, embed]\"}\n"
    "layers:\n"
    "  - param: {name: w, axes: [\"embed@data\", mlp]}\n"
    "  - let: y = x @ w\n"
    "outputs: {y: \"f32[rows@data, mlp]\"}\n";

Planned planned_within(const std::string& model, const std::string& limit) {
  const std::string rules = "mesh: {data: 4}\nrules: []\n";
  return plan_texts(model, limit.empty() ? rules : rules + "reshard_memory: " + limit + "\n",
                    false);
}

std::string refusal(const std::string& model, const std::string& limit) {
  try {
    planned_within(model, limit);
  } catch (const Error& error) {
    std::string all;
    for (const Diagnostic& one : error.diagnostics()) {
      all += to_string(one.at) + ": " + one.message + " [" + one.id + "]\n  " + one.hint + "\n";
    }
    return all;
  }
  return "none";
}

void check_numbers(const Planned& planned) {
  const Graph& graph = planned.sharded.given();
  std::vector<HostTensor> inputs;
  for (const GraphInput& input : graph.inputs) {
    inputs.push_back(drawn_values(graph.value(input.value).type, 30, 7 + inputs.size()));
  }
  const std::vector<HostTensor> expected = run_reference(graph, inputs);
  Cluster cluster(planned.program, {1});
  for (std::size_t i = 0; i < inputs.size(); ++i) cluster.write_input(i, inputs[i]);
  cluster.run();
  CHECK(differences_from_plan(planned.program, cluster) == std::vector<std::string>{});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(compare("output", cluster.read_output(i), expected[i], 1e-5).is_ok());
  }
}

}  // namespace

TEST_CASE("reshards of a program stay within the memory they may take") {
  // The weight is gathered, from 8 KiB to 32 KiB, which takes both.
  const Planned any = planned_within(layer, "");
  CHECK(largest_reshard(any.program) == Bytes(40 << 10));
  const Planned enough = planned_within(layer, "40 KiB");
  CHECK(enough.program == any.program);
  // Less: the input is split as the weight is, and results are added up, which sends more.
  for (const PartitionMode mode : {PartitionMode::cheapest, PartitionMode::compatible}) {
    Planned planned = planned_within(layer, "36 KiB");
    CHECK(largest_reshard(planned.program) == Bytes(32 << 10));
    CHECK(wire_of(planned.program) > wire_of(any.program));
    check_numbers(planned);
    planned.sharded.reshard_memory = Bytes(40 << 10);
    planned.program = partition(planned.sharded, mode);
    check_numbers(planned);
  }
}

TEST_CASE("a reshard that needs more memory than it may take is told where it is wanted") {
  CHECK(refusal(layer, "4 KiB") ==
        "model.yaml:5:16: bringing x from P('data', None) to P(None, 'data') for y takes 32,768 B "
        "of operand and result together, the limit is 4,096 B [reshard-memory]\n"
        "  allow 32,768 B (reshard_memory, --reshard-memory), or place it so that less of it is "
        "moved: shard-plan explain says what asks for it\n");
}
