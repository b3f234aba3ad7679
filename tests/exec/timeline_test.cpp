#include "exec/timeline.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "exec/cluster.h"
#include "exec/program_maker.h"

using namespace shard;
using namespace shard::test;

namespace {

std::vector<std::string> labels(const Timeline& timeline, int device) {
  std::vector<std::string> labels;
  for (const TimelineSpan& span : timeline.spans) {
    if (span.device != device) continue;
    labels.push_back(timeline.instructions[static_cast<std::size_t>(span.instruction)].label);
  }
  return labels;
}

/// Adds 1 to a carry in each of three iterations, on two devices.
Program counting_loop() {
  ProgramMaker maker(make_mesh_of({{"data", 2}}));
  const TensorType scalar{DType::f32, {}};
  const BufferId start = maker.input("start", scalar, sharding_of({}));
  const int body = maker.add_body();
  const BufferId total = maker.buffer(scalar), carry = maker.buffer(scalar);
  maker.program.buffers[index_of(carry)].alias_of = total;
  const BufferId next = maker.compute(Op::shift, {carry}, {{"value", 1.0}}, body);
  Body& made = maker.program.bodies[static_cast<std::size_t>(body)];
  made.parameters = {carry};
  made.results = {next};
  maker.loop(body, {start}, {total},
             {{"times", std::int64_t{3}},
              {"carries", std::int64_t{1}},
              {"stacked", std::int64_t{0}},
              {"reverse", std::int64_t{0}}});
  maker.output("total", total, scalar, sharding_of({}));
  return maker.program;
}

ClusterOptions with_workers(int workers) {
  ClusterOptions options;
  options.workers = workers;
  return options;
}

}  // namespace

TEST_CASE("a timeline has a span per device and instruction in the order they were done") {
  for (const int workers : {1, 2, 3}) {
    CAPTURE(workers);
    Cluster cluster(split_product(), with_workers(workers));
    const Timeline timeline = cluster.run_recorded();
    CHECK(timeline.devices == 4);
    CHECK(timeline.workers == workers);
    REQUIRE(timeline.spans.size() == 8);
    for (int device = 0; device < 4; ++device) {
      CHECK(labels(timeline, device) == std::vector<std::string>{"dot", "all_reduce model"});
    }
    std::int64_t before = 0;
    for (const TimelineSpan& span : timeline.spans) {
      if (span.instruction == 0) before = 0;  // another device
      CHECK(before <= span.begin);
      CHECK(span.begin <= span.met);
      CHECK(span.met <= span.end);
      CHECK(span.worker >= 0);
      CHECK(span.worker < workers);
      CHECK(span.iteration == -1);
      before = span.end;
    }
  }
}

TEST_CASE("the members of a collective share its number and its begin") {
  Cluster cluster(split_product(), with_workers(2));
  const Timeline timeline = cluster.run_recorded();
  std::map<std::int64_t, std::vector<TimelineSpan>> meetings;
  for (const TimelineSpan& span : timeline.spans) {
    if (span.meeting >= 0) meetings[span.meeting].push_back(span);
  }
  REQUIRE(meetings.size() == 2);
  std::set<std::vector<int>> groups;
  for (const auto& [number, members] : meetings) {
    REQUIRE(members.size() == 2);
    groups.insert({members[0].device, members[1].device});
    CHECK(members[0].met == members[1].met);
    CHECK(members[0].end == members[1].end);
    CHECK(std::max(members[0].begin, members[1].begin) == members[0].met);
  }
  CHECK(groups == std::set<std::vector<int>>{{0, 1}, {2, 3}});
}

TEST_CASE("instructions of a timeline say where they stand in the program and what they do") {
  Cluster cluster(split_product(), with_workers(1));
  const Timeline timeline = cluster.run_recorded();
  REQUIRE(timeline.instructions.size() == 2);
  const TimelineInstruction& dot = timeline.instructions[0];
  CHECK(dot.label == "dot");
  CHECK_FALSE(dot.is_collective);
  CHECK(dot.body == 0);
  CHECK(dot.index == 0);
  CHECK(dot.flops == 2 * 2 * 4 * 6);
  CHECK(dot.bytes == 4 * (2 * 4 + 4 * 6 + 2 * 6));
  const TimelineInstruction& reduce = timeline.instructions[1];
  CHECK(reduce.label == "all_reduce model");
  CHECK(reduce.is_collective);
  CHECK(reduce.index == 1);
}

TEST_CASE("spans in a loop say the iteration and copies are no instruction of the program") {
  Cluster cluster(counting_loop(), with_workers(2));
  const Timeline timeline = cluster.run_recorded();
  std::map<int, std::vector<std::int64_t>> shifts;
  for (const TimelineSpan& span : timeline.spans) {
    const TimelineInstruction& at =
        timeline.instructions[static_cast<std::size_t>(span.instruction)];
    if (at.label == "shift") {
      CHECK(at.body == 1);
      CHECK(at.index == 0);
      shifts[span.device].push_back(span.iteration);
    } else {
      CHECK(at.label == "copy");
      CHECK(at.index == -1);
    }
  }
  const std::vector<std::int64_t> all = {0, 1, 2};
  CHECK(shifts == std::map<int, std::vector<std::int64_t>>{{0, all}, {1, all}});
}

TEST_CASE("a recorded step leaves nothing behind and disturbs no results") {
  Cluster cluster(split_product(), with_workers(2));
  const bool was_profiling = cluster.is_profiling();
  CHECK(cluster.run_recorded().spans.size() == 8);
  const HostTensor recorded = cluster.read_output(0);
  CHECK(cluster.is_profiling() == was_profiling);
  cluster.run();
  CHECK(cluster.read_output(0).bytes == recorded.bytes);
  CHECK(cluster.run_recorded().spans.size() == 8);
}

TEST_CASE("the times of a device add up to the step") {
  for (const int workers : {1, 2}) {
    CAPTURE(workers);
    Cluster cluster(split_product(), with_workers(workers));
    cluster.set_profiling(true);
    cluster.reset_counters();
    for (int step = 0; step < 3; ++step) cluster.run();
    const Counters counters = cluster.counters();
    REQUIRE(counters.devices.size() == 4);
    for (const DeviceTally& one : counters.devices) {
      CHECK(one.computing > 0);
      CHECK(one.collecting > 0);
      CHECK(one.meeting > 0);
      CHECK(one.queued > 0);
      const double sum = one.computing + one.collecting + one.meeting + one.queued;
      CHECK(sum <= counters.wall.value);
      CHECK(sum > 0.5 * counters.wall.value);
    }
    cluster.reset_counters();
    for (const DeviceTally& one : cluster.counters().devices) CHECK(one.computing == 0);
  }
}

TEST_CASE("steps that are not profiled keep no times") {
  Cluster cluster(split_product(), with_workers(2));
  cluster.set_profiling(false);
  cluster.run();
  for (const DeviceTally& one : cluster.counters().devices) {
    CHECK(one.computing + one.collecting + one.meeting + one.queued == 0);
  }
}
