// Kernels that run along one dim: cumulative ops, positions of extrema, sort, top_k. Numbers are
// held as doubles (integers as 64 bits) and rounded once.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/whole_numbers.h"

namespace shard {
namespace {

/// An array as lines along one dim: element i of line l is at start(l) + i * stride.
struct Lines {
  std::int64_t count = 1;   ///< of lines
  std::int64_t length = 1;  ///< of a line
  std::int64_t stride = 1;

  Lines(const Shape& shape, std::int64_t dim) {
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d) {
      const std::int64_t size = shape[static_cast<std::size_t>(d)];
      if (d == dim) {
        length = size;
      } else {
        count *= size;
        if (d > dim) stride *= size;
      }
    }
  }
  std::int64_t start(std::int64_t line) const {
    return line / stride * stride * length + line % stride;
  }
  std::size_t elements() const { return static_cast<std::size_t>(count * length); }
};

void read_line_numbers(DType dtype, const std::byte* from, double* to, std::size_t count) {
  to_doubles(dtype, from, to, count);
}
void read_line_numbers(DType dtype, const std::byte* from, std::int64_t* to, std::size_t count) {
  to_integers(dtype, from, to, count);
}
void write_line_numbers(DType dtype, const double* from, std::byte* to, std::size_t count) {
  from_doubles(from, dtype, to, count);
}
void write_line_numbers(DType dtype, const std::int64_t* from, std::byte* to, std::size_t count) {
  from_integers(from, dtype, to, count);
}

template <class Wide>
const Wide* wide_operand(const KernelCall& call, std::size_t operand, DType dtype,
                         std::size_t count) {
  Wide* numbers = call.scratch.take_array<Wide>(count);
  read_line_numbers(dtype, call.operands[operand], numbers, count);
  return numbers;
}

// What a running value becomes with the next element.

double sum_so_far(double a, double x) { return a + x; }
double product_so_far(double a, double x) { return a * x; }
double largest_so_far(double a, double x) { return std::isnan(x) || a < x ? x : a; }
double smallest_so_far(double a, double x) { return std::isnan(x) || x < a ? x : a; }
double logsumexp_so_far(double a, double x) {
  const double top = std::max(a, x);
  if (std::isnan(a) || std::isnan(x)) return std::nan("");
  if (std::isinf(top)) return top;
  return top + std::log1p(std::exp(std::min(a, x) - top));
}
std::int64_t whole_sum(std::int64_t a, std::int64_t x) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(x));
}
std::int64_t whole_product(std::int64_t a, std::int64_t x) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(x));
}
std::int64_t whole_largest(std::int64_t a, std::int64_t x) { return std::max(a, x); }
std::int64_t whole_smallest(std::int64_t a, std::int64_t x) { return std::min(a, x); }

struct CumulativeRow {
  Op op;
  double (*real)(double, double);
  std::int64_t (*whole)(std::int64_t, std::int64_t);  ///< nullptr: not for integers
};
constexpr std::array<CumulativeRow, 5> cumulative_rows = {{
    {Op::cumsum, sum_so_far, whole_sum},
    {Op::cumprod, product_so_far, whole_product},
    {Op::cummax, largest_so_far, whole_largest},
    {Op::cummin, smallest_so_far, whole_smallest},
    {Op::cumlogsumexp, logsumexp_so_far, nullptr},
}};

/// Calls `step(position, position before)` along every line, in running order; before is -1 at the
/// first.
template <class Step>
void run_lines(const Lines& lines, bool is_reverse, Step step) {
  for (std::int64_t line = 0; line < lines.count; ++line) {
    std::int64_t before = -1;
    for (std::int64_t i = 0; i < lines.length; ++i) {
      const std::int64_t at = is_reverse ? lines.length - 1 - i : i;
      const std::int64_t position = lines.start(line) + at * lines.stride;
      step(static_cast<std::size_t>(position), before);
      before = position;
    }
  }
}

template <class Wide>
Kernel cumulative_kernel(const KernelSite& site, Wide (*combine)(Wide, Wide)) {
  const Lines lines(site.operands[0].shape, site.attributes.integer("dim"));
  const bool is_reverse = site.attributes.integer("reverse") != 0;
  const DType dtype = site.operands[0].dtype;
  return [=](const KernelCall& call) {
    const std::size_t count = lines.elements();
    const Wide* in = wide_operand<Wide>(call, 0, dtype, count);
    Wide* out = call.scratch.take_array<Wide>(count);
    run_lines(lines, is_reverse, [&](std::size_t at, std::int64_t before) {
      out[at] = before < 0 ? in[at] : combine(out[static_cast<std::size_t>(before)], in[at]);
    });
    write_line_numbers(dtype, out, call.results[0], count);
  };
}

/// Position of the first extremum of a line; NaN is the most extreme of all.
std::int64_t extremum_of(const double* line, const Lines& lines, bool wants_largest) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < lines.length; ++i) {
    const double x = line[i * lines.stride], y = line[best * lines.stride];
    if (std::isnan(y)) break;
    if (std::isnan(x) || (wants_largest ? x > y : x < y)) best = i;
  }
  return best;
}

/// The order in which numbers are sorted: NaN last.
int compare_real(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return int{std::isnan(a)} - int{std::isnan(b)};
  return int{a > b} - int{a < b};
}

/// The order of top_k, in which -0 is below 0.
int compare_total(double a, double b) {
  const int order = compare_real(a, b);
  if (order != 0 || std::isnan(a)) return order;
  return int{std::signbit(b)} - int{std::signbit(a)};
}

