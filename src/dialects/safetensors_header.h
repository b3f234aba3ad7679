#pragma once
// The header of a safetensors file, for its names, element types and shapes.

#include "dialects/array_reader.h"
#include "text/files.h"

namespace shard {

/// Adds the arrays of `path` in the header's order. No more of the file than the header is read.
/// Throws `Error` `bad-safetensors` (cut short, a header over 100 MB, not JSON); raises it for an
/// array whose bytes do not fit its shape.
void read_safetensors_header(const std::string& path, Sources& sources, ArrayReader& reader);

}  // namespace shard
