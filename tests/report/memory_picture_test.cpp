#include "report/memory_picture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "report/run_memory.h"
#include "report/run_text.h"
#include "spmd/memory_course.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace {

PlannedFunction planned(const std::string& scan) {
  const std::string model =
      "name: two\n"
      "sizes: {batch: 8, embed: 4, hidden: 16}\n"
      "inputs: {x: [batch, embed]}\n"
      "blocks:\n"
      "  Two: [dense: {features: hidden, use_bias: false}, relu, dense: {features: embed, "
      "use_bias: "
      "false}]\n"
      "layers:\n"
      "  - repeat: {block: Two, times: 3, scan: " +
      scan +
      "}\n"
      "train: {loss: sum, optimizer: {adam: {learning_rate: 1e-2}}}\n";
  Planned plan = plan_texts(model, "mesh: {data: 2}\nrules: [[batch, data]]\n");
  PlannedFunction function;
  function.sharded = std::move(plan.sharded);
  function.program = std::move(plan.program);
  return function;
}

const MemoryMoment& most_of(const std::vector<MemoryMoment>& course) {
  return *std::max_element(
      course.begin(), course.end(),
      [](const MemoryMoment& a, const MemoryMoment& b) { return a.live < b.live; });
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("the most that a program holds is what its memory plan says") {
  for (const char* const scan : {"false", "true"}) {
    CAPTURE(scan);
    const PlannedFunction function = planned(scan);
    const std::vector<MemoryMoment> course = memory_course(function.program);
    CHECK(most_of(course).live == function.program.memory.peak_live);
    CHECK(most_of(course).by_category == function.program.memory.by_category);
    for (const MemoryMoment& moment : course) {
      Bytes sum;
      for (const CategoryBytes& one : moment.by_category) sum += one.bytes;
      CHECK(sum == moment.live);
    }
  }
}

TEST_CASE("a course begins before the first instruction and ends after the last") {
  const PlannedFunction function = planned("true");
  const std::vector<MemoryMoment> course = memory_course(function.program);
  CHECK(course.front().body == 0);
  CHECK(course.front().position == -1);
  CHECK(course.back().body == 0);
  CHECK(course.back().position == static_cast<int>(function.program.main().instructions.size()));
  CHECK(std::any_of(course.begin(), course.end(),
                    [](const MemoryMoment& moment) { return moment.body == 1; }));
}

TEST_CASE("a picture of memory has the peak in a row of its own") {
  const PlannedFunction function = planned("false");
  const std::string text = memory_picture_text(function, "train step", {});
  std::string full;
  for (int i = 0; i < 40; ++i) full += "█";
  CHECK(count_of(text, full) >= 1);
  CHECK(count_of(text, with_commas(function.program.memory.peak_live)) >= 1);
  CHECK(count_of(text, "\n") == 25);  // a title and 24 stretches
  CHECK(text.substr(0, 28) == "MEMORY OVER TIME, train step");
}

TEST_CASE("a drawing of memory has an area and a legend for each category that is held") {
  const PlannedFunction function = planned("true");
  const std::string svg = memory_picture_svg(function, "a < b");
  for (const char* const category : {"parameters", "optimizer", "activations", "gradients"}) {
    CAPTURE(category);
    CHECK(count_of(svg, std::string(">") + category + "</text>") == 1);
  }
  CHECK(count_of(svg, "<polygon") == count_of(svg, "width=\"12\""));
  CHECK(count_of(svg, "a &lt; b") == 1);
  CHECK(count_of(svg, with_commas(function.program.memory.peak_live)) == 1);
  CHECK(svg.substr(0, 4) == "<svg");
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
}

TEST_CASE("pages that are not as they should be are told and make a run not ok") {
  Plan plan;
  plan.apply = planned("false");
  plan.mesh = plan.apply.program.mesh;
  RunReport report;
  report.plan = &plan;
  FunctionRun& run = report.functions.emplace_back();
  run.title = "apply";
  run.function = &plan.apply;
  run.counters.peak = {plan.apply.program.memory.peak, plan.apply.program.memory.peak};
  CHECK(memory_check_section(report, {}).empty());
  MemoryCheck& check = run.memory_check.emplace();
  check.planned = check.resident = Bytes(8192);
  check.scratch = {Bytes(640), Bytes(0)};
  const std::string good = memory_check_section(report, {});
  CHECK(good.substr(0, good.find("MEMORY")) ==
        "pages    apply       arenas 8,192, all resident, guard pages hold, nothing written outside"
        "  ok\n"
        "         apply       kernels' scratch beside the arenas, by worker: 640, 0\n");
  CHECK(run.pages_ok());
  check.resident = Bytes(4096);
  check.unguarded = {1};
  check.written_outside = {0, 1};
  const std::string bad = memory_check_section(report, {});
  CHECK(bad.substr(0, bad.find('\n') + 1) ==
        "pages    apply       arenas 8,192, 4,096 resident, no guard pages on device 1, written "
        "outside by devices 0, 1  NOT OK\n");
  CHECK_FALSE(run.pages_ok());
  CHECK_FALSE(report.is_ok());
}
