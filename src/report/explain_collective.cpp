#include "report/explain_collective.h"

#include <algorithm>
#include <map>
#include <set>

#include "report/change_text.h"
#include "report/explain_array.h"
#include "report/why.h"

namespace shard {
namespace {

constexpr std::size_t most_groups = 4;
constexpr std::size_t most_devices = 8;

std::string groups_text(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  const auto groups = replica_groups(mesh, axes);
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
    text += text.empty() ? "{" : " {";
    for (std::size_t k = 0; k < std::min(groups[i].size(), most_devices); ++k) {
      text += (k == 0 ? "" : ",") + std::to_string(mesh.device_id(groups[i][k]));
    }
    text += groups[i].size() > most_devices ? ",...}" : "}";
  }
  if (groups.size() > most_groups) text += " ... " + with_commas(std::ssize(groups)) + " in all";
  return text;
}

bool share_an_axis(const std::vector<AxisRef>& a, const std::vector<AxisRef>& b) {
  return std::any_of(a.begin(), a.end(), [&](const AxisRef& one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const AxisRef& other) { return one.axis == other.axis; });
  });
}

/// Whether the value has a dim of this label that is split over some of the axes.
bool has_split_label(const ShardedGraph& sharded, ValueId value, const std::string& label,
                     const std::vector<AxisRef>& axes) {
  const GraphValue& of = sharded.graph.value(value);
  for (std::size_t dim = 0; dim < of.labels.size(); ++dim) {
    if (of.labels[dim] == label && share_an_axis(sharded.sharding(value).dims[dim].axes, axes)) {
      return true;
    }
  }
  return false;
}

std::string because_text(const ShardedGraph& sharded, const CollectiveRow& row) {
  std::string text = join({row.why}) + comma_place(row.at);
  if (row.reason.kind != CollectiveReason::Kind::partial_sum || row.reason.node == NodeId::none ||
      row.reason.label.empty()) {
    return text;
  }
  const Node& node = sharded.graph.node(row.reason.node);
  const auto count =
      std::count_if(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
        return has_split_label(sharded, operand, row.reason.label, row.mesh_axes);
      });
  if (node.operands.size() != 2 || count != 2) return text;
  return text + "; both operands have " + row.reason.label + " split over " + row.axes;
}

/// The constraint on what the collective gives; nothing when there is none.
const Node* constraint_on_result(const Graph& graph, const CollectiveRow& row) {
  if (row.reason.node == NodeId::none) return nullptr;
  const Node& node = graph.node(row.reason.node);
  if (node.op == Op::constrain) return &node;
  const auto asks = [&](const Node& one) {
    return one.op == Op::constrain && std::find(node.results.begin(), node.results.end(),
                                                one.operands.front()) != node.results.end();
  };
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(), asks);
  return found == graph.nodes.end() ? nullptr : &*found;
}

std::size_t placement_of(const Node& constraint) {
  return static_cast<std::size_t>(constraint.attributes.integer("placement"));
}

std::string asked_by_text(const ShardedGraph& sharded, const CollectiveRow& row) {
  const Node* constraint = constraint_on_result(sharded.graph, row);
  if (constraint == nullptr) return "";
  const std::size_t placement = placement_of(*constraint);
  const SpecConfig& spec = sharded.graph.placements[placement];
  const std::string effective = spec_text(sharded.mesh, sharded.constraints[placement]);
  return "constraint " + to_string(spec) + (spec.mesh() == nullptr ? " -> " + effective : "") +
         comma_place(spec.at);
}

/// Follows the reasons back to the rules that gave the axes.
class RuleSearch {
 public:
  RuleSearch(const ShardedGraph& sharded, const std::vector<AxisRef>& axes)
      : sharded_(sharded), axes_(axes) {}

  /// Dims with another label are not looked at; an empty label means all.
  void visit(ValueId value, const std::string& label) {
    if (value == ValueId::none || !seen_.insert(value).second) return;
    const GraphValue& of = sharded_.graph.value(value);
    const ValueReasons& reasons = sharded_.reasons[index_of(value)];
    for (std::size_t dim = 0; dim < reasons.size(); ++dim) {
      const bool is_other = !label.empty() && dim < of.labels.size() && of.labels[dim] != label;
      if (is_other || !share_an_axis(sharded_.sharding(value).dims[dim].axes, axes_)) continue;
      for (const Reason& reason : reasons[dim]) {
        if (reason.kind == ReasonKind::rule && share_an_axis(reason.axes, axes_)) {
          rules_.insert(reason.rule);
        }
        visit(reason.from, label);
      }
    }
  }

  const std::set<int>& rules() const { return rules_; }

 private:
  const ShardedGraph& sharded_;
  const std::vector<AxisRef>& axes_;
  std::set<ValueId> seen_;
  std::set<int> rules_;
};

/// Executions and wire of the collectives of each kind over the same axes.
struct KindAmount {
  std::int64_t count = 0;
  Bytes wire;
};

std::map<CollectiveKind, KindAmount> amounts(const PlannedFunction& function,
                                             const std::vector<AxisRef>& axes) {
  std::map<CollectiveKind, KindAmount> by_kind;
  for (const CollectiveCount& one : function.collectives) {
    if (one.axes != axes || one.kind == CollectiveKind::all_slice) continue;
    by_kind[one.kind].count += one.count;
    by_kind[one.kind].wire += one.wire;
  }
  return by_kind;
}

Bytes wire_of(const std::map<CollectiveKind, KindAmount>& by_kind) {
  Bytes wire;
  for (const auto& [kind, amount] : by_kind) wire += amount.wire;
  return wire;
}

