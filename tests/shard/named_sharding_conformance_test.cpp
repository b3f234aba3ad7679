// JAX's own NamedShardings: shard shapes, index maps, replica ids, strings, equivalence, refusals.

#include <doctest/doctest.h>

#include <set>

#include "recorded_rules.h"
#include "shard/hlo_sharding.h"
#include "shard/pieces.h"
#include "shard/sdy_text.h"

using namespace shard;
using namespace shard::tests;

namespace {

json indices_of(const Mesh& mesh, const Sharding& sharding, const Shape& shape) {
  json all = json::array();
  for (std::int64_t at = 0; at < mesh.device_count(); ++at) {
    json one = json::array();
    for (const PieceRange& range : piece_at(mesh, sharding, shape, at)) {
      one.push_back(range.is_whole ? json() : json::array({range.start, range.stop}));
    }
    all.push_back(std::move(one));
  }
  return all;
}

json replica_ids_of(const Mesh& mesh, const Sharding& sharding, const Shape& shape) {
  json all = json::array();
  for (std::int64_t at = 0; at < mesh.device_count(); ++at) {
    all.push_back(replica_id(mesh, sharding, shape, at));
  }
  return all;
}

/// A mesh that ours can express: axes of type Auto with names of their own.
bool is_plain(const json& mesh) {
  std::set<std::string> names;
  for (const json& axis : mesh.at("axes")) {
    if (!names.insert(axis.at(0).get<std::string>()).second) return false;
  }
  for (const json& type : mesh.value("types", json::array())) {
    if (type != "Auto") return false;
  }
  return true;
}

/// What we answer to the fields of a recorded sharding, in its own form.
json answer_to(const json& asked, const Mesh& mesh, const PartitionSpec& spec,
               const Sharding& sharding) {
  const Shape shape = asked.at("shape").get<Shape>();
  json answer;
  answer["str"] = to_string(spec);
  answer["replicated"] = is_fully_replicated(mesh, sharding);
  answer["hlo"] = to_string(hlo_sharding(mesh, sharding));
  answer["sdy"] = sdy_sharding(mesh, sharding, "");
  // A spec of size-1 axes on a dim they do not cut is fine whatever the shape.
  if (divides_evenly(shape, sharding)) {
    answer["shard_shape"] = local_shape(shape, sharding);
    answer["indices"] = indices_of(mesh, sharding, shape);
    answer["replica_ids"] = replica_ids_of(mesh, sharding, shape);
  } else {
    for (const char* const field : {"shard_shape", "indices", "replica_ids"}) {
      answer[field] = "indivisible";
    }
  }
  if (!asked.contains("other")) return answer;
  const json& other = asked.at("other");
  const bool has_mesh = other.is_object() && other.contains("mesh");
  if (has_mesh && !is_plain(other.at("mesh"))) return answer;
  const Mesh other_mesh = has_mesh ? mesh_of(other.at("mesh")) : mesh;
  const json& other_json = other.is_object() && other.contains("spec") ? other.at("spec") : other;
  const auto other_spec = spec_of(other_json);
  const auto other_sharding = sharding_of(other_mesh, other_json, shape.size());
  if (!other_spec || !other_sharding) return answer;
  answer["equivalent"] = is_equivalent(mesh, sharding, other_mesh, *other_sharding);
  answer["equal"] = spec == *other_spec && mesh == other_mesh;
  return answer;
}

void compare_sharding(Conformance& conformance, const json& one) {
  const std::string id = one.at("id").get<std::string>();
  const json& asked = one.at("in");
  const json& out = one.at("out");
  const auto spec = spec_of(asked.at("spec"));
  if (!spec || !is_plain(asked.at("mesh"))) return conformance.leave_out();
  const Mesh mesh = mesh_of(asked.at("mesh"));
  const Shape shape = asked.at("shape").get<Shape>();
  if (out.contains("error")) {
    const std::string expected = expected_id(out.at("error"));
    return conformance.expect(id, verdict(mesh, *spec, shape, Part::activations), expected);
  }
  if (out.contains("rank")) {
    return conformance.expect(id, verdict(mesh, *spec, shape, Part::activations), "rank-mismatch");
  }
  const auto sharding = sharding_of(mesh, asked.at("spec"), shape.size());
  if (!sharding) return conformance.leave_out();
  const json answer = answer_to(asked, mesh, *spec, *sharding);
  json found;
  json expected;
  for (const auto& [field, value] : answer.items()) {
    if (!out.contains(field)) continue;
    found[field] = value;
    const bool is_error = out.at(field).is_object() && out.at(field).contains("error");
    expected[field] = is_error ? json(expected_id(out.at(field).at("error"))) : out.at(field);
  }
  conformance.expect(id, found.dump(), expected.dump());
}

}  // namespace

