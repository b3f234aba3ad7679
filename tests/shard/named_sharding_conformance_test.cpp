// JAX's own NamedShardings: shard shapes, index maps, replica ids, strings, equivalence, refusals.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "mesh/axis_types.h"
#include "recorded_rules.h"
#include "shard/hlo_sharding.h"
#include "shard/named_sharding.h"
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

/// Python prints sets in no fixed order: their names are put in order.
std::string with_sorted_sets(std::string text) {
  std::size_t open = 0;
  while ((open = text.find("={", open)) != text.npos) {
    open += 2;
    const std::size_t close = text.find('}', open);
    std::set<std::string> names;
    for (std::size_t from = open; from < close;) {
      const std::size_t to = std::min(text.find(", ", from), close);
      names.insert(text.substr(from, to - from));
      from = to + 2;
    }
    std::string sorted;
    for (const std::string& name : names) sorted += (sorted.empty() ? "" : ", ") + name;
    text.replace(open, close - open, sorted);
  }
  return text;
}

bool has_repeated_names(const json& mesh) {
  std::set<std::string> names;
  for (const json& axis : mesh.at("axes")) {
    if (!names.insert(axis.at(0).get<std::string>()).second) return true;
  }
  return false;
}

/// What `make_mesh` says to a mesh with such axes.
std::string mesh_refusal(const json& recorded) {
  RulesConfig rules;
  for (const json& axis : recorded.at("axes")) {
    rules.mesh.push_back(
        {MeshAxis(axis.at(0).get<std::string>()), axis.at(1).get<std::int64_t>(), {}});
  }
  try {
    make_mesh(rules);
    return "made";
  } catch (const Error& error) {
    return "refused: " + error.diagnostics().front().id;
  }
}

/// Shapes and pieces, or why there are none.
json pieces_of(const Mesh& mesh, const PartitionSpec& spec, const Sharding& sharding,
               const Shape& shape) {
  const bool is_manual = std::any_of(
      mesh.axes().begin(), mesh.axes().end(),
      [](const MeshAxisInfo& axis) { return axis.type == AxisType::manual && axis.size > 1; });
  std::string refusal;
  if (is_manual) refusal = placed(mesh, spec, shape, Part::activations);
  if (!divides_evenly(shape, sharding)) refusal = "refused: indivisible";
  if (!refusal.empty()) {
    return {{"shard_shape", refusal}, {"indices", refusal}, {"replica_ids", refusal}};
  }
  json answer = {{"shard_shape", local_shape(shape, sharding)}};
  const bool has = has_pieces(sharding);
  answer["indices"] = has ? indices_of(mesh, sharding, shape) : json("refused: no-pieces");
  answer["replica_ids"] = has ? replica_ids_of(mesh, sharding, shape) : json("refused: no-pieces");
  return answer;
}

/// What we say of a second sharding beside the first.
json comparison(const json& asked, const Mesh& mesh, const PartitionSpec& spec, int rank) {
  const json& other = asked.at("other");
  const Mesh other_mesh = other.contains("mesh") ? mesh_of(other.at("mesh")) : mesh;
  const auto other_spec = read_recorded_spec(other.at("spec"));
  if (!other_spec) return {{"other", other_spec.refusal}};
  const Shape shape(other_spec.value->entries.size(), 0);
  const std::string verdict = placed(other_mesh, *other_spec.value, shape, Part::activations);
  if (verdict.starts_with("refused")) return {{"other", verdict}};
  const Sharding one = named_sharding(mesh, spec, rank);
  const Sharding two = named_sharding(other_mesh, *other_spec.value, rank);
  // A spec beyond the rank is no sharding of the array at all.
  if (static_cast<int>(other_spec.value->entries.size()) > rank) return json::object();
  return {{"equivalent", is_equivalent(mesh, one, other_mesh, two)},
          {"equal", spec == *other_spec.value && mesh == other_mesh}};
}

