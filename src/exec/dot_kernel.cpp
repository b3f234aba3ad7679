#include "exec/dot_kernel.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "exec/blocked_gemm.h"
#include "exec/dot_plan.h"
#include "exec/element.h"

namespace shard {
namespace {

// Measured on an AVX-512 machine: up to here our streaming forms are the faster ones.
constexpr std::int64_t most_rows = 8;
constexpr std::int64_t most_rows_transposed = 16;
constexpr std::int64_t most_terms = 8;
constexpr std::int64_t small_product = 32 * 32 * 32;
// And of those the ones that keep their sums in registers; with many rows as long as the right
// operand stays in the first-level cache.
constexpr std::int64_t most_columns = 64;
constexpr std::int64_t most_cached = 8192;
constexpr std::int64_t most_terms_transposed = 64;

/// The forms of the float32 product. `many` is the blocked one, or OpenBLAS's.
enum class GemmForm {
  few_rows,
  few_columns,
  few_rows_transposed,
  few_terms_transposed,
  few_terms,
  many
};

GemmForm form_of(const DotPlan& plan) {
  const GemmSizes& s = plan.sizes;
  const bool plain_rhs = plan.rhs.is_plain(), has_few_rows = s.m <= most_rows;
  const bool is_small = s.m * s.n * s.k <= small_product, has_few_terms = s.k <= most_terms;
  const bool is_cached = s.n * s.k <= most_cached && !has_few_terms;
  if (plain_rhs && s.n <= most_columns && (has_few_rows || is_small || is_cached)) {
    return GemmForm::few_columns;
  }
  if (plain_rhs && (has_few_rows || is_small)) return GemmForm::few_rows;
  if (!plain_rhs && s.m <= most_rows_transposed) {
    return s.k <= most_terms_transposed ? GemmForm::few_terms_transposed
                                        : GemmForm::few_rows_transposed;
  }
  return has_few_terms ? GemmForm::few_terms : GemmForm::many;
}

struct DotChoice {
  DotPlan plan;
  GemmForm form;
};

/// All forms but `many` want the right operand's matrices contiguous.
DotChoice choose_dot(const KernelSite& site) {
  DotChoice choice{plan_dot(site), GemmForm::many};
  choice.form = form_of(choice.plan);
  const DotOperand& rhs = choice.plan.rhs;
  if (choice.form != GemmForm::many && !rhs.is_plain() && !rhs.is_turned()) {
    pack_rhs(choice.plan, site);
    choice.form = form_of(choice.plan);
  }
  return choice;
}

/// A copy of `view` (rows x columns) in row-major order.
const float* packed(const MatrixView& view, std::int64_t rows, std::int64_t columns,
                    Scratch& scratch) {
  float* to = scratch.take_array<float>(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      to[i * columns + j] = view.data[i * view.row_stride + j * view.column_stride];
    }
  }
  return to;
}

void multiply_many(const GemmSizes& sizes, MatrixView a, MatrixView b, float* c, const Blas* blas,
                   Scratch& scratch) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const auto has_unit_stride = [](const MatrixView& view) {
    return view.row_stride == 1 || view.column_stride == 1;
  };
  if (blas != nullptr && has_unit_stride(a) && has_unit_stride(b) &&
      std::max({sizes.m, sizes.n, sizes.k}) <= most) {
    blas->multiply(sizes, a, b, c);
  } else {
    blocked_gemm(sizes, a, b, {c, sizes.n}, scratch.take_array<float>(blocked_packing(sizes)));
  }
}

/// What lies `bytes` further is asked for while a product is computed, where its operands leave
/// room for it in the caches: elements, 0 for nothing.
std::int64_t asked_ahead(const GemmSizes& sizes, std::ptrdiff_t bytes) {
  constexpr std::int64_t most = 32768;  // elements: 128 KiB
  const bool is_small = sizes.k * (sizes.m + sizes.n) <= most;
  return is_small ? bytes / static_cast<std::ptrdiff_t>(sizeof(float)) : 0;
}

