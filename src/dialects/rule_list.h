#pragma once
// The lists of pairs in which every framework of the field writes its rules.

#include <vector>

#include "base/diagnostic.h"
#include "config/rules_config.h"
#include "text/python_literal.h"
#include "text/tree.h"

namespace shard {

/// Reads `[[logical name, target], ...]`, in order; a target is a mesh axis, a list of them, `[]`
/// or null (None), or the word UNCONSTRAINED. Raises `bad-rule` for each entry that is not such a
/// pair and leaves it out, warns of names that are not ASCII (`look-alike-name`) and of the plain
/// word None, which YAML reads as text (`none-is-text`).
std::vector<RuleConfig> read_rule_list(const TextNode& list, Diagnostics& diagnostics);

/// Names of mesh axes in order: a list, or one name. Raises `bad-mesh-axis`.
std::vector<MeshAxisConfig> read_axis_names(const TextNode& list, Diagnostics& diagnostics);

/// True for a list whose items are all pairs that begin with a text or a bare word. The empty list
/// is none.
bool looks_like_rules(const PythonValue& value);

/// The literal as a tree: texts are quoted scalars, other words plain ones; `P(...)`,
/// `PartitionSpec(...)`, `tuple([...])` and `list((...))` become lists. Raises `not-a-literal` for
/// code, `bad-rule` for what has no order.
TextNode to_tree(const PythonValue& value, Diagnostics& diagnostics);

}  // namespace shard
