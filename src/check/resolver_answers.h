#pragma once
// The answers of both resolvers to one list of logical axes, as they count on a mesh.

#include <string>

#include "mesh/mesh.h"
#include "shard/decisions.h"

namespace shard {

struct ResolverAnswers {
  std::string linen;    ///< effective: axes of one device left out, as Python prints it
  std::string nnx;      ///< the same; with unknown axes as they stand
  std::string refusal;  ///< why NNX's spec is refused: `unknown-mesh-axis`, `duplicate-mesh-axis`
  /// All that is wrong with NNX's answer is that names without a rule are taken for mesh axes.
  bool refuses_names_only = false;
  bool agree = true;  ///< the same effective spec, and not refused
};

ResolverAnswers resolver_answers(const Mesh& mesh, const RuleDecision& decision);

}  // namespace shard
