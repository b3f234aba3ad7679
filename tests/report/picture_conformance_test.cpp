// JAX's own pictures, recorded.

#include <doctest/doctest.h>

#include "report/picture.h"
#include "support/goldens.h"

using namespace shard;
using namespace shard::tests;

namespace {

constexpr const char* refused = "refused";

std::string drawn(const json& asked) {
  const Mesh mesh = mesh_of(asked.at("mesh"));
  const Shape shape = asked.at("shape").get<Shape>();
  const std::optional<Sharding> sharding = sharding_of(mesh, asked.at("spec"), shape.size());
  if (!has_jax_picture(shape) || !sharding || !divides_evenly(shape, *sharding)) return refused;
  if (product(sharding->unreduced) > 1) return refused;
  PictureOptions options;
  options.max_width = asked.value("max_width", options.max_width);
  options.min_width = asked.value("min_width", options.min_width);
  options.scale = asked.value("scale", options.scale);
  return jax_picture(mesh, *sharding, shape, options);
}

}  // namespace

TEST_CASE("pictures are what JAX draws") {
  const std::optional<json> recording = read_goldens("semantics/pictures.json");
  if (!recording) return;
  Conformance conformance("semantics/pictures.json");
  for (const json& one : *recording) {
    if (one.at("kind") == "jit") continue;  // asks what XLA chooses for an expression
    const json& answer = one.at("out");
    const std::string expected =
        answer.contains("text") ? answer.at("text").get<std::string>() : refused;
    conformance.expect(one.at("id").get<std::string>(), drawn(one.at("in")), expected);
  }
  CHECK(conformance.matched() == conformance.total());
}
