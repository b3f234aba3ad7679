// Rows that members send each other: the kernel on one device, the collective between devices and
// between hosts, against the reference and against each other.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "exec/carried.h"
#include "exec/numbers.h"
#include "exec/ragged_collective.h"
#include "exec/rows.h"
#include "exec/run_failure.h"
#include "exec/tally.h"

using namespace shard;
using namespace shard::test;

namespace {

using Dims = std::vector<std::int64_t>;
using Arrays = std::vector<HostTensor>;

struct Sizes {
  int members = 2;
  std::int64_t each = 1;  ///< entries of a member for each other
  std::int64_t in_rows = 3, out_rows = 4;
  std::int64_t batches = 1;
  Shape row{};
};

Shape joined(const Shape& a, const Shape& b) {
  Shape both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

/// Slices of these sizes one behind the other in a random order, with gaps where there is room.
std::vector<double> apart(const std::vector<std::int64_t>& sizes, std::int64_t room,
                          std::mt19937& random) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::int64_t left = room - std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::vector<double> begins(sizes.size());
  std::int64_t at = 0;
  for (const std::size_t slice : order) {
    const auto gap = static_cast<std::int64_t>(random() % static_cast<unsigned>(left + 1));
    left -= gap;
    begins[slice] = static_cast<double>(at + gap);
    at += gap + sizes[slice];
  }
  return begins;
}

/// Operands [batches, members, ..] of an exchange along dim 1 that keeps to the rules.
Arrays random_exchange(const Sizes& sizes, DType dtype, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto members = static_cast<std::size_t>(sizes.members);
  const auto each = static_cast<std::size_t>(sizes.each), entries = members * each;
  std::vector<std::vector<double>> lists(4);
  for (std::int64_t batch = 0; batch < sizes.batches; ++batch) {
    std::vector sent(members, std::vector<std::int64_t>(entries));
    std::vector got(members, std::vector<std::int64_t>(entries));
    std::vector<std::int64_t> in_left(members, sizes.in_rows), out_left(members, sizes.out_rows);
    for (std::size_t turn = 0; turn < members * entries; ++turn) {
      const std::size_t from = turn % members, entry = random() % entries, to = entry / each;
      const std::int64_t most = std::min(in_left[from], out_left[to]);
      const auto more = static_cast<std::int64_t>(random() % static_cast<unsigned>(most + 1));
      sent[from][entry] += more;
      got[to][from * each + entry % each] += more;
      in_left[from] -= more;
      out_left[to] -= more;
    }
    std::vector<std::vector<double>> written(members);
    for (std::size_t to = 0; to < members; ++to) {
      written[to] = apart(got[to], sizes.out_rows, random);
    }
    for (std::size_t from = 0; from < members; ++from) {
      const std::vector<double> begins = apart(sent[from], sizes.in_rows, random);
      lists[0].insert(lists[0].end(), begins.begin(), begins.end());
      for (std::size_t entry = 0; entry < entries; ++entry) {
        lists[1].push_back(static_cast<double>(sent[from][entry]));
        lists[2].push_back(written[entry / each][from * each + entry % each]);
        lists[3].push_back(static_cast<double>(got[from][entry]));
      }
    }
  }
  const Shape lead{sizes.batches, sizes.members};
  Arrays operands{
      random_tensor({dtype, joined(joined(lead, {sizes.in_rows}), sizes.row)}, seed),
      random_tensor({dtype, joined(joined(lead, {sizes.out_rows}), sizes.row)}, seed + 1)};
  const DType dtypes[] = {DType::i32, DType::i64, DType::u32, DType::i32};
  for (std::size_t list = 0; list < lists.size(); ++list) {
    operands.push_back(
        tensor({dtypes[list], joined(lead, {static_cast<std::int64_t>(entries)})}, lists[list]));
  }
  return operands;
}

/// What member `member` has of an array [batches, members, ..].
HostTensor part_of(const HostTensor& whole, std::int64_t member) {
  HostTensor part = zeros(whole.type);
  part.type.shape[1] = 1;
  part = zeros(part.type);
  const std::int64_t members = whole.type.shape[1];
  const std::size_t bytes =
      whole.bytes.size() / static_cast<std::size_t>(members * whole.type.shape[0]);
  for (std::int64_t batch = 0; batch < whole.type.shape[0]; ++batch) {
    if (bytes == 0) break;
    std::memcpy(part.bytes.data() + static_cast<std::size_t>(batch) * bytes,
                whole.bytes.data() + static_cast<std::size_t>(batch * members + member) * bytes,
                bytes);
  }
  return part;
}

/// Members that hold their parts.
struct Members {
  std::vector<Arrays> operands;  ///< by member
  Arrays results;
  CollectiveShape shape;

