#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/extrema.h"
#include "exec/kernel.h"
#include "exec/simd.h"

namespace shard {
namespace {

/// Neighbouring dims that are all kept or all reduced, as one.
struct Group {
  std::int64_t size = 1;
  bool is_reduced = false;
  std::int64_t out_stride = 0;  ///< 0 when reduced
};

struct ReductionPlan {
  DType dtype = DType::f32;
  std::vector<Group> groups;  ///< outermost first; kept and reduced take turns
  std::size_t in_count = 1;
  std::size_t out_count = 1;
};

ReductionPlan plan_reduction(const KernelSite& site) {
  const std::vector<std::int64_t>& dims = site.attributes.integers("dims");
  ReductionPlan plan;
  plan.dtype = site.operands[0].dtype;
  const Shape& shape = site.operands[0].shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_reduced =
        std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(i)) != dims.end();
    plan.in_count *= static_cast<std::size_t>(shape[i]);
    if (shape[i] == 1) continue;
    if (plan.groups.empty() || plan.groups.back().is_reduced != is_reduced) {
      plan.groups.push_back({1, is_reduced, 0});
    }
    plan.groups.back().size *= shape[i];
  }
  if (plan.groups.empty()) plan.groups.push_back({1, true, 0});
  for (std::size_t i = plan.groups.size(); i-- > 0;) {
    if (plan.groups[i].is_reduced) continue;
    plan.groups[i].out_stride = static_cast<std::int64_t>(plan.out_count);
    plan.out_count *= static_cast<std::size_t>(plan.groups[i].size);
  }
  return plan;
}

template <class T>
struct Folding {
  T start;
  void (*fold)(const T* x, T* accumulator, std::size_t count);
  T (*reduce)(const T* x, std::size_t count);
};

/// `out` starts at the neutral element; runs of the innermost group are folded in, in order.
template <class T>
void run_groups(const ReductionPlan& plan, const Folding<T>& folding, const T* in, T* out) {
  std::fill(out, out + plan.out_count, folding.start);
  const Group inner = plan.groups.back();
  const std::size_t outer = plan.groups.size() - 1;
  std::vector<std::int64_t> index(outer, 0);
  std::int64_t at = 0;
  for (std::size_t done = 0; done < plan.in_count; done += static_cast<std::size_t>(inner.size)) {
    if (inner.is_reduced) {
      const T run = folding.reduce(in + done, static_cast<std::size_t>(inner.size));
      folding.fold(&run, out + at, 1);
    } else {
      folding.fold(in + done, out + at, static_cast<std::size_t>(inner.size));
    }
    for (std::size_t d = outer; d-- > 0;) {
      at += plan.groups[d].out_stride;
      if (++index[d] < plan.groups[d].size) break;
      at -= plan.groups[d].size * plan.groups[d].out_stride;
      index[d] = 0;
    }
  }
}

template <class T, class Combine>
void plain_fold(const T* x, T* accumulator, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) accumulator[i] = Combine::of(accumulator[i], x[i]);
}

template <class T, class Combine>
T plain_reduce(const T* x, std::size_t count) {
  T all = x[0];
  for (std::size_t i = 1; i < count; ++i) all = Combine::of(all, x[i]);
  return all;
}

/// Signed integers wrap: they are combined as unsigned ones.
struct Sum {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return a + b;
    }
  }
};
struct Product {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    } else {
      return a * b;
    }
  }
};
struct Largest {
  template <class T>
  static T of(T a, T b) {
    return larger_of(a, b);
  }
};
struct Smallest {
  template <class T>
  static T of(T a, T b) {
    return smaller_of(a, b);
  }
};

template <class T, class Combine>
Folding<T> plain(T start) {
  return {start, plain_fold<T, Combine>, plain_reduce<T, Combine>};
}

template <class T>
constexpr T lowest() {
  return std::is_integral_v<T> ? std::numeric_limits<T>::lowest()
                               : -std::numeric_limits<T>::infinity();
}
template <class T>
constexpr T highest() {
  return std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();
}

struct ReductionRow {
  Op op;
  FoldLoop ReductionLoops::*fold;
  ReduceLoop ReductionLoops::*reduce;
  float start;
  Folding<double> f64;
  Folding<std::int32_t> i32;
  Folding<std::int64_t> i64;
  Folding<std::uint32_t> u32;
  Folding<std::complex<float>> c64 = {};  ///< not for what compares
};

