#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "check/finders.h"
#include "check/mesh_use.h"
#include "model/range_names.h"

namespace shard {
namespace {

/// Smaller pieces are not worth a word.
constexpr Bytes least_bytes{256 * 1024};

struct Leaf {
  const StateLeaf* leaf;
  Sharding sharding;
  Bytes local;
};

bool is_whole(const Mesh& mesh, const Sharding& sharding) {
  return copy_count(mesh, sharding) == mesh.device_count();
}

/// Leaves that are copied over the same axes.
struct CopiedGroup {
  std::vector<int> axes;
  std::vector<Leaf> leaves;
};

std::vector<int> unused_axes(const Mesh& mesh, const Sharding& sharding) {
  const std::set<int> used = axes_of(sharding);
  std::vector<int> unused;
  for (int axis = 0; axis < static_cast<int>(mesh.axes().size()); ++axis) {
    if (mesh.size(axis) > 1 && !used.contains(axis)) unused.push_back(axis);
  }
  return unused;
}

std::vector<CopiedGroup> copied_groups(const PlanFacts& facts) {
  std::map<std::vector<int>, std::vector<Leaf>> groups;
  for (const GraphInput& input : facts.sharded.graph.inputs) {
    if (input.state_leaf < 0) continue;
    const StateLeaf& leaf = facts.model.state[static_cast<std::size_t>(input.state_leaf)];
    const Sharding& sharding = facts.sharded.sharding(input.value);
    const Bytes local = bytes_of({leaf.type.dtype, local_shape(leaf.type.shape, sharding)});
    const std::vector<int> unused = unused_axes(facts.sharded.mesh, sharding);
    if (!unused.empty() && local >= least_bytes) groups[unused].push_back({&leaf, sharding, local});
  }
  std::vector<CopiedGroup> all;
  for (auto& [axes, leaves] : groups) all.push_back({axes, std::move(leaves)});
  return all;
}

std::int64_t copies_of(const Mesh& mesh, const std::vector<int>& axes) {
  std::int64_t copies = 1;
  for (const int axis : axes) copies *= mesh.size(axis);
  return copies;
}

Sharding with_axes(const Mesh& mesh, Sharding sharding, std::size_t dim,
                   const std::vector<int>& axes) {
  for (const int axis : axes) sharding.dims[dim].axes.push_back(mesh.full(axis));
  return sharding;
}

std::string axes_text(const Mesh& mesh, const std::vector<int>& axes) {
  std::string text;
  for (const int axis : axes) {
    text += (text.empty() ? "" : ", ") + mesh.axes()[static_cast<std::size_t>(axis)].name.text();
  }
  return text;
}

/// The dim of the leaf that all of `axes` would divide, an unsplit one first.
std::optional<std::size_t> dim_to_split(const Mesh& mesh, const Leaf& leaf,
                                        const std::vector<int>& axes) {
  std::optional<std::size_t> best;
  for (std::size_t dim = 0; dim < leaf.sharding.dims.size(); ++dim) {
    if (!divides_evenly(leaf.leaf->type.shape, with_axes(mesh, leaf.sharding, dim, axes))) continue;
    if (leaf.sharding.dims[dim].axes.empty()) return dim;
    if (!best) best = dim;
  }
  return best;
}

/// The rule that would split most bytes of the group: `[embed, data]`, or `[hidden, [model, data]]`
/// where the dim is split already.
std::optional<std::string> rule_that_splits(const Mesh& mesh, const CopiedGroup& group) {
  std::map<std::string, Bytes> bytes_of_rule;
  for (const Leaf& leaf : group.leaves) {
    const auto dim = dim_to_split(mesh, leaf, group.axes);
    if (!dim || leaf.leaf->placement.logical() == nullptr) continue;
    const auto& name = leaf.leaf->placement.logical()->names[*dim];
    if (!name) continue;
    std::vector<int> axes;
    for (const AxisRef& ref : leaf.sharding.dims[*dim].axes) axes.push_back(ref.axis);
    axes.insert(axes.end(), group.axes.begin(), group.axes.end());
    const std::string target = axes_text(mesh, axes);
    const std::string rule =
        '[' + name->text() + ", " + (axes.size() > 1 ? '[' + target + ']' : target) + ']';
    bytes_of_rule[rule] += leaf.leaf->iteration.count() * leaf.local;
  }
  const auto most =
      std::max_element(bytes_of_rule.begin(), bytes_of_rule.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == bytes_of_rule.end()) return {};
  return most->first;
}

/// What to write instead: a rule where rules are asked, a spec where one is written.
std::string fix_of(const Mesh& mesh, const CopiedGroup& group) {
  if (const auto rule = rule_that_splits(mesh, group)) return "the rule " + *rule;
  for (const Leaf& leaf : group.leaves) {
    const auto dim = dim_to_split(mesh, leaf, group.axes);
    if (!dim || leaf.leaf->follows >= 0) continue;
    return spec_text(mesh, with_axes(mesh, leaf.sharding, *dim, group.axes)) + " instead of " +
           spec_text(mesh, leaf.sharding) + " for " + narrowed(leaf.leaf->path, 0, 1) +
           " and its like";
  }
  return "";
}

/// Axes that split the inputs and no state, as data parallel training has them on purpose; in a
/// list of arrays, which has no inputs, those that rules have for what it has not.
bool are_pure_data_axes(const PlanFacts& facts, const std::vector<int>& axes) {
  const std::set<int> of_inputs = axes_of_inputs(facts.sharded, false);
  const std::set<int> of_state = axes_of_inputs(facts.sharded, true);
  return std::all_of(axes.begin(), axes.end(), [&](int axis) {
    const MeshAxis& name = facts.sharded.mesh.axes()[static_cast<std::size_t>(axis)].name;
    return !of_state.contains(axis) && (of_inputs.contains(axis) || is_for_values(facts, name));
  });
}

Finding finding_of(const PlanFacts& facts, const CopiedGroup& group, const FindingKind& kind) {
  const Mesh& mesh = facts.sharded.mesh;
  const std::int64_t copies = copies_of(mesh, group.axes);
  const bool whole = copies == mesh.device_count();
  const bool by_design = !whole && are_pure_data_axes(facts, group.axes);
  Bytes cost;
  std::int64_t count = 0;
  for (const Leaf& leaf : group.leaves) {
    const std::int64_t instances = leaf.leaf->iteration.count();
    count += instances;
    cost += instances * Bytes(leaf.local.count() / copies * (copies - 1));
  }
  const std::string where =
      whole ? "whole on all " + with_commas(copies) + " devices"
            : "copied over " + axes_text(mesh, group.axes) + " (x" + with_commas(copies) + ')';
  return {by_design ? Severity::note : kind.severity,
          std::string(kind.id),
          group.leaves.front().leaf->at,
          with_commas(count) + (count == 1 ? " array is " : " arrays are ") + where + ": " +
              with_commas(cost) + " B per device would go if they were split",
          fix_of(mesh, group),
          cost};
}

/// Slots of the optimizer that are whole on every device, as their parameters are, and which could
/// be split.
struct WholeSlots {
  const StateLeaf* first = nullptr;  ///< the parameter that the first of them follows
  std::int64_t count = 0;
  Bytes cost;
  std::map<std::size_t, Bytes> by_dim;  ///< what splitting that dim of all of them saves
};

void add_slot(const Mesh& mesh, const std::vector<int>& axes, const Leaf& leaf, const Model& model,
              WholeSlots& slots) {
  const auto dim = dim_to_split(mesh, leaf, axes);
  if (!dim) return;
  const std::int64_t copies = mesh.device_count();
  const Bytes cost =
      leaf.leaf->iteration.count() * Bytes(leaf.local.count() / copies * (copies - 1));
  if (slots.first == nullptr) {
    slots.first = &model.state[static_cast<std::size_t>(leaf.leaf->follows)];
  }
  slots.count += leaf.leaf->iteration.count();
  slots.cost += cost;
  slots.by_dim[*dim] += cost;
}

/// Whether some leaf of the state is split: then whole ones are an exception.
bool splits_some_state(const ShardedGraph& sharded) {
  return !axes_of_inputs(sharded, true).empty();
}

/// `rules_for: {optimizer: [[embed, data]]}` where the parameter asks rules; else a path.
std::string fix_of_slots(const Mesh& mesh, const WholeSlots& slots, const std::vector<int>& axes) {
  const std::size_t dim =
      std::max_element(slots.by_dim.begin(), slots.by_dim.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->first;
  const std::string target =
      axes.size() > 1 ? '[' + axes_text(mesh, axes) + ']' : axes_text(mesh, axes);
  const LogicalSpec* names = slots.first->placement.logical();
  if (names != nullptr && dim < names->names.size() && names->names[dim]) {
    return "rules_for: {optimizer: [[" + names->names[dim]->text() + ", " + target + "]]}";
  }
  const Sharding split = with_axes(
      mesh, replicated_sharding(static_cast<int>(slots.first->type.shape.size())), dim, axes);
  // Not all of the optimizer: it has scalars, too.
  const std::string path = narrowed(slots.first->path, 0, 1);
  const auto root = path.find('/');
  const std::string tail = root == std::string::npos ? '/' + path : path.substr(root);
  return "paths: [[\"opt_state/*" + tail + "\", \"" + spec_text(mesh, split) + "\"]]";
}

}  // namespace

std::vector<Finding> find_optimizer_follows_replicated(const PlanFacts& facts,
                                                       const FindingKind& kind) {
  const Mesh& mesh = facts.sharded.mesh;
  if (mesh.device_count() == 1) return {};
  const std::vector<int> axes = unused_axes(mesh, replicated_sharding(0));
  WholeSlots slots;
  for (const GraphInput& input : facts.sharded.graph.inputs) {
    if (input.state_leaf < 0) continue;
    const StateLeaf& leaf = facts.model.state[static_cast<std::size_t>(input.state_leaf)];
    const Sharding& sharding = facts.sharded.sharding(input.value);
    if (leaf.follows < 0 || !is_whole(mesh, sharding)) continue;
    const Bytes local = bytes_of(leaf.type);
    if (local >= least_bytes) add_slot(mesh, axes, {&leaf, sharding, local}, facts.model, slots);
  }
  if (slots.count == 0) return {};
  return {{splits_some_state(facts.sharded) ? kind.severity : Severity::note, std::string(kind.id),
           slots.first->at,
           with_commas(slots.count) +
               (slots.count == 1 ? " array of the optimizer follows a parameter"
                                 : " arrays of the optimizer follow parameters") +
               " (" + narrowed(slots.first->path, 0, 1) + (slots.count == 1 ? "" : " first") +
               ") that " + (slots.count == 1 ? "is" : "are") + " whole on all " +
               with_commas(mesh.device_count()) + " devices: " + with_commas(slots.cost) +
               " B per device would go if only the optimizer's were split",
           fix_of_slots(mesh, slots, axes), slots.cost}};
}

std::vector<Finding> find_replicated_large(const PlanFacts& facts, const FindingKind& kind) {
  std::vector<Finding> found;
  for (const CopiedGroup& group : copied_groups(facts)) {
    found.push_back(finding_of(facts, group, kind));
  }
  return found;
}

}  // namespace shard
