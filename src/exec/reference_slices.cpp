// The reference's ops that move elements: every result element is fetched, or every operand element
// put, one at a time.

#include <algorithm>

#include "exec/reference_index_space.h"
#include "exec/reference_rows.h"

namespace shard::reference {
namespace {

using Call = ReferenceCall;

const Shape& result_shape(const Call& call) { return call.results[0].type.shape; }

/// The starts of a dynamic slice, moved until a slice of `sizes` fits.
Index clamped_starts(const Call& call, std::size_t arrays, const Shape& sizes) {
  Index starts;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    const auto start = static_cast<std::int64_t>(call.values(arrays + dim)[0]);
    starts.push_back(std::clamp<std::int64_t>(start, 0, call.shape(0)[dim] - sizes[dim]));
  }
  return starts;
}

Index sum_of(Index a, const Index& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

/// Result element `index` is operand element `source(index)`.
template <class Source>
void fetch(const Call& call, Source source) {
  for_each_index(result_shape(call), [&](const Index& index) {
    call.results[0].values[position(result_shape(call), index)] =
        call.values(0)[position(call.shape(0), source(index))];
  });
}

}  // namespace

void reshape(const Call& call) { call.results[0].values = call.values(0); }

void slice(const Call& call) {
  const Index &start = call.attributes.integers("start"),
              &stride = call.attributes.integers("stride");
  fetch(call, [&](Index index) {
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = start[i] + index[i] * stride[i];
    return index;
  });
}

void reverse(const Call& call) {
  fetch(call, [&](Index index) {
    for (const std::int64_t dim : call.attributes.integers("dims")) {
      const auto d = static_cast<std::size_t>(dim);
      index[d] = call.shape(0)[d] - 1 - index[d];
    }
    return index;
  });
}

void ppermute(const Call& call) {
  const auto dim = static_cast<std::size_t>(call.attributes.integer("dim"));
  for_each_index(result_shape(call), [&](Index index) {
    double& out = call.results[0].values[position(result_shape(call), index)];
    index[dim] = call.attributes.integers("source")[static_cast<std::size_t>(index[dim])];
    out = index[dim] < 0 ? 0 : call.values(0)[position(call.shape(0), index)];
  });
}

void dynamic_slice(const Call& call) {
  const Index starts = clamped_starts(call, 1, result_shape(call));
  fetch(call, [&](const Index& index) { return sum_of(index, starts); });
}

void dynamic_update_slice(const Call& call) {
  const Index starts = clamped_starts(call, 2, call.shape(1));
  call.results[0].values = call.values(0);
  for_each_index(call.shape(1), [&](const Index& index) {
    call.results[0].values[position(result_shape(call), sum_of(index, starts))] =
        call.values(1)[position(call.shape(1), index)];
  });
}

void concatenate(const Call& call) {
  const auto dim = static_cast<std::size_t>(call.attributes.integer("dim"));
  std::int64_t before = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    for_each_index(call.shape(i), [&](Index index) {
      const double x = call.values(i)[position(call.shape(i), index)];
      index[dim] += before;
      call.results[0].values[position(result_shape(call), index)] = x;
    });
    before += call.shape(i)[dim];
  }
}

void pad(const Call& call) {
  const Index &low = call.attributes.integers("low"),
              &interior = call.attributes.integers("interior");
  std::vector<double>& out = call.results[0].values;
  std::fill(out.begin(), out.end(), call.values(1)[0]);
  for_each_index(call.shape(0), [&](Index index) {
    const double x = call.values(0)[position(call.shape(0), index)];
    bool stays = true;
    for (std::size_t i = 0; i < index.size(); ++i) {
      index[i] = low[i] + index[i] * (interior[i] + 1);
      stays = stays && index[i] >= 0 && index[i] < result_shape(call)[i];
    }
    if (stays) out[position(result_shape(call), index)] = x;
  });
}

void iota(const Call& call) {
  const auto dim = static_cast<std::size_t>(call.attributes.integer("dim"));
  for_each_index(result_shape(call), [&](const Index& index) {
    call.results[0].values[position(result_shape(call), index)] = static_cast<double>(index[dim]);
  });
}

}  // namespace shard::reference
