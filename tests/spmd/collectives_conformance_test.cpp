// Bytes that partitioned programs send, against XLA's, recorded.

#include <doctest/doctest.h>

#include <iostream>
#include <map>

#include "spmd/partition.h"
#include "spmd/recorded_graph.h"
#include "support/recordings.h"

using namespace shard;
using namespace shard::tests;

TEST_CASE("random programs send fewer bytes than XLA makes them send") {
  const std::optional<json> programs = read_goldens("auto/propagate.json");
  const std::optional<json> recorded = read_goldens("auto/collectives.json");
  if (!programs || !recorded) return;
  std::map<std::string, const json*> by_name;
  for (const json& program : *programs) by_name[program.at("name").get<std::string>()] = &program;
  Conformance conformance("auto/collectives.json");
  std::map<std::string, int> missing;
  Bytes ours, of_xla;
  for (const json& one : *recorded) {
    const std::string name = one.at("name").get<std::string>();
    const Bytes most(one.at("wire_bytes").get<std::int64_t>());
    const std::string limit = "at most " + std::to_string(most.count());
    const auto graph = recorded_graph(*by_name.at(name));
    if (std::holds_alternative<std::string>(graph)) {
      ++missing[std::get<std::string>(graph)];
      conformance.expect(name, "no " + std::get<std::string>(graph), limit);
      continue;
    }
    const Bytes wire = wire_of(partition(std::get<ShardedGraph>(graph)));
    conformance.expect(name, wire <= most ? limit : std::to_string(wire.count()), limit);
    ours += wire;
    of_xla += most;
  }
  for (const auto& [op, count] : missing)
    std::cout << "not rebuilt, for want of " << op << ": " << count << '\n';
  const double ratio = static_cast<double>(ours.count()) / static_cast<double>(of_xla.count());
  std::cout << "programs: " << ours.count() << " bytes, XLA's " << of_xla.count() << ", ratio "
            << ratio << '\n';
  CHECK(missing.empty());
  CHECK(100 * conformance.matched() >= 97 * conformance.total());
  CHECK(ratio <= 0.92);
}
