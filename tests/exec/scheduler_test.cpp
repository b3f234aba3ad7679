#include "exec/scheduler.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"

using namespace shard;

namespace {

/// Devices with streams of their own over arenas of `cells` doubles.
class Bench {
 public:
  Bench(int devices, int cells) : memory_(static_cast<std::size_t>(devices)) {
    for (std::vector<double>& arena : memory_) arena.assign(static_cast<std::size_t>(cells), 0.0);
    streams_.resize(memory_.size());
  }

  static Place cells(int first, int count) { return {first * 8, count * 8, {}}; }

  /// Adds `f(cell values, device)` on cells [first, first + count).
  void compute(int device, int first, int count, std::function<void(double*, int)> f,
               const std::string& label = "op") {
    StreamInstruction made;
    made.results = {cells(first, count)};
    made.kernel = [f = std::move(f)](const KernelCall& call) {
      f(reinterpret_cast<double*>(call.results[0]), call.device);
    };
    made.label = label;
    stream(device).instructions.push_back(std::move(made));
  }

  void meet(int device, int site, int first, int count) {
    StreamInstruction made;
    made.kind = StreamInstruction::Kind::collective;
    made.operands = made.results = {cells(first, count)};
    made.site = site;
    made.label = "all_reduce site" + std::to_string(site);
    stream(device).instructions.push_back(std::move(made));
  }

  void loop(int device, int number, std::int64_t times, const std::function<void()>& body) {
    StreamInstruction begin;
    begin.kind = StreamInstruction::Kind::loop_begin;
    begin.loop = number;
    begin.times = times;
    Stream& s = stream(device);
    s.loops = std::max(s.loops, number + 1);
    const std::size_t start = s.instructions.size();
    s.instructions.push_back(begin);
    body();
    begin.kind = StreamInstruction::Kind::loop_end;
    begin.target = static_cast<int>(start) + 1;
    s.instructions.push_back(begin);
    s.instructions[start].target = static_cast<int>(s.instructions.size());
  }

  /// Groups that add `count` doubles in place.
  int site(const std::vector<std::vector<std::int64_t>>& groups, std::int64_t count) {
    const int number = static_cast<int>(sites_.size());
    const auto work = [&](std::size_t group) -> std::shared_ptr<const CollectiveWork> {
      CollectiveShape shape;
      shape.reduction = Reduction::sum;
      shape.operand = shape.result = {DType::f64, {count}};
      shape.members = static_cast<int>(groups[group].size());
      return make_collective(shape);
    };
    sites_.push_back(make_site(number, CollectiveKind::all_reduce, "all_reduce", groups,
                               static_cast<std::int64_t>(memory_.size()), work));
    sites_.back().counter = 0;
    sites_.back().element_bytes = 8;
    return number;
  }

  /// Makes the scheduler; `run` does it when nobody did.
  void start(int workers) {
    pool_ = std::make_unique<WorkerPool>(workers);
    std::vector<DeviceState> states;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      DeviceState state;
      state.stream = &streams_[i];
      state.base = reinterpret_cast<std::byte*>(memory_[i].data());
      states.push_back(state);
    }
    scheduler_ = std::make_unique<Scheduler>(*pool_, std::move(states), std::move(sites_), 1);
  }

  /// Runs `times` times on fresh zeros; the arenas after the last run.
  std::vector<std::vector<double>> run(int workers, int times = 1) {
    if (scheduler_ == nullptr) start(workers);
    for (int i = 0; i < times; ++i) {
      for (std::vector<double>& arena : memory_) std::fill(arena.begin(), arena.end(), 0.0);
      scheduler_->run();
    }
    tally = scheduler_->tally();
    return memory_;
  }

  /// The same with a thread for each device.
  std::vector<std::vector<double>> run_bound(int times) {
    start(static_cast<int>(memory_.size()));
    scheduler_->bind_devices();
    return run(static_cast<int>(memory_.size()), times);
  }

  WorkerTally tally;

 private:
  Stream& stream(int device) { return streams_[static_cast<std::size_t>(device)]; }

  std::vector<std::vector<double>> memory_;
  std::vector<Stream> streams_;
  std::vector<CollectiveSite> sites_;
  std::unique_ptr<WorkerPool> pool_;
  std::unique_ptr<Scheduler> scheduler_;
};

std::function<void(double*, int)> put(double value) {
  return [value](double* cell, int) { *cell = value; };
}