  explicit Members(const Arrays& whole, std::vector<int> devices = {}) {
    shape.kind = CollectiveKind::ragged_all_to_all;
    shape.members = static_cast<int>(whole[0].type.shape[1]);
    shape.devices = std::move(devices);
    for (int member = 0; member < shape.members; ++member) {
      Arrays& own = operands.emplace_back();
      for (const HostTensor& array : whole) own.push_back(part_of(array, member));
      results.push_back(zeros(own[1].type));
    }
    shape.operand = operands[0][0].type;
    shape.result = operands[0][1].type;
    for (std::size_t k = 1; k < whole.size(); ++k) shape.also_read.push_back(operands[0][k].type);
  }

  MemberPlace place(int member) {
    const auto m = static_cast<std::size_t>(member);
    MemberPlace place{operands[m][0].bytes.data(), results[m].bytes.data()};
    for (std::size_t k = 1; k < operands[m].size(); ++k) {
      place.also_read.push_back(operands[m][k].bytes.data());
    }
    return place;
  }
  std::vector<MemberPlace> places() {
    std::vector<MemberPlace> all;
    for (int member = 0; member < shape.members; ++member) all.push_back(place(member));
    return all;
  }
};

void note(LinkTallies& links, const SegmentWork& work) {
  for (const SegmentWork::Sent& sent : work.links) {
    links[{sent.from, sent.to}].add({sent.messages, sent.bytes});
  }
}

/// Rows that the busiest member sends to others, of all batches.
std::int64_t most_sent(const Arrays& whole) {
  const std::vector<double> sizes = numbers_of(whole[3]);
  const std::int64_t batches = whole[3].type.shape[0], members = whole[3].type.shape[1];
  const std::int64_t entries = whole[3].type.shape[2];
  std::int64_t most = 0;
  for (std::int64_t from = 0; from < members; ++from) {
    double sent = 0;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      for (std::int64_t entry = 0; entry < entries; ++entry) {
        if (entry / (entries / members) == from) continue;
        sent += sizes[static_cast<std::size_t>((batch * members + from) * entries + entry)];
      }
    }
    most = std::max(most, static_cast<std::int64_t>(sent));
  }
  return most;
}

const std::vector<Sizes> all_sizes = {
    {1, 1, 3, 4, 1, {}},       {2, 1, 3, 4, 1, {}},    {3, 2, 7, 5, 1, {4}},
    {4, 1, 16, 40, 2, {2, 3}}, {8, 3, 30, 30, 1, {5}}, {2, 2, 0, 4, 1, {3}},
    {2, 1, 4, 0, 2, {3}},      {4, 2, 8, 8, 3, {0}},   {4, 1, 900, 1500, 2, {33}},
};

/// Every host has the places of its own members alone.
LinkTallies run_on_hosts(Members& members, const MembersByHost& by_host) {
  BlockPool pool;
  std::vector<std::shared_ptr<HostedCollective>> hosts;
  std::vector<std::vector<MemberPlace>> places(by_host.size());
  for (std::size_t host = 0; host < by_host.size(); ++host) {
    HostedGroup group{by_host, {}, host};
    for (std::size_t i = 0; i < by_host.size(); ++i) group.numbers.push_back(static_cast<int>(i));
    hosts.push_back(make_hosted_collective(members.shape, group));
    hosts.back()->begin(pool);
    places[host].resize(static_cast<std::size_t>(members.shape.members));
    for (const int member : by_host[host]) {
      places[host][static_cast<std::size_t>(member)] = members.place(member);
    }
  }
  LinkTallies links;
  std::vector<std::int64_t> elements(hosts.size());
  for (int stage = 0; stage < hosts.front()->stages(); ++stage) {
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      for (std::int64_t segment = 0; segment < hosts[host]->segment_count(); ++segment) {
        const SegmentWork done = hosts[host]->run(stage, segment, places[host]);
        elements[host] += done.elements;
        note(links, done);
      }
    }
    if (stage + 1 < hosts.front()->stages()) carry(hosts, stage);
  }
  CHECK(elements == std::vector<std::int64_t>(hosts.size(), elements.front()));
  for (const auto& host : hosts) host->end(pool);
  return links;
}

