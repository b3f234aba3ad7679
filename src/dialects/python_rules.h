#pragma once
// Rules in Python: literals, sources, gin files; T5X' standard rules by their name.

#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "config/rules_config.h"

namespace shard {

/// Rules from `file`; `selected` is a name or a line number where there are several lists, else
/// empty. The mesh comes from a `make_mesh((2, 4), ('data', 'model'))` or a `Mesh(..., (names))` of
/// the same text, or stays empty.
///
/// Throws `Error`: `no-rules`, `several-rule-lists`, `unknown-rule-list`, those of
/// `read_rule_list`, and for the chosen list those of the Python reader.
RulesConfig read_python_rules(const std::string& file, std::string_view text,
                              const std::string& selected, Diagnostics& diagnostics);

}  // namespace shard
