#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/simd.h"
#include "ops/update_ops.h"

namespace shard {
namespace {

/// The scalars of one execution. `step` is the count operand (1 in the first step), 0 for ops
/// without one.
struct UpdateScalars {
  std::int32_t step = 0;
  double rate = 0;
};

/// An update on tiles.
using UpdateF32 = void (*)(const Attributes&, const UpdateScalars& scalars, const float* const* in,
                           float* const* out, std::size_t count);
using UpdateF64 = void (*)(const Attributes&, const UpdateScalars& scalars, const double* const* in,
                           double* const* out, std::size_t count);

struct UpdateRow {
  Op op;
  std::size_t arrays;  ///< operands that are arrays: the gradient is the last of them
  bool counts;         ///< the count follows them; then the rate, where it is a value
  UpdateF32 f32;
  UpdateF64 f64;
};

float number(const Attributes& attributes, const char* key) {
  return static_cast<float>(attributes.number(key));
}

double correction(double decay, std::int32_t step) {
  return 1.0 - std::pow(decay, static_cast<double>(step));
}

void adam_f32(const Attributes& a, const UpdateScalars& scalars, const float* const* in,
              float* const* out, std::size_t count) {
  AdamNumbers numbers;
  numbers.learning_rate = static_cast<float>(scalars.rate);
  numbers.b1 = number(a, "b1");
  numbers.b2 = number(a, "b2");
  numbers.rest_of_b1 = static_cast<float>(1.0 - a.number("b1"));
  numbers.rest_of_b2 = static_cast<float>(1.0 - a.number("b2"));
  numbers.eps = number(a, "eps");
  numbers.eps_root = number(a, "eps_root");
  numbers.weight_decay = number(a, "weight_decay");
  numbers.mu_correction = static_cast<float>(correction(a.number("b1"), scalars.step));
  numbers.inverse_nu_correction =
      static_cast<float>(1.0 / correction(a.number("b2"), scalars.step));
  update_loops().adam({in[0], in[1], in[2], in[3], out[0], out[1], out[2]}, numbers, count);
}

void adam_f64(const Attributes& a, const UpdateScalars& scalars, const double* const* in,
              double* const* out, std::size_t count) {
  const double b1 = a.number("b1"), b2 = a.number("b2");
  for (std::size_t i = 0; i < count; ++i) {
    const double p = in[0][i], g = in[3][i];
    const double mu = b1 * in[1][i] + (1.0 - b1) * g;
    const double nu = b2 * in[2][i] + (1.0 - b2) * g * g;
    const double m = mu / correction(b1, scalars.step), v = nu / correction(b2, scalars.step);
    const double update = m / (std::sqrt(v + a.number("eps_root")) + a.number("eps"));
    out[0][i] = p - scalars.rate * (update + a.number("weight_decay") * p);
    out[1][i] = mu;
    out[2][i] = nu;
  }
}

void sgd_f32(const Attributes&, const UpdateScalars& scalars, const float* const* in,
             float* const* out, std::size_t count) {
  update_loops().sgd(in[0], in[1], out[0], static_cast<float>(scalars.rate), count);
}

void sgd_f64(const Attributes&, const UpdateScalars& scalars, const double* const* in,
             double* const* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[0][i] = in[0][i] - scalars.rate * in[1][i];
}

void momentum_f32(const Attributes& a, const UpdateScalars& scalars, const float* const* in,
                  float* const* out, std::size_t count) {
  update_loops().momentum(
      {in[0], in[1], in[2], out[0], out[1]},
      {static_cast<float>(scalars.rate), number(a, "decay"), a.integer("nesterov") != 0}, count);
}

void momentum_f64(const Attributes& a, const UpdateScalars& scalars, const double* const* in,
                  double* const* out, std::size_t count) {
  const double rate = scalars.rate, decay = a.number("decay");
  const bool nesterov = a.integer("nesterov") != 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double g = in[2][i], trace = g + decay * in[1][i];
    out[0][i] = in[0][i] - rate * (nesterov ? g + decay * trace : trace);
    out[1][i] = trace;
  }
}

constexpr std::array<UpdateRow, 3> update_rows = {{
    {Op::sgd_update, 2, false, sgd_f32, sgd_f64},
    {Op::momentum_update, 3, false, momentum_f32, momentum_f64},
    {Op::adam_update, 4, true, adam_f32, adam_f64},
}};

struct UpdatePlan {
  const UpdateRow* row = nullptr;
  KernelSite site;
  std::size_t count = 0;
};

constexpr std::size_t tile = 1024;
constexpr std::size_t most_arrays = 4;

template <class T>
constexpr DType wide_dtype = std::is_same_v<T, float> ? DType::f32 : DType::f64;

void read(DType dtype, const std::byte* from, float* to, std::size_t count) {
  widen_floats(dtype, from, to, count);
}
void read(DType dtype, const std::byte* from, double* to, std::size_t count) {
  to_doubles(dtype, from, to, count);
}
void write(const float* from, DType dtype, std::byte* to, std::size_t count) {
  round_floats(from, dtype, to, count);
}
void write(const double* from, DType dtype, std::byte* to, std::size_t count) {
  from_doubles(from, dtype, to, count);
}

/// Runs `update` on tiles; arrays that already hold T are used where they are.
template <class T, class Update>
void run_tiles(const UpdatePlan& plan, Update update, const UpdateScalars& scalars,
               const KernelCall& call) {
  std::array<std::array<T, tile>, 2 * most_arrays> space;
  std::array<const T*, most_arrays> in = {};
  std::array<T*, most_arrays> out = {};
  const auto at = [](const TensorType& type, std::size_t start) {
    return start * static_cast<std::size_t>(info(type.dtype).bytes);
  };
  for (std::size_t start = 0; start < plan.count; start += tile) {
    const std::size_t count = std::min(tile, plan.count - start);
    for (std::size_t i = 0; i < plan.row->arrays; ++i) {
      const TensorType& type = plan.site.operands[i];
      const std::byte* data = call.operands[i] + at(type, start);
      in[i] = reinterpret_cast<const T*>(data);
      if (type.dtype == wide_dtype<T>) continue;
      read(type.dtype, data, space[i].data(), count);
      in[i] = space[i].data();
    }
    for (std::size_t i = 0; i < plan.site.results.size(); ++i) {
      const TensorType& type = plan.site.results[i];
      const bool is_direct = type.dtype == wide_dtype<T>;
      out[i] = is_direct ? reinterpret_cast<T*>(call.results[i] + at(type, start))
                         : space[most_arrays + i].data();
    }
    update(plan.site.attributes, scalars, in.data(), out.data(), count);
    for (std::size_t i = 0; i < plan.site.results.size(); ++i) {
      const TensorType& type = plan.site.results[i];
      if (type.dtype == wide_dtype<T>) continue;
      write(out[i], type.dtype, call.results[i] + at(type, start), count);
    }
  }
}

bool all_of_dtype(const UpdatePlan& plan, bool (*test)(DType)) {
  return std::all_of(plan.site.operands.begin(),
                     plan.site.operands.begin() + static_cast<std::ptrdiff_t>(plan.row->arrays),
                     [&](const TensorType& type) { return test(type.dtype); });
}

UpdateScalars scalars_of(const UpdatePlan& plan, const KernelCall& call) {
  UpdateScalars scalars{0, plan.site.attributes.number("learning_rate")};
  std::size_t next = plan.row->arrays;
  if (plan.row->counts) {
    scalars.step = *reinterpret_cast<const std::int32_t*>(call.operands[next++]);
  }
  if (call.operands.size() > next) {
    scalars.rate *= double{*reinterpret_cast<const float*>(call.operands[next])};
  }
  return scalars;
}

/// All float32: one pass over whole arrays.
Kernel direct_kernel(UpdatePlan plan) {
  return [plan = std::move(plan)](const KernelCall& call) {
    std::array<const float*, most_arrays> in = {};
    std::array<float*, most_arrays> out = {};
    for (std::size_t i = 0; i < plan.row->arrays; ++i) {
      in[i] = reinterpret_cast<const float*>(call.operands[i]);
    }
    for (std::size_t i = 0; i < call.results.size(); ++i) {
      out[i] = reinterpret_cast<float*>(call.results[i]);
    }
    plan.row->f32(plan.site.attributes, scalars_of(plan, call), in.data(), out.data(), plan.count);
  };
}

}  // namespace

KernelResult make_update(const KernelSite& site) {
  const auto row = std::find_if(update_rows.begin(), update_rows.end(),
                                [&](const UpdateRow& r) { return r.op == site.op; });
  SHARD_CHECK(row != update_rows.end(), "every update has a row");
  UpdatePlan plan{&*row, site, static_cast<std::size_t>(element_count(site.operands[0].shape))};
  if (all_of_dtype(plan, [](DType dtype) { return dtype == DType::f32; })) {
    return direct_kernel(std::move(plan));
  }
  if (all_of_dtype(plan, computes_in_f32)) {
    return [plan = std::move(plan)](const KernelCall& call) {
      run_tiles<float>(plan, plan.row->f32, scalars_of(plan, call), call);
    };
  }
  if (!all_of_dtype(plan, [](DType dtype) { return info(dtype).is_float; })) return describe(site);
  return [plan = std::move(plan)](const KernelCall& call) {
    run_tiles<double>(plan, plan.row->f64, scalars_of(plan, call), call);
  };
}

}  // namespace shard
