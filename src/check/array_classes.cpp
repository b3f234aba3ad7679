#include "check/array_classes.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "base/check.h"
#include "shard/resolve_state.h"

namespace shard {
namespace {

/// `opt_state/0/mu` of `opt_state/0/mu/Dense_0/kernel` that follows `params/Dense_0/kernel`.
std::string slot_of(const std::string& slot, const std::string& parameter) {
  const auto tail = std::mismatch(slot.rbegin(), slot.rend(), parameter.rbegin(), parameter.rend());
  return slot.substr(0, static_cast<std::size_t>(slot.rend() - tail.first));
}

/// Positions of the leaves of each group, groups in order of their first leaves.
class Groups {
 public:
  explicit Groups(const std::vector<StateLeaf>& state);

  const std::vector<std::vector<int>>& members() const { return members_; }
  int of(int leaf) const { return group_of_[static_cast<std::size_t>(leaf)]; }

 private:
  using Key = std::tuple<int, std::string, int>;

  void add(int leaf, const Key& key);

  std::vector<std::vector<int>> members_;
  std::vector<int> group_of_;
  std::map<Key, int> group_of_key_;
};

void Groups::add(int leaf, const Key& key) {
  const auto [place, is_new] = group_of_key_.try_emplace(key, static_cast<int>(members_.size()));
  if (is_new) members_.emplace_back();
  members_[static_cast<std::size_t>(place->second)].push_back(leaf);
  group_of_[static_cast<std::size_t>(leaf)] = place->second;
}

Groups::Groups(const std::vector<StateLeaf>& state) : group_of_(state.size(), -1) {
  const StateClasses classes(state);
  std::vector<int> class_of(state.size());
  for (std::size_t one = 0; one < classes.classes().size(); ++one) {
    for (const int leaf : classes.classes()[one]) {
      class_of[static_cast<std::size_t>(leaf)] = static_cast<int>(one);
    }
  }
  // Parameters first, since what follows them is grouped by their groups.
  for (const bool follows : {false, true}) {
    for (std::size_t leaf = 0; leaf < state.size(); ++leaf) {
      const int followed = state[leaf].follows;
      if ((followed >= 0) != follows) continue;
      Key key{class_of[leaf], "", -1};
      if (follows) {
        const auto& parameter = state[static_cast<std::size_t>(followed)];
        key = {class_of[leaf], slot_of(state[leaf].path, parameter.path), of(followed)};
      }
      add(static_cast<int>(leaf), key);
    }
  }
}

StateLeaf leaf_for(const std::vector<StateLeaf>& state, const Groups& groups,
                   const std::vector<int>& members) {
  StateLeaf leaf = state[static_cast<std::size_t>(members.front())];
  std::int64_t count = 0;
  for (const int member : members) {
    count += state[static_cast<std::size_t>(member)].iteration.count();
  }
  leaf.iteration = {-1, 0, count - 1};
  if (leaf.follows >= 0) leaf.follows = groups.of(leaf.follows);
  return leaf;
}

/// The function that takes the leaves and does nothing.
Graph graph_for(const Graph& whole, const std::vector<std::vector<int>>& groups,
                const std::vector<StateLeaf>& leaves) {
  Graph graph = whole;
  graph.values.clear();
  graph.inputs.clear();
  graph.regions.front().parameters.clear();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    GraphInput input = whole.inputs[static_cast<std::size_t>(groups[group].front())];
    graph.values.push_back(whole.value(input.value));
    input.value = id_at<ValueId>(group);
    input.state_leaf = static_cast<int>(group);
    input.iteration = leaves[group].iteration;
    graph.regions.front().parameters.push_back(input.value);
    graph.inputs.push_back(std::move(input));
  }
  return graph;
}

}  // namespace

ClassModel one_leaf_per_class(const Model& model) {
  SHARD_CHECK(!model.has_program && model.apply.nodes.empty(), "only arrays are put into classes");
  const Groups groups(model.state);
  ClassModel made;
  made.model.name = model.name;
  made.model.has_program = false;
  made.model.parameter_count = model.parameter_count;
  made.model.returns = model.returns;
  made.model.notes = model.notes;
  for (const std::vector<int>& members : groups.members()) {
    made.model.state.push_back(leaf_for(model.state, groups, members));
    std::vector<std::string> names;
    for (const int member : members) {
      names.push_back(model.state[static_cast<std::size_t>(member)].path);
    }
    made.names.push_back(shared_names(std::move(names)));
  }
  made.model.apply = graph_for(model.apply, groups.members(), made.model.state);
  return made;
}

}  // namespace shard
