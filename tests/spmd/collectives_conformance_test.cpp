// Bytes that partitioned programs send, against XLA's, recorded.

#include <doctest/doctest.h>

#include <iostream>
#include <map>

#include "spmd/partition.h"
#include "spmd/recorded_graph.h"
#include "support/recordings.h"

using namespace shard;
using namespace shard::tests;

namespace {

double wire_of_program(const Program& program) {
  double wire = 0;
  for (const CollectiveCount& count : count_collectives(program))
    wire += static_cast<double>(count.wire.count());
  return wire;
}

}  // namespace

TEST_CASE("random programs send fewer bytes than XLA makes them send") {
  const std::optional<json> programs = read_goldens("auto/propagate.json");
  const std::optional<json> recorded = read_goldens("auto/collectives.json");
  if (!programs || !recorded) return;
  std::map<std::string, const json*> by_name;
  for (const json& program : *programs) by_name[program.at("name").get<std::string>()] = &program;
  Conformance conformance("auto/collectives.json");
  std::map<std::string, int> missing;
  double ours = 0, of_xla = 0;
  for (const json& one : *recorded) {
    const std::string name = one.at("name").get<std::string>();
    const auto most = one.at("wire_bytes").get<double>();
    const std::string limit = "at most " + std::to_string(most);
    const auto graph = recorded_graph(*by_name.at(name));
    if (std::holds_alternative<std::string>(graph)) {
      ++missing[std::get<std::string>(graph)];
      conformance.expect(name, "no " + std::get<std::string>(graph), limit);
      continue;
    }
    const double wire = wire_of_program(partition(std::get<ShardedGraph>(graph)));
    conformance.expect(name, wire <= most ? limit : std::to_string(wire), limit);
    ours += wire;
    of_xla += most;
  }
  for (const auto& [op, count] : missing)
    std::cout << "not rebuilt, for want of " << op << ": " << count << '\n';
  std::cout << "programs: " << ours << " bytes, XLA's " << of_xla << ", ratio " << ours / of_xla
            << '\n';
  CHECK(missing.empty());
  CHECK(conformance.matched() >= 600);
  CHECK(ours <= 0.92 * of_xla);
}