TEST_CASE("named shardings are what JAX makes of them") {
  const std::optional<json> recording = read_goldens("semantics/named_sharding.json");
  if (!recording) return;
  Conformance conformance("semantics/named_sharding.json sharding");
  for (const json& one : *recording) {
    if (one.at("kind") == "sharding") compare_sharding(conformance, one);
  }
  CHECK(conformance.matched() == conformance.total());
}

TEST_CASE("specs are stored and printed as JAX does") {
  const std::optional<json> recording = read_goldens("semantics/named_sharding.json");
  if (!recording) return;
  Conformance conformance("semantics/named_sharding.json spec");
  for (const json& one : *recording) {
    const json& out = one.at("out");
    const std::string id = one.at("id").get<std::string>();
    if (one.at("kind") == "spec") {
      const auto spec = spec_of(one.at("in").at("spec"));
      // Our names of axes are words, so none needs the other kind of quotes.
      const bool has_quote = out.value("str", "").find('"') != std::string::npos;
      if (!spec || has_quote || out.contains("error")) {
        conformance.leave_out();
      } else {
        conformance.expect(id, to_string(*spec), out.at("str").get<std::string>());
      }
    } else if (one.at("kind") == "spec_equality") {
      const auto a = spec_of(one.at("in").at("a"));
      const auto b = spec_of(one.at("in").at("b"));
      if (!a || !b) {
        conformance.leave_out();
      } else {
        conformance.expect(id, json(*a == *b).dump(), out.at("equal").dump());
      }
    }
  }
  CHECK(conformance.matched() == conformance.total());
}

TEST_CASE("specs are refused where jit refuses them") {
  const std::optional<json> recording = read_goldens("semantics/named_sharding.json");
  if (!recording) return;
  Conformance conformance("semantics/named_sharding.json use");
  for (const json& one : *recording) {
    if (one.at("kind") != "use") continue;
    const json& asked = one.at("in");
    const std::string where = asked.at("where").get<std::string>();
    const auto spec = spec_of(asked.at("spec"));
    const bool is_argument = where.find("jit_in") == 0;
    if (!spec || !is_plain(asked.at("mesh")) || (!is_argument && where.find("jit_out") != 0)) {
      conformance.leave_out();
      continue;
    }
    const json& out = one.at("out");
    const std::string expected =
        out.contains("error") ? expected_id(out.at("error")) : std::string("accepted");
    conformance.expect(one.at("id").get<std::string>(),
                       verdict(mesh_of(asked.at("mesh")), *spec, asked.at("shape").get<Shape>(),
                               is_argument ? Part::params : Part::outputs),
                       expected);
  }
  CHECK(conformance.matched() == conformance.total());
}

TEST_CASE("lowered modules have our mesh lines and device lists") {
  const std::optional<json> recording = read_goldens("semantics/named_sharding.json");
  if (!recording) return;
  Conformance conformance("semantics/named_sharding.json lowered");
  for (const json& one : *recording) {
    if (one.at("kind") != "lowered") continue;
    const json& asked = one.at("in");
    const json& out = one.at("out");
    const Mesh mesh = mesh_of(asked.at("mesh"));
    const auto sharding =
        sharding_of(mesh, asked.at("spec"), asked.at("shape").get<Shape>().size());
    if (!sharding || !is_plain(asked.at("mesh")) || !out.contains("hlo")) {
      conformance.leave_out();
      continue;
    }
    const HloSharding hlo = hlo_sharding(mesh, *sharding);
    const std::string text = out.at("hlo").get<std::string>();
    json found = {{"mesh", sdy_mesh_line(mesh)},
                  {"argument", "sdy.sharding = " + sdy_sharding(mesh, *sharding)},
                  {"hlo", to_string(hlo)}};
    json expected = {{"mesh", out.at("mesh")}, {"argument", out.at("argument")}, {"hlo", text}};
    if (out.contains("tile") && !hlo.dims.empty()) {
      found["tile"] = hlo.dims;
      found["tile_devices"] = device_list(hlo);
      expected["tile"] = out.at("tile");
      expected["tile_devices"] = out.at("tile_devices");
    }
    conformance.expect(one.at("id").get<std::string>(), found.dump(), expected.dump());
    CHECK(read_hlo_sharding(text) == hlo);
    CHECK(read_hlo_sharding(to_string_v1(hlo)) == hlo);
  }
  CHECK(conformance.matched() == conformance.total());
}
