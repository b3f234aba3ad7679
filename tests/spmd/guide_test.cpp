// The Flax guide's model on data 2 x model 4: its collectives, bytes, schedule and memory.

#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>

#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

TEST_CASE("dump") {
  const char* m = std::getenv("M");
  const char* r = std::getenv("R");
  const Planned planned = plan_shipped(m ? m : "guide_mlp", r ? r : "flax_guide");
  const std::string text = to_string(planned.program);
  std::cout << text;
  verify(planned.program);
  CHECK(read_program("p", text) == planned.program);
  for (const auto& c : count_collectives(planned.program))
    std::cout << int(c.kind) << " " << c.axes.front().axis << " x" << c.count << " " << c.payload.count() << " " << c.wire.count() << "\n";
  for (const auto& c : xla_merge(planned.program)) {
    std::cout << int(c.kind) << " " << c.axes.front().axis << " body " << c.body << " times " << c.times << ":";
    for (int k : c.members) std::cout << " " << k;
    std::cout << "\n";
  }
}