/// The keys of all lines, widened: doubles are exact for all dtypes but large 64-bit integers.
struct SortKeys {
  std::vector<const double*> real;

  bool comes_before(std::size_t a, std::size_t b) const {
    for (const double* key : real) {
      const int order = compare_real(key[a], key[b]);
      if (order != 0) return order < 0;
    }
    return false;
  }
};

void copy_elements(const std::byte* from, std::byte* to, std::size_t width,
                   const std::vector<std::size_t>& order, const Lines& lines, std::int64_t start) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto at = static_cast<std::size_t>(start + static_cast<std::int64_t>(i) * lines.stride);
    std::copy_n(from + order[i] * width, width, to + at * width);
  }
}

/// Positions of the elements of one line.
std::vector<std::size_t> positions_of(const Lines& lines, std::int64_t start) {
  std::vector<std::size_t> order(static_cast<std::size_t>(lines.length));
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::size_t>(start + static_cast<std::int64_t>(i) * lines.stride);
  }
  return order;
}

}  // namespace

KernelResult make_cumulative(const KernelSite& site) {
  const auto row = std::find_if(cumulative_rows.begin(), cumulative_rows.end(),
                                [&](const CumulativeRow& r) { return r.op == site.op; });
  SHARD_CHECK(row != cumulative_rows.end(), "every cumulative op has a row");
  if (has_complex(site)) return make_cumulative(in_pairs(site));
  if (info(site.operands[0].dtype).is_float) return cumulative_kernel<double>(site, row->real);
  if (row->whole == nullptr) return describe(site);
  return cumulative_kernel<std::int64_t>(site, row->whole);
}

KernelResult make_linear_recurrence(const KernelSite& site) {
  const Lines lines(site.operands[0].shape, site.attributes.integer("dim"));
  const bool is_reverse = site.attributes.integer("reverse") != 0;
  const DType dtype = site.operands[0].dtype;
  return [=](const KernelCall& call) {
    const std::size_t count = lines.elements();
    const double* a = wide_operand<double>(call, 0, dtype, count);
    const double* b = wide_operand<double>(call, 1, dtype, count);
    double* h = call.scratch.take_array<double>(count);
    run_lines(lines, is_reverse, [&](std::size_t at, std::int64_t before) {
      h[at] = before < 0 ? b[at] : a[at] * h[static_cast<std::size_t>(before)] + b[at];
    });
    from_doubles(h, dtype, call.results[0], count);
  };
}

KernelResult make_arg_extremum(const KernelSite& site) {
  const Lines lines(site.operands[0].shape, site.attributes.integer("dim"));
  const bool wants_largest = site.op == Op::argmax;
  const DType dtype = site.operands[0].dtype;
  return [=](const KernelCall& call) {
    const double* in = wide_operand<double>(call, 0, dtype, lines.elements());
    std::int32_t* out = reinterpret_cast<std::int32_t*>(call.results[0]);
    for (std::int64_t line = 0; line < lines.count; ++line) {
      out[line] =
          static_cast<std::int32_t>(extremum_of(in + lines.start(line), lines, wants_largest));
    }
  };
}

KernelResult make_sort(const KernelSite& site) {
  const Lines lines(site.operands[0].shape, site.attributes.integer("dim"));
  const auto keys = static_cast<std::size_t>(site.attributes.integer("keys"));
  std::vector<DType> dtypes;
  for (const TensorType& type : site.operands) dtypes.push_back(type.dtype);
  return [=](const KernelCall& call) {
    SortKeys sort_keys;
    for (std::size_t i = 0; i < keys; ++i) {
      sort_keys.real.push_back(wide_operand<double>(call, i, dtypes[i], lines.elements()));
    }
    for (std::int64_t line = 0; line < lines.count; ++line) {
      std::vector<std::size_t> order = positions_of(lines, lines.start(line));
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return sort_keys.comes_before(a, b); });
      for (std::size_t i = 0; i < dtypes.size(); ++i) {
        copy_elements(call.operands[i], call.results[i],
                      static_cast<std::size_t>(info(dtypes[i]).bytes), order, lines,
                      lines.start(line));
      }
    }
  };
}

KernelResult make_top_k(const KernelSite& site) {
  const std::int64_t last = site.operands[0].rank() - 1;
  const Lines lines(site.operands[0].shape, last);
  const auto k = static_cast<std::size_t>(site.attributes.integer("k"));
  const DType dtype = site.operands[0].dtype;
  const auto width = static_cast<std::size_t>(info(dtype).bytes);
  return [=](const KernelCall& call) {
    const double* in = wide_operand<double>(call, 0, dtype, lines.elements());
    std::int32_t* indices = reinterpret_cast<std::int32_t*>(call.results[1]);
    for (std::int64_t line = 0; line < lines.count; ++line) {
      const std::int64_t start = lines.start(line);
      std::vector<std::size_t> order = positions_of(lines, start);
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return compare_total(in[a], in[b]) > 0;
      });
      for (std::size_t i = 0; i < k; ++i) {
        const std::size_t to = static_cast<std::size_t>(line) * k + i;
        std::copy_n(call.operands[0] + order[i] * width, width, call.results[0] + to * width);
        indices[to] = static_cast<std::int32_t>(static_cast<std::int64_t>(order[i]) - start);
      }
    }
  };
}

}  // namespace shard
