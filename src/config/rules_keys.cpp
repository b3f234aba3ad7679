// The keys of a rules file.
#include <array>

#include "config/keys.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<std::string_view, 3> unmatched_choices = {"unsharded", "error",
                                                               "no-constraint"};

constexpr std::array<std::string_view, 3> axis_types = {"auto", "explicit", "manual"};
constexpr std::array<std::string_view, 2> resolvers = {"linen", "nnx"};
constexpr std::array<std::string_view, 3> misfits = {"error", "drop-axes", "pad"};
constexpr std::array<std::string_view, 4> orders = {"auto", "split", "contiguous", "ids"};

// The last keys are about the file as a whole; the others may stand in a rule set too.
constexpr std::size_t file_keys = 3;
constexpr std::array<KeyRow, 16> rows = {{
    {.name = "mesh",
     .kind = mesh,
     .help = "mesh axes and their sizes, major to minor; -1: what the devices leave"},
    {.name = "rules",
     .kind = rules,
     .help = "pairs [logical axis, mesh axes], first match wins",
     .default_value = "[]"},
    {.name = "rules_for", .kind = part_rules, .help = "rules asked first, for one part's arrays"},
    {.name = "paths",
     .kind = path_rules,
     .help = "pairs [glob of array paths, spec], asked before the rules; first match wins"},
    {.name = "unmatched",
     .kind = word,
     .help = "what a logical axis without a rule means",
     .default_value = "unsharded",
     .choices = unmatched_choices},
    {.name = "misfit",
     .kind = word,
     .help = "a dim that its axes do not divide: error, drop-axes or pad",
     .default_value = "error",
     .choices = misfits},
    {.name = "reshard_memory",
     .kind = bytes,
     .help = "most bytes of operand and result of one step of a reshard together, e.g. 64 MiB; "
             "takes a way that sends more where it must",
     .default_value = "any"},
    {.name = "resolver",
     .kind = word,
     .help = "whose reading of the rules: linen or nnx",
     .default_value = "linen",
     .choices = resolvers},
    {.name = "devices",
     .kind = devices,
     .help = "hardware by name, e.g. v5e-256, v5p-2x2x4, 4xv5e-16, 4x8xh100 or cpu-8; default: as "
             "many virtual cpu devices as the mesh needs"},
    {.name = "dcn",
     .kind = mesh,
     .help = "how much of an axis crosses slices; -1: what the number of slices leaves"},
    {.name = "device_order",
     .kind = word_or_ids,
     .help = "which device stands where: as JAX arranges them (auto), also sharing torus axes "
             "(split), each process in a box (contiguous), by id (ids), or a list of ids",
     .default_value = "auto",
     .choices = orders},
    {.name = "axis_types",
     .kind = word_or_table,
     .help = "auto, explicit or manual, for all axes or per axis",
     .default_value = "auto",
     .choices = axis_types},
    {.name = "findings",
     .kind = finding_levels,
     .help = "how loud a finding is: off, note, warn or error per id (`shard-plan findings "
             "--list`)"},
    {.name = "base", .kind = files, .help = "files this one is laid over, relative to it"},
    {.name = "set", .kind = settings, .help = "dotted paths to new values, applied after merging"},
    {.name = "rule_sets",
     .kind = rule_sets,
     .help = "named sets of these keys; FILE#NAME lays one over the file"},
}};

}  // namespace

const KeyTable& rules_table() {
  static constexpr KeyTable table = {.name = "rules",
                                     .what = "a rules file",
                                     .help = "a mesh and how logical axes go on it",
                                     .rows = rows};
  return table;
}

const KeyTable& rule_set_table() {
  static constexpr KeyTable table = {.name = "rule_set",
                                     .what = "a rule set",
                                     .help = "keys that take the place of the file's",
                                     .rows = std::span(rows).first(rows.size() - file_keys)};
  return table;
}

}  // namespace shard
