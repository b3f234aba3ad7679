// The reference's ops along one dim.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "exec/reference_index_space.h"
#include "exec/reference_rows.h"

namespace shard::reference {
namespace {

using Call = ReferenceCall;

/// Calls `visit(at)` for every line along `dim`; `at(i)` is the position of its element i.
template <class Visit>
void for_each_line(const Shape& shape, std::int64_t dim, Visit visit) {
  Shape others = shape;
  others[static_cast<std::size_t>(dim)] =
      std::min<std::int64_t>(1, others[static_cast<std::size_t>(dim)]);
  for_each_index(others, [&](const Index& first) {
    visit([&](std::int64_t i) {
      Index index = first;
      index[static_cast<std::size_t>(dim)] = i;
      return position(shape, index);
    });
  });
}

std::int64_t line_length(const Call& call) {
  return call.shape(0)[static_cast<std::size_t>(call.attributes.integer("dim"))];
}

/// Element i along the line, in running order.
std::int64_t running(const Call& call, std::int64_t i) {
  return call.attributes.integer("reverse") != 0 ? line_length(call) - 1 - i : i;
}

/// Every result element is `fold` of all elements so far.
template <class Fold>
void accumulate_lines(const Call& call, Fold fold) {
  for_each_line(call.shape(0), call.attributes.integer("dim"), [&](auto at) {
    std::vector<double> so_far;
    for (std::int64_t i = 0; i < line_length(call); ++i) {
      const std::size_t here = at(running(call, i));
      so_far.push_back(call.values(0)[here]);
      call.results[0].values[here] = fold(so_far);
    }
  });
}

double nan_or(const std::vector<double>& numbers, double x) {
  const bool has_nan =
      std::any_of(numbers.begin(), numbers.end(), [](double y) { return std::isnan(y); });
  return has_nan ? std::nan("") : x;
}

template <class Better>
void arg_extremum(const Call& call, Better better) {
  std::size_t next = 0;
  for_each_line(call.shape(0), call.attributes.integer("dim"), [&](auto at) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < line_length(call); ++i) {
      const double x = call.values(0)[at(i)], y = call.values(0)[at(best)];
      if (!std::isnan(y) && (std::isnan(x) || better(x, y))) best = i;
    }
    call.results[0].values[next++] = static_cast<double>(best);
  });
}

/// NaN is larger than everything.
bool is_less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

template <class F>
void reduce_truth(const Call& call, double start, F combine) {
  const Index& dims = call.attributes.integers("dims");
  std::vector<double>& out = call.results[0].values;
  std::fill(out.begin(), out.end(), start);
  for_each_index(call.shape(0), [&](const Index& index) {
    Index kept;
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
      if (!std::count(dims.begin(), dims.end(), static_cast<std::int64_t>(dim))) {
        kept.push_back(index[dim]);
      }
    }
    double& into = out[position(call.results[0].type.shape, kept)];
    into = combine(into, call.values(0)[position(call.shape(0), index)]);
  });
}

}  // namespace

void reduce_and(const Call& call) {
  reduce_truth(call, 1, [](double a, double b) { return a != 0 && b != 0 ? 1 : 0; });
}
void reduce_or(const Call& call) {
  reduce_truth(call, 0, [](double a, double b) { return a != 0 || b != 0 ? 1 : 0; });
}

void argmax(const Call& call) {
  arg_extremum(call, [](double x, double y) { return x > y; });
}
void argmin(const Call& call) {
  arg_extremum(call, [](double x, double y) { return x < y; });
}

void cumsum(const Call& call) {
  accumulate_lines(call, [](const std::vector<double>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
  });
}
void cumprod(const Call& call) {
  accumulate_lines(call, [](const std::vector<double>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 1.0, std::multiplies<double>());
  });
}
void cummax(const Call& call) {
  accumulate_lines(call, [](const std::vector<double>& numbers) {
    return nan_or(numbers, *std::max_element(numbers.begin(), numbers.end()));
  });
}
void cummin(const Call& call) {
  accumulate_lines(call, [](const std::vector<double>& numbers) {
    return nan_or(numbers, *std::min_element(numbers.begin(), numbers.end()));
  });
}
void cumlogsumexp(const Call& call) {
  accumulate_lines(call, [](const std::vector<double>& numbers) {
    const double top = *std::max_element(numbers.begin(), numbers.end());
    if (std::isinf(top)) return nan_or(numbers, top);
    double sum = 0;
    for (const double x : numbers) sum += std::exp(x - top);
    return nan_or(numbers, top + std::log(sum));
  });
}

void linear_recurrence(const Call& call) {
  for_each_line(call.shape(0), call.attributes.integer("dim"), [&](auto at) {
    double h = 0;
    for (std::int64_t i = 0; i < line_length(call); ++i) {
      const std::size_t here = at(running(call, i));
      h = (i == 0 ? 0 : call.values(0)[here] * h) + call.values(1)[here];
      call.results[0].values[here] = h;
    }
  });
}

void sort(const Call& call) {
  const auto keys = static_cast<std::size_t>(call.attributes.integer("keys"));
  for_each_line(call.shape(0), call.attributes.integer("dim"), [&](auto at) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(line_length(call)));
    std::iota(order.begin(), order.end(), 0);
    // The last key first: each stable sort keeps the order of the keys after it.
    for (std::size_t key = keys; key-- > 0;) {
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return is_less(call.values(key)[at(a)], call.values(key)[at(b)]);
      });
    }
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      for (std::int64_t to = 0; to < line_length(call); ++to) {
        call.results[i].values[at(to)] = call.values(i)[at(order[static_cast<std::size_t>(to)])];
      }
    }
  });
}

void top_k(const Call& call) {
  const auto k = call.attributes.integer("k");
  const std::int64_t dim = static_cast<std::int64_t>(call.shape(0).size()) - 1;
  const std::int64_t length = call.shape(0).back();
  std::size_t next = 0;
  for_each_line(call.shape(0), dim, [&](auto at) {
    std::vector<char> is_taken(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < k; ++i) {
      std::int64_t best = -1;
      for (std::int64_t j = 0; j < length; ++j) {
        if (is_taken[static_cast<std::size_t>(j)]) continue;
        if (best < 0) {
          best = j;
          continue;
        }
        const double x = call.values(0)[at(best)], y = call.values(0)[at(j)];
        const bool is_below_zero = x == 0 && y == 0 && std::signbit(x) && !std::signbit(y);
        if (is_less(x, y) || is_below_zero) best = j;
      }
      is_taken[static_cast<std::size_t>(best)] = 1;
      call.results[0].values[next] = call.values(0)[at(best)];
      call.results[1].values[next++] = static_cast<double>(best);
    }
  });
}

}  // namespace shard::reference
