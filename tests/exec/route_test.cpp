#include "exec/route.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "exec/cluster.h"
#include "exec/measure.h"
#include "exec/numbers.h"
#include "exec/program_maker.h"
#include "exec/routed_collective.h"
#include "exec/site_builder.h"

using namespace shard;
using namespace shard::test;

namespace {

using Arrays = std::vector<HostTensor>;

const std::vector<CollectiveAlgorithm> routed = {
    CollectiveAlgorithm::ring, CollectiveAlgorithm::tree, CollectiveAlgorithm::halving,
    CollectiveAlgorithm::hierarchical};

/// Members in turn on hosts of `on_each`; the last host may have fewer.
MembersByHost hosts_of(int members, int on_each) {
  MembersByHost hosts;
  for (int m = 0; m < members; ++m) {
    if (m % on_each == 0) hosts.emplace_back();
    hosts.back().push_back(m);
  }
  return hosts;
}

struct Ran {
  Arrays results;
  LinkTallies links;
  std::int64_t elements = 0;

  LinkTally all() const {
    LinkTally sum;
    for (const auto& [link, tally] : links) sum.add(tally);
    return sum;
  }
  LinkTally sent_by(int member) const {
    LinkTally sum;
    for (const auto& [link, tally] : links) {
      if (link.first == member) sum.add(tally);
    }
    return sum;
  }
};

/// Runs all segments, the last first: their order must not matter.
Ran run(const CollectiveWork& work, const TensorType& result, Arrays operands) {
  Ran ran;
  ran.results.assign(operands.size(), zeros(result));
  std::vector<MemberPlace> places;
  std::vector<int> order;
  for (std::size_t m = 0; m < operands.size(); ++m) {
    places.push_back({operands[m].bytes.data(), ran.results[m].bytes.data()});
    order.push_back(static_cast<int>(m));
  }
  for (std::int64_t segment = work.segment_count(); segment-- > 0;) {
    const SegmentWork done = work.run(segment, places, order);
    ran.elements += done.elements;
    for (const SegmentWork::Sent& sent : done.links) {
      ran.links[{sent.from, sent.to}].add({sent.messages, sent.bytes});
    }
  }
  return ran;
}

TensorType times_along(TensorType type, int dim, int times) {
  type.shape[static_cast<std::size_t>(dim)] *= times;
  return type;
}

CollectiveShape shape_of(CollectiveKind kind, const TensorType& part, int members, int dim) {
  const TensorType whole = dim < 0 ? part : times_along(part, dim, members);
  const bool gathers = kind == CollectiveKind::all_gather;
  return {kind,
          Reduction::sum,
          dim,
          -1,
          gathers ? part : whole,
          kind == CollectiveKind::all_reduce ? whole
          : gathers                          ? whole
                                             : part,
          members,
          {}};
}

Ran run_routed(CollectiveAlgorithm algorithm, const CollectiveShape& shape, const Arrays& operands,
               const MembersByHost& hosts) {
  const auto work = make_routed_collective(shape, *route_of(algorithm), {shape.members, hosts});
  return run(*work, shape.result, operands);
}

Ran run_in_place(const CollectiveShape& shape, const Arrays& operands) {
  return run(*make_collective(shape), shape.result, operands);
}

struct Kind {
  CollectiveKind kind;
  int dim;
};
const std::vector<Kind> kinds = {{CollectiveKind::all_reduce, -1},
                                 {CollectiveKind::reduce_scatter, 0},
                                 {CollectiveKind::reduce_scatter, 2},
                                 {CollectiveKind::all_gather, 1},
                                 {CollectiveKind::all_gather, 2}};

/// Bytes of one all_reduce of f32[elements] over members on hosts of `on_each`.
Ran reduce_floats(CollectiveAlgorithm algorithm, int members, std::int64_t elements,
                  int on_each = 1) {
  const TensorType type{DType::f32, {elements}};
  const CollectiveShape shape = shape_of(CollectiveKind::all_reduce, type, members, -1);
  return run_routed(algorithm, shape, Arrays(static_cast<std::size_t>(members), zeros(type)),
                    hosts_of(members, on_each));
}

Ran gather_or_scatter(CollectiveAlgorithm algorithm, CollectiveKind kind, int members,
                      std::int64_t elements, int on_each = 1) {
  const CollectiveShape shape = shape_of(kind, {DType::f32, {elements / members}}, members, 0);
  return run_routed(algorithm, shape,
                    Arrays(static_cast<std::size_t>(members), zeros(shape.operand)),
                    hosts_of(members, on_each));
}

CollectiveShape broadcast_of(const TensorType& type, int members, int source) {
  CollectiveShape shape{
      CollectiveKind::collective_broadcast, Reduction::none, -1, -1, type, type, members, {}};
  shape.source.assign(static_cast<std::size_t>(members), source);
  return shape;
}

}  // namespace

