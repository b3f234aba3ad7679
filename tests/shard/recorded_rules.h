#pragma once
// Logical names and rules as the recordings write them.

#include "config/rules_config.h"
#include "support/goldens.h"

namespace shard::tests {

/// Names that are words or None; nothing when there are others.
std::optional<LogicalSpec> names_of(const json& recorded);

/// Pairs of a word and mesh axes; nothing when there are others. Null is no rules.
std::optional<std::vector<RuleConfig>> rules_of(const json& recorded);

/// A stored spec: words, arrays of words, null, "UNCONSTRAINED".
std::optional<PartitionSpec> spec_of(const json& recorded);

/// Our diagnostic's id for a recorded refusal of a spec.
std::string expected_id(const json& error);

/// The first diagnostic's id when an array of this shape is placed by the spec, or `accepted`.
std::string verdict(const Mesh& mesh, const PartitionSpec& spec, const Shape& shape, Part part);

}  // namespace shard::tests