/// Four devices with four different programs: 0 and 1 meet, 2 and 3 meet, then 1 and 2, while 3
/// meets 0; device 2 loops over a meeting with 3.
Bench different_programs() {
  Bench bench(4, 4);
  const int a = bench.site({{0, 1}, {2, 3}}, 1);
  const int b = bench.site({{1, 2}}, 1);
  const int c = bench.site({{3, 0}}, 1);
  for (int device = 0; device < 4; ++device) bench.compute(device, 0, 1, put(device + 1));
  for (const int device : {0, 1}) bench.meet(device, a, 0, 1);
  for (const int device : {2, 3}) {
    bench.loop(device, 0, 5, [&] { bench.meet(device, a, 0, 1); });
  }
  bench.meet(1, b, 0, 1);
  bench.meet(2, b, 0, 1);
  bench.compute(2, 1, 1, put(77));
  bench.meet(0, c, 0, 1);
  bench.compute(3, 2, 1, put(55));
  bench.meet(3, c, 0, 1);
  return bench;
}

/// Rows and columns of a grid add in turn, with sums that depend on the order of addition.
Bench grid(int rows, int columns, int rounds, int count) {
  Bench bench(rows * columns, count);
  std::vector<std::vector<std::int64_t>> by_row(static_cast<std::size_t>(rows));
  std::vector<std::vector<std::int64_t>> by_column(static_cast<std::size_t>(columns));
  for (int i = 0; i < rows * columns; ++i) {
    by_row[static_cast<std::size_t>(i / columns)].push_back(i);
    by_column[static_cast<std::size_t>(i % columns)].push_back(i);
  }
  const int along_rows = bench.site(by_row, count), along_columns = bench.site(by_column, count);
  for (int device = 0; device < rows * columns; ++device) {
    bench.compute(device, 0, count, [count](double* x, int own) {
      for (int i = 0; i < count; ++i) x[i] = 1.0 / (1 + own * count + i);
    });
    bench.loop(device, 0, rounds, [&] {
      bench.meet(device, along_rows, 0, count);
      bench.compute(device, 0, count, [count](double* x, int own) {
        for (int i = 0; i < count; ++i) x[i] = x[i] / 7 + own;
      });
      bench.meet(device, along_columns, 0, count);
    });
  }
  return bench;
}

}  // namespace

TEST_CASE("devices with different instruction lists meet group by group") {
  for (const int workers : {1, 2, 3, 8}) {
    CAPTURE(workers);
    Bench bench = different_programs();
    const auto memory = bench.run(workers, 20);
    // 0 and 1 hold 3; 2 and 3 hold 7 doubled four times; then 1+2 and 3+0.
    CHECK(memory[1][0] == 3 + 112);
    CHECK(memory[2][0] == 3 + 112);
    CHECK(memory[0][0] == 3 + 112);
    CHECK(memory[3][0] == 3 + 112);
    CHECK(memory[2][1] == 77);
    CHECK(memory[3][2] == 55);
  }
}

TEST_CASE("results have the same bits for any number of workers") {
  const auto expected = grid(4, 5, 6, 3).run(1);
  for (const int workers : {1, 2, 3, 8}) {
    for (int round = 0; round < 5; ++round) CHECK(grid(4, 5, 6, 3).run(workers, 2) == expected);
  }
}

