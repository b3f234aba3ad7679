#include "exec/dot_kernel.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "exec/blas.h"
#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/permute.h"
#include "ops/dims.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

/// One operand as [batch, rows, columns]: packed first if its dims lie in another order, read with
/// swapped strides if only the last two groups are swapped.
struct DotOperand {
  std::optional<Permutation> packing;
  bool is_transposed = false;
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  MatrixView view(const float* data) const {
    return is_transposed ? MatrixView{data, 1, rows} : MatrixView{data, columns, 1};
  }
};

struct DotPlan {
  DType dtype = DType::f32;
  std::int64_t batch = 1;
  GemmSizes sizes;
  DotOperand lhs;  ///< [batch, m, k]
  DotOperand rhs;  ///< [batch, k, n]
};

Dims free_dims(const TensorType& type, const Dims& batch, const Dims& contract) {
  Dims dims;
  for (std::int64_t dim = 0; dim < type.rank(); ++dim) {
    if (!contains(batch, dim) && !contains(contract, dim)) dims.push_back(dim);
  }
  return dims;
}

std::int64_t size_of(const TensorType& type, const Dims& dims) {
  std::int64_t size = 1;
  for (const std::int64_t dim : dims) size *= type.shape[static_cast<std::size_t>(dim)];
  return size;
}

Dims joined(const Dims& a, const Dims& b, const Dims& c) {
  Dims all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

DotOperand plan_operand(const TensorType& type, const Dims& batch, const Dims& rows,
                        const Dims& columns) {
  const std::size_t bytes = static_cast<std::size_t>(info(type.dtype).bytes);
  DotOperand operand;
  operand.rows = size_of(type, rows);
  operand.columns = size_of(type, columns);
  Permutation straight(type.shape, joined(batch, rows, columns), bytes);
  if (straight.is_identity()) return operand;
  operand.is_transposed =
      Permutation(type.shape, joined(batch, columns, rows), bytes).is_identity();
  if (!operand.is_transposed) operand.packing = std::move(straight);
  return operand;
}

DotPlan plan_dot(const KernelSite& site) {
  const Dims& lhs_batch = site.attributes.integers("lhs_batch");
  const Dims& rhs_batch = site.attributes.integers("rhs_batch");
  const Dims& lhs_contract = site.attributes.integers("lhs_contract");
  const Dims& rhs_contract = site.attributes.integers("rhs_contract");
  const TensorType &lhs = site.operands[0], &rhs = site.operands[1];
  const Dims lhs_free = free_dims(lhs, lhs_batch, lhs_contract);
  const Dims rhs_free = free_dims(rhs, rhs_batch, rhs_contract);
  DotPlan plan;
  plan.dtype = lhs.dtype;
  plan.batch = size_of(lhs, lhs_batch);
  plan.sizes = {size_of(lhs, lhs_free), size_of(rhs, rhs_free), size_of(lhs, lhs_contract)};
  plan.lhs = plan_operand(lhs, lhs_batch, lhs_free, lhs_contract);
  plan.rhs = plan_operand(rhs, rhs_batch, rhs_contract, rhs_free);
  return plan;
}

// Measured on an AVX-512 machine: up to here our streaming forms are the faster ones.
constexpr std::int64_t most_rows = 8;
constexpr std::int64_t most_rows_transposed = 16;
constexpr std::int64_t most_terms = 8;
constexpr std::int64_t small_product = 32 * 32 * 32;
// And of those the ones that keep their sums in registers.
constexpr std::int64_t most_columns = 64;
constexpr std::int64_t most_terms_transposed = 256;

/// The forms of the float32 product. `many` is OpenBLAS's where it is found, else our blocked one.
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
  const bool plain_rhs = !plan.rhs.is_transposed, has_few_rows = s.m <= most_rows;
  const bool is_small = s.m * s.n * s.k <= small_product, has_few_terms = s.k <= most_terms;
  if (plain_rhs && s.n <= most_columns && (has_few_rows || is_small)) {
    return GemmForm::few_columns;
  }
  if (plain_rhs && (has_few_rows || is_small)) return GemmForm::few_rows;
  if (!plain_rhs && s.m <= most_rows_transposed) {
    return s.k <= most_terms_transposed ? GemmForm::few_terms_transposed
                                        : GemmForm::few_rows_transposed;
  }
  return has_few_terms ? GemmForm::few_terms : GemmForm::many;
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
  if (blas != nullptr && std::max({sizes.m, sizes.n, sizes.k}) <= most) {
    blas->multiply(sizes, a, b, c);
  } else {
    blocked_gemm(sizes, a, b, c, scratch.take_array<float>(blocked_packing(sizes)));
  }
}

