// Every kind of finding, in one table: what runs, what `findings --list` prints, which ids levels
// may be given for.
#include <array>

#include "check/finders.h"
#include "check/findings.h"

namespace shard {
namespace {

constexpr Severity error = Severity::error;
constexpr Severity warning = Severity::warning;
constexpr Severity note = Severity::note;

constexpr FindingKind kinds[] = {
    // found in a plan
    {"replicated-large", warning,
     "large state held several times; a note when only axes that split the batch are concerned",
     "split it by the rule or the spec that the fix names", find_replicated_large},
    {"optimizer-follows-replicated", warning,
     "optimizer state of a parameter that is whole on every device; a note when all state is",
     "split it alone: rules_for: {optimizer: ...}", find_optimizer_follows_replicated},
    {"unsplit-share", note,
     "a mesh axis that splits parameters but leaves more than 5% of their bytes whole",
     "split the largest of them over it, too", find_unsplit_share},
    {"axis-unused", warning,
     "a mesh axis that splits no array: its devices all do the same work; a note in a list of "
     "arrays "
     "when a rule has it for names of values",
     "give it a dim to split, or leave it out of the mesh", find_axes_unused},
    {"no-input-split", warning, "no input is split, so every device computes the whole batch",
     "split the batch over a mesh axis", find_no_input_split},
    {"size-1-axis-blocks", warning,
     "a rule that lost only because another dim has its mesh axis of one device; a note when no "
     "state is the larger for it",
     "append a rule with the other axes", find_axes_of_size_one_that_block},
    {"rule-shadowed", warning,
     "a rule that names dims and never decides one; a note when an earlier rule splits them",
     "append a rule with the axes that are free, put the rule earlier, or drop it",
     find_rules_shadowed},
    {"unmatched-name", note,
     "logical axes that no rule names; a warning when an unused rule has nearly the same name",
     "add a rule or correct the name", find_unmatched_names, true},
    {"rank-mismatch", warning, "fewer logical axes than dims: a layer axis is probably missing",
     "name every dim, the stacked one too", find_missing_names, true},
    {"resolvers-disagree", warning,
     "Linen and NNX give different specs; a note when NNX only refuses names without a rule",
     "give each name one rule, with axes that no other dim of the array takes",
     find_resolvers_that_disagree},
    {"full-remat", warning,
     "a reshard that gathers a whole array on every device and cuts pieces out of it: XLA's "
     "involuntary full rematerialization",
     "place the array on the way, or where it is made, as the fix says", find_full_remats},
    {"implicit-reshard", error,
     "a reshard that no constraint, reshard or placement of a result asks for; looked for with "
     "--strict, or when it is given a level",
     "place the array as the fix says, or ask for the reshard", find_implicit_reshards, false,
     true},
    {"uneven", warning,
     "a dim that its axes do not divide: with misfit: pad the last pieces are padding; inside a "
     "program JAX pads it, and here it keeps the axes that do",
     "pad the dim to a legal size, or split another", find_uneven},
    {"axes-dropped", warning, "misfit: drop-axes left out mesh axes that do not divide a dim",
     "pad the dim to a legal size, or leave the axes out of the rule", find_dropped_axes},
    {"rule-never-used", note, "a rule whose logical axis no array has", "drop it",
     find_rules_never_used},
    {"path-matches-nothing", warning, "a glob of `paths` that no array's path matches",
     "correct the glob or drop it", find_paths_that_match_nothing},
    {"array-without-axes", warning, "an array that nothing places: no axes, no glob, no spec",
     "give it axes, or null when it is to be whole", find_arrays_without_axes},
    // raised before there is a plan
    {"duplicate-logical-name", error,
     "one logical axis on two dims of an array, which Linen refuses",
     "give each dim a name of its own, or None", nullptr},
    {"duplicate-mesh-axis", error, "one mesh axis on two dims of an array, or twice in the mesh",
     "a mesh axis can split at most one dim of an array", nullptr},
    {"unknown-mesh-axis", error, "a rule or a spec names an axis that the mesh does not have",
     "correct the name, or add the axis to the mesh", nullptr},
    {"indivisible", error,
     "a dim of a parameter, an input, a result or optimizer state that its axes do not divide",
     "pad to a legal size, take a legal number of devices, or split another dim", nullptr},
    {"unconstrained-argument", error, "UNCONSTRAINED in the spec of an argument or a result",
     "write None for a dim that is not split", nullptr},
    {"mesh-size", error, "the axes do not multiply to the number of devices",
     "change a size, or write -1 for the one that is to fill", nullptr},
    {"topology-unassignable", error, "the mesh does not lie on the torus axis by axis",
     "another shape, or device_order: split", nullptr},
    {"unknown-devices", error, "hardware that does not exist", "the nearest that does", nullptr},
};

}  // namespace

std::span<const FindingKind> finding_table() { return kinds; }

const FindingKind* finding_kind(std::string_view id) {
  for (const FindingKind& kind : kinds) {
    if (kind.id == id) return &kind;
  }
  return nullptr;
}

}  // namespace shard
