#include "report/run_report.h"

#include <doctest/doctest.h>

#include <limits>

#include "report/run_text.h"

using namespace shard;

namespace {

/// Two devices on one axis, one all_reduce of 100 wire bytes a step, a peak of 640 bytes.
PlannedFunction two_devices() {
  PlannedFunction function;
  const Mesh mesh({{MeshAxis("data"), 2, {}}});
  function.sharded.graph.name = "train_step";
  function.sharded.mesh = mesh;
  function.program.mesh = mesh;
  function.program.memory.peak = Bytes(640);
  function.collectives = {{CollectiveKind::all_reduce, {mesh.full(0)}, 1, Bytes(100), Bytes(100)}};
  return function;
}

Difference within(const std::string& name, double largest) {
  Difference difference;
  difference.name = name;
  difference.largest = largest;
  difference.tolerance = 1e-5;
  return difference;
}

/// Four steps in which everything is as planned.
FunctionRun good_run(const PlannedFunction& function) {
  FunctionRun run;
  run.title = "train step";
  run.function = &function;
  run.differences = {within("params/k", 1e-7), within("loss", 2e-7)};
  run.counters.steps = 4;
  run.counters.axes = {{{0}, Bytes(400), Bytes(1600), 4}};
  run.counters.peak = {Bytes(640), Bytes(640)};
  return run;
}

RunReport report_of(Plan& plan, const PlannedFunction& function) {
  plan.model.name = "tiny";
  plan.mesh = function.program.mesh;
  RunReport report;
  report.plan = &plan;
  report.workers = 2;
  report.functions = {good_run(function)};
  return report;
}

}  // namespace

TEST_CASE("a run that is as planned is ok") {
  const PlannedFunction function = two_devices();
  const FunctionRun run = good_run(function);
  CHECK(run.results_equal());
  CHECK(run.bytes_equal());
  CHECK(run.memory_equal());
  REQUIRE(run.worst() != nullptr);
  CHECK(run.worst()->name == "loss");
}

TEST_CASE("one byte more or less on the wire is a difference") {
  const PlannedFunction function = two_devices();
  for (const std::int64_t wire : {399, 401, 0}) {
    CAPTURE(wire);
    FunctionRun run = good_run(function);
    run.counters.axes[0].wire = Bytes(wire);
    CHECK_FALSE(run.bytes_equal());
  }
}

TEST_CASE("bytes counted over axes that no plan names are a difference") {
  PlannedFunction function = two_devices();
  function.collectives.clear();
  CHECK_FALSE(good_run(function).bytes_equal());
}

TEST_CASE("links are added up per collective and step") {
  const PlannedFunction function = two_devices();
  FunctionRun run = good_run(function);
  CHECK(link_rows(run).empty());
  run.counters.links = {{"all_reduce data", {{{0, 1}, {8, 800}}, {{1, 0}, {8, 400}}}}};
  const std::vector<LinkRow> rows = link_rows(run);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].collective == "all_reduce data");
  CHECK(rows[0].links == 2);
  CHECK(rows[0].messages == 4);
  CHECK(rows[0].bytes == Bytes(300));
  CHECK(rows[0].most == Bytes(200));
}

TEST_CASE("one device with another peak is a difference") {
  const PlannedFunction function = two_devices();
  FunctionRun run = good_run(function);
  run.counters.peak[1] = Bytes(576);
  CHECK_FALSE(run.memory_equal());
  run.counters.peak.clear();
  CHECK_FALSE(run.memory_equal());
}

TEST_CASE("a result beyond its tolerance or not finite is a difference and the worst") {
  const PlannedFunction function = two_devices();
  FunctionRun run = good_run(function);
  run.differences[0].largest = 2e-5;
  CHECK_FALSE(run.results_equal());
  CHECK(run.worst()->name == "params/k");
  run.differences[1].has_non_finite = true;
  CHECK(run.worst()->name == "loss");
}

