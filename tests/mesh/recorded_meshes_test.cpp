// Device meshes against the answers recorded from JAX: the same ids, the same refusals.
//
// A recorded error matches when ours has the id this table gives for it and says the key phrase.
// Where JAX fell over its own data (IndexError, TypeError, a bare assertion ...) any refusal of
// ours matches: the phrase of such an error says nothing to a user.

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "described_devices.h"
#include "mesh/axis_types.h"
#include "mesh/device_mesh.h"
#include "mesh/mesh_sizes.h"
#include "mesh/torus.h"
#include "support/recordings.h"

using namespace shard;
using namespace shard::test;
using nlohmann::json;

namespace {

struct ErrorRow {
  std::string_view error_class;
  std::string_view phrase;  ///< in JAX's message and in ours
  std::string_view id;
};

constexpr std::array<ErrorRow, 14> error_rows = {{
    {"NotImplementedError", "Failed to find assignment", "topology-unassignable"},
    {"ValueError", "must be >= the product", "mesh-size"},
    {"ValueError", "Number of slices", "mesh-size"},
    {"ValueError", "must equal the product", "mesh-size"},
    {"ValueError", "should be a sequence of ints", "bad-mesh-size"},
    {"ValueError", "can only specify one unknown dimension", "bad-mesh-size"},
    {"ValueError", "cannot create contiguous submeshes", "no-contiguous-submeshes"},
    {"ValueError", "does not support multi-slice topologies", "multi-slice"},
    {"ValueError", "does not have attribute", "no-slice-index"},
    {"ValueError", "Mesh requires the ndim of its first argument", "mesh-rank"},
    {"ValueError", "Mesh axis names cannot be None", "bad-mesh-axis"},
    {"ValueError", "should match the number of axis_types", "axis-types"},
    {"AssertionError", "requires one device per chip", "cores-not-merged"},
    {"AssertionError", "not a contiguous cuboid", "topology-not-a-box"},
}};

// Messages of JAX's own checks of its helper functions, not meant for a user.
constexpr std::array<std::string_view, 1> internal_phrases = {"safe_zip() argument"};

bool is_fall(const std::string& error_class) {
  return error_class != "ValueError" && error_class != "NotImplementedError";
}

bool matches_error(const json& recorded, const Diagnostic& ours) {
  const std::string error_class = recorded.at("class");
  const std::string message = recorded.at("message");
  for (const ErrorRow& row : error_rows) {
    if (row.error_class != error_class || message.find(row.phrase) == std::string::npos) continue;
    return ours.id == row.id && ours.message.find(row.phrase) != std::string::npos;
  }
  for (const std::string_view phrase : internal_phrases) {
    if (message.find(phrase) != std::string::npos) return true;
  }
  return is_fall(error_class);
}

Shape written_sizes(const json& list) {
  std::vector<WrittenSize> sizes;
  for (const json& size : list) {
    if (size.is_null()) sizes.emplace_back(std::monostate{});
    if (size.is_boolean()) sizes.emplace_back(size.get<bool>());
    if (size.is_number_integer()) sizes.emplace_back(size.get<std::int64_t>());
    if (size.is_number_float()) sizes.emplace_back(size.get<double>());
    if (size.is_string()) sizes.emplace_back(size.get<std::string>());
  }
  return whole_sizes(sizes, {});
}

AxisLabel label(const json& name) {
  if (name.is_null()) return std::monostate{};
  if (name.is_number()) return name.get<std::int64_t>();
  return name.get<std::string>();
}

std::variant<std::string, std::vector<AxisLabel>> labels(const json& names) {
  if (names.is_string()) return names.get<std::string>();
  std::vector<AxisLabel> list;
  for (const json& name : names) list.push_back(label(name));
  return list;
}

std::optional<std::vector<AxisType>> types(const json& written) {
  if (written.is_null()) return std::nullopt;
  std::vector<AxisType> list;
  const json several = written.is_array() ? written : json::array({written});
  for (const json& type : several) list.push_back(axis_type_named(type.get<std::string>()).value());
  return list;
}

json nested(const Shape& shape, const std::vector<std::int64_t>& cells) {
  if (shape.empty()) return cells.at(0);
  json rows = cells;
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    json grouped = json::array();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (k % static_cast<std::size_t>(shape[axis]) == 0) grouped.push_back(json::array());
      grouped.back().push_back(rows[k]);
    }
    rows = std::move(grouped);
  }
  return rows;
}

json ids(const DeviceMesh& mesh) { return {{"ids", nested(mesh.shape, mesh.ids)}}; }