std::string failure_of(const Arrays& whole, std::vector<int> devices) {
  Members members(whole, std::move(devices));
  const auto work = make_collective(members.shape);
  const std::vector<MemberPlace> places = members.places();
  try {
    for (std::int64_t segment = 0; segment < work->segment_count(); ++segment) {
      work->run(segment, places, {});
    }
  } catch (const RunFailure& failure) {
    for (const HostTensor& result : members.results) {
      CHECK(result == zeros(result.type));  // nothing was written
    }
    return to_string(failure.diagnostics().front());
  }
  return "none";
}

/// Two members with 3 rows to send and 4 to get, by their lists one behind the other.
Arrays two_members(std::vector<double> input_offsets, std::vector<double> send_sizes,
                   std::vector<double> output_offsets, std::vector<double> recv_sizes) {
  return {tensor({DType::f32, {1, 2, 3}}, {1, 2, 2, 3, 4, 0}),
          zeros({DType::f32, {1, 2, 4}}),
          indices({1, 2, 2}, input_offsets),
          indices({1, 2, 2}, send_sizes),
          indices({1, 2, 2}, output_offsets),
          indices({1, 2, 2}, recv_sizes)};
}

const Attributes along_members = {{"dims", Dims{1}}};

}  // namespace

TEST_CASE("rows go where the documentation of JAX says") {
  const Arrays operands = two_members({0, 1, 0, 1}, {1, 2, 1, 1}, {0, 0, 1, 2}, {1, 1, 2, 1});
  const HostTensor result = run_kernel(Op::ragged_all_to_all, operands, along_members).front();
  CHECK(numbers_of(result) == std::vector<double>{1, 3, 0, 0, 2, 2, 4, 0});
  CHECK(failure_of(operands, {0, 1}) == "none");
}

TEST_CASE("an exchange on one device agrees with the reference") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::i64, DType::c64}) {
    for (std::size_t i = 0; i + 1 < all_sizes.size(); ++i) {
      CAPTURE(i);
      for (std::uint32_t seed = 1; seed < 4; ++seed) {
        const Arrays operands = random_exchange(all_sizes[i], dtype, seed);
        check_row(Op::ragged_all_to_all, operands, along_members);
      }
    }
  }
  // Members along two dims that are not neighbours and not in order.
  Arrays operands = random_exchange({6, 2, 9, 12, 2, {3}}, DType::f32, 5);
  for (HostTensor& array : operands) {
    Shape& shape = array.type.shape;
    shape[1] = 3;
    shape.insert(shape.begin() + 1, 2);
    array = run_kernel(Op::transpose, {array},
                       {{"order", shape.size() == 4   ? Dims{2, 0, 1, 3}
                                  : shape.size() == 5 ? Dims{2, 0, 1, 3, 4}
                                                      : Dims{2, 0, 1, 3, 4, 5}}})
                .front();
  }
  check_row(Op::ragged_all_to_all, operands, {{"dims", Dims{2, 0}}});
}

TEST_CASE("devices send what one device would move, and count what they send") {
  for (std::size_t i = 0; i < all_sizes.size(); ++i) {
    CAPTURE(i);
    for (std::uint32_t seed = 1; seed < 4; ++seed) {
      const Arrays whole = random_exchange(all_sizes[i], DType::bf16, seed);
      const HostTensor expected = run_kernel(Op::ragged_all_to_all, whole, along_members).front();
      Members members(whole);
      const auto work = make_ragged_collective(members.shape, true);
      const std::vector<MemberPlace> places = members.places();
      std::int64_t elements = 0;
      LinkTallies links;
      for (std::int64_t segment = work->segment_count(); segment-- > 0;) {
        const SegmentWork done = work->run(segment, places, {});
        elements += done.elements;
        note(links, done);
      }
      for (int member = 0; member < members.shape.members; ++member) {
        CHECK(members.results[static_cast<std::size_t>(member)] == part_of(expected, member));
      }
      const std::int64_t row = element_count(all_sizes[i].row);
      CHECK(elements == most_sent(whole) * row * all_sizes[i].members);
      std::vector<std::int64_t> sent(static_cast<std::size_t>(all_sizes[i].members));
      for (const auto& [link, tally] : links) {
        CHECK(link.first != link.second);
        CHECK(tally.messages > 0);
        sent[static_cast<std::size_t>(link.first)] += tally.bytes;
      }
      CHECK(*std::max_element(sent.begin(), sent.end()) == most_sent(whole) * row * 2);
    }
  }
}