/// What we answer to the fields of a recorded sharding, in its own form.
json answer_to(const json& asked, const Mesh& mesh, const PartitionSpec& spec) {
  const Shape shape = asked.at("shape").get<Shape>();
  const int rank = static_cast<int>(shape.size());
  const Sharding sharding = named_sharding(mesh, spec, rank);
  json answer = pieces_of(mesh, spec, sharding, shape);
  answer["str"] = to_string(spec);
  answer["replicated"] = is_fully_replicated(mesh, sharding);
  answer["hlo"] = to_string(hlo_sharding(mesh, sharding));
  answer["sdy"] = sdy_sharding(mesh, sharding, "");
  answer["sdy_open"] = sdy_sharding(mesh, opened_for_auto(mesh, sharding, spec.reduced), "");
  if (asked.contains("other")) answer.update(comparison(asked, mesh, spec, rank));
  return answer;
}

/// A recorded field in our words.
json expected_field(const std::string& field, const json& recorded) {
  const bool is_error = recorded.is_object() && recorded.contains("error");
  if (!is_error) {
    return field == "str" ? json(with_sorted_sets(recorded.get<std::string>())) : recorded;
  }
  const json& error = recorded.at("error");
  if (error.at("message").get<std::string>().find("work with unreduced") != std::string::npos) {
    return "refused: no-pieces";
  }
  return error.at("class") == "AssertionError" ? json("refused: manual-axis")
                                               : json(expected_refusal(error));
}

void compare_sharding(Conformance& conformance, const json& one) {
  const std::string id = one.at("id").get<std::string>();
  const json& asked = one.at("in");
  const json& out = one.at("out");
  if (has_repeated_names(asked.at("mesh"))) {
    return conformance.expect_refused(id, mesh_refusal(asked.at("mesh")),
                                      "two mesh axes have one name");
  }
  const auto spec = read_recorded_spec(asked.at("spec"));
  if (asked.at("spec").is_array()) {
    const std::string why = nonsense_in_names(asked.at("spec"));
    if (!why.empty()) return conformance.expect_refused(id, spec.refusal, why);
  }
  if (!spec) return conformance.expect(id, spec.refusal, expected_refusal(out.at("error")));
  const Mesh mesh = mesh_of(asked.at("mesh"));
  const Shape shape = asked.at("shape").get<Shape>();
  if (out.contains("error") || out.contains("rank")) {
    const json& error = out.contains("error") ? out.at("error") : out.at("rank").at("error");
    return conformance.expect(id, placed(mesh, *spec.value, shape, Part::activations),
                              expected_refusal(error));
  }
  const json answer = answer_to(asked, mesh, *spec.value);
  json found;
  json expected;
  for (const auto& [field, recorded] : out.items()) {
    // Upstream's own assertion about a spec that uses a manual axis; ours is refused as a whole.
    const bool is_asserted = field == "hlo" && recorded.is_object();
    if (is_asserted || !answer.contains(field)) continue;
    found[field] = answer.at(field);
    expected[field] = expected_field(field, recorded);
  }
  conformance.expect(id, found.dump(), expected.dump());
}

void compare_spec(Conformance& conformance, const json& one) {
  const json& asked = one.at("in").at("spec");
  const json& out = one.at("out");
  const std::string id = one.at("id").get<std::string>();
  const auto spec = read_recorded_spec(asked);
  const std::string found = spec ? to_string(*spec.value) : spec.refusal;
  if (out.contains("error"))
    return conformance.expect(id, found, expected_refusal(out.at("error")));
  const std::string why = asked.is_array() ? nonsense_in_names(asked) : "";
  // An empty name is None, for JAX and for us.
  if (!why.empty() && asked != json({""})) return conformance.expect_refused(id, found, why);
  const std::size_t entries = spec ? spec.value->entries.size() : 0;
  conformance.expect(id, found + " of " + std::to_string(entries),
                     out.at("str").get<std::string>() + " of " + out.at("len").dump());
}

void compare_equality(Conformance& conformance, const json& one) {
  const auto a = read_recorded_spec(one.at("in").at("a"));
  const auto b = read_recorded_spec(one.at("in").at("b"));
  REQUIRE(a);
  REQUIRE(b);
  conformance.expect(one.at("id").get<std::string>(), json(*a.value == *b.value).dump(),
                     one.at("out").at("equal").dump());
}