TEST_CASE("what a collective sends as the data say is at most what is planned") {
  PlannedFunction function = two_devices();
  function.collectives[0].kind = CollectiveKind::ragged_all_to_all;
  Plan plan;
  RunReport report = report_of(plan, function);
  FunctionRun& run = report.functions[0];
  run.counters.axes[0].wire = Bytes(238);
  CHECK(run.bytes_equal());
  const std::string text = run_text(report, Layout{});
  CHECK(text.find("data                       at most 100       59                      400\n") !=
        text.npos);
  CHECK(text.find("run ok: results equal, bytes within the plan, memory equal\n") != text.npos);
  run.counters.axes[0].wire = Bytes(401);
  CHECK_FALSE(run.bytes_equal());
  CHECK(
      run_text(report, Layout{}).find("run not ok: results equal, bytes DIFFER, memory equal\n") !=
      text.npos);
}

TEST_CASE("the report of a run on several hosts says how they talk") {
  const PlannedFunction function = two_devices();
  Plan plan;
  RunReport report = report_of(plan, function);
  report.workers = 4;
  report.collectives = {CollectiveAlgorithm::hierarchical, 2};
  report.network = "Open MPI 4.1.4";
  const std::string text = run_text(report, Layout{});
  CHECK(text.substr(0, text.find('\n')) ==
        "tiny on 2 virtual devices (data 2), 4 workers on 2 hosts by Open MPI 4.1.4, seed 0   "
        "semantics jax 0.10.2, flax 0.12.8");
}

TEST_CASE("the report of a run without memory for the unsharded one says what was missing") {
  const PlannedFunction function = two_devices();
  Plan plan;
  RunReport report = report_of(plan, function);
  report.functions[0].differences.clear();
  report.functions[0].why_not_compared =
      "the unsharded run needs 3.0 GiB, and 1.0 GiB are available";
  const std::string text = run_text(report, Layout{});
  CAPTURE(text);
  CHECK(text.find("train step  not compared: the unsharded run needs 3.0 GiB, and 1.0 GiB are "
                  "available\n") != text.npos);
  CHECK(text.find("run ok: results not compared, bytes equal, memory equal\n") != text.npos);
  report.functions.push_back(good_run(function));
  CHECK(run_text(report, Layout{})
            .find("run ok: results equal where compared, bytes equal, memory equal\n") !=
        text.npos);
}

TEST_CASE("the report of a good run has every line") {
  const PlannedFunction function = two_devices();
  Plan plan;
  RunReport report = report_of(plan, function);
  report.seed = 7;
  report.functions[0].timing = Timing{7, 10, {0.0251}, {0.0012}, {0.025}, {0.0245}, 0.0};
  report.functions[0].counters.wall = Seconds{0.1};
  report.functions[0].counters.waiting = Seconds{0.02};
  report.functions[0].counters.kinds = {{"dot", false, 16, Seconds{0.12}, 2.4e9, 1e6},
                                        {"all_reduce data", true, 8, Seconds{0.06}, 0, 3e8}};
  CHECK(
      run_text(report, Layout{}) ==
      "tiny on 2 virtual devices (data 2), 2 workers, seed 7   semantics jax 0.10.2, flax 0.12.8\n"
      "verify   train step  equal to the unsharded run: 2 arrays, largest difference 2.0e-07 "
      "(tolerance 1e-05, at loss)  ok\n"
      "time     train step  25.1 ms ± 1.20 ms per step (mean ± std. dev. of 7 runs, 10 steps each)"
      "   median 25.0  min 24.5\n"
      "WHERE TIME GOES  ms/step   share  calls          rate\n"
      "dot                30.00  60.0 %      2  20.0 GFLOP/s\n"
      "all_reduce data    15.00  30.0 %      1      5.0 GB/s\n"
      "waiting             5.00  10.0 %\n"
      "(worker time of the train step or, without one, of apply; calls per device and step; "
      "rates of one worker)\n"
      "MOVED per device and step  planned  counted  our copies, all devices\n"
      "data                           100      100                      400\n"
      "memory   train step  peak per device planned 640, measured 640 on all 2 devices  ok\n"
      "run ok: results equal, bytes equal, memory equal\n");
}
