// Reshard sequences against Shardy's own, recorded.

#include <doctest/doctest.h>

#include "shard/recorded_program.h"
#include "spmd/sequence.h"
#include "spmd/words.h"
#include "support/goldens.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::string steps_text(const Mesh& mesh, const std::vector<spmd::SequenceStep>& steps) {
  std::string text;
  for (const spmd::SequenceStep& step : steps) {
    text += (text.empty() ? "" : "; ") + std::string(name(step.kind)) + " " +
            recorded_form(mesh, spmd::with_axes(step.after));
  }
  return text;
}

std::string recorded_steps(const json& sequence) {
  std::string text;
  for (const json& step : sequence) {
    text += (text.empty() ? "" : "; ") + step.at(0).get<std::string>() + " " +
            step.at(1).get<std::string>();
  }
  return text;
}

}  // namespace

TEST_CASE("reshard sequences are those that Shardy makes") {
  const std::optional<json> cases = read_goldens("auto/reshard.json");
  if (!cases) return;
  Conformance conformance("auto/reshard.json");
  for (const json& one : *cases) {
    if (!one.contains("shardy_sequence")) continue;
    const Mesh mesh = mesh_of(one.at("mesh"));
    const auto axes = [&](const char* key) {
      return spmd::axes_of(read_sharding(mesh, one.at(key).get<std::string>()));
    };
    const auto steps =
        spmd::collective_sequence(one.at("shape").get<Shape>(), axes("from"), axes("to"));
    conformance.expect(one.at("name").get<std::string>(), steps_text(mesh, steps),
                       recorded_steps(one.at("shardy_sequence")));
  }
  CHECK(conformance.total() > 0);
  CHECK(conformance.matched() == conformance.total());
}
