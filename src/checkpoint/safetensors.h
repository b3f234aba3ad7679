#pragma once
// The safetensors format: an 8-byte little-endian header length, a JSON header, the data.

#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "text/files.h"

namespace shard {

/// All tensors in the order of their offsets. Throws `Error` `bad-safetensors` (truncated,
/// overlapping or gapped offsets, unknown dtype, shape and size that disagree, header over 100 MB,
/// duplicate names).
std::vector<NamedTensor> read_safetensors(const std::string& path, FileReader& reader);

/// The bytes of a file that holds `tensors`, sorted by name, data 8-byte aligned.
std::string write_safetensors(const std::vector<NamedTensor>& tensors);

}  // namespace shard
