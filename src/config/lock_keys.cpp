// The keys of a lock file.
#include <array>

#include "config/keys.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<KeyRow, 2> lock_file_rows = {{
    {.name = "version", .kind = whole, .help = "of this form of file", .is_required = true},
    {.name = "layouts",
     .kind = settings,
     .help = "by job and mesh: what was agreed to",
     .is_required = true},
}};

constexpr std::array<KeyRow, 6> section_rows = {{
    {.name = "state", .kind = settings, .help = "parameters and what belongs to them"},
    {.name = "inputs", .kind = settings, .help = "data inputs"},
    {.name = "outputs", .kind = settings, .help = "results that are no state"},
    {.name = "activations", .kind = settings, .help = "values of a dump"},
    {.name = "collectives", .kind = settings, .help = "by kind and axes: COUNT x BYTES B"},
    {.name = "peak_bytes", .kind = whole, .help = "memory of a device", .unit = "bytes"},
}};

constexpr KeyTable lock_file = {.name = "lock",
                                .what = "a lock file",
                                .help = "layouts that were agreed to",
                                .rows = lock_file_rows};
constexpr KeyTable section = {.name = "layout",
                              .what = "a layout of a lock file",
                              .help = "what a job gave on a mesh",
                              .rows = section_rows};

}  // namespace

const KeyTable& lock_table() { return lock_file; }
const KeyTable& lock_section_table() { return section; }

}  // namespace shard
