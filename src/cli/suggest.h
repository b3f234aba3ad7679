#pragma once
// `plan --suggest`: the smallest edit that gives every value a type.

#include <string>

#include "cli/options.h"
#include "text/files.h"

namespace shard {

/// A patch of the model file with the cheapest `out_sharding` on each ambiguous layer; a sentence
/// when there is none. Throws `Error` when a mistake of typing has no such answer.
std::string suggested_edit(const Options& options, Sources& sources);

}  // namespace shard
