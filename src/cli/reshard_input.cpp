#include "cli/reshard_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "cli/spec_input.h"
#include "shard/sharding_text.h"
#include "spmd/axes.h"

namespace shard {
namespace {

DType read_dtype(const std::string& word) {
  if (const std::optional<DType> dtype = dtype_named(word)) return *dtype;
  std::vector<std::string> known;
  for (const DTypeInfo& row : dtype_table()) known.emplace_back(row.name);
  throw Error("bad-value", {"--dtype"}, fmt::format("there is no element type '{}'", word),
              did_you_mean(word, known, "element types", known.size()));
}

RulesConfig read_rules(const Options& options, Sources& sources) {
  Options mesh_options = options;
  mesh_options.arguments.clear();
  if (options.arguments.size() == 3) mesh_options.arguments = {options.arguments.front()};
  if (mesh_options.arguments.empty() && options.overrides.mesh.empty() &&
      options.overrides.devices.empty()) {
    throw Error("usage", {"command line"}, "reshard needs a mesh",
                "add --mesh data=2,model=4, or name RULES in front of the specs");
  }
  return read_mesh_rules(mesh_options, sources);
}

Mesh other_mesh(const Options& options, const Mesh& mesh, Sources& sources) {
  Options mesh_options;
  mesh_options.overrides.mesh = options.to_mesh;
  const Mesh other = make_mesh(read_mesh_rules(mesh_options, sources));
  if (other.device_count() != mesh.device_count()) {
    throw Error(
        "mesh-size", {"--to-mesh"},
        fmt::format("the mesh {} has {} devices, the array is on the {} of {}", to_string(other),
                    other.device_count(), mesh.device_count(), to_string(mesh)),
        "the sizes of both meshes multiply to the same number");
  }
  return other;
}

/// Mesh axes alone: an array of the command line has no rules that are its own.
Sharding read_side(const std::string& word, const char* side, const TensorType& type,
                   const RulesConfig& rules, const Mesh& mesh) {
  if (!is_sharding_text(word) && word.rfind("P(", 0) != 0) {
    throw Error("bad-value", {side, 1, 1}, fmt::format("'{}' is no sharding by mesh axes", word),
                "write P('data', None), {devices=[2,4]<=[8]} or <@mesh, [{\"data\"}, {}]>");
  }
  return closed(read_spec_word(word, {side, 1, 1}, type, rules, mesh, "reshard RULES FROM TO"));
}

void refuse_uneven(const TensorType& type, const Mesh& mesh, const Sharding& sharding,
                   const Location& at) {
  for (std::size_t dim = 0; dim < type.shape.size(); ++dim) {
    const std::int64_t parts = part_count(sharding.dims[dim]);
    if (type.shape[dim] % parts == 0) continue;
    throw Error(
        "indivisible", at,
        fmt::format("dim {} of {} has size {}, and {} splits it {} ways", dim, to_string(type),
                    type.shape[dim], spec_text(mesh, sharding), parts),
        fmt::format("nearest legal sizes: {} or {}; with --pad the last pieces are padded",
                    type.shape[dim] / parts * parts, (type.shape[dim] / parts + 1) * parts));
  }
}

/// The same split on the first mesh.
Sharding moved_to(const Mesh& mesh, const Mesh& other, const Sharding& sharding,
                  const std::string& word) {
  const std::optional<Sharding> moved =
      sharding_on(mesh, hlo_sharding(other, sharding), sharding.rank());
  if (moved) return *moved;
  throw Error("mesh-mismatch", {"--to-mesh"},
              fmt::format("no axes of the mesh {} split an array as {} does on {}", to_string(mesh),
                          word, to_string(other)),
              "use meshes whose axes are products of common factors");
}

void refuse_sum(const Mesh& mesh, const ReshardInput& input, const std::string& word) {
  for (const AxisRef& axis : input.to.unreduced) {
    const auto holds = [&](const AxisRef& one) { return contains(one, axis); };
    if (std::any_of(input.from.unreduced.begin(), input.from.unreduced.end(), holds)) continue;
    throw Error("unreduced-result", {"TO", 1, 1},
                fmt::format("{} is a sum over {}, which the array is not before", word,
                            to_string(mesh, axis)),
                "leave unreduced out of TO, or put it into FROM too");
  }
}

}  // namespace

ReshardInput read_reshard_input(const Options& options, Sources& sources) {
  if (options.shape.empty()) {
    throw Error("usage", {"command line"}, "reshard needs the shape of the array",
                "add --shape 1024,4096, or --shape scalar");
  }
  const RulesConfig rules = read_rules(options, sources);
  ReshardInput input;
  input.mesh = make_mesh(rules);
  input.type = {read_dtype(options.dtype), read_shape(options.shape)};
  const Mesh goal_mesh =
      options.to_mesh.empty() ? input.mesh : other_mesh(options, input.mesh, sources);
  const std::string& from = options.arguments[options.arguments.size() - 2];
  const std::string& to = options.arguments.back();
  input.from = read_side(from, "FROM", input.type, rules, input.mesh);
  input.to = read_side(to, "TO", input.type, rules, goal_mesh);
  if (!options.pad) {
    refuse_uneven(input.type, input.mesh, input.from, {"FROM", 1, 1});
    refuse_uneven(input.type, goal_mesh, input.to, {"TO", 1, 1});
  }
  if (!options.to_mesh.empty()) input.to = moved_to(input.mesh, goal_mesh, input.to, to);
  refuse_sum(input.mesh, input, to);
  return input;
}

}  // namespace shard
