#pragma once
// Reasons in words.

#include <string>
#include <vector>

#include "shard/sharded_graph.h"

namespace shard {

/// One part of a reason: `lead`, the name of a value (may be empty) and `tail`. The name stands
/// apart so that it can be folded when the rows of repeated blocks are.
struct Clause {
  std::string lead;
  std::string name;
  std::string tail;

  friend bool operator==(const Clause&, const Clause&) = default;
};

using Clauses = std::vector<Clause>;

/// Why the value is split as it is, in order of its dims, each thing once.
Clauses why(const ShardedGraph& sharded, ValueId value);

/// What propagation kept away from the value: `lost model of kernel along hidden (dim 0 has model
/// already)`.
Clause lost_clause(const ShardedGraph& sharded, const Conflict& conflict);

/// One reason as a text: `from x along batch`.
std::string reason_words(const ShardedGraph& sharded, ValueId value, const Reason& reason);

/// What must be equal for rows to fold: the clauses without their names.
std::string fold_key(const Clauses& clauses);

/// The clauses of one or several folded rows as one text: `from x, B_{0..2}/W2 along batch; ...`.
std::string join(const std::vector<Clauses>& rows);

/// `guide_mlp.yaml:8`: the file's name without folders, and the line; empty when unknown.
std::string short_place(const Location& at);

}  // namespace shard
