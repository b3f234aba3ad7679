#include "shard/resolve_state.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/check.h"
#include "shard/path_rules.h"

namespace shard {
namespace {

void append(std::string& key, std::string_view text) {
  key += text;
  key += '\0';
}

void append(std::string& key, std::int64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Equal exactly for leaves that are resolved alike by rules that do not ask for paths.
std::string key_of(const StateLeaf& leaf) {
  std::string key;
  key.reserve(96);
  append(key, static_cast<std::int64_t>(leaf.role));
  append(key, static_cast<std::int64_t>(leaf.type.dtype));
  append(key, leaf.type.rank());
  for (const std::int64_t size : leaf.type.shape) append(key, size);
  for (const std::string& label : leaf.labels) append(key, label);
  append(key, static_cast<std::int64_t>(leaf.placement.spec.index()));
  append(key, to_string(leaf.placement));
  return key;
}

std::string followed_by(std::span<const StateLeaf> state, const StateLeaf& leaf) {
  return leaf.follows < 0 ? "" : state[static_cast<std::size_t>(leaf.follows)].path;
}

/// The classes, split further where the rules place by path.
std::vector<std::vector<int>> refined(std::span<const StateLeaf> state, const StateClasses& classes,
                                      const RulesConfig& rules) {
  std::vector<std::vector<int>> all(classes.classes().begin(), classes.classes().end());
  if (rules.paths.empty()) return all;
  const PathRules paths(rules.paths);
  std::vector<std::vector<int>> finer;
  for (const std::vector<int>& leaves : all) {
    std::unordered_map<int, std::size_t> place_of;
    for (const int leaf : leaves) {
      const StateLeaf& one = state[static_cast<std::size_t>(leaf)];
      const int rule = paths.find(one.path, followed_by(state, one));
      const auto [place, is_new] = place_of.try_emplace(rule, finer.size());
      if (is_new) finer.emplace_back();
      finer[place->second].push_back(leaf);
    }
  }
  std::sort(finer.begin(), finer.end(),
            [](const auto& a, const auto& b) { return a.front() < b.front(); });
  return finer;
}

std::int64_t arrays_in(std::span<const StateLeaf> state, const std::vector<int>& leaves) {
  std::int64_t count = 0;
  for (const int leaf : leaves) count += state[static_cast<std::size_t>(leaf)].iteration.count();
  return count;
}

}  // namespace

Part part_of(Role role) {
  switch (role) {
    case Role::input:
      return Part::inputs;
    case Role::parameter:
      return Part::params;
    case Role::optimizer:
    case Role::step:
      return Part::optimizer;
    case Role::gradient:
      return Part::gradients;
    case Role::activation:
      return Part::activations;
    case Role::loss:
    case Role::output:
      break;
  }
  return Part::outputs;
}

StateClasses::StateClasses(std::span<const StateLeaf> state) {
  std::unordered_map<std::string, std::size_t> place_of;
  for (std::size_t leaf = 0; leaf < state.size(); ++leaf) {
    const auto [place, is_new] = place_of.try_emplace(key_of(state[leaf]), classes_.size());
    if (is_new) classes_.emplace_back();
    classes_[place->second].push_back(static_cast<int>(leaf));
  }
}

ResolvedState resolve_state(std::span<const StateLeaf> state, const StateClasses& classes,
                            const RulesConfig& rules, const Mesh& mesh, Diagnostics& diagnostics) {
  Resolver resolver(rules, mesh, diagnostics);
  ResolvedState result;
  result.class_of.assign(state.size(), -1);
  for (std::vector<int>& leaves : refined(state, classes, rules)) {
    for (const int leaf : leaves) {
      result.class_of[static_cast<std::size_t>(leaf)] = static_cast<int>(result.classes.size());
    }
    const StateLeaf& first = state[static_cast<std::size_t>(leaves.front())];
    ResolvedClass& one = result.classes.emplace_back();
    one.count = arrays_in(state, leaves);
    one.leaves = std::move(leaves);
    one.resolved = resolver.resolve({first.placement, first.type, part_of(first.role), first.path,
                                     first.labels, one.count, followed_by(state, first)});
    // Nothing is left to propagation where there is no program.
    one.resolved.sharding = closed(std::move(one.resolved.sharding));
  }
  result.uses = resolver.uses();
  result.decisions = resolver.decisions();
  result.path_arrays = resolver.path_arrays();
  result.unmatched = resolver.unmatched();
  return result;
}

ValueReasons reasons_of(const ResolvedState& resolved, std::span<const StateLeaf> state, int leaf) {
  const ResolvedClass& one =
      resolved.classes[static_cast<std::size_t>(resolved.class_of[static_cast<std::size_t>(leaf)])];
  ValueReasons reasons = one.resolved.reasons;
  const Location& of_first = state[static_cast<std::size_t>(one.leaves.front())].placement.at;
  const Location& own = state[static_cast<std::size_t>(leaf)].placement.at;
  for (std::vector<Reason>& dim : reasons) {
    for (Reason& reason : dim) {
      if (reason.at == of_first) reason.at = own;
    }
  }
  return reasons;
}

namespace {

/// The mistakes of every leaf, not only of the first of each class: each may need its own edit.
void throw_mistakes(std::span<const StateLeaf> state, const RulesConfig& rules, const Mesh& mesh) {
  Diagnostics diagnostics;
  Resolver resolver(rules, mesh, diagnostics);
  for (const StateLeaf& leaf : state) {
    resolver.resolve({leaf.placement, leaf.type, part_of(leaf.role), leaf.path, leaf.labels,
                      leaf.iteration.count(), followed_by(state, leaf)});
  }
  diagnostics.throw_if_errors();
}

}  // namespace

ShardedGraph shard_state(Model& model, const RulesConfig& rules, const Mesh& mesh) {
  SHARD_CHECK(!model.has_program && model.apply.nodes.empty(), "there is nothing to propagate");
  Diagnostics diagnostics;
  ResolvedState resolved =
      resolve_state(model.state, StateClasses(model.state), rules, mesh, diagnostics);
  if (diagnostics.has_errors()) throw_mistakes(model.state, rules, mesh);
  ShardedGraph sharded;
  sharded.mesh = mesh;
  sharded.shardings.reserve(model.state.size());
  sharded.reasons.reserve(model.state.size());
  for (int leaf = 0; leaf < static_cast<int>(model.state.size()); ++leaf) {
    sharded.shardings.push_back(resolved.of(leaf).sharding);
    sharded.reasons.push_back(reasons_of(resolved, model.state, leaf));
  }
  sharded.graph = std::move(model.apply);
  sharded.rule_uses = std::move(resolved.uses);
  sharded.decisions = std::move(resolved.decisions);
  sharded.path_arrays = std::move(resolved.path_arrays);
  sharded.unmatched = std::move(resolved.unmatched);
  return sharded;
}

}  // namespace shard
