#include "exec/hosted_collective.h"

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "exec/carried.h"
#include "exec/moving_collective.h"
#include "exec/numbers.h"
#include "exec/routed_collective.h"
#include "exec/tally.h"

using namespace shard;
using namespace shard::test;

namespace {

using Arrays = std::vector<HostTensor>;

struct Outcome {
  Arrays results;
  LinkTallies links;
  std::int64_t elements = 0;
};

void note(Outcome& outcome, const SegmentWork& work) {
  for (const SegmentWork::Sent& sent : work.links) {
    outcome.links[{sent.from, sent.to}].add({sent.messages, sent.bytes});
  }
}

/// As one process does it: hierarchical, or straight.
Outcome in_one_process(const CollectiveShape& shape, const MembersByHost& hosts, Arrays operands) {
  std::unique_ptr<CollectiveWork> work = make_routed_collective(
      shape, *route_of(CollectiveAlgorithm::hierarchical), {shape.members, hosts});
  if (work == nullptr) work = make_moving_collective(shape, true);
  Outcome outcome;
  outcome.results.assign(operands.size(), zeros(shape.result));
  std::vector<MemberPlace> places;
  for (std::size_t m = 0; m < operands.size(); ++m) {
    places.push_back({operands[m].bytes.data(), outcome.results[m].bytes.data()});
  }
  for (std::int64_t segment = 0; segment < work->segment_count(); ++segment) {
    const SegmentWork done = work->run(segment, places, {});
    outcome.elements += done.elements;
    note(outcome, done);
  }
  return outcome;
}

/// As hosts do it, each with the places of its own members alone; segments last first.
Outcome on_hosts(const CollectiveShape& shape, const MembersByHost& members, Arrays operands,
                 bool in_place) {
  BlockPool pool;
  std::vector<std::shared_ptr<HostedCollective>> hosts;
  std::vector<std::vector<MemberPlace>> places(members.size());
  Outcome outcome;
  outcome.results.assign(operands.size(), zeros(shape.result));
  for (std::size_t host = 0; host < members.size(); ++host) {
    HostedGroup group{members, {}, host};
    for (std::size_t i = 0; i < members.size(); ++i) group.numbers.push_back(static_cast<int>(i));
    hosts.push_back(make_hosted_collective(shape, group));
    hosts.back()->begin(pool);
    places[host].resize(operands.size());
    for (const int member : members[host]) {
      const std::size_t m = static_cast<std::size_t>(member);
      HostTensor& result = in_place ? operands[m] : outcome.results[m];
      places[host][m] = {operands[m].bytes.data(), result.bytes.data()};
    }
  }
  std::vector<std::int64_t> elements(hosts.size());
  for (int stage = 0; stage < hosts.front()->stages(); ++stage) {
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      for (std::int64_t segment = hosts[host]->segment_count(); segment-- > 0;) {
        const SegmentWork done = hosts[host]->run(stage, segment, places[host]);
        elements[host] += done.elements;
        note(outcome, done);
      }
    }
    if (stage + 1 < hosts.front()->stages()) carry(hosts, stage);
  }
  outcome.elements = elements.front();
  CHECK(elements == std::vector<std::int64_t>(hosts.size(), outcome.elements));
  if (in_place) outcome.results = operands;
  return outcome;
}

void check_equal(const CollectiveShape& shape, const MembersByHost& hosts, bool in_place = false) {
  const Arrays operands = random_operands(shape.operand, shape.members);
  const Outcome expected = in_one_process(shape, hosts, operands);
  const Outcome found = on_hosts(shape, hosts, operands, in_place);
  CHECK(found.results == expected.results);
  CHECK(found.elements == expected.elements);
  REQUIRE(found.links.size() == expected.links.size());
  for (const auto& [link, tally] : expected.links) {
    CHECK(found.links.at(link).messages == tally.messages);
    CHECK(found.links.at(link).bytes == tally.bytes);
  }
}

const std::vector<MembersByHost> groupings = {
    {{0}, {1}},       {{0, 1}, {2, 3}},     {{0, 2}, {1, 3}},
    {{0, 1, 2}, {3}}, {{0}, {1}, {2}, {3}}, {{0, 1, 2}, {3, 4}, {5, 6, 7}},
};

int members_of(const MembersByHost& hosts) {
  std::size_t members = 0;
  for (const std::vector<int>& host : hosts) members += host.size();
  return static_cast<int>(members);
}

TensorType wider(TensorType type, int dim, int times) {
  type.shape[static_cast<std::size_t>(dim)] *= times;
  return type;
}

}  // namespace

