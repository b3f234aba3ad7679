// The keys of a rules file.
#include <array>

#include "config/keys.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<std::string_view, 3> unmatched_words = {"unsharded", "error", "no-constraint"};

constexpr std::array<std::string_view, 1> axis_types = {"auto"};
constexpr std::array<std::string_view, 2> later_axis_types = {"explicit", "manual"};
constexpr std::array<std::string_view, 1> resolvers = {"linen"};
constexpr std::array<std::string_view, 1> later_resolvers = {"nnx"};
constexpr std::array<std::string_view, 1> misfits = {"error"};
constexpr std::array<std::string_view, 2> later_misfits = {"drop-axes", "pad"};

constexpr std::array<KeyRow, 14> rows = {{
    {.name = "mesh",
     .kind = mesh,
     .help = "mesh axes and their sizes, major to minor",
     .is_required = true},
    {.name = "rules",
     .kind = rules,
     .help = "pairs [logical axis, mesh axes], first match wins",
     .default_value = "[]"},
    {.name = "base", .kind = files, .help = "files this one is laid over, relative to it"},
    {.name = "set", .kind = settings, .help = "dotted paths to new values, applied after merging"},
    {.name = "rules_for", .kind = part_rules, .help = "rules asked first, for one part's arrays"},
    {.name = "unmatched",
     .kind = word,
     .help = "what a logical axis without a rule means",
     .default_value = "unsharded",
     .choices = unmatched_words},
    {.name = "devices",
     .kind = devices,
     .help = "the devices; default: as many virtual cpu devices as the mesh needs"},
    {.name = "axis_types",
     .kind = word_or_table,
     .help = "auto or explicit, for all axes or per axis",
     .default_value = "auto",
     .choices = axis_types,
     .later_choices = later_axis_types},
    {.name = "resolver",
     .kind = word,
     .help = "whose reading of the rules: linen or nnx",
     .default_value = "linen",
     .choices = resolvers,
     .later_choices = later_resolvers},
    {.name = "misfit",
     .kind = word,
     .help = "a dim that its axes do not divide: error, drop-axes or pad",
     .default_value = "error",
     .choices = misfits,
     .later_choices = later_misfits},
    {.name = "device_order",
     .kind = anything,
     .help = "which device stands where",
     .not_yet = "remove it: devices stand in row-major order"},
    {.name = "dcn",
     .kind = anything,
     .help = "how much of an axis crosses slices",
     .not_yet = "remove it: all devices are in one slice"},
    {.name = "paths",
     .kind = anything,
     .help = "placement by glob",
     .not_yet = "place arrays with `kernel:` or logical axes in the model"},
    {.name = "rule_sets",
     .kind = anything,
     .help = "several rule sets in one file",
     .not_yet = "write one file per rule set; `base:` shares what they have in common"},
}};

}  // namespace

const KeyTable& rules_table() {
  static constexpr KeyTable table = {.name = "rules",
                                     .what = "a rules file",
                                     .help = "a mesh and how logical axes go on it",
                                     .rows = rows};
  return table;
}

}  // namespace shard