void multiply_f32(const DotPlan& plan, const GemmSizes& s, GemmForm form, const Blas* blas,
                  const float* lhs, const float* rhs, float* out, Scratch& scratch) {
  MatrixView a = plan.lhs.view(lhs);
  const MatrixView b = plan.rhs.view(rhs);
  if (form == GemmForm::few_rows) {
    gemm_loops().few_rows(s, a, rhs, out);
  } else if (form == GemmForm::few_columns) {
    narrow_gemm_loops().few_columns(s, a, rhs, out);
  } else if (form == GemmForm::few_rows_transposed || form == GemmForm::few_terms_transposed) {
    if (a.column_stride != 1) a = {packed(a, s.m, s.k, scratch), s.k, 1};
    const bool has_few_terms = form == GemmForm::few_terms_transposed;
    const auto multiply =
        has_few_terms ? narrow_gemm_loops().few_terms_transposed : gemm_loops().few_rows_transposed;
    multiply(s, a, rhs, out);
  } else if (form == GemmForm::few_terms) {
    const float* rows = !plan.rhs.is_plain() ? packed(b, s.k, s.n, scratch) : rhs;
    gemm_loops().few_terms(s, a, rows, out);
  } else {
    multiply_many(s, a, b, out, blas, scratch);
  }
}

/// The operand in the order the plan wants, in its own dtype.
const std::byte* ordered(const DotOperand& operand, const std::byte* data, Scratch& scratch) {
  if (!operand.packing) return data;
  std::byte* to = scratch.take(operand.packing->bytes());
  operand.packing->run(data, to);
  return to;
}

const float* as_f32(DType dtype, const std::byte* data, std::int64_t count, Scratch& scratch) {
  if (dtype == DType::f32) return reinterpret_cast<const float*>(data);
  float* wide = scratch.take_array<float>(static_cast<std::size_t>(count));
  widen_floats(dtype, data, wide, static_cast<std::size_t>(count));
  return wide;
}

void run_f32(const DotPlan& plan, GemmForm form, const Blas* blas, const KernelCall& call) {
  const GemmSizes& s = plan.sizes;
  const std::byte* lhs_bytes = ordered(plan.lhs, call.operands[0], call.scratch);
  const std::byte* rhs_bytes = ordered(plan.rhs, call.operands[1], call.scratch);
  const float* lhs = as_f32(plan.dtype, lhs_bytes, plan.batch * s.m * s.k, call.scratch);
  const float* rhs = as_f32(plan.dtype, rhs_bytes, plan.batch * s.k * s.n, call.scratch);
  const std::size_t count = static_cast<std::size_t>(plan.batch * s.m * s.n);
  const bool is_narrow = plan.dtype != DType::f32;
  float* out =
      is_narrow ? call.scratch.take_array<float>(count) : reinterpret_cast<float*>(call.results[0]);
  const std::size_t mark = call.scratch.mark();
  GemmSizes sizes = s;
  if (!is_narrow && plan.batch == 1) sizes.ahead = asked_ahead(s, call.next);
  for_each_batch(plan, [&](std::int64_t i, std::int64_t lhs_at, std::int64_t rhs_at) {
    multiply_f32(plan, sizes, form, blas, lhs + lhs_at, rhs + rhs_at, out + i * s.m * s.n,
                 call.scratch);
    call.scratch.rewind(mark);
  });
  if (is_narrow) round_floats(out, plan.dtype, call.results[0], count);
}

/// The parts of `count` complex numbers, first all real ones, then all imaginary ones.
const float* parts_of_complex(const std::byte* data, std::size_t count, Scratch& scratch) {
  const auto* pairs = reinterpret_cast<const float*>(data);
  float* const parts = scratch.take_array<float>(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    parts[i] = pairs[2 * i];
    parts[count + i] = pairs[2 * i + 1];
  }
  return parts;
}

/// Four real products.
void run_c64(const DotPlan& plan, GemmForm form, const Blas* blas, const KernelCall& call) {
  const GemmSizes& s = plan.sizes;
  const auto lhs_count = static_cast<std::size_t>(plan.batch * s.m * s.k);
  const auto rhs_count = static_cast<std::size_t>(plan.batch * s.k * s.n);
  const float* const lhs =
      parts_of_complex(ordered(plan.lhs, call.operands[0], call.scratch), lhs_count, call.scratch);
  const float* const rhs =
      parts_of_complex(ordered(plan.rhs, call.operands[1], call.scratch), rhs_count, call.scratch);
  const auto count = static_cast<std::size_t>(s.m * s.n);
  auto* out = reinterpret_cast<float*>(call.results[0]);
  std::array<float*, 4> products;
  for (float*& product : products) product = call.scratch.take_array<float>(count);
  const std::size_t mark = call.scratch.mark();
  for_each_batch(plan, [&](std::int64_t, std::int64_t lhs_at, std::int64_t rhs_at) {
    for (std::size_t part = 0; part < products.size(); ++part) {
      const float* const left = lhs + (part / 2) * lhs_count + lhs_at;
      const float* const right = rhs + (part % 2) * rhs_count + rhs_at;
      multiply_f32(plan, s, form, blas, left, right, products[part], call.scratch);
      call.scratch.rewind(mark);
    }
    for (std::size_t i = 0; i < count; ++i) {
      out[2 * i] = products[0][i] - products[3][i];
      out[2 * i + 1] = products[1][i] + products[2][i];
    }
    out += 2 * count;
  });
}

