// The kernel of a ragged_all_to_all whose members are all on one device.

#include <algorithm>
#include <cstring>

#include "exec/kernel.h"
#include "exec/ragged_slices.h"
#include "ops/dims.h"

namespace shard {
namespace {

/// Per exchange the places of its members among all positions of the leading dims.
std::vector<std::vector<std::int64_t>> exchange_members(const Shape& leads,
                                                        const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> strides(leads.size(), 1);
  for (std::size_t dim = leads.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * leads[dim];
  const auto spread = [&](std::vector<std::int64_t>& places, std::size_t dim) {
    std::vector<std::int64_t> more;
    for (const std::int64_t place : places) {
      for (std::int64_t i = 0; i < leads[dim]; ++i) more.push_back(place + i * strides[dim]);
    }
    places = std::move(more);
  };
  std::vector<std::int64_t> firsts{0}, members{0};
  for (std::size_t dim = 0; dim < leads.size(); ++dim) {
    if (!contains(dims, static_cast<std::int64_t>(dim))) spread(firsts, dim);
  }
  for (const std::int64_t dim : dims) spread(members, static_cast<std::size_t>(dim));
  std::vector<std::vector<std::int64_t>> exchanges;
  for (const std::int64_t first : firsts) {
    exchanges.push_back(members);
    for (std::int64_t& place : exchanges.back()) place += first;
  }
  return exchanges;
}

}  // namespace

KernelResult make_ragged_all_to_all(const KernelSite& site) {
  const int leads = site.operands[ragged_lists_begin].rank() - 1;
  const Shape lead(site.operands[0].shape.begin(), site.operands[0].shape.begin() + leads);
  const auto exchanges = exchange_members(lead, site.attributes.integers("dims"));
  if (exchanges.empty()) return copy_kernel(0);
  const RaggedSizes sizes(site.operands, leads,
                          static_cast<std::int64_t>(exchanges.front().size()));
  const std::int64_t row_bytes = sizes.row_elements * info(site.operands[0].dtype).bytes;
  const auto bytes = static_cast<std::size_t>(bytes_of(site.results[0]).count());
  return [=](const KernelCall& call) {
    if (bytes > 0) std::memcpy(call.results[0], call.operands[1], bytes);
    for (const std::vector<std::int64_t>& members : exchanges) {
      std::vector<RaggedLists> lists(members.size());
      for (std::size_t m = 0; m < members.size(); ++m) {
        for (std::size_t list = 0; list < ragged_lists; ++list) {
          lists[m][list] =
              call.operands[ragged_lists_begin + list] + members[m] * sizes.list_bytes(list);
        }
      }
      for (const RaggedSlice& slice : ragged_slices(sizes, lists)) {
        const std::int64_t in =
            members[static_cast<std::size_t>(slice.from)] * sizes.in_rows + slice.in;
        const std::int64_t out =
            members[static_cast<std::size_t>(slice.to)] * sizes.out_rows + slice.out;
        std::memcpy(call.results[0] + out * row_bytes, call.operands[0] + in * row_bytes,
                    static_cast<std::size_t>(slice.rows * row_bytes));
      }
    }
  };
}

}  // namespace shard
