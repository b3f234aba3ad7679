// The keys of a job file.
#include <array>

#include "config/keys.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<KeyRow, 3> replication_rows = {{
    {.name = "per_array", .kind = bytes, .help = "limit of one array on one device"},
    {.name = "total", .kind = bytes, .help = "limit of all arrays on one device"},
    {.name = "except", .kind = names, .help = "globs of arrays that do not count"},
}};
constexpr KeyTable replication = {.name = "max_replicated_bytes",
                                  .what = "'max_replicated_bytes'",
                                  .help = "limits on bytes that several devices hold",
                                  .rows = replication_rows};

constexpr std::array<std::string_view, 7> collective_words = {
    "all_reduce",         "all_gather",           "reduce_scatter",   "all_to_all",
    "collective_permute", "collective_broadcast", "ragged_all_to_all"};
constexpr std::array<KeyRow, 2> forbidden_rows = {{
    {.name = "kind", .kind = word, .help = "what it is; default: any", .choices = collective_words},
    {.name = "axis", .kind = text, .help = "a mesh axis it runs over; default: any"},
}};
constexpr KeyTable forbidden_collective = {.name = "forbidden_collective",
                                           .what = "an item of 'forbid_collective'",
                                           .help = "collectives that must not be there",
                                           .rows = forbidden_rows};

constexpr std::array<KeyRow, 2> required_rows = {{
    {.name = "path", .kind = text, .help = "a name or a glob of arrays", .is_required = true},
    {.name = "spec", .kind = spec, .help = "mesh axes: P(None, model)", .is_required = true},
}};
constexpr KeyTable required_spec = {.name = "required_spec",
                                    .what = "an item of 'require_spec'",
                                    .help = "the effective spec that arrays must have",
                                    .rows = required_rows};

constexpr std::array<KeyRow, 6> policy_rows = {{
    {.name = "max_bytes_per_device",
     .kind = bytes,
     .help = "limit of the peak; of the arrays where there is no program"},
    {.name = "max_replicated_bytes",
     .kind = table,
     .help = "limits on bytes of the state that several devices hold",
     .table = &replication},
    {.name = "forbid_collective",
     .kind = forbidden_collectives,
     .help = "collectives that must not be there: {kind: all_gather, axis: tensor}"},
    {.name = "require_spec",
     .kind = required_specs,
     .help =
         "effective specs that arrays must have: {path: \"*/kernel\", spec: \"P(None, model)\"}"},
    {.name = "findings", .kind = finding_levels, .help = "how loud findings are"},
    {.name = "fits", .kind = text, .help = "a chip or bytes that the peak must fit into"},
}};
constexpr KeyTable policy = {.name = "policy",
                             .what = "'policy'",
                             .help = "what is asked of a layout whatever the lock says",
                             .rows = policy_rows};

constexpr std::array<std::string_view, 3> merge_choices = {"prepend", "replace", "append"};
constexpr std::array<KeyRow, 2> layered_rows = {{
    {.name = "files",
     .kind = files,
     .help = "rules files, the later laid over the earlier",
     .is_required = true},
    {.name = "merge",
     .kind = word,
     .help = "what happens to the rules of the lower file",
     .default_value = "prepend",
     .choices = merge_choices},
}};
constexpr KeyTable layered = {.name = "layered_rules",
                              .what = "'rules'",
                              .help = "rules files laid over each other",
                              .rows = layered_rows};

constexpr std::array<KeyRow, 7> job_rows = {{
    {.name = "model", .kind = text, .help = "a model file or a shipped model", .is_required = true},
    {.name = "rules",
     .kind = job_rules,
     .help = "a rules file, several laid over each other, or {files, merge}",
     .is_required = true},
    {.name = "meshes",
     .kind = names,
     .help = "meshes such as data=4,model=2; default: the rules' own"},
    {.name = "name", .kind = text, .help = "what reports call it; default: its model and rules"},
    {.name = "sizes", .kind = job_sizes, .help = "a size set, or sizes and their values"},
    {.name = "set", .kind = settings, .help = "dotted paths into the model to new values"},
    {.name = "policy",
     .kind = table,
     .help = "laid over the file's policy, key by key",
     .table = &policy},
}};
constexpr KeyTable job = {.name = "job",
                          .what = "a job",
                          .help = "one model under one rule set on some meshes",
                          .rows = job_rows};

constexpr std::array<KeyRow, 3> jobs_file_rows = {{
    {.name = "jobs", .kind = jobs, .help = "what is checked", .is_required = true},
    {.name = "lock",
     .kind = text,
     .help = "the file that has what is expected, relative to this one; `--update` writes it"},
    {.name = "policy", .kind = table, .help = "what is asked of every job", .table = &policy},
}};
constexpr KeyTable job_file = {.name = "jobs",
                               .what = "a job file",
                               .help = "layouts that are checked, and what is asked of them",
                               .rows = jobs_file_rows};

}  // namespace

const KeyTable& jobs_table() { return job_file; }
const KeyTable& job_table() { return job; }
const KeyTable& layered_rules_table() { return layered; }
const KeyTable& policy_table() { return policy; }
const KeyTable& replication_table() { return replication; }
const KeyTable& forbidden_collective_table() { return forbidden_collective; }
const KeyTable& required_spec_table() { return required_spec; }

}  // namespace shard
