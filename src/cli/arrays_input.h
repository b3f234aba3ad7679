#pragma once
// Models that are lists of arrays: dumps and checkpoints as they are, and what `from` names.

#include <string>

#include "config/load.h"
#include "text/files.h"

namespace shard {

/// Whether the file is a list of arrays of somebody else's form (see `import_arrays`), told from
/// its first bytes.
bool is_dump_of_arrays(const std::string& path, Sources& sources);

/// The arrays of a document, those of the file that `from` names first. Throws `Error`: those of
/// `read_arrays` and `import_arrays`, and `duplicate-array`.
ArraysConfig read_all_arrays(const MergedDocument& document, Sources& sources);

}  // namespace shard
