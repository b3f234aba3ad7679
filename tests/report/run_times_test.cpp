#include "report/run_times.h"

#include <doctest/doctest.h>

#include <string>

#include "report/run_text.h"

using namespace shard;

namespace {

/// One all_reduce over two devices in a train step, twice.
struct Measured {
  Plan plan;
  RunReport report;

  Measured() {
    PlannedFunction& function = plan.train_step.emplace();
    const Mesh mesh({{MeshAxis("data"), 2, {}}});
    plan.mesh = mesh;
    function.program.mesh = function.sharded.mesh = mesh;
    function.sharded.graph.nodes.emplace_back();
    function.sharded.graph.nodes.back().name = "Dense_0";
    const TensorType type{DType::f32, {16}};
    function.program.buffers.resize(1);
    function.program.buffers[0].type = type;
    Instruction sum;
    sum.kind = Instruction::Kind::collective;
    sum.operands = sum.results = {id_at<BufferId>(0)};
    sum.collective.emplace();
    sum.collective->axes = {mesh.full(0)};
    sum.collective->reduction = Reduction::sum;
    sum.collective->payload = sum.collective->wire = Bytes(64);
    sum.collective->why.node = id_at<NodeId>(0);
    function.program.bodies.resize(1);
    function.program.bodies[0].instructions = {sum};

    report.plan = &plan;
    report.workers = 2;
    FunctionRun& run = report.functions.emplace_back();
    run.title = "train step";
    run.function = &function;
    run.counters.steps = 2;
    run.counters.wall = {0.010};
    run.counters.waiting = {0.002};
    run.counters.peak = {Bytes(64), Bytes(64)};
    run.counters.kinds = {{"dot", false, 8, {0.012}, 6e8, 1e6},
                          {"all_reduce data", true, 4, {0.004}, 0, 4e7}};
    run.counters.collectives = {{0, 0, 2, {0.004}, {0.0008}, Bytes(40'000'000)}};
    run.counters.devices = {{0.004, 0.002, 0.0016, 0.0024}, {0.006, 0.002, 0, 0.002}};
  }
};

}  // namespace

TEST_CASE("times are told by kind and by collective and by device") {
  const Measured measured;
  const std::string expected =
      R"(WHERE TIME GOES  ms/step   share  calls          rate
dot                 6.00  60.0 %      2  50.0 GFLOP/s
all_reduce data     2.00  20.0 %      1     10.0 GB/s
waiting             1.00  10.0 %
(worker time of the train step or, without one, of apply; calls per device and step; rates of one worker)
COLLECTIVES, slowest first  ms/step  waited      copied       rate
#1 all_reduce data Dense_0     2.00    0.20  20,000,000  10.0 GB/s
(worker time of all groups; waited: ms of each member for the last one)
DEVICES, ms/step  computing  in collectives  waiting for devices  waiting for a worker
0                      2.00            1.00                 0.80                  1.20
1                      3.00            1.00                 0.00                  1.00
)";
  CHECK(time_tables(measured.report, {}) == expected);
  CHECK(limits_line(measured.report).empty());
}

TEST_CASE("rates are held to the limits of the machine with all its workers") {
  Measured measured;
  measured.report.limits = MachineLimits{2e11, 8e10};
  const std::string expected =
      R"(WHERE TIME GOES  ms/step   share  calls          rate  of the limit
dot                 6.00  60.0 %      2  50.0 GFLOP/s          50 %
all_reduce data     2.00  20.0 %      1     10.0 GB/s          25 %
waiting             1.00  10.0 %
)";
  CHECK(time_tables(measured.report, {}).substr(0, expected.size()) == expected);
  CHECK(limits_line(measured.report) ==
        "limits   200.0 GFLOP/s of products, 80.0 GB/s of copies, with 2 workers\n");
}

TEST_CASE("of many devices the least and the median and the most are told") {
  Measured measured;
  std::vector<DeviceTally>& devices = measured.report.functions[0].counters.devices;
  devices.clear();
  for (int i = 0; i < 101; ++i) devices.push_back({0.002 * i, 0, 0, 0.2 - 0.002 * i});
  const std::string expected =
      R"(DEVICES, ms/step  computing  in collectives  waiting for devices  waiting for a worker
least of 101           0.00            0.00                 0.00                  0.00
median                50.00            0.00                 0.00                 50.00
most                 100.00            0.00                 0.00                100.00
)";
  const std::string text = time_tables(measured.report, {});
  CHECK(text.substr(text.find("DEVICES")) == expected);
}

TEST_CASE("load of others and stolen time are told beside the times") {
  Measured measured;
  Timing timing;
  timing.runs = 3;
  timing.loops = 2;
  timing.mean = timing.median = timing.minimum = {0.005};
  timing.others_cpu = 0.5;
  timing.stolen_cpu = 0.3;
  measured.report.functions[0].timing = timing;
  const std::string text = run_text(measured.report, {});
  const std::string expected =
      "         other processes kept 0.5 cores busy meanwhile: times are worse than they would be "
      "alone\n"
      "         the host of this virtual machine gave 0.3 cores to others meanwhile: times are "
      "worse "
      "than they would be alone\n";
  CHECK(text.find(expected) != std::string::npos);
  timing.others_cpu = timing.stolen_cpu = 0.1;
  measured.report.functions[0].timing = timing;
  CHECK(run_text(measured.report, {}).find("meanwhile") == std::string::npos);
}
