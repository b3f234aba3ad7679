#include "cli/spec_input.h"

#include <sstream>

#include "cli/pipeline.h"
#include "cli/values.h"
#include "config/layered_rules.h"
#include "config/load.h"
#include "mesh/topology.h"
#include "report/piece_dim.h"
#include "shard/resolve.h"
#include "shard/sharding_text.h"

namespace shard {
namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 40;

/// `--devices` alone: the hardware has no mesh yet, so its devices stand in a row.
void lay_in_a_row(RulesConfig& rules) {
  const Topology topology = topology_named(rules.devices, rules.devices_at);
  rules.mesh = {{MeshAxis("device"), topology.device_count(), rules.devices_at}};
  rules.device_order = DeviceOrder::ids;
}

Sharding resolved_spec(const SpecConfig& spec, const std::string& what, const TensorType& type,
                       RulesConfig rules, const Mesh& mesh) {
  rules.misfit = Misfit::pad;  // a picture shows uneven pieces; JAX's answer is in its notes
  Diagnostics diagnostics;
  Resolver resolver(rules, mesh, diagnostics);
  SpecQuestion question{spec, type, Part::params, what};
  Resolved resolved = resolver.resolve(question);
  diagnostics.throw_if_errors();
  return std::move(resolved.sharding);
}

}  // namespace

RulesConfig read_mesh_rules(const Options& options, Sources& sources) {
  if (!options.arguments.empty()) return read_rules_input(options.arguments[0], options, sources);
  if (options.overrides.mesh.empty() && options.overrides.devices.empty()) {
    throw Error("usage", {"command line"}, "show needs MODEL RULES, or RULES, --mesh or --devices",
                "usage: shard-plan show MODEL RULES [NAME...]");
  }
  RulesConfig rules;
  Diagnostics diagnostics;
  override_rules(rules, options.overrides, sources, diagnostics);
  diagnostics.throw_if_errors();
  if (rules.mesh.empty()) lay_in_a_row(rules);
  return rules;
}

Shape read_shape(const std::string& text) {
  Shape shape;
  if (text == "scalar") return shape;
  std::istringstream sizes(text);
  for (std::string size; std::getline(sizes, size, ',');) {
    size.erase(0, size.find_first_not_of(' '));
    size.erase(size.find_last_not_of(' ') + 1);
    shape.push_back(read_count("--shape", size, 0, largest_size));
  }
  return shape;
}

Sharding read_spec_word(const std::string& word, const Location& at, const TensorType& type,
                        const RulesConfig& rules, const Mesh& mesh, const std::string& usage) {
  const int rank = static_cast<int>(type.shape.size());
  if (is_sharding_text(word)) return read_sharding_text(mesh, word, rank, at);
  const SpecConfig spec = read_spec_text(word, at);
  if (spec.logical() != nullptr && rules.file.empty()) {
    throw Error("needs-rules", {at.file},
                "'" + word + "' are logical axes, and there are no rules to place them",
                "name a rules file: " + usage + ", or write mesh axes: P(...)");
  }
  return resolved_spec(spec, at.file, type, rules, mesh);
}

ArrayRow spec_row(const Options& options, const RulesConfig& rules, const Mesh& mesh) {
  if (options.shape.empty()) {
    throw Error("usage", {"--spec"}, "--spec needs the shape of the array that it splits",
                "add --shape 8,1024, or --shape scalar");
  }
  ArrayRow row;
  row.type.shape = read_shape(options.shape);
  row.sharding = read_spec_word(options.spec, {"--spec", 1, 1}, row.type, rules, mesh,
                                "shard-plan show RULES --spec ...");
  row.spec = spec_text(mesh, row.sharding);
  row.copies = copy_count(mesh, row.sharding);
  row.cut = options.is_nested ? UnevenCut::nested : UnevenCut::flat;
  for (const PieceDim& dim : piece_dims(row.sharding, row.type.shape, row.cut)) {
    row.local.push_back(dim.piece());
  }
  return row;
}

}  // namespace shard
