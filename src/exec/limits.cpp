#include "exec/limits.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "exec/arena.h"
#include "exec/kernel.h"

namespace shard {
namespace {

/// Floats on huge pages, as devices have them.
class LimitArray {
 public:
  explicit LimitArray(std::int64_t count) : arena_(count * 4, 0) {
    std::fill_n(data(), count, 0.01F);
  }
  float* data() const { return reinterpret_cast<float*>(arena_.base()); }
  std::byte* bytes() const { return arena_.base(); }

 private:
  Arena arena_;
};

/// Median seconds of nine runs after one that warms up.
double median_seconds(const std::function<void()>& work) {
  using LimitClock = std::chrono::steady_clock;
  work();
  std::array<double, 9> times{};
  for (double& time : times) {
    const LimitClock::time_point start = LimitClock::now();
    work();
    time = std::chrono::duration<double>(LimitClock::now() - start).count();
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// A product of square matrices as a run does it.
Kernel square_product(std::int64_t size) {
  const TensorType type{DType::f32, {size, size}};
  const std::vector<std::int64_t> none;
  const Attributes attributes = {{"lhs_batch", none},
                                 {"rhs_batch", none},
                                 {"lhs_contract", std::vector<std::int64_t>{1}},
                                 {"rhs_contract", std::vector<std::int64_t>{0}}};
  const KernelSite site{Op::dot, attributes, {type, type}, {type}};
  return std::get<Kernel>(kernel_table()[static_cast<std::size_t>(Op::dot)].make(site));
}

}  // namespace

double measure_products(WorkerPool& pool) {
  constexpr std::int64_t size = 1024, rounds = 4;
  const Kernel dot = square_product(size);
  std::vector<LimitArray> arrays;
  for (int i = 0; i < 3 * pool.size(); ++i) arrays.emplace_back(size * size);
  std::vector<Scratch> scratch(static_cast<std::size_t>(pool.size()));
  const double time = median_seconds([&] {
    pool.run([&](int worker) {
      const auto own = static_cast<std::size_t>(3 * worker);
      const std::byte* in[] = {arrays[own].bytes(), arrays[own + 1].bytes()};
      std::byte* out[] = {arrays[own + 2].bytes()};
      Scratch& memory = scratch[static_cast<std::size_t>(worker)];
      for (int i = 0; i < rounds; ++i) dot({in, out, memory});
      memory.release();
    });
  });
  return 2.0 * rounds * size * size * size * pool.size() / time;
}

double measure_copies(WorkerPool& pool) {
  constexpr std::int64_t count = std::int64_t{1} << 24;  // beyond the caches of most machines
  const LimitArray from(count), to(count);
  const std::int64_t part = count / pool.size();
  const double time = median_seconds([&] {
    pool.run([&](int worker) {
      std::memcpy(to.data() + worker * part, from.data() + worker * part,
                  static_cast<std::size_t>(part) * sizeof(float));
    });
  });
  return 2.0 * static_cast<double>(part * pool.size()) * sizeof(float) / time;
}

MachineLimits measure_limits(WorkerPool& pool) {
  return {measure_products(pool), measure_copies(pool)};
}

std::string processor_name(std::istream& text) {
  std::string name, kind;
  for (std::string line; std::getline(text, line) && !line.empty();) {  // the first core's lines
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    const std::string value = begin == std::string::npos ? "" : line.substr(begin);
    if (key == "model name") name = value;
    for (const char* one : {"cpu family", "model", "stepping", "CPU implementer", "CPU part"}) {
      if (key == one) kind += (kind.empty() ? "" : ", ") + key + " " + value;
    }
  }
  if (name.empty() && kind.empty()) return "unknown processor";
  if (kind.empty()) return name;
  return (name.empty() ? "processor" : name) + " (" + kind + ")";
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  return processor_name(file);
}

}  // namespace shard
