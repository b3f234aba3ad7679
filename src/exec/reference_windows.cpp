// The reference's convolutions, windows and random bits: every output element from its definition.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "exec/element.h"
#include "exec/reference_index_space.h"
#include "exec/reference_rows.h"
#include "ops/window_dims.h"

namespace shard::reference {
namespace {

using Call = ReferenceCall;

/// Where element `k` of window `o` lies along one dim; nothing in the padding or in a gap.
bool locate(const Index& o, const Index& k, const Windows& windows, std::size_t dim,
            std::int64_t size, std::int64_t& element) {
  const std::int64_t position =
      o[dim] * windows.strides[dim] + k[dim] * windows.dilation[dim] - windows.low[dim];
  element = position / windows.base_dilation[dim];
  return position >= 0 && position % windows.base_dilation[dim] == 0 && element < size;
}

template <class Fold>
void reduce_window(const Call& call, double start, Fold fold) {
  const Windows windows = reduction_windows(call.attributes);
  const Shape& shape = call.results[0].type.shape;
  for_each_index(shape, [&](const Index& o) {
    double all = start;
    for_each_index(windows.sizes, [&](const Index& k) {
      Index from(o.size());
      bool is_there = true;
      for (std::size_t dim = 0; dim < o.size(); ++dim) {
        is_there = locate(o, k, windows, dim, call.shape(0)[dim], from[dim]) && is_there;
      }
      if (is_there) all = fold(all, call.values(0)[position(call.shape(0), from)]);
    });
    call.results[0].values[position(shape, o)] = all;
  });
}

/// Of an integer dtype the number that is below or above all; of floats an infinity.
double beyond_all(const Call& call, bool is_lowest) {
  const DTypeInfo& dtype = info(call.results[0].type.dtype);
  if (dtype.is_float) return is_lowest ? -HUGE_VAL : HUGE_VAL;
  const double range = std::ldexp(1, 8 * dtype.bytes);
  if (!dtype.is_signed) return is_lowest ? 0 : range - 1;
  return is_lowest ? -range / 2 : range / 2 - 1;
}

std::uint32_t rotated(std::uint32_t x, unsigned by) { return (x << by) | (x >> (32 - by)); }

/// Threefry-2x32 with 20 rounds, written out in rounds of four as the paper does.
std::uint32_t random_word(std::uint32_t seed, std::uint32_t stream, std::uint64_t counter) {
  const std::uint32_t third = 0x1BD11BDAU ^ seed ^ stream;
  const std::uint32_t schedule[6] = {seed, stream, third, seed, stream, third};
  const std::array<std::array<unsigned, 4>, 2> turns = {{{13, 15, 26, 6}, {17, 29, 16, 24}}};
  std::uint32_t a = static_cast<std::uint32_t>(counter >> 32U) + seed;
  std::uint32_t b = static_cast<std::uint32_t>(counter & 0xffffffffU) + stream;
  for (std::size_t group = 0; group < 5; ++group) {
    for (const unsigned turn : turns[group % 2]) {
      a += b;
      b = rotated(b, turn) ^ a;
    }
    a += schedule[(group + 1) % 3];
    b += schedule[(group + 2) % 3] + static_cast<std::uint32_t>(group + 1);
  }
  return a;
}

}  // namespace

void convolution(const Call& call) {
  const ConvolutionDims dims = convolution_dims(call.attributes);
  const Windows windows = convolution_windows(call.attributes, call.shape(1));
  const Shape& shape = call.results[0].type.shape;
  const auto at = [](const Index& index, std::int64_t dim) {
    return index[static_cast<std::size_t>(dim)];
  };
  const std::int64_t features = at(shape, dims.out[1]), channels = at(call.shape(1), dims.rhs[1]);
  for_each_index(shape, [&](const Index& out) {
    const std::int64_t f = at(out, dims.out[1]);
    Index o;
    for (std::size_t i = 2; i < dims.out.size(); ++i) o.push_back(at(out, dims.out[i]));
    Index lhs(out.size()), rhs(out.size());
    lhs[static_cast<std::size_t>(dims.lhs[0])] =
        at(out, dims.out[0]) + f / (features / dims.batch_groups) * at(shape, dims.out[0]);
    rhs[static_cast<std::size_t>(dims.rhs[0])] = f;
    double sum = 0;
    for_each_index(windows.sizes, [&](const Index& k) {
      bool is_there = true;
      for (std::size_t i = 0; i < k.size(); ++i) {
        const auto spatial = static_cast<std::size_t>(dims.lhs[i + 2]);
        is_there = locate(o, k, windows, i, call.shape(0)[spatial], lhs[spatial]) && is_there;
        rhs[static_cast<std::size_t>(dims.rhs[i + 2])] = k[i];
      }
      for (std::int64_t c = 0; is_there && c < channels; ++c) {
        lhs[static_cast<std::size_t>(dims.lhs[1])] =
            f / (features / dims.feature_groups) * channels + c;
        rhs[static_cast<std::size_t>(dims.rhs[1])] = c;
        sum += call.values(0)[position(call.shape(0), lhs)] *
               call.values(1)[position(call.shape(1), rhs)];
      }
    });
    call.results[0].values[position(shape, out)] = sum;
  });
}

void reduce_window_sum(const Call& call) {
  reduce_window(call, 0, [](double a, double b) { return a + b; });
}
void reduce_window_max(const Call& call) {
  reduce_window(call, beyond_all(call, true),
                [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
}
void reduce_window_min(const Call& call) {
  reduce_window(call, beyond_all(call, false),
                [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
}

void select_and_scatter_add(const Call& call) {
  const Windows windows = reduction_windows(call.attributes);
  const double sign = call.attributes.integer("largest") != 0 ? 1 : -1;
  for_each_index(call.shape(1), [&](const Index& o) {
    double best = -HUGE_VAL;
    std::size_t chosen = call.values(0).size();
    for_each_index(windows.sizes, [&](const Index& k) {
      Index from(o.size());
      bool is_there = true;
      for (std::size_t dim = 0; dim < o.size(); ++dim) {
        is_there = locate(o, k, windows, dim, call.shape(0)[dim], from[dim]) && is_there;
      }
      if (!is_there) return;
      const std::size_t here = position(call.shape(0), from);
      const bool is_first = chosen == call.values(0).size();
      if (is_first || sign * call.values(0)[here] > best) {
        best = sign * call.values(0)[here];
        chosen = here;
      }
    });
    if (chosen < call.values(0).size()) {
      call.results[0].values[chosen] += call.values(1)[position(call.shape(1), o)];
    }
  });
}

void optimization_barrier(const Call& call) { call.results[0].values = call.values(0); }

void reduce_precision(const Call& call) {
  // By the distance of neighbours at the number's size.
  const auto exponent_bits = static_cast<int>(call.attributes.integer("exponent_bits"));
  const auto mantissa_bits = static_cast<int>(call.attributes.integer("mantissa_bits"));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  std::vector<double>& out = call.results[0].values;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double x = call.values(0)[i];
    out[i] = x;
    if (x == 0 || !std::isfinite(x)) continue;
    const double step = std::exp2(std::floor(std::log2(std::fabs(x))) - mantissa_bits);
    out[i] = std::nearbyint(x / step) * step;
    if (std::fabs(out[i]) >= std::exp2(bias + 1)) out[i] = std::copysign(HUGE_VAL, x);
    if (std::fabs(out[i]) < std::exp2(1 - bias)) out[i] = std::copysign(0, x);
  }
}

void bitcast(const Call& call) {
  const TensorType &from = call.operands[0]->type, &to = call.results[0].type;
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(from).count()));
  from_doubles(call.values(0).data(), from.dtype, bytes.data(), call.values(0).size());
  to_doubles(to.dtype, bytes.data(), call.results[0].values.data(), call.values(0).size());
}

void dropout(const Call& call) {
  const auto seed = static_cast<std::uint32_t>(static_cast<std::int64_t>(call.values(1)[0]));
  const auto stream = static_cast<std::uint32_t>(call.attributes.integer("stream"));
  const Shape& counts = call.attributes.integers("counts");
  const double rate = call.attributes.number("rate");
  const Shape& shape = call.shape(0);
  for_each_index(shape, [&](const Index& index) {
    Index counted = index;  // along a dim of count 1 all elements are one
    for (std::size_t dim = 0; dim < counts.size(); ++dim) {
      if (counts[dim] == 1) counted[dim] = 0;
    }
    const double chance = std::ldexp(random_word(seed, stream, position(counts, counted)), -32);
    const std::size_t at = position(shape, index);
    call.results[0].values[at] = chance < rate ? 0 : call.values(0)[at] / (1 - rate);
  });
}

void random_bits(const Call& call) {
  const auto seed = static_cast<std::uint32_t>(static_cast<std::int64_t>(call.values(0)[0]));
  const auto stream = static_cast<std::uint32_t>(call.attributes.integer("stream"));
  const Shape& shape = call.results[0].type.shape;
  for_each_index(shape, [&](const Index& index) {
    const std::size_t number = position(call.attributes.integers("counts"), index);
    call.results[0].values[position(shape, index)] =
        static_cast<double>(random_word(seed, stream, number));
  });
}

}  // namespace shard::reference
