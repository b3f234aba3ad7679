// Where Flax Linen's and Flax NNX's ways from names to axes part.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "check/finders.h"
#include "check/resolver_answers.h"
#include "check/used_rules.h"

namespace shard {
namespace {

/// More lists of axes than these are only counted.
constexpr std::size_t most_told = 3;

/// Names without a rule, which NNX takes for mesh axes that the mesh does not have.
void add_refused_names(const RuleDecision& decision, const Mesh& mesh,
                       std::vector<std::string>& names) {
  for (std::size_t dim = 0; dim < decision.dims.size(); ++dim) {
    const auto& name = decision.names.names[dim];
    if (!name || name->empty() || mesh.find(MeshAxis(name->text()))) continue;
    if (decision.dims[dim].rule > 0 || !decision.dims[dim].lost.empty()) continue;
    if (std::find(names.begin(), names.end(), name->text()) == names.end()) {
      names.push_back(name->text());
    }
  }
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::vector<Finding> find_resolvers_that_disagree(const PlanFacts& facts, const FindingKind& kind) {
  const Mesh& mesh = facts.sharded.mesh;
  std::vector<Finding> found;
  std::vector<std::string> refused;
  Location first_refused;
  std::set<std::string> told;
  for (const RuleDecision& decision : facts.sharded.decisions) {
    const ResolverAnswers answers = resolver_answers(mesh, decision);
    if (answers.agree) continue;
    if (answers.refuses_names_only) {
      if (refused.empty()) first_refused = decision.first_at;
      add_refused_names(decision, mesh, refused);
      continue;
    }
    const std::string text =
        to_string(decision.names) + ": linen " + answers.linen + ", nnx " + answers.nnx +
        (answers.refusal.empty() ? "" : ", which is refused (" + answers.refusal + ')');
    if (!told.insert(text).second || told.size() > most_told) continue;
    found.push_back({kind.severity, std::string(kind.id), decision.first_at,
                     "the resolvers disagree about " + decision.first + " with " + text,
                     "one rule for each name, with axes that no other dim of the array takes",
                     Bytes(0)});
  }
  if (told.size() > most_told) {
    found.back().message += " (and " + with_commas(std::ssize(told) - std::ssize(found)) +
                            " more lists of axes: `explain` shows each)";
  }
  if (!refused.empty()) {
    found.push_back({Severity::note, std::string(kind.id), first_refused,
                     "under NNX names without a rule are taken for mesh axes, and refused "
                     "(unknown-mesh-axis): " +
                         listed(refused),
                     "for NNX: a rule [" + refused.front() + ", None]" +
                         (refused.size() > 1 ? " and so on" : ""),
                     Bytes(0)});
  }
  return found;
}

}  // namespace shard
