// Products of the guide's shapes: `hot` uses the large operand again and again, `cold` walks
// through 256 MiB of them as a training step does.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "bench/memory.h"
#include "exec/blas.h"
#include "exec/blocked_gemm.h"
#include "exec/simd.h"

namespace shard::bench {
namespace {

constexpr std::int64_t cold_floats = std::int64_t{64} << 20;

enum class Form { plain, transposed, terms };

/// The operand or result that is large, one after the other.
class Large {
 public:
  Large(std::int64_t size, bool is_cold)
      : size_(size), places_(is_cold ? cold_floats / size : 1), floats_(size * places_) {}
  float* next() { return floats_.data() + (turn_++ % places_) * size_; }

 private:
  std::int64_t size_;
  std::int64_t places_;
  std::int64_t turn_ = 0;
  Floats floats_;
};

enum class Who { own, blocked, openblas };

void multiply(Form form, Who who, const GemmSizes& s, float* a, float* b, float* c,
              float* packing) {
  const MatrixView av = form == Form::terms ? MatrixView{a, 1, s.m} : MatrixView{a, s.k, 1};
  const MatrixView bv = form == Form::transposed ? MatrixView{b, 1, s.k} : MatrixView{b, s.n, 1};
  if (who == Who::openblas) return system_blas()->multiply(s, av, bv, c);
  if (who == Who::blocked) return blocked_gemm(s, av, bv, {c, s.n}, packing);
  if (form == Form::plain) return gemm_loops().few_rows(s, av, b, c);
  if (form == Form::transposed) return gemm_loops().few_rows_transposed(s, av, b, c);
  gemm_loops().few_terms(s, av, b, c);
}

void gemm(benchmark::State& state, Form form, Who who, bool is_cold) {
  const GemmSizes s{state.range(0), state.range(2), state.range(1)};
  if (who == Who::openblas && system_blas() == nullptr) return state.SkipWithError("no OpenBLAS");
  const bool is_result_large = form == Form::terms;
  Large large(is_result_large ? s.m * s.n : s.k * s.n, is_cold);
  Floats a(s.m * s.k), small(is_result_large ? s.k * s.n : s.m * s.n);
  Floats packing(static_cast<std::int64_t>(blocked_packing(s)));
  for (auto _ : state) {
    float* big = large.next();
    multiply(form, who, s, a.data(), is_result_large ? small.data() : big,
             is_result_large ? big : small.data(), packing.data());
  }
  const double flops = 2.0 * static_cast<double>(s.m * s.n * s.k);
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void guide_shapes(benchmark::internal::Benchmark* b, Form form) {
  b->ArgNames({"m", "k", "n"});
  if (form == Form::terms) {
    b->Args({1024, 4, 256})->Args({256, 4, 1024})->Args({1024, 8, 1024});
  } else {
    b->Args({4, 1024, 256})->Args({4, 256, 1024})->Args({8, 1024, 1024});
  }
  b->Args({16, 1024, 1024})->Args({128, 1024, 1024});
}

[[maybe_unused]] const bool registered = [] {
  const std::vector<std::pair<Form, const char*>> forms = {
      {Form::plain, "NN"}, {Form::transposed, "NT"}, {Form::terms, "TN"}};
  const std::vector<std::pair<Who, const char*>> sides = {
      {Who::own, "own"}, {Who::blocked, "blocked"}, {Who::openblas, "openblas"}};
  for (const auto& [form, form_name] : forms) {
    for (const auto& [who, who_name] : sides) {
      for (const bool is_cold : {false, true}) {
        const std::string name =
            std::string("gemm/") + form_name + "/" + who_name + (is_cold ? "/cold" : "/hot");
        guide_shapes(benchmark::RegisterBenchmark(
                         name.c_str(), [=](benchmark::State& s) { gemm(s, form, who, is_cold); }),
                     form);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace shard::bench
