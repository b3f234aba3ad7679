#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "exec/moving_collective.h"
#include "exec/numbers.h"
#include "exec/tally.h"

using namespace shard;
using namespace shard::test;

namespace {

/// What the links between members carry; the last segment first, as their order must not matter.
LinkTallies links_moved(const CollectiveShape& shape, bool counts_links = true) {
  const auto work = make_moving_collective(shape, counts_links);
  std::vector<HostTensor> operands(static_cast<std::size_t>(shape.members), zeros(shape.operand));
  std::vector<HostTensor> results(operands.size(), zeros(shape.result));
  std::vector<MemberPlace> places;
  for (std::size_t m = 0; m < operands.size(); ++m) {
    places.push_back({operands[m].bytes.data(), results[m].bytes.data()});
  }
  LinkTallies links;
  for (std::int64_t segment = work->segment_count(); segment-- > 0;) {
    for (const SegmentWork::Sent& sent : work->run(segment, places, {}).links) {
      links[{sent.from, sent.to}].add({sent.messages, sent.bytes});
    }
  }
  return links;
}

CollectiveShape exchange_of(int dim, int split_dim, int members) {
  TensorType operand{DType::f32, {3, 5, 7'001}};
  operand.shape[static_cast<std::size_t>(split_dim)] *= members;
  TensorType result = operand;
  result.shape[static_cast<std::size_t>(dim)] *= members;
  result.shape[static_cast<std::size_t>(split_dim)] /= members;
  return {
      CollectiveKind::all_to_all, Reduction::none, dim, split_dim, operand, result, members, {}};
}

}  // namespace

TEST_CASE("every member sends each other one its block of an all_to_all in one message") {
  for (const int members : {1, 2, 3, 8}) {
    for (const auto& [dim, split_dim] : std::vector<std::pair<int, int>>{{0, 2}, {2, 0}, {0, 1}}) {
      const CollectiveShape shape = exchange_of(dim, split_dim, members);
      const Bytes operand = bytes_of(shape.operand);
      const LinkTallies links = links_moved(shape);
      CHECK(links.size() == static_cast<std::size_t>(members * (members - 1)));
      std::vector<Bytes> sent(static_cast<std::size_t>(members));
      for (const auto& [link, tally] : links) {
        CHECK(tally.messages == 1);
        CHECK(tally.bytes == operand.count() / members);
        sent[static_cast<std::size_t>(link.first)] += Bytes(tally.bytes);
      }
      for (const Bytes bytes : sent) {
        CHECK(bytes == wire_of(CollectiveKind::all_to_all, operand, members));
      }
      CHECK(links_moved(shape, false).empty());
    }
  }
}

TEST_CASE("a permute sends an operand in one message and nothing to itself or for zeros") {
  const TensorType type{DType::bf16, {5, 30'011}};
  const LinkTallies links = links_moved({CollectiveKind::collective_permute,
                                         Reduction::none,
                                         -1,
                                         -1,
                                         type,
                                         type,
                                         5,
                                         {3, 1, -1, 0, 3}});
  const Bytes wire = wire_of(CollectiveKind::collective_permute, bytes_of(type), 5);
  REQUIRE(links.size() == 3);
  for (const std::pair<int, int>& link : {std::pair(3, 0), std::pair(0, 3), std::pair(3, 4)}) {
    CHECK(links.at(link).messages == 1);
    CHECK(Bytes(links.at(link).bytes) == wire);
  }
}

TEST_CASE("a window takes what lies beside it from its neighbours in a message each") {
  constexpr std::int64_t rows = 40'000, width = 4;
  const LinkTallies links = links_moved({CollectiveKind::collective_permute,
                                         Reduction::none,
                                         1,
                                         -1,
                                         {DType::f32, {rows, 3}},
                                         {DType::f32, {rows, 6}},
                                         4,
                                         {},
                                         PartWindow{-1, 3, 6}});
  REQUIRE(links.size() == 6);
  for (int m = 0; m + 1 < 4; ++m) {
    CHECK(links.at({m, m + 1}).messages == 1);
    CHECK(links.at({m, m + 1}).bytes == rows * width);
    CHECK(links.at({m + 1, m}).messages == 1);
    CHECK(links.at({m + 1, m}).bytes == 2 * rows * width);
  }
}
