#pragma once
// The mistakes of a file in the order in which a reader of the file meets them.

#include "base/diagnostic.h"

namespace shard {

/// Throws `Error` when there are errors: file by file, in the order in which the files come up
/// first, and by line and column within each; what two readers found alike is told once.
void throw_in_file_order(const Diagnostics& diagnostics);

}  // namespace shard
