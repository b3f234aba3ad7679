// What Shardy's propagation gave every value of recorded programs, by the factor rules of our op
// table; rules of ops that have no row are taken from the recording.

#include <doctest/doctest.h>

#include "recorded_program.h"
#include "shard/boundary.h"
#include "shard/fixed_point.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// Every value's sharding, in the order of slots: constants occur once per use.
std::string found_shardings(const RecordedProgram& program) {
  std::string text;
  for (const FlowSlot& slot : program.flow.slots) {
    if (slot.value == ValueId::none) continue;
    text += " " + std::to_string(static_cast<int>(slot.value)) + " " +
            recorded_form(program.mesh, slot.sharding);
  }
  for (const FlowResult& result : program.flow.results) {
    const FlowSlot& slot = program.flow.slots[static_cast<std::size_t>(result.result)];
    text += " result " + recorded_form(program.mesh, slot.sharding);
  }
  return text;
}

std::string expected_shardings(const RecordedProgram& program) {
  std::string text;
  for (const FlowSlot& slot : program.flow.slots) {
    if (slot.value == ValueId::none) continue;
    text += " " + std::to_string(static_cast<int>(slot.value)) + " " +
            program.expected[index_of(slot.value)];
  }
  for (const std::string& result : program.expected_result) text += " result " + result;
  return text;
}

void clean(RecordedProgram& program, int number) {
  FlowSlot& slot = program.flow.slots[static_cast<std::size_t>(number)];
  slot.sharding = at_boundary(program.mesh, std::move(slot.sharding), slot.shape);
}

void compare_all(const std::string& name) {
  const std::optional<json> recording = read_goldens(name);
  if (!recording) return;
  Conformance conformance(name);
  Conformance rules(name + " factor rules");
  for (const json& recorded : *recording) {
    RecordedProgram program = read_program(recorded);
    for (const ComparedRule& rule : program.rules) {
      if (rule.found == "no row") {
        rules.leave_out("the table has no " + rule.op);
      } else {
        rules.expect(recorded.at("name").get<std::string>() + " " + rule.op, rule.found,
                     rule.expected);
      }
    }
    reach_fixed_point(program.flow);
    for (const int argument : program.arguments) clean(program, argument);
    for (const FlowResult& result : program.flow.results) clean(program, result.result);
    conformance.expect(recorded.at("name").get<std::string>(), found_shardings(program),
                       expected_shardings(program));
  }
  CHECK(conformance.matched() == conformance.total());
  CHECK(rules.matched() == rules.total());
}

}  // namespace

TEST_CASE("random programs are sharded as Shardy shards them") {
  compare_all("auto/propagate.json");
}

TEST_CASE("programs made by hand are sharded as Shardy shards them") {
  compare_all("auto/hand.json");
}
