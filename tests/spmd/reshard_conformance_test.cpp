// Reshard sequences against Shardy's own, and the cheapest against the best found, recorded.

#include <doctest/doctest.h>

#include <iostream>

#include "shard/recorded_program.h"
#include "shard/sharding_text.h"
#include "spmd/cheapest_reshard.h"
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

namespace {

/// The sharding on another mesh of the same devices in the same order.
std::optional<Sharding> on_mesh(const Mesh& mesh, const Mesh& other, const Sharding& sharding) {
  return sharding_on(mesh, hlo_sharding(other, sharding), sharding.rank());
}

/// Bytes of the cheapest way through all the shardings of a recorded move, and its least.
Bytes cheapest_bytes(const json& one) {
  const Mesh mesh = mesh_of(one.at("mesh"));
  const Mesh last_mesh = one.contains("to_mesh") ? mesh_of(one.at("to_mesh")) : mesh;
  const TensorType type{DType::f32, one.at("shape").get<Shape>()};
  std::vector<Sharding> stops{read_sharding(mesh, one.at("from").get<std::string>())};
  for (const json& stop : one.value("via", json::array()))
    stops.push_back(read_sharding(mesh, stop.get<std::string>()));
  const Sharding last = read_sharding(last_mesh, one.at("to").get<std::string>());
  stops.push_back(on_mesh(mesh, last_mesh, last).value());
  Bytes wire;
  for (std::size_t i = 1; i < stops.size(); ++i)
    wire += cheapest_reshard(mesh, type, stops[i - 1], stops[i])->wire;
  return wire;
}

}  // namespace

TEST_CASE("cheapest reshards never send more than the best that is recorded") {
  const std::optional<json> cases = read_goldens("auto/reshard.json");
  if (!cases) return;
  Conformance best("auto/reshard.json best_bytes");
  Conformance against_xla("auto/reshard.json bytes of XLA");
  double ours = 0, of_xla = 0;
  for (const json& one : *cases) {
    const std::string name = one.at("name").get<std::string>();
    const auto bytes = static_cast<double>(cheapest_bytes(one).count());
    const auto expect_at_most = [&](Conformance& conformance, double most) {
      const std::string limit = "at most " + std::to_string(most);
      conformance.expect(name, bytes <= most ? limit : std::to_string(bytes), limit);
    };
    if (one.contains("best_bytes")) expect_at_most(best, one.at("best_bytes").get<double>());
    expect_at_most(against_xla, one.at("wire_bytes").get<double>());
    ours += bytes;
    of_xla += one.at("wire_bytes").get<double>();
  }
  std::cout << "reshards: " << ours << " bytes, XLA's " << of_xla << ", ratio " << ours / of_xla
            << '\n';
  CHECK(best.total() > 0);
  CHECK(best.matched() == best.total());
  // Of dims that do not divide XLA can shift slivers between neighbours, where we gather the dim.
  CHECK(against_xla.matched() >= against_xla.total() - 6);
}
