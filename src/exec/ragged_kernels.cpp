// Kernels of grouped products. Float32 and narrower use the blocked matrix product per group; the
// other dtypes plain loops.

#include <algorithm>

#include "exec/blocked_gemm.h"
#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/simd.h"
#include "exec/whole_numbers.h"
#include "ops/ragged.h"

namespace shard {
namespace {

/// The rows of one group that this device has.
struct GroupRows {
  std::int64_t group = 0;  ///< among the device's matrices
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Sizes, and which rows of which groups a device works on.
struct RaggedPlan {
  DType dtype = DType::f32;
  std::int64_t rows = 0, k = 0, n = 0, groups = 0, all_groups = 0;
  DType counts_dtype = DType::i32;
  LocalParts parts;

  RaggedPlan(const KernelSite& site, std::int64_t columns, std::int64_t local_groups)
      : dtype(site.operands[0].dtype),
        rows(site.operands[0].shape[0]),
        k(site.operands[0].shape[1]),
        n(columns),
        groups(local_groups),
        all_groups(site.operands[2].shape[0]),
        counts_dtype(site.operands[2].dtype),
        parts(site.attributes) {}

  std::vector<GroupRows> here(const KernelCall& call) const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(all_groups));
    to_integers(counts_dtype, call.operands[2], counts.data(), counts.size());
    const std::int64_t from = parts.part(ragged_rows, call.device) * rows;
    const std::int64_t first_group = parts.part(ragged_groups, call.device) * groups;
    std::vector<GroupRows> found;
    std::int64_t begin = 0;
    for (std::int64_t group = 0; group < all_groups; ++group) {
      const std::int64_t end =
          begin + std::max<std::int64_t>(0, counts[static_cast<std::size_t>(group)]);
      const std::int64_t first = std::clamp<std::int64_t>(begin - from, 0, rows);
      const std::int64_t last = std::clamp<std::int64_t>(end - from, 0, rows);
      const bool is_here = group >= first_group && group < first_group + groups;
      if (is_here && first < last) found.push_back({group - first_group, first, last - first});
      begin = end;
    }
    return found;
  }
};

void multiply_group(const GemmSizes& sizes, MatrixView a, MatrixView b, float* c,
                    Scratch& scratch) {
  blocked_gemm(sizes, a, b, {c, sizes.n}, scratch.take_array<float>(blocked_packing(sizes)));
}

template <class T>
void multiply_group(const GemmSizes& sizes, const T* a, std::int64_t row_stride,
                    std::int64_t column_stride, const T* b, T* c) {
  for (std::int64_t i = 0; i < sizes.m; ++i) {
    for (std::int64_t k = 0; k < sizes.k; ++k) {
      const T x = a[i * row_stride + k * column_stride];
      for (std::int64_t j = 0; j < sizes.n; ++j) c[i * sizes.n + j] += x * b[k * sizes.n + j];
    }
  }
}

const float* widened(const RaggedPlan& plan, const KernelCall& call, std::size_t operand,
                     std::int64_t count) {
  if (plan.dtype == DType::f32) return reinterpret_cast<const float*>(call.operands[operand]);
  float* wide = call.scratch.take_array<float>(static_cast<std::size_t>(count));
  widen_floats(plan.dtype, call.operands[operand], wide, static_cast<std::size_t>(count));
  return wide;
}

/// Runs `work` on a float32 result of zeros and rounds it into the result.
template <class Work>
void with_wide_result(const RaggedPlan& plan, const KernelCall& call, std::int64_t count,
                      Work work) {
  const auto elements = static_cast<std::size_t>(count);
  const bool is_narrow = plan.dtype != DType::f32;
  float* out = is_narrow ? call.scratch.take_array<float>(elements)
                         : reinterpret_cast<float*>(call.results[0]);
  std::fill(out, out + elements, 0.0F);
  work(out);
  if (is_narrow) round_floats(out, plan.dtype, call.results[0], elements);
}

void run_dot_f32(const RaggedPlan& plan, const KernelCall& call) {
  const float* x = widened(plan, call, 0, plan.rows * plan.k);
  const float* matrices = widened(plan, call, 1, plan.groups * plan.k * plan.n);
  with_wide_result(plan, call, plan.rows * plan.n, [&](float* out) {
    for (const GroupRows& group : plan.here(call)) {
      multiply_group({group.count, plan.n, plan.k}, MatrixView{x + group.first * plan.k, plan.k, 1},
                     MatrixView{matrices + group.group * plan.k * plan.n, plan.n, 1},
                     out + group.first * plan.n, call.scratch);
    }
  });
}

void run_outer_f32(const RaggedPlan& plan, const KernelCall& call) {
  const float* x = widened(plan, call, 0, plan.rows * plan.k);
  const float* y = widened(plan, call, 1, plan.rows * plan.n);
  with_wide_result(plan, call, plan.groups * plan.k * plan.n, [&](float* out) {
    for (const GroupRows& group : plan.here(call)) {
      multiply_group({plan.k, plan.n, group.count}, MatrixView{x + group.first * plan.k, 1, plan.k},
                     MatrixView{y + group.first * plan.n, plan.n, 1},
                     out + group.group * plan.k * plan.n, call.scratch);
    }
  });
}

template <class T>
void run_dot_plain(const RaggedPlan& plan, const KernelCall& call) {
  const T* x = reinterpret_cast<const T*>(call.operands[0]);
  const T* matrices = reinterpret_cast<const T*>(call.operands[1]);
  T* out = reinterpret_cast<T*>(call.results[0]);
  std::fill(out, out + plan.rows * plan.n, T{0});
  for (const GroupRows& group : plan.here(call)) {
    multiply_group<T>({group.count, plan.n, plan.k}, x + group.first * plan.k, plan.k, 1,
                      matrices + group.group * plan.k * plan.n, out + group.first * plan.n);
  }
}

template <class T>
void run_outer_plain(const RaggedPlan& plan, const KernelCall& call) {
  const T* x = reinterpret_cast<const T*>(call.operands[0]);
  const T* y = reinterpret_cast<const T*>(call.operands[1]);
  T* out = reinterpret_cast<T*>(call.results[0]);
  std::fill(out, out + plan.groups * plan.k * plan.n, T{0});
  for (const GroupRows& group : plan.here(call)) {
    multiply_group<T>({plan.k, plan.n, group.count}, x + group.first * plan.k, 1, plan.k,
                      y + group.first * plan.n, out + group.group * plan.k * plan.n);
  }
}

using RaggedRun = void (*)(const RaggedPlan&, const KernelCall&);

/// By dtype; integers wrap, so they are multiplied as unsigned numbers.
struct RaggedRuns {
  RaggedRun f32, f64, bits32, bits64;
};

KernelResult ragged_kernel(const KernelSite& site, RaggedPlan plan, const RaggedRuns& runs) {
  const DType dtype = plan.dtype;
  RaggedRun run = nullptr;
  if (computes_in_f32(dtype)) run = runs.f32;
  if (dtype == DType::f64) run = runs.f64;
  if (dtype == DType::i32 || dtype == DType::u32) run = runs.bits32;
  if (dtype == DType::i64 || dtype == DType::u64) run = runs.bits64;
  if (run == nullptr) return describe(site);
  return [plan = std::move(plan), run](const KernelCall& call) { run(plan, call); };
}

}  // namespace

KernelResult make_ragged_dot(const KernelSite& site) {
  return ragged_kernel(site, RaggedPlan(site, site.operands[1].shape[2], site.operands[1].shape[0]),
                       {run_dot_f32, run_dot_plain<double>, run_dot_plain<std::uint32_t>,
                        run_dot_plain<std::uint64_t>});
}

KernelResult make_ragged_outer(const KernelSite& site) {
  return ragged_kernel(site, RaggedPlan(site, site.operands[1].shape[1], site.results[0].shape[0]),
                       {run_outer_f32, run_outer_plain<double>, run_outer_plain<std::uint32_t>,
                        run_outer_plain<std::uint64_t>});
}

}  // namespace shard
