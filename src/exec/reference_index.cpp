// The reference's gather and scatters, as XLA's operation semantics say them: for every element of
// the array of slices the element of the array that it goes with.

#include <algorithm>
#include <cmath>
#include <optional>

#include "exec/reference_index_space.h"
#include "exec/reference_rows.h"
#include "ops/index_dims.h"

namespace shard::reference {
namespace {

using Call = ReferenceCall;

/// The element of the array for element `at` of the slices; nothing where there is no such slice.
std::optional<Index> partner(const Call& call, const IndexDims& dims, const Index& sizes,
                             const Index& at) {
  const Shape &array = call.shape(0), &indices = call.shape(1);
  Index index(indices.size(), 0);
  std::size_t next = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (static_cast<std::int64_t>(d) == dims.vector) continue;
    while (std::count(dims.window.begin(), dims.window.end(), static_cast<std::int64_t>(next))) {
      ++next;
    }
    index[d] = at[next++];
  }
  Index element(array.size(), 0);
  for (std::size_t i = 0; i < dims.start.size(); ++i) {
    if (dims.vector < static_cast<std::int64_t>(indices.size())) {
      index[static_cast<std::size_t>(dims.vector)] = static_cast<std::int64_t>(i);
    }
    const auto d = static_cast<std::size_t>(dims.start[i]);
    auto start = static_cast<std::int64_t>(call.values(1)[position(indices, index)]);
    const std::int64_t most = array[d] - sizes[d];
    if (call.attributes.text("mode") == "clip") start = std::clamp<std::int64_t>(start, 0, most);
    if (start < 0 || start > most) return std::nullopt;
    element[d] = start;
  }
  for (std::size_t i = 0; i < dims.batch.size(); ++i) {
    element[static_cast<std::size_t>(dims.batch[i])] =
        index[static_cast<std::size_t>(dims.index_batch[i])];
  }
  std::size_t window = 0;
  for (std::size_t d = 0; d < array.size(); ++d) {
    const auto dim = static_cast<std::int64_t>(d);
    const bool is_gone = std::count(dims.collapsed.begin(), dims.collapsed.end(), dim) +
                             std::count(dims.batch.begin(), dims.batch.end(), dim) >
                         0;
    if (!is_gone) element[d] += at[static_cast<std::size_t>(dims.window[window++])];
  }
  return element;
}

double nothing_in(const Call& call) {
  if (call.attributes.has("fill")) return call.attributes.number("fill");
  const DTypeInfo& dtype = info(call.results[0].type.dtype);
  if (dtype.is_float) return std::nan("");
  if (dtype.dtype == DType::boolean) return 1;
  const int bits = 8 * dtype.bytes;
  return dtype.is_signed ? -std::ldexp(1, bits - 1) : std::ldexp(1, bits) - 1;
}

template <class Combine>
void scatter(const Call& call, Combine combine) {
  const IndexDims dims(call.attributes);
  const Index sizes = window_sizes(dims, static_cast<int>(call.shape(0).size()), call.shape(2));
  std::vector<double>& out = call.results[0].values;
  out = call.values(0);
  for_each_index(call.shape(2), [&](const Index& at) {
    const std::optional<Index> to = partner(call, dims, sizes, at);
    if (!to) return;
    double& element = out[position(call.shape(0), *to)];
    element = combine(element, call.values(2)[position(call.shape(2), at)]);
  });
}

}  // namespace

void gather(const Call& call) {
  const IndexDims dims(call.attributes);
  const Index& sizes = call.attributes.integers("slice_sizes");
  const Shape& shape = call.results[0].type.shape;
  for_each_index(shape, [&](const Index& at) {
    const std::optional<Index> from = partner(call, dims, sizes, at);
    call.results[0].values[position(shape, at)] =
        from ? call.values(0)[position(call.shape(0), *from)] : nothing_in(call);
  });
}

void scatter_add(const Call& call) {
  scatter(call, [](double a, double b) { return a + b; });
}
void scatter_set(const Call& call) {
  scatter(call, [](double, double b) { return b; });
}
void scatter_max(const Call& call) {
  scatter(call, [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
  });
}
void scatter_min(const Call& call) {
  scatter(call, [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
  });
}
void scatter_mul(const Call& call) {
  scatter(call, [](double a, double b) { return a * b; });
}

}  // namespace shard::reference
