#pragma once
// Lists of arrays from the dumps and checkpoints that people have.
//
//   [{"name": ..., "shape": [...], "dtype": ..., "logical_axes": [...]}, ...]     JSON or YAML
//   {"NAME": {"partition_spec": [...], "shape": [...]}, ...}     MaxText's logical_shardings.json;
//       the specs are mesh axes where each value has a "mesh" (named_shardings.json)
//   {"Activation Sharding Dump": [...]}     MaxText's input_shardings.json
//   a safetensors file (its header alone is read), or the index of several

#include <string>
#include <vector>

#include "config/arrays_config.h"
#include "dialects/format.h"
#include "text/files.h"

namespace shard {

struct ImportedArrays {
  ArraysConfig arrays;
  FileFormat format = FileFormat::unknown;
  std::string looks_like;
  std::vector<Diagnostic> remarks;  ///< warnings and notes
};

/// Reads `path`, whatever it is. Throws `Error`: `unknown-format`, `bad-array` (a part that is
/// missing or is something else), `bad-shape` (a negative size, more elements than 2^59),
/// `unknown-dtype`, `duplicate-array`, `bad-safetensors`, and those of YAML and JSON. A key that is
/// not read is warned of once (`unknown-key`); `axes-unknown` tells how many activations have none.
ImportedArrays import_arrays(const std::string& path, Sources& sources);

}  // namespace shard