TEST_CASE("collectives cut into many segments have the same bits for any number of workers") {
  const auto expected = grid(2, 3, 2, 50'000).run(1);
  for (const int workers : {2, 3, 8}) CHECK(grid(2, 3, 2, 50'000).run(workers) == expected);
}

TEST_CASE("five hundred and twelve devices run on two workers") {
  Bench bench = grid(16, 32, 3, 1);
  bench.run(2, 2);
  std::int64_t completed = 0;
  for (const SiteTally& site : bench.tally.sites) completed += site.collectives;
  CHECK(completed == 2 * 3 * (16 + 32));
}

TEST_CASE("the bytes that device zero would send are counted from the work done") {
  Bench bench = grid(2, 4, 3, 10'000);
  bench.run(2);
  REQUIRE(bench.tally.sites.size() == 2);
  CHECK(bench.tally.sites[0].wire == 3 * (2 * 3 * 80'000 / 4));  // rows of 4
  CHECK(bench.tally.sites[1].wire == 3 * (2 * 1 * 80'000 / 2));  // columns of 2
  CHECK(bench.tally.sites[0].copied == 3 * 2 * 8 * 80'000);      // all devices, read and written
}

TEST_CASE("devices that wait for partners that never come are named") {
  for (const int workers : {1, 2, 3}) {
    Bench bench(3, 1);
    const int a = bench.site({{0, 1, 2}}, 1), b = bench.site({{1, 2}}, 1);
    bench.meet(0, a, 0, 1);
    bench.meet(1, b, 0, 1);
    bench.compute(2, 0, 1, put(1));
    bench.meet(2, a, 0, 1);
    try {
      bench.run(workers);
      FAIL("the deadlock was not noticed");
    } catch (const Error& error) {
      CHECK(to_string(error.diagnostics().front()) ==
            "error: 3 of 3 devices wait for partners that never come: device 0 at instruction 0 "
            "(all_reduce site0), device 1 at instruction 0 (all_reduce site1), device 2 at "
            "instruction 1 (all_reduce site0) [deadlock]\n"
            "  hint: all members of a replica group must reach the same collectives in the same "
            "order");
    }
  }
}

TEST_CASE("a thread for each device gives the bits of one worker and runs no other device") {
  const auto expected = grid(3, 4, 20, 700).run(1);
  CHECK(grid(3, 4, 20, 700).run_bound(3) == expected);
  CHECK(different_programs().run_bound(50) == different_programs().run(1));
  Bench bench(5, 1);
  const int all = bench.site({{0, 1, 2, 3, 4}}, 1);
  std::vector<std::set<std::thread::id>> threads(5);
  for (int device = 0; device < 5; ++device) {
    bench.loop(device, 0, 30, [&] {
      bench.compute(device, 0, 1, [&threads](double*, int own) {
        threads[static_cast<std::size_t>(own)].insert(std::this_thread::get_id());
      });
      bench.meet(device, all, 0, 1);
    });
  }
  bench.run_bound(2);
  std::set<std::thread::id> together;
  for (const std::set<std::thread::id>& of_one : threads) {
    CHECK(of_one.size() == 1);
    together.insert(of_one.begin(), of_one.end());
  }
  CHECK(together.size() == 5);
}

TEST_CASE("many waiting devices are counted and the first of them named") {
  Bench bench(12, 1);
  const int all = bench.site({{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}, 1);
  for (int device = 0; device < 11; ++device) bench.meet(device, all, 0, 1);
  try {
    bench.run(2);
    FAIL("the deadlock was not noticed");
  } catch (const Error& error) {
    const std::string message = error.diagnostics().front().message;
    CHECK(message.starts_with("11 of 12 devices wait for partners that never come: device 0 at"));
    CHECK(message.ends_with("device 7 at instruction 0 (all_reduce site0) and 3 more"));
  }
}

TEST_CASE("a device that fails stops the others and is named") {
  for (const int workers : {1, 2, 8}) {
    Bench bench(6, 1);
    const int all = bench.site({{0, 1, 2, 3, 4, 5}}, 1);
    for (int device = 0; device < 6; ++device) {
      bench.compute(device, 0, 1, put(1));
      if (device == 4) {
        bench.compute(
            device, 0, 1, [](double*, int) { throw std::runtime_error("no luck"); }, "dot");
      }
      bench.meet(device, all, 0, 1);
    }
    try {
      bench.run(workers);
      FAIL("the failure was swallowed");
    } catch (const Error& error) {
      CHECK(to_string(error.diagnostics().front()) ==
            "error: device 4 at instruction 1 (dot) failed: no luck [device-failed]");
    }
  }
}

TEST_CASE("a broken belief on a device stays our bug and names the device") {
  Bench bench(2, 1);
  bench.compute(
      1, 0, 1, [](double*, int) { SHARD_CHECK(false, "this holds"); }, "relu");
  CHECK_THROWS_WITH_AS(bench.run(2), doctest::Contains("device 1 at instruction 0 (relu)"),
                       InternalError);
}

TEST_CASE("a diagnostic of a device keeps its id and names the device") {
  Bench bench(2, 1);
  bench.compute(
      0, 0, 1, [](double*, int) { throw Error("some-id", {}, "some words"); }, "add");
  try {
    bench.run(1);
    FAIL("the failure was swallowed");
  } catch (const Error& error) {
    CHECK(to_string(error.diagnostics().front()) ==
          "error: device 0 at instruction 0 (add): some words [some-id]");
  }
}

TEST_CASE("the scheduler runs again after a failure") {
  Bench bench(3, 1);
  auto fails = std::make_shared<std::atomic<bool>>(true);
  const int all = bench.site({{0, 1, 2}}, 1);
  for (int device = 0; device < 3; ++device) {
    bench.compute(device, 0, 1, [fails](double* cell, int own) {
      if (own == 1 && fails->exchange(false)) throw std::runtime_error("once");
      *cell = own;
    });
    bench.meet(device, all, 0, 1);
  }
  CHECK_THROWS_AS(bench.run(2), Error);
  CHECK(bench.run(2) == std::vector<std::vector<double>>{{3}, {3}, {3}});
}

TEST_CASE("loops that run zero times are skipped") {
  Bench bench(1, 2);
  bench.loop(0, 0, 0, [&] { bench.compute(0, 0, 1, put(9)); });
  bench.compute(0, 1, 1, put(4));
  CHECK(bench.run(1) == std::vector<std::vector<double>>{{0, 4}});
}

TEST_CASE("the pool runs every index once and rethrows a failure") {
  for (const int workers : {1, 3}) {
    WorkerPool pool(workers);
    std::vector<int> seen(1000, 0);
    pool.for_each(1000, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
    CHECK(seen == std::vector<int>(1000, 1));
    CHECK_THROWS_WITH(pool.for_each(50,
                                    [](std::int64_t i) {
                                      if (i == 20) throw std::runtime_error("at 20");
                                    }),
                      "at 20");
    pool.for_each(10, [](std::int64_t) {});
  }
}
