#pragma once
// A diagnostic as people read it: the message, the line that is meant with a caret run, the hint.

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "text/files.h"

namespace shard {

/// All of them, in their order. One diagnostic (`render` of `text/files.h`) looks like this:
///
///     rules/fsdp.yaml:14:11: error: mesh axis 'fsdpp' is not in the mesh [unknown-mesh-axis]
///        14 |   embed: [fsdpp]
///           |           ^~~~~
///       hint: did you mean 'fsdp'? the mesh has: data, fsdp, tensor
///
/// The excerpt is left out when its text is not in `sources`. Long lines are cut around the place;
/// control characters are shown as `?`.
std::string render(const std::vector<Diagnostic>& diagnostics, const Sources& sources);

}  // namespace shard
