#pragma once
// Rules in Python: literals, sources, gin files; T5X' standard rules by their name.

#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "config/rules_config.h"
#include "text/tree.h"

namespace shard {

/// What a source says about sharding.
struct PythonRules {
  RulesConfig rules;
  /// What was assigned to MaxText's keys (`mesh_axes`, `ici_fsdp_parallelism` ...), the last value
  /// of each: Flax' examples size their mesh as MaxText does.
  TextNode settings;
};

/// Rules from `file`; `selected` is a name or a line number where there are several lists, else
/// empty. A call of keywords alone whose name ends in `Rules` is a list of rules too. The mesh
/// comes from a `make_mesh((2, 4), ('data', 'model'))` or a `Mesh(..., (names))` of the same text,
/// or stays empty.
///
/// Throws `Error`: `no-rules`, `several-rule-lists`, `unknown-rule-list`, those of
/// `read_rule_list`, and for the chosen list those of the Python reader.
PythonRules read_python_rules(const std::string& file, std::string_view text,
                              const std::string& selected, Diagnostics& diagnostics);

}  // namespace shard
