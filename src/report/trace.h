#pragma once
// How the shardings of a function came about, step by step: what each rule decided and lost, then
// every gain of propagation in the order in which the ops brought it, then what stayed apart.

#include <string>
#include <vector>

#include "report/plan.h"

namespace shard {

/// Dims that one rule decided, or that it names and lost, of arrays with the same logical axes.
struct RuleEvent {
  std::string names;  ///< `[embed, hidden]`
  int dim = 0;
  std::string first;  ///< the first of the arrays
  std::int64_t arrays = 1;
  std::string lost;  ///< why it does not decide the dim; empty: it does
};

struct RuleTrace {
  std::string rule;  ///< `rule 2 [hidden, model]`
  Location at;
  std::vector<RuleEvent> events;  ///< in the order the lists of axes were first asked about
};

/// One dim that grew.
struct GainTrace {
  int step = 0;      ///< from 1; a step that propagation took for a result has no value here
  int priority = 0;  ///< of ops: 0 pass-through first ... 4 everything
  std::string value;
  int dim = 0;
  std::string axes;   ///< `data,model`
  std::string op;     ///< through which: `dot of Dense_0`; `the placement of a result`
  std::string from;   ///< the value that had them; may be empty
  std::string label;  ///< of the factor along which they came; may be empty
};

struct ConflictTrace {
  std::string op;
  std::string value;
  int dim = 0;
  std::string axes;
  std::string from;
  std::string label;
  std::string why;
};

struct Trace {
  std::vector<RuleTrace> rules;
  std::vector<GainTrace> gains;
  std::vector<ConflictTrace> conflicts;
};

Trace trace_of(const ShardedGraph& sharded, const RulesConfig& rules);

/// Ends with a newline.
std::string trace_text(const Trace& trace);
/// `function`: its name, `train_step` or `apply`.
std::string trace_json(const Trace& trace, const std::string& function);

}  // namespace shard