/// Plain loops for the dtypes that are not hot; integers wrap.
template <class T>
void run_plain(const DotPlan& plan, const KernelCall& call) {
  const GemmSizes& s = plan.sizes;
  const T* lhs = reinterpret_cast<const T*>(ordered(plan.lhs, call.operands[0], call.scratch));
  const T* rhs = reinterpret_cast<const T*>(ordered(plan.rhs, call.operands[1], call.scratch));
  T* out = reinterpret_cast<T*>(call.results[0]);
  std::fill(out, out + plan.batch * s.m * s.n, T{0});
  const DotOperand &a = plan.lhs, &b = plan.rhs;
  for_each_batch(plan, [&](std::int64_t, std::int64_t lhs_at, std::int64_t rhs_at) {
    for (std::int64_t i = 0; i < s.m; ++i, out += s.n) {
      for (std::int64_t k = 0; k < s.k; ++k) {
        const T x = lhs[lhs_at + i * a.row_stride + k * a.column_stride];
        const T* row = rhs + rhs_at + k * b.row_stride;
        for (std::int64_t j = 0; j < s.n; ++j) out[j] += x * row[j * b.column_stride];
      }
    }
  });
}

template <class T>
Kernel plain_kernel(DotPlan plan) {
  return [plan = std::move(plan)](const KernelCall& call) { run_plain<T>(plan, call); };
}

/// A form that can make some rows of C, in whole steps, with the bits of the whole product.
struct RowsRow {
  GemmForm form;
  std::int64_t step;
  void (*multiply)(const GemmSizes& sizes, MatrixView a, const float* b, float* c);
};

const RowsRow* rows_row(GemmForm form) {
  static const std::array<RowsRow, 3> rows = {{
      {GemmForm::few_rows, 1, gemm_loops().few_rows},
      {GemmForm::few_terms, 2, gemm_loops().few_terms},
      {GemmForm::few_columns, 4, narrow_gemm_loops().few_columns},
  }};
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const RowsRow& r) { return r.form == form; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

KernelResult make_dot(const KernelSite& site) {
  auto [plan, form] = choose_dot(site);
  if (plan.dtype == DType::f64) return plain_kernel<double>(std::move(plan));
  if (plan.dtype == DType::i32) return plain_kernel<std::uint32_t>(std::move(plan));
  if (plan.dtype == DType::u32) return plain_kernel<std::uint32_t>(std::move(plan));
  if (plan.dtype == DType::i64) return plain_kernel<std::uint64_t>(std::move(plan));
  if (!computes_in_f32(plan.dtype) && plan.dtype != DType::c64) return describe(site);
  const Blas* blas = form == GemmForm::many ? preferred_blas() : nullptr;
  if (plan.dtype == DType::c64) {
    return [plan = std::move(plan), form = form, blas](const KernelCall& call) {
      run_c64(plan, form, blas, call);
    };
  }
  return [plan = std::move(plan), form = form, blas](const KernelCall& call) {
    run_f32(plan, form, blas, call);
  };
}

bool needs_many_rows(const KernelSite& site) {
  const DotChoice choice = choose_dot(site);
  return computes_in_f32(choice.plan.dtype) && choice.form == GemmForm::many;
}

std::optional<ProductByRows> product_by_rows(const KernelSite& site) {
  const auto [plan, form] = choose_dot(site);
  const bool is_ready = plan.dtype == DType::f32 && plan.batch == 1 && !plan.lhs.packing &&
                        !plan.rhs.packing && plan.rhs.is_plain();
  const RowsRow* const row = rows_row(form);
  if (!is_ready || plan.sizes.k > most_terms || row == nullptr) return std::nullopt;
  return ProductByRows{
      plan.sizes.m, plan.sizes.n, row->step,
      [row, sizes = plan.sizes, lhs_plan = plan.lhs](const float* lhs, const float* rhs,
                                                     std::ptrdiff_t next, std::int64_t first,
                                                     std::int64_t last, float* to) {
        MatrixView a = lhs_plan.view(lhs);
        a.data += first * a.row_stride;
        row->multiply({last - first, sizes.n, sizes.k, asked_ahead(sizes, next)}, a, rhs, to);
      }};
}

void multiply_floats(const GemmSizes& sizes, MatrixView a, MatrixView b, float* c,
                     Scratch& scratch) {
  multiply_many(sizes, a, b, c, preferred_blas(), scratch);
}

}  // namespace shard
