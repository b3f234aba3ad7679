#pragma once
// What a file is, told from its bytes: nobody should have to say it.

#include <string>
#include <string_view>

namespace shard {

enum class FileFormat {
  our_rules,   ///< YAML with `mesh`, `rules`
  our_model,   ///< YAML with `layers`
  our_arrays,  ///< YAML with `arrays` as a map, or `from`
  our_jobs,    ///< YAML with `jobs`
  framework,   ///< YAML with `logical_axis_rules`, `mesh_axes`, `base_config`: MaxText and its kin
  python,      ///< literals, a Python source, a gin file
  array_list,  ///< JSON or YAML: `[{name, shape, logical_axes}, ...]`, also under `arrays:`
  sharding_dump,    ///< JSON: name to `{partition_spec, shape}`, with or without a mesh
  activation_dump,  ///< JSON: MaxText's input_shardings.json
  safetensors,
  safetensors_index,  ///< JSON: which files hold which arrays of a checkpoint
  unknown,
};

/// A format and, for messages, what the text looks like: `a Hugging Face config.json`.
struct Sniffed {
  FileFormat format = FileFormat::unknown;
  std::string looks_like;
};

/// Decides by the text alone; `path` only lends its extension to the words. Reads no more than the
/// first 256 KiB and never fails: text that is malformed is called after what it was meant to be.
Sniffed sniff(std::string_view path, std::string_view text);

}  // namespace shard
