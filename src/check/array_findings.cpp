// Arrays that nothing places, that have fewer names than dims, or that do not divide.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/finders.h"
#include "check/uneven_pieces.h"
#include "shard/legal_sizes.h"

namespace shard {
namespace {

/// What several arrays have in common: the first of them stands for all.
struct Group {
  const GraphInput* first = nullptr;
  std::int64_t count = 0;
};

std::string of_arrays(const Group& group) {
  std::string text = group.first->path;
  if (group.count > 1) text += " and " + with_commas(group.count - 1) + " more";
  return text;
}

/// `[layers, embed, mlp]` for `[embed, mlp]` at rank 3: the names with one for each leading dim.
std::string with_layer_axes(const LogicalSpec& names, std::size_t rank) {
  LogicalSpec longer;
  for (std::size_t dim = names.names.size(); dim < rank; ++dim) {
    longer.names.emplace_back(LogicalAxis("layers"));
  }
  longer.names.insert(longer.names.end(), names.names.begin(), names.names.end());
  return to_string(longer);
}

const Location& place_of(const PlanFacts& facts, const GraphInput& input) {
  if (input.placement.at.is_known()) return input.placement.at;
  if (input.state_leaf < 0) return facts.sharded.graph.value(input.value).at;
  return facts.model.state[static_cast<std::size_t>(input.state_leaf)].at;
}

bool is_unplaced(const PlanFacts& facts, const GraphInput& input) {
  const ValueReasons& reasons = facts.sharded.reasons[index_of(input.value)];
  return input.role == Role::parameter && !reasons.empty() &&
         std::all_of(reasons.begin(), reasons.end(), [](const std::vector<Reason>& dim) {
           return !dim.empty() && dim.front().kind == ReasonKind::unannotated;
         });
}

/// A dim that the axes do not divide, as often as it occurs.
struct UnevenDim {
  ReasonKind kind = ReasonKind::uneven;
  std::string name;
  int dim = 0;
  std::int64_t size = 0;
  Axes wanted;  ///< with those that were lost
  Axes lost;
  Location at;
  std::set<std::string> names;  ///< a constraint and what it constrains have one
};

std::string value_name(const Graph& graph, std::size_t value) {
  const GraphValue& one = graph.values[value];
  if (!one.name.empty() || one.producer == NodeId::none) return one.name;
  return graph.node(one.producer).name;
}

/// The place of the rule or spec that asked for the split.
const Location& asked_at(const std::vector<Reason>& reasons, const GraphValue& value) {
  for (const Reason& reason : reasons) {
    if (reason.at.is_known()) return reason.at;
  }
  return value.at;
}

/// Dims with a reason of this kind; those of the same size and axes are one.
std::vector<UnevenDim> uneven_dims(const ShardedGraph& sharded, ReasonKind kind) {
  std::map<std::pair<std::int64_t, Axes>, UnevenDim> groups;
  for (std::size_t value = 0; value < sharded.reasons.size(); ++value) {
    for (std::size_t dim = 0; dim < sharded.reasons[value].size(); ++dim) {
      for (const Reason& reason : sharded.reasons[value][dim]) {
        if (reason.kind != kind) continue;
        const GraphValue& of = sharded.graph.values[value];
        Axes wanted = reason.axes;
        if (kind == ReasonKind::uneven) {
          wanted = sharded.shardings[value].dims[dim].axes;
          wanted.insert(wanted.end(), reason.axes.begin(), reason.axes.end());
        }
        const std::string name = value_name(sharded.graph, value);
        const std::int64_t size = sharded.given_type(id_at<ValueId>(value)).shape[dim];
        UnevenDim& group = groups[{size, wanted}];
        if (group.names.empty()) {
          group = {kind,
                   name,
                   static_cast<int>(dim),
                   size,
                   wanted,
                   reason.axes,
                   asked_at(sharded.reasons[value][dim], of),
                   {}};
        }
        group.names.insert(name);
      }
    }
  }
  std::vector<UnevenDim> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

/// `dim 0 of t (12), and b 4`.
std::string dim_text(const UnevenDim& one) {
  return "dim " + std::to_string(one.dim) + " of " + one.name + " has size " +
         with_commas(one.size);
}

std::string alike_text(const UnevenDim& one) {
  const std::int64_t count = std::ssize(one.names);
  return count > 1 ? " (" + with_commas(count) + " arrays alike)" : "";
}

}  // namespace

std::vector<Finding> find_missing_names(const PlanFacts& facts, const FindingKind& kind) {
  std::map<std::pair<std::string, std::size_t>, Group> groups;
  for (const GraphInput& input : facts.sharded.graph.inputs) {
    const LogicalSpec* names = input.placement.logical();
    const std::size_t rank = facts.sharded.graph.value(input.value).type.shape.size();
    if (names == nullptr || names->names.empty() || names->names.size() >= rank) continue;
    Group& group = groups[{to_string(*names), rank}];
    if (group.first == nullptr) group.first = &input;
    group.count += input.iteration.count();
  }
  std::vector<Finding> found;
  for (const auto& [key, group] : groups) {
    const LogicalSpec& names = *group.first->placement.logical();
    const TensorType& type = facts.sharded.graph.value(group.first->value).type;
    found.push_back({kind.severity, std::string(kind.id), place_of(facts, *group.first),
                     std::to_string(names.names.size()) + " names " + key.first + " for " +
                         of_arrays(group) + ", " + to_string(type) + " of rank " +
                         std::to_string(key.second) +
                         ": they go to the first dims; likely a layer axis is missing at dim 0",
                     "[" + with_layer_axes(names, key.second).substr(1), Bytes(0)});
  }
  return found;
}

std::vector<Finding> find_arrays_without_axes(const PlanFacts& facts, const FindingKind& kind) {
  if (facts.model.has_program) return {};
  Group group;
  Bytes bytes;
  for (const GraphInput& input : facts.sharded.graph.inputs) {
    if (!is_unplaced(facts, input)) continue;
    if (group.first == nullptr) group.first = &input;
    group.count += input.iteration.count();
    bytes += input.iteration.count() * bytes_of(facts.sharded.graph.value(input.value).type);
  }
  const std::int64_t devices = facts.sharded.mesh.device_count();
  if (group.first == nullptr || devices == 1) return {};
  return {{kind.severity, std::string(kind.id), place_of(facts, *group.first),
           of_arrays(group) + (group.count == 1 ? " has" : " have") +
               " no axes and no glob of the rules' `paths`: whole on all " + with_commas(devices) +
               " devices",
           "axes: or paths: with a glob for " + group.first->path,
           Bytes(bytes.count() / devices * (devices - 1))}};
}

std::vector<Finding> find_uneven(const PlanFacts& facts, const FindingKind& kind) {
  std::vector<Finding> found;
  for (const ReasonKind reason : {ReasonKind::uneven, ReasonKind::padded}) {
    for (const UnevenDim& one : uneven_dims(facts.sharded, reason)) {
      const bool is_padded = reason == ReasonKind::padded;
      const std::int64_t parts = product(one.wanted);
      found.push_back(
          {kind.severity, std::string(kind.id), one.at,
           dim_text(one) + ", and " + factors_text(facts.sharded.mesh, one.wanted) +
               " does not divide it: " + (is_padded ? "" : "JAX would pad it to ") +
               (is_padded ? "padded to " : "") + pieces_text(uneven_pieces(one.size, parts)) +
               (is_padded ? "" : "; here it keeps the axes that divide it") + alike_text(one),
           "sizes that divide: " + nearest_sizes(one.size, parts), Bytes(0)});
    }
  }
  return found;
}

std::vector<Finding> find_dropped_axes(const PlanFacts& facts, const FindingKind& kind) {
  std::vector<Finding> found;
  for (const UnevenDim& one : uneven_dims(facts.sharded, ReasonKind::dropped)) {
    found.push_back({kind.severity, std::string(kind.id), one.at,
                     dim_text(one) + ", and " + factors_text(facts.sharded.mesh, one.lost) +
                         " dropped: what the other axes leave of it is no multiple" +
                         alike_text(one),
                     "", Bytes(0)});
  }
  return found;
}

}  // namespace shard
