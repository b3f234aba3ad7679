// The reference's grouped products, and rows that members send each other.

#include "exec/reference_index_space.h"
#include "exec/reference_rows.h"
#include "exec/run_failure.h"

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

/// For every row of every member's result: which row of whose operand is sent there, if any.
void ragged_all_to_all(const ReferenceCall& call) {
  const Shape& lists = call.shape(2);
  const std::vector<std::int64_t>& dims = call.attributes.integers("dims");
  const std::size_t leads = lists.size() - 1;
  std::int64_t members = 1;
  for (const std::int64_t dim : dims) members *= lists[static_cast<std::size_t>(dim)];
  const std::int64_t each = lists.back() / members;
  const auto number_of = [&](const Index& index) {
    std::int64_t number = 0;
    for (const std::int64_t dim : dims) {
      const auto d = static_cast<std::size_t>(dim);
      number = number * lists[d] + index[d];
    }
    return number;
  };
  const auto with_member = [&](Index index, std::int64_t number) {
    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
      const auto d = static_cast<std::size_t>(*dim);
      index[d] = number % lists[d];
      number /= lists[d];
    }
    return index;
  };
  const auto entry = [&](std::size_t operand, Index index, std::int64_t at) {
    index.resize(leads);
    index.push_back(at);
    return static_cast<std::int64_t>(call.values(operand)[position(lists, index)]);
  };
  call.results[0].values = call.values(1);
  const auto rank = static_cast<std::ptrdiff_t>(lists.size());
  const Shape in_rows(call.shape(0).begin(), call.shape(0).begin() + rank);
  const Shape out_rows(call.shape(1).begin(), call.shape(1).begin() + rank);
  std::size_t across = 1;
  for (std::size_t dim = lists.size(); dim < call.shape(0).size(); ++dim) {
    across *= static_cast<std::size_t>(call.shape(0)[dim]);
  }
  for_each_index(out_rows, [&](const Index& index) {
    const std::int64_t to = number_of(index), row = index[leads];
    for (std::int64_t k = 0; k < members * each; ++k) {
      Index from = with_member(index, k / each);
      const std::int64_t at = to * each + k % each;
      const std::int64_t first = entry(4, from, at), rows = entry(3, from, at);
      if (row < first || row >= first + rows) continue;
      from[leads] = entry(2, from, at) + row - first;
      if (from[leads] < 0 || from[leads] >= call.shape(0)[leads]) {
        throw RunFailure("ragged-range", {},
                         "the unsharded run is to send row " + std::to_string(from[leads]) +
                             " of " + std::to_string(call.shape(0)[leads]));
      }
      for (std::size_t column = 0; column < across; ++column) {
        call.results[0].values[position(out_rows, index) * across + column] =
            call.values(0)[position(in_rows, from) * across + column];
      }
    }
  });
}

}  // namespace shard::reference
