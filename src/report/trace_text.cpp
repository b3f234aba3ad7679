#include <algorithm>
#include <map>

#include "check/reshards.h"
#include "check/used_rules.h"
#include "report/rows.h"
#include "report/table.h"
#include "report/trace.h"

namespace shard {
namespace {

std::string loss_words(const RuleLoss& loss) {
  if (loss.cause == RuleLoss::Cause::dim_decided) {
    return "rule " + std::to_string(loss.winner) + " decides the dim";
  }
  const std::string from =
      loss.winner > 0 ? " from rule " + std::to_string(loss.winner) : std::string();
  return "dim " + std::to_string(loss.other_dim) + " has " + loss.axis.text() + " already" + from;
}

std::vector<RuleTrace> rule_traces(const ShardedGraph& sharded, const RulesConfig& rules) {
  std::vector<RuleTrace> traces;
  const auto add = [&](const std::vector<RuleConfig>& list, const std::string& part) {
    for (const RuleConfig& rule : list) {
      const int number = static_cast<int>(traces.size()) + 1;
      traces.push_back({rule_text(number, rule.logical, rule.target) + part, rule.at, {}});
    }
  };
  add(rules.rules, "");
  for (const PartRulesConfig& part : rules.rules_for) {
    add(part.rules, " for " + std::string(word_of(part.part)));
  }
  for (const RuleDecision& decision : sharded.decisions) {
    for (std::size_t dim = 0; dim < decision.dims.size(); ++dim) {
      const auto note = [&](int rule, std::string lost) {
        if (rule < 1) return;
        traces[static_cast<std::size_t>(rule - 1)].events.push_back(
            {to_string(decision.names), static_cast<int>(dim), decision.first, decision.arrays,
             std::move(lost)});
      };
      note(decision.dims[dim].rule, "");
      for (const RuleLoss& loss : decision.dims[dim].lost) note(loss.rule, loss_words(loss));
    }
  }
  return traces;
}

std::string through(const Graph& graph, NodeId node) {
  CollectiveReason by_op;
  by_op.node = node;
  return node == NodeId::none ? "the placement of a result" : op_name(graph, by_op);
}

std::string value_words(const Graph& graph, ValueId value) {
  return value == ValueId::none ? "" : tensor_name(graph, value);
}

/// By step; a value that shares its place with another is the same step.
std::vector<GainTrace> gain_traces(const ShardedGraph& sharded) {
  std::map<int, GainTrace> by_step;
  for (std::size_t value = 0; value < sharded.reasons.size(); ++value) {
    for (std::size_t dim = 0; dim < sharded.reasons[value].size(); ++dim) {
      for (const Reason& reason : sharded.reasons[value][dim]) {
        if (reason.step == 0) continue;
        by_step.try_emplace(
            reason.step,
            GainTrace{reason.step, reason.level, value_words(sharded.graph, id_at<ValueId>(value)),
                      static_cast<int>(dim), axes_text(sharded.mesh, reason.axes),
                      through(sharded.graph, reason.via), value_words(sharded.graph, reason.from),
                      reason.label});
      }
    }
  }
  std::vector<GainTrace> gains;
  for (auto& [step, gain] : by_step) gains.push_back(std::move(gain));
  return gains;
}

std::string place_words(const Location& at) {
  return at.is_known() ? ", " + to_string(at) : std::string();
}

std::string rules_text(const Trace& trace) {
  std::string text;
  for (const RuleTrace& rule : trace.rules) {
    text += rule.rule + place_words(rule.at) + '\n';
    if (rule.events.empty()) text += "  names no dim\n";
    for (const RuleEvent& event : rule.events) {
      text += event.lost.empty() ? "  decides" : "  loses";
      text += " dim " + std::to_string(event.dim) + " of " + event.names + ": " + event.first;
      if (event.arrays > 1) text += " and " + with_commas(event.arrays - 1) + " more";
      text += (event.lost.empty() ? "" : ", because " + event.lost) + '\n';
    }
  }
  return text;
}

}  // namespace

Trace trace_of(const ShardedGraph& sharded, const RulesConfig& rules) {
  Trace trace;
  trace.rules = rule_traces(sharded, rules);
  trace.gains = gain_traces(sharded);
  for (const Conflict& one : sharded.conflicts) {
    trace.conflicts.push_back({through(sharded.graph, one.via),
                               value_words(sharded.graph, one.loser), one.dim,
                               axes_text(sharded.mesh, one.axes),
                               value_words(sharded.graph, one.from), one.label, one.why});
  }
  return trace;
}

std::string trace_text(const Trace& trace) {
  constexpr int any_width = 0;
  std::string text = "RULES\n" + rules_text(trace);
  Table gains({{"PROPAGATION", true},
               {"priority", true},
               {"value"},
               {"dim", true},
               {"gains"},
               {"along"},
               {"through"},
               {"from"}});
  for (const GainTrace& one : trace.gains) {
    gains.add({std::to_string(one.step), std::to_string(one.priority), one.value,
               std::to_string(one.dim), one.axes, one.label, one.op, one.from});
  }
  if (!gains.empty()) text += '\n' + gains.render(any_width, false);
  Table apart({{"STAYED APART"}, {"dim", true}, {"without"}, {"along"}, {"at"}, {"of"}, {"why"}});
  for (const ConflictTrace& one : trace.conflicts) {
    apart.add({one.value, std::to_string(one.dim), one.axes, one.label, one.op, one.from, one.why});
  }
  return apart.empty() ? text : text + '\n' + apart.render(any_width, false);
}

}  // namespace shard
