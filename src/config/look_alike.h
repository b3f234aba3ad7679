#pragma once
// Letters that look like others.

#include "base/diagnostic.h"
#include "text/tree.h"

namespace shard {

/// Warns (`look-alike-name`) of a name with a letter that is not ASCII, by its code point: it never
/// equals the name that it looks like. A node that is no scalar is not looked at.
void warn_of_letters(const TextNode& name, Diagnostics& diagnostics);

}  // namespace shard