json device_mesh(const json& in) {
  DeviceMeshOptions options;
  options.contiguous_submeshes = in.value("contiguous_submeshes", false);
  options.allow_split_physical_axes = in.value("allow_split_physical_axes", false);
  const Shape sizes = written_sizes(in.at("shape"));
  return ids(create_device_mesh(sizes, described_devices(in.at("devices")), options));
}

json hybrid_mesh(const json& in) {
  HybridMeshOptions options;
  options.process_is_granule = in.value("process_is_granule", false);
  options.should_sort_granules_by_key = in.value("should_sort_granules_by_key", true);
  options.allow_split_physical_axes = in.value("allow_split_physical_axes", false);
  const auto devices = in.contains("devices") ? described_devices(in.at("devices"))
                                              : cpu_devices(in.value("count", std::int64_t{8}));
  return ids(create_hybrid_device_mesh(written_sizes(in.at("shape")),
                                       written_sizes(in.at("dcn_shape")), devices, options));
}

json make_mesh_described(const json& in) {
  return ids(make_device_mesh(written_sizes(in.at("shape")), described_devices(in.at("devices"))));
}

json make_mesh_cpu(const json& in) {
  const Shape sizes = written_sizes(in.at("shape"));
  json out = ids(make_device_mesh(sizes, cpu_devices(in.value("count", std::int64_t{8}))));
  const MeshHeader mesh = construct_mesh(
      {false, sizes, labels(in.at("names")), types(in.value("types", json(nullptr)))},
      AxisType::explicit_types, {});
  out["str"] = mesh.str();
  out["repr"] = mesh.repr();
  return out;
}

json torus(const json& in) {
  const TorusPlacement placement = place_on_torus(
      in.at("topology").get<Shape>(), in.at("shape").get<Shape>(), in.value("split", false), {});
  json out = {{"assignment", placement.assignment}};
  if (placement.positions.size() <= 64) {
    out["positions"] = nested(in.at("shape").get<Shape>(), placement.positions);
  } else {
    out["positions"]["first"] =
        std::vector<std::int64_t>(placement.positions.begin(), placement.positions.begin() + 16);
  }
  return out;
}

json construct(const json& in) {
  const MeshHeader mesh =
      construct_mesh({in.at("abstract").get<bool>(), in.at("sizes").get<Shape>(),
                      labels(in.at("names")), types(in.at("types"))},
                     AxisType::automatic, {});
  json shape = json::object();
  for (const auto& [name, size] : mesh.shape()) {
    const auto* number = std::get_if<std::int64_t>(&name);
    const auto* text = std::get_if<std::string>(&name);
    shape[text != nullptr ? *text : number != nullptr ? std::to_string(*number) : "null"] = size;
  }
  return {{"str", mesh.str()}, {"repr", mesh.repr()}, {"size", mesh.size()}, {"shape", shape}};
}

const std::map<std::string, std::function<json(const json&)>> questions = {
    {"device_mesh", device_mesh},     {"hybrid_mesh", hybrid_mesh},
    {"hybrid_mesh_cpu", hybrid_mesh}, {"make_mesh_fake", make_mesh_described},
    {"make_mesh", make_mesh_cpu},     {"torus", torus},
    {"construct", construct},
};

struct Answer {
  bool is_match = false;
  std::string text;
};

Answer answer(const json& recorded) {
  const json& out = recorded.at("out");
  try {
    const json found = questions.at(recorded.at("kind"))(recorded.at("in"));
    return {found == out, found.dump()};
  } catch (const Error& error) {
    const Diagnostic& ours = error.diagnostics().front();
    return {out.contains("error") && matches_error(out.at("error"), ours), to_string(ours)};
  }
}

}  // namespace

TEST_CASE("device meshes are the recorded ones") {
  const std::optional<json> read = tests::read_goldens("semantics/meshes.json");
  if (!read) return;
  const json& recordings = *read;
  REQUIRE(!recordings.empty());
  std::size_t matched = 0;
  for (const json& recorded : recordings) {
    const Answer found = answer(recorded);
    matched += found.is_match ? 1 : 0;
    if (found.is_match) continue;
    std::cout << "miss " << recorded.at("id") << ' ' << recorded.at("kind") << ' '
              << recorded.at("in").dump() << "\n  expected " << recorded.at("out").dump()
              << "\n  found    " << found.text << '\n';
  }
  std::cout << "conformance semantics/meshes.json: " << matched << '/' << recordings.size() << '\n';
  CHECK(matched == recordings.size());
}