/// Where a sharding was handed to, and whose rules are asked there.
struct Place {
  const char* word;
  Part part;
  Misfit misfit;
};
constexpr std::array<Place, 5> places = {{
    {"jit_in", Part::params, Misfit::error},
    {"jit_out", Part::outputs, Misfit::error},
    {"constraint", Part::activations, Misfit::pad},
    {"device_put", Part::params, Misfit::error},
    {"make_array", Part::params, Misfit::error},
}};

void compare_use(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  const std::string where = asked.at("where").get<std::string>();
  const auto place = std::find_if(places.begin(), places.end(),
                                  [&](const Place& row) { return where.starts_with(row.word); });
  REQUIRE(place != places.end());
  const auto spec = read_recorded_spec(asked.at("spec"));
  REQUIRE(spec);
  const Shape shape = asked.at("shape").get<Shape>();
  const auto& entries = spec.value->entries;
  const bool is_odd = entries.size() > shape.size() ||
                      std::any_of(entries.begin(), entries.end(), [](const PartitionEntry& entry) {
                        return entry.is_unconstrained;
                      });
  if (where.starts_with("make_array") && is_odd) {
    return conformance.leave_out("make_array_from_callback looks at neither rank nor open dims");
  }
  const std::string expected =
      out.contains("error") ? expected_refusal(out.at("error")) : to_string(*spec.value);
  conformance.expect(
      one.at("id").get<std::string>(),
      placed(mesh_of(asked.at("mesh")), *spec.value, shape, place->part, place->misfit), expected);
}

std::string repr_of(const json& mesh, const PartitionSpec& spec) {
  MeshArguments arguments;
  std::vector<AxisLabel> names;
  for (const json& axis : mesh.at("axes")) {
    names.emplace_back(axis.at(0).get<std::string>());
    arguments.sizes.push_back(axis.at(1).get<std::int64_t>());
  }
  arguments.names = std::move(names);
  if (mesh.contains("types")) {
    arguments.types.emplace();
    for (const json& type : mesh.at("types")) {
      arguments.types->push_back(axis_type_named(type.get<std::string>()).value());
    }
  }
  return "NamedSharding(mesh=" + construct_mesh(arguments, AxisType::automatic, {}).str() +
         ", spec=" + to_string(spec) + ", memory_kind=device)";
}

void compare_lowered(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  const std::string id = one.at("id").get<std::string>();
  const Mesh mesh = mesh_of(asked.at("mesh"));
  const Shape shape = asked.at("shape").get<Shape>();
  const auto spec = read_recorded_spec(asked.at("spec"));
  REQUIRE(spec);
  if (out.contains("error")) {
    return conformance.expect(id, placed(mesh, *spec.value, shape, Part::params),
                              expected_refusal(out.at("error")));
  }
  const Sharding sharding = named_sharding(mesh, *spec.value, static_cast<int>(shape.size()));
  const HloSharding hlo = hlo_sharding(mesh, sharding);
  const bool is_tiled = !hlo.dims.empty();
  json found = {{"mesh", sdy_mesh_line(mesh)},
                {"argument", "sdy.sharding = " + sdy_sharding(mesh, sharding)},
                {"repr", repr_of(asked.at("mesh"), *spec.value)},
                {"hlo", to_string(hlo)},
                {"tile", is_tiled ? json(hlo.dims) : json::array({0})},
                {"tile_devices", is_tiled ? json(device_list(hlo)) : json::array()}};
  conformance.expect(id, found.dump(), out.dump());
  CHECK(read_hlo_sharding(out.at("hlo").get<std::string>()) == hlo);
  CHECK(read_hlo_sharding(to_string_v1(hlo)) == hlo);
}

void compare_named(const std::string& kind, CompareOne compare_one) {
  compare_kind("semantics/named_sharding.json", kind, compare_one);
}

}  // namespace

TEST_CASE("named shardings are what JAX makes of them") {
  compare_named("sharding", compare_sharding);
}

TEST_CASE("specs are stored and printed as JAX does") { compare_named("spec", compare_spec); }

TEST_CASE("specs are equal when JAX says so") { compare_named("spec_equality", compare_equality); }

TEST_CASE("specs are refused where JAX refuses them") { compare_named("use", compare_use); }

TEST_CASE("lowered modules have our mesh lines and device lists") {
  compare_named("lowered", compare_lowered);
}