TEST_CASE("every algorithm gives integers as the default does for every size of a group") {
  for (const CollectiveAlgorithm algorithm : routed) {
    for (const int members : {1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 33}) {
      for (const Kind& kind : kinds) {
        for (const int on_each : {1, 2, 3, members}) {
          CAPTURE(to_string(algorithm));
          CAPTURE(members);
          CAPTURE(on_each);
          const CollectiveShape shape =
              shape_of(kind.kind, {DType::i16, {3, 2, 5}}, members, kind.dim);
          const Arrays operands = random_operands(shape.operand, members);
          const Ran expected = run_in_place(shape, operands);
          const Ran found = run_routed(algorithm, shape, operands, hosts_of(members, on_each));
          CHECK(found.results == expected.results);
          CHECK(found.elements == expected.elements);
        }
      }
    }
  }
}

TEST_CASE("every algorithm sends what one member has to each other member once") {
  const TensorType type{DType::i16, {30'011}};
  const std::int64_t bytes = bytes_of(type).count();
  for (const CollectiveAlgorithm algorithm : routed) {
    for (const int members : {1, 2, 3, 6, 8, 13}) {
      for (const int on_each : {1, 3, members}) {
        for (const int source : {0, members / 2, members - 1}) {
          CAPTURE(to_string(algorithm));
          CAPTURE(members);
          CAPTURE(on_each);
          CAPTURE(source);
          const CollectiveShape shape = broadcast_of(type, members, source);
          const Arrays operands = random_operands(type, members);
          const Ran ran = run_routed(algorithm, shape, operands, hosts_of(members, on_each));
          CHECK(ran.results == Arrays(operands.size(), operands[static_cast<std::size_t>(source)]));
          CHECK(ran.elements == members * element_count(type.shape));
          CHECK(ran.all().messages == members - 1);
          CHECK(ran.all().bytes == (members - 1) * bytes);
          std::map<int, int> received;
          for (const auto& [link, tally] : ran.links) ++received[link.second];
          CHECK(received.count(source) == 0);
        }
      }
    }
  }
}

TEST_CASE("a broadcast goes round a ring and down a tree and once to each host") {
  const TensorType type{DType::f32, {1'000}};
  const auto sent = [&](CollectiveAlgorithm algorithm, int members, int source, int on_each) {
    return run_routed(algorithm, broadcast_of(type, members, source),
                      Arrays(static_cast<std::size_t>(members), zeros(type)),
                      hosts_of(members, on_each));
  };
  const Ran ring = sent(CollectiveAlgorithm::ring, 5, 3, 1);
  for (int m = 0; m < 5; ++m) {
    CHECK(Bytes(ring.sent_by(m).bytes) ==
          (m == 2 ? Bytes(0) : wire_of(CollectiveKind::collective_broadcast, Bytes(4000), 5)));
  }
  CHECK(sent(CollectiveAlgorithm::tree, 8, 5, 1).sent_by(5).messages == 3);
  CHECK(sent(CollectiveAlgorithm::halving, 8, 5, 1).sent_by(5).messages == 3);
  const Ran hosts = sent(CollectiveAlgorithm::hierarchical, 12, 7, 4);
  CHECK(hosts.links.at({7, 3}).messages == 1);
  CHECK(hosts.links.at({7, 11}).messages == 1);
  CHECK(hosts.links.at({3, 0}).messages == 1);
  CHECK(hosts.sent_by(7).messages == 2 + 3);
}

TEST_CASE("every algorithm is within rounding of the default and the same on all members") {
  for (const CollectiveAlgorithm algorithm : routed) {
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
      for (const int members : {2, 7, 16}) {
        CAPTURE(to_string(algorithm));
        CAPTURE(info(dtype).name);
        const TensorType type{dtype, {20'011}};
        const CollectiveShape shape = shape_of(CollectiveKind::all_reduce, type, members, -1);
        const Arrays operands = random_operands(type, members);
        const HostTensor expected = run_in_place(shape, operands).results.front();
        const Arrays found = run_routed(algorithm, shape, operands, hosts_of(members, 4)).results;
        CHECK(found == Arrays(operands.size(), found.front()));
        // 8 bits of mantissa: one rounding of float32 sums may fall to the other side.
        const double tolerance = dtype == DType::bf16 ? 1e-2 : dtype == DType::f16 ? 1e-3 : 1e-6;
        CHECK(compare("sum", found.front(), expected, tolerance).is_ok());
      }
    }
  }
}

TEST_CASE("16-bit sums stay in float32 along every route") {
  // 256 is the first number whose neighbour in bf16 is 2 away: ones added one by one would be lost.
  const TensorType type{DType::bf16, {9}};
  Arrays operands(1, tensor(type, std::vector<double>(9, 256)));
  for (int m = 1; m < 9; ++m) operands.push_back(tensor(type, std::vector<double>(9, 1)));
  for (const CollectiveAlgorithm algorithm : routed) {
    CAPTURE(to_string(algorithm));
    const CollectiveShape shape = shape_of(CollectiveKind::all_reduce, type, 9, -1);
    const Ran ran = run_routed(algorithm, shape, operands, hosts_of(9, 3));
    CHECK(numbers_of(ran.results[4]) == std::vector<double>(9, 264));
  }
}

TEST_CASE("every link of a ring carries what the formula of a ring says") {
  for (const int members : {2, 3, 8, 13}) {
    const std::int64_t elements = 52'000 * members, bytes = 4 * elements;
    const Ran ran = reduce_floats(CollectiveAlgorithm::ring, members, elements);
    CHECK(ran.links.size() == static_cast<std::size_t>(members));
    for (const auto& [link, tally] : ran.links) {
      CHECK(link.second == (link.first + 1) % members);
      CHECK(tally.messages == 2 * (members - 1));
      CHECK(Bytes(tally.bytes) == wire_of(CollectiveKind::all_reduce, Bytes(bytes), members));
      CHECK(tally.bytes == 2 * bytes * (members - 1) / members);
    }
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      const Ran half = gather_or_scatter(CollectiveAlgorithm::ring, kind, members, elements);
      CHECK(half.links.size() == static_cast<std::size_t>(members));
      for (const auto& [link, tally] : half.links) {
        CHECK(tally.messages == members - 1);
        CHECK(Bytes(tally.bytes) == wire_of(kind, Bytes(bytes), members));
      }
    }
  }
}

TEST_CASE("a tree sends the whole array up and down each of its edges once") {
  for (const int members : {2, 5, 8, 13}) {
    const std::int64_t elements = 65'000, bytes = 4 * elements;
    const Ran ran = reduce_floats(CollectiveAlgorithm::tree, members, elements);
    CHECK(ran.links.size() == static_cast<std::size_t>(2 * (members - 1)));
    for (const auto& [link, tally] : ran.links) {
      CHECK(tally.messages == 1);
      CHECK(tally.bytes == bytes);
    }
    const int depth = static_cast<int>(std::ceil(std::log2(members)));
    CHECK(ran.sent_by(0).messages == depth);
  }
}

TEST_CASE("a tree scatters to each half what hangs there") {
  const Ran ran =
      gather_or_scatter(CollectiveAlgorithm::tree, CollectiveKind::reduce_scatter, 6, 60);
  // 240 bytes go up each edge; of the 40 of each block 80 go to the two from 4 on.
  CHECK(ran.links.at({0, 4}).messages == 1);
  CHECK(ran.links.at({0, 4}).bytes == 80);
  CHECK(ran.links.at({0, 2}).bytes == 80);
  CHECK(ran.links.at({2, 3}).bytes == 40);
  CHECK(ran.links.at({4, 0}).bytes == 240);
  CHECK(ran.links.at({5, 4}).messages == 1);
}

TEST_CASE("halving and doubling sends as many bytes as a ring in fewer messages") {
  for (const int members : {2, 4, 8, 16}) {
    const std::int64_t elements = 30'000 * members, bytes = 4 * elements;
    const int rounds = std::countr_zero(static_cast<unsigned>(members));
    const Ran ran = reduce_floats(CollectiveAlgorithm::halving, members, elements);
    const Ran half = gather_or_scatter(CollectiveAlgorithm::halving, CollectiveKind::reduce_scatter,
                                       members, elements);
    for (int m = 0; m < members; ++m) {
      CHECK(ran.sent_by(m).messages == 2 * rounds);
      CHECK(Bytes(ran.sent_by(m).bytes) ==
            wire_of(CollectiveKind::all_reduce, Bytes(bytes), members));
      CHECK(half.sent_by(m).messages == rounds);
      CHECK(Bytes(half.sent_by(m).bytes) ==
            wire_of(CollectiveKind::reduce_scatter, Bytes(bytes), members));
    }
  }
}

TEST_CASE("members beyond a power of two send all they have and are sent the result") {
  const std::int64_t elements = 4'096, bytes = 4 * elements;
  const Ran ran = reduce_floats(CollectiveAlgorithm::halving, 6, elements);
  for (const int extra : {4, 5}) {
    CHECK(ran.sent_by(extra).messages == 1);
    CHECK(ran.sent_by(extra).bytes == bytes);
    CHECK(ran.links.at({extra - 4, extra}).messages == 1);
    CHECK(ran.links.at({extra - 4, extra}).bytes == bytes);
  }
  CHECK(ran.sent_by(3).bytes == 2 * bytes * 3 / 4);
  CHECK(ran.all().bytes == 4 * bytes + 4 * (2 * bytes * 3 / 4));
}

TEST_CASE("a hierarchy sends what the formulas of a host and of its network say") {
  for (const auto& [members, on_each] :
       std::vector<std::pair<int, int>>{{8, 4}, {8, 2}, {12, 3}, {6, 1}, {5, 5}}) {
    CAPTURE(members);
    CAPTURE(on_each);
    const std::int64_t g = on_each, m = members / on_each;
    const std::int64_t elements = 10'000 * members, bytes = 4 * elements;
    const Ran ran = reduce_floats(CollectiveAlgorithm::hierarchical, members, elements, on_each);
    const Ran half = gather_or_scatter(CollectiveAlgorithm::hierarchical,
                                       CollectiveKind::reduce_scatter, members, elements, on_each);
    std::map<int, LinkTally> within, across;
    for (const auto& [link, tally] : ran.links) {
      (link.first / on_each == link.second / on_each ? within : across)[link.first].add(tally);
    }
    for (int member = 0; member < members; ++member) {
      CHECK(within[member].bytes == 2 * bytes * (g - 1) / g);
      CHECK(within[member].messages == 2 * (g - 1));
      CHECK(across[member].bytes == 2 * (bytes / g) * (m - 1) / m);
      CHECK(across[member].messages == 2 * (m - 1));
      CHECK(half.sent_by(member).bytes == bytes * (g - 1) / g + (bytes / g) * (m - 1) / m);
      CHECK(half.sent_by(member).messages == g - 1 + m - 1);
    }
  }
}

TEST_CASE("nothing is sent for an array of fewer elements than chunks beyond its elements") {
  const Ran ran = reduce_floats(CollectiveAlgorithm::ring, 8, 3);
  CHECK(ran.all().messages == 3 * 14);
  CHECK(ran.all().bytes == 3 * 14 * 4);
  CHECK(reduce_floats(CollectiveAlgorithm::halving, 8, 1).all().bytes == 14 * 4);
  CHECK(reduce_floats(CollectiveAlgorithm::ring, 1, 3).all().messages == 0);
}

TEST_CASE("exchanges and permutes are sent straight whatever the algorithm") {
  CollectiveShape shape = shape_of(CollectiveKind::all_gather, {DType::f32, {4}}, 2, 0);
  shape.kind = CollectiveKind::all_to_all;
  CHECK(make_routed_collective(shape, *route_of(CollectiveAlgorithm::ring), {2, {{0, 1}}}) ==
        nullptr);
}

TEST_CASE("algorithms have the names that the field has for them") {
  CHECK(algorithm_names() ==
        std::vector<std::string>{"owner", "ring", "tree", "halving", "hierarchical"});
  CHECK(route_of(CollectiveAlgorithm::owner) == nullptr);
}

TEST_CASE(
    "a program gives the same bits for any workers or a thread per device by every algorithm") {
  const Mesh mesh = make_mesh_of({{"x", 3}, {"y", 4}});
  const AxisRef major{1, 1, 2}, minor{1, 2, 2};
  ProgramMaker maker(mesh);
  const TensorType whole{DType::f32, {9, 3'001}}, part{DType::f32, {3, 3'001}};
  BufferId value = maker.input("a", whole, sharding_of({{mesh.full(0)}, {}}));
  value = maker.collective(all_reduce({mesh.full(0)}), value, part);
  value = maker.collective(all_reduce({minor}), value, part);
  value = maker.collective(all_reduce({mesh.full(0), major}), value, part);
  maker.output("y", value, part, sharding_of({{}, {}}));
  const HostTensor input = random_tensor(whole, 3);
  HostTensor by_owner;
  for (const CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::owner, CollectiveAlgorithm::ring, CollectiveAlgorithm::tree,
        CollectiveAlgorithm::halving, CollectiveAlgorithm::hierarchical}) {
    CAPTURE(to_string(algorithm));
    HostTensor first;
    for (const int workers : {1, 2, 3, 8, 0}) {
      ClusterOptions options;
      options.workers = workers;
      options.has_thread_per_device = workers == 0;
      options.collectives = {algorithm, 3};
      Cluster cluster(maker.program, options);
      cluster.write_input(0, input);
      cluster.run();
      const HostTensor result = cluster.read_output(0);
      if (first.bytes.empty()) first = result;
      CHECK(result == first);
      CHECK(cluster.workers() == (workers == 0 ? 12 : workers));
      const Counters counters = cluster.counters();
      CHECK(counters.links.size() == (algorithm == CollectiveAlgorithm::owner ? 0U : 3U));
    }
    if (by_owner.bytes.empty()) by_owner = first;
    CHECK(compare("y", first, by_owner, 1e-5).is_ok());
  }
}

TEST_CASE("hosts that do not divide devices and groups evenly are refused") {
  const auto refusal = [](int hosts) {
    ClusterOptions options;
    options.collectives = {CollectiveAlgorithm::hierarchical, hosts};
    const Mesh mesh = make_mesh_of({{"x", 3}, {"y", 2}});
    ProgramMaker maker(mesh);
    const TensorType type{DType::f32, {3}};
    const BufferId value = maker.input("a", type, sharding_of({{}}));
    maker.collective(all_reduce({mesh.full(0)}), value, type);
    try {
      Cluster(maker.program, options);
    } catch (const Error& error) {
      return to_string(error.diagnostics().front());
    }
    return std::string();
  };
  CHECK(refusal(1).empty());
  CHECK(refusal(3).empty());
  CHECK(refusal(6).empty());
  CHECK(refusal(4) ==
        "error: 6 virtual devices cannot be divided evenly over 4 hosts [hosts-indivisible]\n"
        "  hint: choose a number of hosts that divides the devices");
  CHECK(
      refusal(2) ==
      "error: 2 hosts cut the groups of all_reduce x in different ways, so copies of its result "
      "would differ [hosts-cut-groups]\n"
      "  hint: choose hosts that hold whole groups or equal parts of them: a product of the sizes "
      "of the first mesh axes, for example");
}
