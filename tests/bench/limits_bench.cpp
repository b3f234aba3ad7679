// What this machine can do, and what the executor does where there is a limit to hold it to: one
// line `name value` per figure, for tests/bench/figures. Medians of several rounds in which all
// workers are busy.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "bench/memory.h"
#include "exec/arena.h"
#include "exec/cores.h"
#include "exec/kernel.h"
#include "exec/limits.h"
#include "exec/scheduler.h"
#include "exec/simd.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace shard::bench {
namespace {

constexpr std::int64_t mebi = std::int64_t{1} << 20;

/// Processor time of all threads: other load on the machine does not count.
double processor_seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Median seconds of nine runs after one that warms up.
double median_of(const std::function<void()>& work) {
  work();
  std::vector<double> times(9);
  for (double& time : times) time = seconds_of(work);
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

void say(const char* name, double value) { fmt::print("{} {:.4g}\n", name, value); }

/// Seconds of what the guide's step cannot do without: its parameters read once, then parameters
/// and both moments read and written in place.
double compulsory_seconds(WorkerPool& pool) {
  const std::int64_t count = 64 * mebi / 4;
  const Floats w(count), mu(count), nu(count);
  const std::int64_t part = count / pool.size();
  std::vector<float> sums(static_cast<std::size_t>(pool.size()));
  return median_of([&] {
    pool.run([&](int worker) {
      const auto n = static_cast<std::size_t>(part);
      sums[static_cast<std::size_t>(worker)] =
          reduction_loops().reduce_sum(w.data() + worker * part, n);
      for (const Floats* array : {&w, &mu, &nu}) {
        float* x = array->data() + worker * part;
        elementwise_loops().scale(x, x, n, 1.0F);
      }
    });
  });
}

CollectiveSite all_reduce_of(std::vector<std::vector<std::int64_t>> groups, std::int64_t devices,
                             std::int64_t count) {
  CollectiveShape shape;
  shape.reduction = Reduction::sum;
  shape.operand = shape.result = {DType::f32, {count}};
  shape.members = static_cast<int>(groups.front().size());
  CollectiveSite site = make_site(
      0, CollectiveKind::all_reduce, "all_reduce", std::move(groups), devices,
      [&](std::size_t) -> std::shared_ptr<const CollectiveWork> { return make_collective(shape); });
  site.counter = 0;
  return site;
}

/// Neighbouring devices, eight by eight.
std::vector<std::vector<std::int64_t>> eights(std::int64_t devices) {
  std::vector<std::vector<std::int64_t>> groups;
  for (std::int64_t first = 0; first < devices; first += 8) {
    groups.emplace_back();
    for (std::int64_t i = 0; i < 8; ++i) groups.back().push_back(first + i);
  }
  return groups;
}

StreamInstruction meeting(std::int64_t count) {
  StreamInstruction meet;
  meet.kind = StreamInstruction::Kind::collective;
  meet.operands = meet.results = {{0, count * 4, {}}};
  meet.site = 0;
  return meet;
}

std::vector<DeviceState> states_on(const Stream& stream, const std::vector<std::byte*>& bases) {
  std::vector<DeviceState> states;
  for (std::byte* base : bases) {
    DeviceState device;
    device.stream = &stream;
    device.base = base;
    states.push_back(device);
  }
  return states;
}

std::vector<Floats> arenas_of(std::int64_t devices, std::int64_t count) {
  std::vector<Floats> arenas;
  for (std::int64_t i = 0; i < devices; ++i) arenas.emplace_back(count);
  return arenas;
}

/// Copies beyond the caches: no line is read to be overwritten.
void stream_copy(float* to, const float* from, std::int64_t count) {
#if defined(__SSE2__)
  for (std::int64_t i = 0; i < count; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
#else
  std::copy_n(from, count, to);
#endif
}

void cached_copy(float* to, const float* from, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

/// Bytes read and written per second, at best, by copies of four of eight arrays of `bytes` into
/// the other four: an all-reduce over eight devices works on as much memory, so it has the same
/// help from caches.
double copy_rate(WorkerPool& pool, std::int64_t bytes) {
  constexpr std::int64_t piece = 65536;
  const std::int64_t count = bytes / 4, pieces = count / piece;
  const std::vector<Floats> arrays = arenas_of(8, count);
  const auto rate_of = [&](void (*copy)(float*, const float*, std::int64_t)) {
    const double seconds = median_of([&] {
      pool.for_each(4 * pieces, [&](std::int64_t i) {
        const auto pair = static_cast<std::size_t>(i / pieces * 2);
        const std::int64_t at = i % pieces * piece;
        copy(arrays[pair + 1].data() + at, arrays[pair].data() + at, piece);
      });
    });
    return 8.0 * static_cast<double>(bytes) / seconds;
  };
  return std::max(rate_of(stream_copy), rate_of(cached_copy));
}

/// Seconds of an all-reduce of `bytes` per device over eight devices.
double all_reduce_seconds(WorkerPool& pool, std::int64_t bytes) {
  const std::int64_t count = bytes / 4;
  const std::vector<Floats> arenas = arenas_of(8, count);
  Stream stream;
  stream.instructions.push_back(meeting(count));
  std::vector<CollectiveSite> sites;
  sites.push_back(all_reduce_of(eights(8), 8, count));
  std::vector<std::byte*> bases;
  for (const Floats& arena : arenas) bases.push_back(reinterpret_cast<std::byte*>(arena.data()));
  Scheduler scheduler(pool, states_on(stream, bases), std::move(sites), 1);
  scheduler.set_profiling(false);
  return median_of([&] { scheduler.run(); });
}

/// An addition of two arrays of `count` floats into the first.
StreamInstruction addition(std::int64_t count) {
  const TensorType type{DType::f32, {count}};
  const KernelSite site{Op::add, {}, {type, type}, {type}};
  StreamInstruction add;
  add.kernel = std::get<Kernel>(kernel_table()[static_cast<std::size_t>(Op::add)].make(site));
  add.operands = {{0, count * 4, {}}, {count * 4, count * 4, {}}};
  add.results = {{0, count * 4, {}}};
  return add;
}

/// Share of its processor time that a step of 64 devices with 10,000 instructions each spends on
/// other things than its kernels: additions of 4,096 floats, and an all-reduce of as many over
/// eight devices after every 99 of them. What the kernels take alone is the time of the same calls
/// in plain loops, with the same workers.
double scheduling_share(WorkerPool& pool) {
  constexpr std::int64_t devices = 64, count = 4096, rounds = 100, adds = 99;
  std::vector<Arena> arenas = Arena::row_of(2 * count * 4, devices, 0, false);
  std::vector<std::byte*> bases;
  for (Arena& arena : arenas) {
    arena.populate();
    bases.push_back(arena.base());
  }
  const StreamInstruction add = addition(count);
  Stream stream;
  for (std::int64_t round = 0; round < rounds; ++round) {
    stream.instructions.insert(stream.instructions.end(), adds, add);
    stream.instructions.push_back(meeting(count));
  }
  std::vector<CollectiveSite> sites;
  sites.push_back(all_reduce_of(eights(devices), devices, count));
  const TensorType type{DType::f32, {count}};
  const std::unique_ptr<const CollectiveWork> work =
      make_collective({CollectiveKind::all_reduce, Reduction::sum, -1, -1, type, type, 8, {}, {}});
  Scheduler scheduler(pool, states_on(stream, bases), std::move(sites), 1);
  scheduler.set_profiling(false);
  std::vector<Scratch> scratch(static_cast<std::size_t>(pool.size()));

  const auto group_alone = [&](std::int64_t group, Scratch& own) {
    std::vector<MemberPlace> members;
    std::vector<int> order;
    for (std::int64_t i = 0; i < 8; ++i) {
      std::byte* const base = bases[static_cast<std::size_t>(group * 8 + i)];
      members.push_back({base, base});
      order.push_back(static_cast<int>(i));
    }
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (const MemberPlace& member : members) {
        const std::byte* in[] = {member.operand, member.operand + count * 4};
        std::byte* out[] = {member.result};
        for (std::int64_t i = 0; i < adds; ++i) add.kernel({in, out, own});
      }
      for (std::int64_t s = 0; s < work->segment_count(); ++s) work->run(s, members, order);
    }
  };
  const auto kernels_alone = [&] {
    pool.run([&](int worker) {
      for (std::int64_t group = worker; group < devices / 8; group += pool.size()) {
        group_alone(group, scratch[static_cast<std::size_t>(worker)]);
      }
    });
  };
  scheduler.run();
  kernels_alone();
  std::vector<double> shares(41);  // each of a fraction of a second, of which others take parts
  for (double& share : shares) {
    const double whole = processor_seconds_of([&] { scheduler.run(); });
    share = 1.0 - processor_seconds_of(kernels_alone) / whole;
  }
  std::nth_element(shares.begin(), shares.begin() + 20, shares.end());
  return shares[20];
}

void print_all() {
  WorkerPool pool(allowed_cores());
  say("copy_gb", measure_copies(pool) * 1e-9);
  say("compulsory_ms", compulsory_seconds(pool) * 1e3);
  say("product_gflops", measure_products(pool) * 1e-9);
  for (const std::int64_t size : {8, 64}) {
    say(size == 8 ? "copy_8_gb" : "copy_64_gb", copy_rate(pool, size * mebi) * 1e-9);
    const double seconds = all_reduce_seconds(pool, size * mebi);
    say(size == 8 ? "all_reduce_8_ms" : "all_reduce_64_ms", seconds * 1e3);
    // In place: every device's array is read once and written once.
    say(size == 8 ? "all_reduce_8_gb" : "all_reduce_64_gb",
        16.0 * static_cast<double>(size * mebi) / seconds * 1e-9);
  }
  say("scheduling_percent", scheduling_share(pool) * 100);
}

}  // namespace
}  // namespace shard::bench

int main() { shard::bench::print_all(); }