TEST_CASE("hosts reduce and scatter and gather every dtype to the bits of one process") {
  for (const MembersByHost& hosts : groupings) {
    const int members = members_of(hosts);
    for (const DTypeInfo& dtype : dtype_table()) {
      CAPTURE(dtype.name);
      CAPTURE(hosts.size());
      const TensorType part{dtype.dtype, {3, 2, 7}};
      for (const int dim : {0, 2}) {
        const TensorType whole = wider(part, dim, members);
        check_equal(
            {CollectiveKind::all_gather, Reduction::none, dim, -1, part, whole, members, {}},
            hosts);
        check_equal(
            {CollectiveKind::reduce_scatter, Reduction::sum, dim, -1, whole, part, members, {}},
            hosts);
      }
      for (const bool in_place : {false, true}) {
        check_equal({CollectiveKind::all_reduce, Reduction::sum, -1, -1, part, part, members, {}},
                    hosts, in_place);
      }
    }
  }
}

TEST_CASE("hosts reduce arrays longer than a segment and shorter than their number") {
  for (const std::int64_t elements : {std::int64_t{1}, std::int64_t{3}, std::int64_t{100'003}}) {
    for (const Reduction reduction : {Reduction::sum, Reduction::max}) {
      const TensorType type{DType::bf16, {elements}};
      check_equal({CollectiveKind::all_reduce, reduction, -1, -1, type, type, 8, {}},
                  groupings.back(), true);
    }
  }
}

TEST_CASE("hosts exchange what an all_to_all moves between them") {
  for (const MembersByHost& hosts : groupings) {
    const int members = members_of(hosts);
    for (const auto& [dim, split_dim] : std::vector<std::pair<int, int>>{{0, 2}, {2, 0}, {0, 1}}) {
      const TensorType part{DType::i16, {3 * members, 2 * members, 5 * members}};
      TensorType operand = part, result = part;
      operand.shape[static_cast<std::size_t>(dim)] /= members;
      result.shape[static_cast<std::size_t>(split_dim)] /= members;
      check_equal({CollectiveKind::all_to_all,
                   Reduction::none,
                   dim,
                   split_dim,
                   operand,
                   result,
                   members,
                   {}},
                  hosts);
    }
  }
}

TEST_CASE("hosts permute pieces and windows") {
  const TensorType type{DType::f32, {5, 5000}};
  CollectiveShape shape{
      CollectiveKind::collective_permute, Reduction::none, -1, -1, type, type, 4, {3, 3, 2, 0}};
  check_equal(shape, {{0, 1}, {2, 3}});
  check_equal(shape, {{0}, {1, 2, 3}});
  const TensorType part{DType::f32, {2, 3}}, window{DType::f32, {2, 5}};
  CollectiveShape fetch{CollectiveKind::collective_permute,
                        Reduction::none,
                        1,
                        -1,
                        part,
                        window,
                        4,
                        {},
                        PartWindow{-1, 3, 5}};
  check_equal(fetch, {{0, 1}, {2, 3}});
  check_equal(fetch, {{0}, {1}, {2}, {3}});
}

TEST_CASE("hosts send on what one of them has") {
  for (const MembersByHost& hosts : groupings) {
    const int members = members_of(hosts);
    for (const std::int64_t elements : {std::int64_t{1}, std::int64_t{100'003}}) {
      for (const int source : {0, members - 1}) {
        const TensorType type{DType::bf16, {elements}};
        check_equal({CollectiveKind::collective_broadcast, Reduction::none, -1, -1, type, type,
                     members, std::vector<int>(static_cast<std::size_t>(members), source)},
                    hosts, true);
      }
    }
  }
}

TEST_CASE("a host has for crossings what goes to others and comes from them and gives it back") {
  const TensorType type{DType::bf16, {1000}};
  BlockPool pool;
  const auto made = make_hosted_collective(
      {CollectiveKind::all_reduce, Reduction::sum, -1, -1, type, type, 4, {}},
      {{{0, 1}, {2, 3}}, {0, 1}, 0});
  CHECK(pool.held() == Bytes(0));
  // Sums in float32 of all chunks, the other host's of half of them, and totals as stored.
  for (int time = 0; time < 3; ++time) {
    made->begin(pool);
    CHECK(pool.held() == Bytes(4000 + 2000 + 2000));
    made->end(pool);
  }
  const auto moved = make_hosted_collective(
      {CollectiveKind::collective_permute, Reduction::none, -1, -1, type, type, 2, {1, 0}},
      {{{0}, {1}}, {0, 1}, 0});
  moved->begin(pool);
  CHECK(pool.held() == Bytes(4000 + 2000 + 2000));
  moved->end(pool);
}

TEST_CASE("a pool gives the smallest block that is large enough and grows by no small ones") {
  BlockPool pool;
  pool.give_back(pool.take(100));
  pool.give_back(pool.take(300));
  CHECK(pool.held() == Bytes(300));
  Block large = pool.take(200);
  CHECK(large.size == 300);
  Block small = pool.take(50);
  CHECK(small.size == 50);
  CHECK(pool.held() == Bytes(350));
  pool.give_back(std::move(large));
  pool.give_back(std::move(small));
  CHECK(pool.take(40).size == 50);
}
