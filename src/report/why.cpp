#include "report/why.h"

#include <algorithm>
#include <array>

#include "check/reshards.h"
#include "model/iterations.h"
#include "model/placement_ask.h"
#include "model/range_names.h"
#include "report/fold.h"

namespace shard {
namespace {

std::string last_part(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string owner(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// The value's own name, or the op that made it.
std::string name_of(const Graph& graph, ValueId id) {
  const GraphValue& value = graph.value(id);
  if (!value.name.empty()) return value.name;
  if (value.producer == NodeId::none) return tensor_name(graph, id);
  return std::string(def(graph.node(value.producer).op).name);
}

/// Where one of both stands for equal iterations, the other's name is that of the neighbour which
/// is meant: from iterations {3..996} one looks at {2..995}, from the one behind them at 996.
std::string name_across(const Graph& graph, ValueId value, ValueId other) {
  const Iteration own = iteration_of(graph, value);
  const Iteration its = iteration_of(graph, other);
  const std::string name = name_of(graph, other);
  if (own == its || own.repeat != its.repeat) return name;
  const bool is_earlier = its.first < own.first;
  if (its.count() > 1) return narrowed(name, is_earlier ? its.count() - 1 : 0, 1);
  if (own.count() == 1) return name;
  const ValueId same = counterpart(graph, other, own);
  return same == ValueId::none ? name : moved(name_of(graph, same), is_earlier ? -1 : 1);
}

/// How the reason of `value` calls another value: the last part alone for a parameter of the same
/// layer and for a value of the same block.
std::string name_seen_from(const Graph& graph, ValueId value, ValueId other) {
  const std::string& name = graph.value(other).name;
  const std::string layer = graph.value(value).name;
  for (const std::string_view parameters : {"params/", "model/"}) {
    if (!name.starts_with(parameters)) continue;
    const std::string of_layer = owner(name.substr(parameters.size()));
    if (of_layer == layer || of_layer == owner(layer)) return last_part(name);
  }
  if (!owner(layer).empty() && owner(name) == owner(layer)) return last_part(name);
  return name_across(graph, value, other);
}

std::string targets(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  if (axes.empty()) return "None";
  std::string text;
  for (const AxisRef& axis : axes) text += (text.empty() ? "" : ", ") + to_string(mesh, axis);
  return axes.size() == 1 ? text : '[' + text + ']';
}

std::string with_place(const std::string& word, const Location& at) {
  const std::string place = short_place(at);
  if (word.empty() || place.empty()) return word + place;
  return word + ", " + place;
}

std::string op_word(const Graph& graph, NodeId node) {
  return node == NodeId::none ? "an input" : std::string(def(graph.node(node).op).name);
}

/// What a `constrain` node is in the model file.
std::string ask_word(const Graph& graph, NodeId node) {
  constexpr std::array<std::string_view, 9> words = {"constraint", "out_sharding", "reshard",
                                                     "auto_axes",  "out_sharding", "explicit_axes",
                                                     "leaving",    "in_specs",     "manual"};
  if (node == NodeId::none) return std::string(words.front());
  return std::string(words[static_cast<std::size_t>(ask_of(graph.node(node).attributes))]);
}

Clause clause_of(const ShardedGraph& sharded, ValueId value, const Reason& reason) {
  const std::string logical = reason.logical.text();
  const std::string rule = "rule " + std::to_string(reason.rule);
  switch (reason.kind) {
    case ReasonKind::rule:
      return {rule + " [" + logical + ", " + targets(sharded.mesh, reason.axes) + ']', "", ""};
    case ReasonKind::no_rule:
      return {"no rule for " + logical, "", ""};
    case ReasonKind::rule_none:
      return {rule + " [" + logical + ", None]", "", ""};
    case ReasonKind::blocked:
      return {logical + " lost its axes to dim " + std::to_string(reason.other_dim), "", ""};
    case ReasonKind::explicit_spec:
      return {with_place("", reason.at), "", ""};
    case ReasonKind::unannotated:
      return {"no spec", "", ""};
    case ReasonKind::scalar:
      return {"scalar", "", ""};
    case ReasonKind::follows:
      return {"follows params", "", ""};
    case ReasonKind::constraint:
      return {with_place(ask_word(sharded.graph, reason.via), reason.at), "", ""};
    case ReasonKind::output:
      return {with_place("output", reason.at), "", ""};
    case ReasonKind::unconstrained:
      return {with_place("left open", reason.at), "", ""};
    case ReasonKind::uneven:
      return {targets(sharded.mesh, reason.axes) + " does not divide dim", "", ""};
    case ReasonKind::dropped:
      return {targets(sharded.mesh, reason.axes) + " dropped, does not divide dim", "", ""};
    case ReasonKind::padded:
      return {"padded for " + targets(sharded.mesh, reason.axes), "", ""};
    case ReasonKind::typed:
      return {"type of " + op_word(sharded.graph, reason.via), "", ""};
    case ReasonKind::taken_as_axis:
      return {"no rule for " + logical + ", taken for a mesh axis", "", ""};
    case ReasonKind::propagated:
      return {"from ", name_seen_from(sharded.graph, value, reason.from),
              reason.label.empty() ? "" : " along " + reason.label};
  }
  return {};
}

/// How a written list of axes was read; beside the place where it is written it is left out.
bool is_of_rules(ReasonKind kind) {
  constexpr std::array<ReasonKind, 4> kinds = {ReasonKind::rule, ReasonKind::no_rule,
                                               ReasonKind::rule_none, ReasonKind::blocked};
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

std::string short_place(const Location& at) {
  if (!at.is_known()) return "";
  return last_part(at.file) + ':' + std::to_string(at.line);
}

Clauses why(const ShardedGraph& sharded, ValueId value) {
  Clauses clauses;
  for (const std::vector<Reason>& dim : sharded.reasons[index_of(value)]) {
    bool is_constrained = false;
    for (const Reason& reason : dim) {
      is_constrained = is_constrained || reason.kind == ReasonKind::constraint;
      if (is_constrained && is_of_rules(reason.kind)) continue;
      Clause clause = clause_of(sharded, value, reason);
      if (std::find(clauses.begin(), clauses.end(), clause) == clauses.end()) {
        clauses.push_back(std::move(clause));
      }
    }
  }
  return clauses;
}

Clause lost_clause(const ShardedGraph& sharded, const Conflict& conflict) {
  std::string axes;
  for (const AxisRef& axis : conflict.axes) {
    axes += (axes.empty() ? "" : ",") + to_string(sharded.mesh, axis);
  }
  const bool has_source = conflict.from != ValueId::none;
  return {"lost " + axes + (has_source ? " of " : ""),
          has_source ? name_seen_from(sharded.graph, conflict.loser, conflict.from) : "",
          (conflict.label.empty() ? "" : " along " + conflict.label) + " (" + conflict.why + ')'};
}

std::string reason_words(const ShardedGraph& sharded, ValueId value, const Reason& reason) {
  const Clause clause = clause_of(sharded, value, reason);
  return clause.lead + clause.name + clause.tail;
}

std::string fold_key(const Clauses& clauses) {
  std::string key;
  for (const Clause& clause : clauses) key += clause.lead + '\n' + clause.tail + '\n';
  return key;
}

std::string join(const std::vector<Clauses>& rows) {
  constexpr std::string_view along = " along ";
  std::string text;
  std::string last_source;
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    std::vector<std::string> names;
    for (const Clauses& row : rows) names.push_back(row[i].name);
    const Clause& clause = rows.front()[i];
    const std::string source = clause.lead + (clause.name.empty() ? "" : join_folded(names));
    if (source == last_source && clause.tail.starts_with(along)) {
      text += ", " + clause.tail.substr(along.size());  // from the same value along another factor
      continue;
    }
    text += (text.empty() ? "" : "; ") + source + clause.tail;
    last_source = clause.tail.starts_with(along) ? source : "";
  }
  return text;
}

}  // namespace shard
