#pragma once
// `show` without a model: a mesh, and perhaps one spec on it, from the command line alone.
//
//   shard-plan show --mesh data=2,model=4 --spec "P('data', None)" --shape 8,1024
//   shard-plan show flax_guide --spec "[batch, embed]" --shape 8,1024    through the rules
//   shard-plan show --mesh a=2,b=2 --spec "P(('a','b'))" --shape 5 --uneven nested
//   shard-plan show flax_guide                                           their mesh
//   shard-plan show --devices v5e-16                                     the hardware

#include "cli/options.h"
#include "report/plan.h"
#include "report/rows.h"
#include "text/files.h"

namespace shard {

/// The rules that the first argument names, or none of a file's with the mesh of --mesh and
/// --devices. Throws `Error` `usage` when nothing names a mesh.
RulesConfig read_mesh_rules(const Options& options, Sources& sources);

/// The sizes of --shape: `8,1024`; `scalar` for rank 0. Throws `Error` `bad-value`.
Shape read_shape(const std::string& text);

/// A spec as typed: mesh axes, logical axes, XLA's or Shardy's text. Uneven pieces are kept.
/// `usage` is a command line that names rules, for the hint. Throws `Error`: `needs-rules` (logical
/// axes without rules), what reading and resolving a spec raise.
Sharding read_spec_word(const std::string& word, const Location& at, const TensorType& type,
                        const RulesConfig& rules, const Mesh& mesh, const std::string& usage);

/// The array of --spec and --shape, without a name; the mesh is that of the rules. Uneven pieces
/// are kept. Throws `Error`: `usage` (no --shape), `bad-value`, `needs-rules` (logical axes without
/// RULES), what reading and resolving a spec raise.
ArrayRow spec_row(const Options& options, const RulesConfig& rules, const Mesh& mesh);

}  // namespace shard