TEST_CASE("hosts do together what one process does") {
  for (const Sizes& sizes :
       {Sizes{4, 1, 16, 40, 2, {2, 3}}, Sizes{6, 2, 9, 12, 1, {5}}, Sizes{4, 2, 8, 8, 3, {0}}}) {
    for (std::uint32_t seed = 1; seed < 4; ++seed) {
      const Arrays whole = random_exchange(sizes, DType::f32, seed);
      Members alone(whole), together(whole);
      const auto work = make_ragged_collective(alone.shape, true);
      const std::vector<MemberPlace> places = alone.places();
      LinkTallies links;
      for (std::int64_t segment = 0; segment < work->segment_count(); ++segment) {
        note(links, work->run(segment, places, {}));
      }
      MembersByHost by_host = {{0, 3}, {1, 2}};
      if (sizes.members == 6) by_host = {{0, 1, 2}, {3}, {4, 5}};
      const LinkTallies crossed = run_on_hosts(together, by_host);
      CHECK(together.results == alone.results);
      REQUIRE(crossed.size() == links.size());
      for (const auto& [link, tally] : links) {
        CHECK(crossed.at(link).messages == tally.messages);
        CHECK(crossed.at(link).bytes == tally.bytes);
      }
    }
  }
}

TEST_CASE("lists that break the rules stop the run before anything is written") {
  const std::string range_hint =
      " [ragged-range]\n  hint: a slice begins at 0 or behind and ends with the array at the "
      "latest";
  CHECK(failure_of(two_members({0, 2, 0, 1}, {1, 2, 1, 1}, {0, 0, 1, 2}, {1, 1, 2, 1}), {4, 6}) ==
        "error: device 4 sends device 6 rows of its operand, 2 from 2 on, of 3 (entry 1 of "
        "input_offsets and send_sizes)" +
            range_hint);
  CHECK(failure_of(two_members({-1, 1, 0, 1}, {1, 2, 1, 1}, {0, 0, 1, 2}, {1, 1, 2, 1}), {4, 6}) ==
        "error: device 4 sends device 4 rows of its operand, 1 from -1 on, of 3 (entry 0 of "
        "input_offsets and send_sizes)" +
            range_hint);
  CHECK(failure_of(two_members({0, 1, 0, 1}, {1, 2, 1, 1}, {0, 0, 1, 4}, {1, 1, 2, 1}), {4, 6}) ==
        "error: device 6 sends to rows of the result of device 6, 1 from 4 on, of 4 (entry 1 of "
        "output_offsets and send_sizes)" +
            range_hint);
  CHECK(failure_of(two_members({0, 1, 0, 1}, {1, -2, 1, 1}, {0, 0, 1, 2}, {1, 1, -2, 1}), {4, 6}) ==
        "error: device 4 sends device 6 rows of its operand, -2 from 1 on, of 3 (entry 1 of "
        "input_offsets and send_sizes)" +
            range_hint);
  constexpr double far = 2147483647;
  CHECK(failure_of(two_members({far, 1, 0, 1}, {far, 2, 1, 1}, {0, 0, 1, 2}, {far, 1, 2, 1}),
                   {4, 6}) ==
        "error: device 4 sends device 4 rows of its operand, 2147483647 from 2147483647 on, of 3 "
        "(entry 0 of input_offsets and send_sizes)" +
            range_hint);
  CHECK(failure_of(two_members({0, 1, 0, 1}, {1, 2, 1, 1}, {0, 0, 1, 2}, {1, 1, 1, 1}), {4, 6}) ==
        "error: device 4 sends 2 rows to device 6, which expects 1 (entry 1 of send_sizes, entry 0 "
        "of recv_sizes) [ragged-sizes]\n  hint: recv_sizes is the all_to_all of send_sizes");
  CHECK(failure_of(two_members({0, 0, 0, 1}, {1, 2, 1, 1}, {0, 0, 1, 2}, {1, 1, 2, 1}), {}) ==
        "error: member 0 sends row 0 of its operand twice, to member 0 and to member 1 "
        "[ragged-overlap]\n  hint: send a copy of the row: behind the others in the operand");
  CHECK(failure_of(two_members({0, 1, 0, 1}, {1, 2, 1, 1}, {0, 0, 1, 1}, {1, 1, 2, 1}), {4, 6}) ==
        "error: device 6 gets row 1 of its result twice, from device 4 and from device 6 "
        "[ragged-overlap]\n  hint: output_offsets and send_sizes keep what arrives apart");
}

TEST_CASE("the reference reads no row that is not there") {
  const Arrays operands = two_members({0, 2, 0, 1}, {1, 2, 1, 1}, {0, 0, 1, 2}, {1, 1, 2, 1});
  CHECK_THROWS_AS(run_reference_op(Op::ragged_all_to_all, operands, along_members), RunFailure);
}
