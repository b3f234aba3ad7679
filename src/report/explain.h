#pragma once
// Why an array is split as it is, which rules lost and why, what would change it; why a collective
// is there; what a line of a file decides. The reasons are those that planning recorded.

#include <optional>
#include <string>
#include <vector>

#include "check/what_if.h"
#include "report/delta.h"
#include "report/plan.h"
#include "report/rows.h"

namespace shard {

/// One dim of an array.
struct DimAnswer {
  std::string name;  ///< logical axis, or label; may be empty
  std::int64_t size = 0;
  std::string split;              ///< `whole`, `model (4)`, `data (2) x model (4)`
  std::vector<std::string> why;   ///< what decided it, in the order it happened
  std::vector<std::string> lost;  ///< what would have split it otherwise, and why it did not

  friend bool operator==(const DimAnswer&, const DimAnswer&) = default;
};

/// Arrays with one answer.
struct ArrayAnswer {
  std::vector<std::string> names;
  ArrayRow row;        ///< of the first
  std::string placed;  ///< `axes [embed, hidden], models/mlp.yaml:11:7, used 4 times`
  std::vector<DimAnswer> dims;
  std::vector<std::string> unused_rules;  ///< that name no dim of it: `rule 1 [batch, data]`
  std::vector<std::string> free_axes;     ///< `data (2)`
  std::vector<RuleTrial> trials;          ///< see `rule_trials`
  std::string other_resolver;             ///< `nnx: the same`; empty when no rule was asked
};

/// What an edit would do to a collective.
struct Alternative {
  std::string edit;    ///< `drop rule 2`, `constrain [batch, hidden]`
  std::string effect;  ///< `no all_reduce over model, state x4.0`
};

struct CollectiveAnswer {
  CollectiveRow row;
  std::int64_t number = 0;  ///< that was asked for
  std::string groups;       ///< `{0,1,2,3} {4,5,6,7}`
  std::string type;         ///< of its operand on one device: `f32[4,1024]`
  std::string because;
  std::string asked_by;  ///< the constraint that wants the result; may be empty
  std::vector<Alternative> instead;
};

/// What one line of a file decides and places.
struct LineAnswer {
  std::string place;               ///< `rules/flax_guide.yaml:4`
  std::vector<std::string> rules;  ///< `rule 2 [hidden, model] decides 36 of 36 dims ...`
  std::vector<ArrayAnswer> arrays;
  std::vector<CollectiveRow> collectives;
  std::vector<Finding> findings;

  bool empty() const {
    return rules.empty() && arrays.empty() && collectives.empty() && findings.empty();
  }
};

/// The answers to one word, or to several.
struct Explanation {
  std::vector<ArrayAnswer> arrays;
  std::vector<CollectiveAnswer> collectives;
  std::vector<LineAnswer> lines;
};

/// Explains what `word` means: a path, a folder, a glob or a value (one answer per distinct
/// reason), `#3` (a collective, numbered as `plan` prints them), or `FILE:LINE`. Throws `Error`:
/// `unknown-array` (nearest), `unknown-collective`, `nothing-there`, `no-program` (a list of arrays
/// has no collectives).
Explanation explain(const Plan& plan, const std::string& word);

/// For people; ends with a newline.
std::string explain_text(const Explanation& explanation, const Layout& layout);
std::string explain_json(const Plan& plan, const Explanation& explanation,
                         const std::optional<Delta>& delta = {});

}  // namespace shard
