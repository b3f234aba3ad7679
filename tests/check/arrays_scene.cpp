#include "check/arrays_scene.h"

#include <stdexcept>

#include "config/load.h"
#include "shard/resolve_state.h"

namespace shard::test {
namespace {

RuleConfig make_rule(const std::string& logical, const std::vector<std::string>& axes, int line) {
  RuleConfig rule{LogicalAxis(logical), {}, {"rules.yaml", line, 5}};
  for (const std::string& axis : axes) rule.target.axes.emplace_back(axis);
  return rule;
}

}  // namespace

ArraysScene::ArraysScene(std::vector<std::pair<std::string, std::int64_t>> axes) {
  model.has_program = false;
  model.name = "arrays";
  model.apply.name = "arrays";
  model.apply.regions.resize(1);
  rules.name = "rules";
  rules.file = "rules.yaml";
  rules.given.mesh = true;
  for (auto& [name, size] : axes) {
    const int column = 7 + static_cast<int>(rules.mesh.size());
    rules.mesh.push_back({MeshAxis(name), size, {"rules.yaml", 1, column}});
  }
}

ArraysScene& ArraysScene::add(const std::string& path, const TensorType& type, SpecConfig spec,
                              Role role, int follows) {
  const int line = static_cast<int>(model.state.size()) + 2;
  StateLeaf leaf;
  leaf.path = path;
  leaf.role = role;
  leaf.type = type;
  leaf.placement = std::move(spec);
  leaf.placement.at = {"arrays.yaml", line, 20};
  leaf.follows = follows;
  leaf.at = {"arrays.yaml", line, 3};
  GraphInput input;
  input.value = id_at<ValueId>(model.apply.values.size());
  input.path = path;
  input.role = role;
  input.state_leaf = static_cast<int>(model.state.size());
  input.placement = leaf.placement;
  model.apply.values.push_back({type, path, {}, NodeId::none, leaf.at});
  model.apply.inputs.push_back(input);
  model.apply.regions[0].parameters.push_back(input.value);
  model.state.push_back(std::move(leaf));
  return *this;
}

ArraysScene& ArraysScene::array(const std::string& path, const Shape& shape,
                                const std::vector<std::string>& names, DType dtype) {
  LogicalSpec spec;
  for (const std::string& name : names) {
    spec.names.push_back(name.empty() ? std::nullopt : std::optional(LogicalAxis(name)));
  }
  return add(path, {dtype, shape}, {spec, {}}, Role::parameter, -1);
}

ArraysScene& ArraysScene::placed(const std::string& path, const Shape& shape,
                                 const SpecConfig& spec, DType dtype) {
  return add(path, {dtype, shape}, spec, Role::parameter, -1);
}

ArraysScene& ArraysScene::moments() {
  const StateLeaf parameter = model.state.back();
  const int follows = static_cast<int>(model.state.size()) - 1;
  const std::string tail = parameter.path.substr(parameter.path.find('/'));
  for (const char* slot : {"mu", "nu"}) {
    add(std::string("opt_state/0/") + slot + tail, parameter.type, parameter.placement,
        Role::optimizer, follows);
  }
  return *this;
}

ArraysScene& ArraysScene::rule(const std::string& logical, const std::vector<std::string>& axes) {
  rules.rules.push_back(make_rule(logical, axes, static_cast<int>(rules.rules.size()) + 2));
  return *this;
}

ArraysScene& ArraysScene::optimizer_rule(const std::string& logical,
                                         const std::vector<std::string>& axes) {
  if (rules.rules_for.empty()) rules.rules_for.push_back({Part::optimizer, {}});
  std::vector<RuleConfig>& own = rules.rules_for.front().rules;
  own.push_back(make_rule(logical, axes, 20 + static_cast<int>(own.size())));
  return *this;
}

ArraysScene& ArraysScene::path(const std::string& glob, const SpecConfig& spec) {
  const int line = 30 + static_cast<int>(rules.paths.size());
  rules.paths.push_back({glob, spec, {"rules.yaml", line, 5}});
  return *this;
}

ArraysScene& ArraysScene::level(const std::string& id, FindingLevel level) {
  const int line = 40 + static_cast<int>(rules.findings.size());
  rules.findings.push_back({id, level, {"rules.yaml", line, 3}});
  return *this;
}

ShardedGraph ArraysScene::shard() {
  Model copy = model;
  return shard_state(copy, rules, make_mesh(rules));
}

std::string ArraysScene::spec(const std::string& path) {
  const ShardedGraph sharded = shard();
  for (const GraphInput& input : sharded.graph.inputs) {
    if (input.path == path) return spec_text(sharded.mesh, sharded.sharding(input.value));
  }
  throw std::runtime_error("no array is called " + path);
}

Bytes ArraysScene::local_bytes(const std::string& path) {
  const ShardedGraph sharded = shard();
  for (const GraphInput& input : sharded.graph.inputs) {
    if (input.path != path) continue;
    const TensorType& type = sharded.graph.value(input.value).type;
    return bytes_of({type.dtype, local_shape(type.shape, sharded.sharding(input.value))});
  }
  throw std::runtime_error("no array is called " + path);
}

std::vector<Finding> ArraysScene::findings() {
  const ShardedGraph sharded = shard();
  return find_all(model, sharded, Program{}, rules);
}

std::vector<Finding> ArraysScene::findings(const std::string& id) {
  std::vector<Finding> chosen;
  for (Finding& finding : findings()) {
    if (finding.id == id) chosen.push_back(std::move(finding));
  }
  return chosen;
}

std::string ArraysScene::mistakes() {
  try {
    shard();
  } catch (const Error& error) {
    std::string text;
    for (const Diagnostic& one : error.diagnostics()) text += to_string(one) + "\n";
    return text;
  }
  return "";
}

SpecConfig spec_of(const std::string& text) { return read_spec_text(text, {"arrays.yaml", 1, 1}); }

}  // namespace shard::test