template <class Combine>
ReductionRow sum_like(Op op, FoldLoop ReductionLoops::*fold, ReduceLoop ReductionLoops::*reduce,
                      int start) {
  return {op,
          fold,
          reduce,
          static_cast<float>(start),
          plain<double, Combine>(start),
          plain<std::int32_t, Combine>(start),
          plain<std::int64_t, Combine>(start),
          plain<std::uint32_t, Combine>(static_cast<std::uint32_t>(start)),
          plain<std::complex<float>, Combine>(static_cast<float>(start))};
}

const std::array<ReductionRow, 4>& rows() {
  using L = ReductionLoops;
  static const std::array<ReductionRow, 4> table = {{
      sum_like<Sum>(Op::reduce_sum, &L::fold_sum, &L::reduce_sum, 0),
      {Op::reduce_max, &L::fold_max, &L::reduce_max, lowest<float>(),
       plain<double, Largest>(lowest<double>()),
       plain<std::int32_t, Largest>(lowest<std::int32_t>()),
       plain<std::int64_t, Largest>(lowest<std::int64_t>()),
       plain<std::uint32_t, Largest>(lowest<std::uint32_t>())},
      {Op::reduce_min, &L::fold_min, &L::reduce_min, highest<float>(),
       plain<double, Smallest>(highest<double>()),
       plain<std::int32_t, Smallest>(highest<std::int32_t>()),
       plain<std::int64_t, Smallest>(highest<std::int64_t>()),
       plain<std::uint32_t, Smallest>(highest<std::uint32_t>())},
      sum_like<Product>(Op::reduce_prod, &L::fold_prod, &L::reduce_prod, 1),
  }};
  return table;
}

template <class T>
Kernel plain_kernel(ReductionPlan plan, Folding<T> folding) {
  return [plan = std::move(plan), folding](const KernelCall& call) {
    run_groups(plan, folding, reinterpret_cast<const T*>(call.operands[0]),
               reinterpret_cast<T*>(call.results[0]));
  };
}

Kernel f32_kernel(ReductionPlan plan, Folding<float> folding) {
  return [plan = std::move(plan), folding](const KernelCall& call) {
    if (plan.dtype == DType::f32) {
      run_groups(plan, folding, reinterpret_cast<const float*>(call.operands[0]),
                 reinterpret_cast<float*>(call.results[0]));
      return;
    }
    float* in = call.scratch.take_array<float>(plan.in_count);
    float* out = call.scratch.take_array<float>(plan.out_count);
    widen_floats(plan.dtype, call.operands[0], in, plan.in_count);
    run_groups(plan, folding, static_cast<const float*>(in), out);
    round_floats(out, plan.dtype, call.results[0], plan.out_count);
  };
}

}  // namespace

KernelResult make_reduction(const KernelSite& site) {
  const auto row = std::find_if(rows().begin(), rows().end(),
                                [&](const ReductionRow& r) { return r.op == site.op; });
  SHARD_CHECK(row != rows().end(), "every reduction has a row");
  ReductionPlan plan = plan_reduction(site);
  if (computes_in_f32(plan.dtype)) {
    const ReductionLoops& loops = reduction_loops();
    return f32_kernel(std::move(plan), {row->start, loops.*row->fold, loops.*row->reduce});
  }
  if (plan.dtype == DType::f64) return plain_kernel(std::move(plan), row->f64);
  if (plan.dtype == DType::i32) return plain_kernel(std::move(plan), row->i32);
  if (plan.dtype == DType::i64) return plain_kernel(std::move(plan), row->i64);
  if (plan.dtype == DType::u32) return plain_kernel(std::move(plan), row->u32);
  if (plan.dtype == DType::c64 && row->c64.fold != nullptr) {
    return plain_kernel(std::move(plan), row->c64);
  }
  return describe(site);
}

KernelResult make_truth_reduction(const KernelSite& site) {
  // A truth value is a byte of 0 or 1: `and` is the smallest, `or` the largest.
  const Folding<std::uint8_t> folding = site.op == Op::reduce_and ? plain<std::uint8_t, Smallest>(1)
                                                                  : plain<std::uint8_t, Largest>(0);
  return plain_kernel(plan_reduction(site), folding);
}

}  // namespace shard
