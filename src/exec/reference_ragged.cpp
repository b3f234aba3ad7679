// The reference's grouped products.

#include "exec/reference_rows.h"

namespace shard::reference {
namespace {

/// The group of each row; -1 behind all groups.
std::vector<std::int64_t> groups_of_rows(const ReferenceCall& call) {
  std::vector<std::int64_t> groups(static_cast<std::size_t>(call.shape(0)[0]), -1);
  std::size_t row = 0;
  for (std::size_t group = 0; group < call.values(2).size(); ++group) {
    for (double left = call.values(2)[group]; left > 0 && row < groups.size(); --left) {
      groups[row++] = static_cast<std::int64_t>(group);
    }
  }
  return groups;
}

std::size_t place(std::int64_t row, std::int64_t columns, std::int64_t column) {
  return static_cast<std::size_t>(row * columns + column);
}

}  // namespace

void ragged_dot(const ReferenceCall& call) {
  const std::int64_t k = call.shape(0)[1], n = call.shape(1)[2];
  const std::vector<std::int64_t> groups = groups_of_rows(call);
  for (std::int64_t row = 0; row < call.shape(0)[0]; ++row) {
    const std::int64_t group = groups[static_cast<std::size_t>(row)];
    if (group < 0) continue;
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        sum += call.values(0)[place(row, k, i)] * call.values(1)[place(group * k + i, n, j)];
      }
      call.results[0].values[place(row, n, j)] = sum;
    }
  }
}

void ragged_outer(const ReferenceCall& call) {
  const std::int64_t k = call.shape(0)[1], n = call.shape(1)[1];
  const std::vector<std::int64_t> groups = groups_of_rows(call);
  for (std::int64_t row = 0; row < call.shape(0)[0]; ++row) {
    const std::int64_t group = groups[static_cast<std::size_t>(row)];
    if (group < 0) continue;
    for (std::int64_t i = 0; i < k; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        call.results[0].values[place(group * k + i, n, j)] +=
            call.values(0)[place(row, k, i)] * call.values(1)[place(row, n, j)];
      }
    }
  }
}

}  // namespace shard::reference
