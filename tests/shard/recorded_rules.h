#pragma once
// Logical names, rules and specs as the recordings write them, through the readers of our files.

#include "config/rules_config.h"
#include "support/goldens.h"

namespace shard::tests {

/// What a reader made of a recorded value, or its refusal.
template <class Value>
struct Read {
  std::optional<Value> value;
  std::string refusal;  ///< `refused: malformed`, or another diagnostic's id

  explicit operator bool() const { return value.has_value(); }
};

/// Asks one recorded case of ours and notes what came out.
using CompareOne = void (*)(Conformance& conformance, const json& one);

/// All cases of one kind in a recording: a test fails unless every one matches. Nothing where there
/// is no recording.
void compare_kind(const std::string& file, const std::string& kind, CompareOne compare_one);

/// Names of an array's dims: null, a list, or the entries of a `{"P": [...]}`.
Read<SpecConfig> read_names(const json& recorded);

/// A list of pairs; null is no rules.
Read<std::vector<RuleConfig>> read_recorded_rules(const json& recorded);

/// A PartitionSpec: written entries, or `{"P": [...], "unreduced": [...], "reduced": [...]}`.
Read<PartitionSpec> read_recorded_spec(const json& recorded);

/// A stored spec as text; `none` for null.
std::string spec_text(const json& recorded);

/// Why a Python program may hand the value over and a file of ours may not: what is no name (a
/// number, an empty text), or None and UNCONSTRAINED where a tuple names mesh axes. Empty for none
/// of these.
std::string nonsense_in_names(const json& recorded);
/// Also a mesh axis that one rule has twice.
std::string nonsense_in_rules(const json& recorded);
/// The first that is not empty.
std::string first_of(const std::vector<std::string>& reasons);

/// A list where Python expects a tuple; our files have lists only.
bool has_python_list(const json& recorded);

/// Why a case with such a list is left out.
inline constexpr const char* python_list = "Python tells a list from a tuple";

/// The rules of a call, or those around it.
json rules_in_force(const json& asked);

/// What `with_logical_constraint` does to one array (`names`, `shape`, `mesh` of the case): the
/// spec as text, `none`, or a refusal.
std::string constrained(const json& asked, const json& rules, const std::string& fallback);

/// `refused: ID` with our diagnostic's id for a recorded refusal.
std::string expected_refusal(const json& error);

/// What was recorded: the spec as text, or `refused: ID`.
std::string recorded_answer(const json& out);

/// The spec as text, or `refused: ID` when an array of this shape cannot be placed by it. What
/// holds for a constraint only (`explicit-constraint`, `not-yet`) is not asked.
std::string placed(const Mesh& mesh, const PartitionSpec& spec, const Shape& shape, Part part,
                   Misfit misfit = Misfit::error);

}  // namespace shard::tests