/// `no all_reduce over model`, `all_reduce over model 6 -> 3`.
std::string change_of_kind(CollectiveKind kind, const std::string& axes, const KindAmount& before,
                           const KindAmount& after) {
  const std::string name = std::string(name_of(kind)) + " over " + axes;
  if (after.count == 0) return "no " + name;
  return name + ' ' + with_commas(before.count) + " -> " + with_commas(after.count);
}

/// `6 reduce_scatter of 12,288 B wire`: one that was not there before.
std::string new_kind(CollectiveKind kind, const KindAmount& after) {
  const std::string text = with_commas(after.count) + ' ' + std::string(name_of(kind));
  if (after.wire.count() % after.count != 0) return text;
  return text + " of " + with_commas(Bytes(after.wire.count() / after.count)) + " B wire";
}

}  // namespace

CollectiveAnswer explain_collective(const Plan& plan, const CollectiveRow& row,
                                    std::int64_t number) {
  const ShardedGraph& sharded = plan.main().sharded;
  CollectiveAnswer answer;
  answer.row = row;
  answer.number = number;
  answer.groups = groups_text(plan.mesh, row.mesh_axes);
  answer.type = to_string(row.type);
  answer.because = because_text(sharded, row);
  answer.asked_by = asked_by_text(sharded, row);
  return answer;
}

std::vector<int> rules_behind(const Plan& plan, const CollectiveRow& row) {
  constexpr std::size_t most = 2;
  if (row.reason.node == NodeId::none) return {};
  const ShardedGraph& sharded = plan.main().sharded;
  const Node& node = sharded.graph.node(row.reason.node);
  RuleSearch search(sharded, row.mesh_axes);
  for (const ValueId operand : node.operands) search.visit(operand, row.reason.label);
  if (search.rules().empty()) {
    for (const ValueId operand : node.operands) search.visit(operand, "");
    for (const ValueId result : node.results) search.visit(result, "");
  }
  std::vector<int> rules(search.rules().begin(), search.rules().end());
  std::erase_if(rules, [&](int rule) { return rule > static_cast<int>(plan.rules.rules.size()); });
  if (rules.size() > most) rules.resize(most);
  return rules;
}

std::optional<OtherConstraint> other_constraint(const Plan& plan, const CollectiveRow& row) {
  const ShardedGraph& sharded = plan.main().sharded;
  const Node* constraint = constraint_on_result(sharded.graph, row);
  if (constraint == nullptr) return {};
  const SpecConfig& asked = sharded.graph.placements[placement_of(*constraint)];
  const Sharding& sharding = sharded.constraints[placement_of(*constraint)];
  const Shape& shape = sharded.graph.value(constraint->results.front()).type.shape;
  std::size_t dim = shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_free = sharding.dims[i].axes.empty() && !sharding.dims[i].is_open;
    if (is_free && shape[i] % product(row.mesh_axes) == 0) dim = i;
  }
  const bool is_taken =
      std::any_of(sharding.dims.begin(), sharding.dims.end(),
                  [&](const DimSharding& one) { return share_an_axis(one.axes, row.mesh_axes); });
  if (dim == shape.size() || is_taken) return {};
  PartitionEntry entry;
  for (const AxisRef& axis : row.mesh_axes) {
    if (!plan.mesh.is_full(axis)) return {};
    entry.axes.push_back(plan.mesh.axes()[static_cast<std::size_t>(axis.axis)].name);
  }
  OtherConstraint other{asked, asked.at};
  if (const LogicalSpec* names = asked.logical()) {
    LogicalSpec changed = *names;
    for (const RuleConfig& rule : plan.rules.rules) {
      const auto& all = changed.names;
      const bool is_there = std::find(all.begin(), all.end(), rule.logical) != all.end();
      if (rule.target != entry || is_there || dim >= all.size()) continue;
      changed.names[dim] = rule.logical;
      other.spec.spec = changed;
      return other;
    }
  }
  PartitionSpec spec = effective_spec(plan.mesh, sharding);
  spec.entries.resize(std::max(spec.entries.size(), dim + 1));
  spec.entries[dim] = entry;
  other.spec.spec = spec;
  return other;
}

std::string effect_of(const Plan& plan, const CollectiveRow& row, const PlannedFunction& edited,
                      Bytes state_before, Bytes state_after) {
  const auto before = amounts(plan.main(), row.mesh_axes);
  const auto after = amounts(edited, row.mesh_axes);
  std::set<CollectiveKind> kinds;
  for (const auto* side : {&before, &after}) {
    for (const auto& [kind, amount] : *side) kinds.insert(kind);
  }
  const auto amount = [](const auto& side, CollectiveKind kind) {
    const auto found = side.find(kind);
    return found == side.end() ? KindAmount{} : found->second;
  };
  std::string text;
  std::string added;
  for (const CollectiveKind kind : kinds) {
    const KindAmount from = amount(before, kind), to = amount(after, kind);
    if (from.count == to.count) continue;
    std::string& list = from.count == 0 ? added : text;
    list += (list.empty() ? "" : ", ") +
            (from.count == 0 ? new_kind(kind, to) : change_of_kind(kind, row.axes, from, to));
  }
  if (text.empty() && added.empty()) text = "as many collectives over " + row.axes;
  if (!added.empty()) text += (text.empty() ? "" : ", instead ") + added;
  const Bytes wire = wire_of(after);
  if (wire != wire_of(before) && wire > Bytes(0)) {
    text += ", wire over " + row.axes + ' ' + with_commas(wire_of(before)) + " -> " +
            with_commas(wire) + " B";
  }
  if (state_before != state_after) text += ", state " + ratio_text(state_before, state_after);
  return text;
}

}  // namespace shard