void multiply_f32(const DotPlan& plan, GemmForm form, const Blas* blas, const float* lhs,
                  const float* rhs, float* out, Scratch& scratch) {
  const GemmSizes& s = plan.sizes;
  MatrixView a = plan.lhs.view(lhs);
  const MatrixView b = plan.rhs.view(rhs);
  if (form == GemmForm::few_rows) {
    gemm_loops().few_rows(s, a, rhs, out);
  } else if (form == GemmForm::few_columns) {
    narrow_gemm_loops().few_columns(s, a, rhs, out);
  } else if (form == GemmForm::few_rows_transposed || form == GemmForm::few_terms_transposed) {
    if (plan.lhs.is_transposed) a = {packed(a, s.m, s.k, scratch), s.k, 1};
    const bool has_few_terms = form == GemmForm::few_terms_transposed;
    const auto multiply =
        has_few_terms ? narrow_gemm_loops().few_terms_transposed : gemm_loops().few_rows_transposed;
    multiply(s, a, rhs, out);
  } else if (form == GemmForm::few_terms) {
    const float* rows = plan.rhs.is_transposed ? packed(b, s.k, s.n, scratch) : rhs;
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
  for (std::int64_t i = 0; i < plan.batch; ++i) {
    multiply_f32(plan, form, blas, lhs + i * s.m * s.k, rhs + i * s.k * s.n, out + i * s.m * s.n,
                 call.scratch);
  }
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
  const float* const lhs = parts_of_complex(ordered(plan.lhs, call.operands[0], call.scratch),
                                            lhs_count, call.scratch);
  const float* const rhs = parts_of_complex(ordered(plan.rhs, call.operands[1], call.scratch),
                                            rhs_count, call.scratch);
  const auto count = static_cast<std::size_t>(s.m * s.n);
  auto* out = reinterpret_cast<float*>(call.results[0]);
  std::array<float*, 4> products;
  for (float*& product : products) product = call.scratch.take_array<float>(count);
  for (std::int64_t batch = 0; batch < plan.batch; ++batch, out += 2 * count) {
    for (std::size_t part = 0; part < products.size(); ++part) {
      const float* const left = lhs + (part / 2) * lhs_count + batch * s.m * s.k;
      const float* const right = rhs + (part % 2) * rhs_count + batch * s.k * s.n;
      multiply_f32(plan, form, blas, left, right, products[part], call.scratch);
    }
    for (std::size_t i = 0; i < count; ++i) {
      out[2 * i] = products[0][i] - products[3][i];
      out[2 * i + 1] = products[1][i] + products[2][i];
    }
  }
}

/// Plain loops for the dtypes that are not hot; integers wrap.
template <class T>
void run_plain(const DotPlan& plan, const KernelCall& call) {
  const GemmSizes& s = plan.sizes;
  const T* lhs = reinterpret_cast<const T*>(ordered(plan.lhs, call.operands[0], call.scratch));
  const T* rhs = reinterpret_cast<const T*>(ordered(plan.rhs, call.operands[1], call.scratch));
  T* out = reinterpret_cast<T*>(call.results[0]);
  std::fill(out, out + plan.batch * s.m * s.n, T{0});
  const MatrixView a = plan.lhs.view(nullptr), b = plan.rhs.view(nullptr);  // strides only
  for (std::int64_t batch = 0; batch < plan.batch; ++batch) {
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t k = 0; k < s.k; ++k) {
        const T x = lhs[i * a.row_stride + k * a.column_stride];
        const T* row = rhs + k * b.row_stride;
        for (std::int64_t j = 0; j < s.n; ++j) out[i * s.n + j] += x * row[j * b.column_stride];
      }
    }
    lhs += s.m * s.k;
    rhs += s.k * s.n;
    out += s.m * s.n;
  }
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
  DotPlan plan = plan_dot(site);
  if (plan.dtype == DType::f64) return plain_kernel<double>(std::move(plan));
  if (plan.dtype == DType::i32) return plain_kernel<std::uint32_t>(std::move(plan));
  if (plan.dtype == DType::u32) return plain_kernel<std::uint32_t>(std::move(plan));
  if (plan.dtype == DType::i64) return plain_kernel<std::uint64_t>(std::move(plan));
  if (!computes_in_f32(plan.dtype) && plan.dtype != DType::c64) return describe(site);
  const GemmForm form = form_of(plan);
  const Blas* blas = form == GemmForm::many ? system_blas() : nullptr;
  if (plan.dtype == DType::c64) {
    return [plan = std::move(plan), form, blas](const KernelCall& call) {
      run_c64(plan, form, blas, call);
    };
  }
  return [plan = std::move(plan), form, blas](const KernelCall& call) {
    run_f32(plan, form, blas, call);
  };
}

bool needs_many_rows(const KernelSite& site) {
  const DotPlan plan = plan_dot(site);
  return computes_in_f32(plan.dtype) && form_of(plan) == GemmForm::many;
}

std::optional<ProductByRows> product_by_rows(const KernelSite& site) {
  const DotPlan plan = plan_dot(site);
  const bool is_plain = plan.dtype == DType::f32 && plan.batch == 1 && !plan.lhs.packing &&
                        !plan.rhs.packing && !plan.rhs.is_transposed;
  const RowsRow* const row = rows_row(form_of(plan));
  if (!is_plain || plan.sizes.k > most_terms || row == nullptr) return std::nullopt;
  return ProductByRows{
      plan.sizes.m, plan.sizes.n, row->step,
      [row, sizes = plan.sizes, lhs_plan = plan.lhs](
          const float* lhs, const float* rhs, std::int64_t first, std::int64_t last, float* to) {
        MatrixView a = lhs_plan.view(lhs);
        a.data += first * a.row_stride;
        row->multiply({last - first, sizes.n, sizes.k}, a, rhs, to);
      }};
}

}  // namespace shard
