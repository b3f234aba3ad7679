#pragma once
// A line of a model file with one more key on a layer, as a patch.

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "text/files.h"

namespace shard {

/// A key to be added to the layer whose kind's word stands at `at`.
struct LayerEdit {
  Location at;
  std::string key;
  std::string value;  ///< as YAML has it, quoted where it needs to be
};

/// The file's lines as a patch, `--- file` first. The lines were read before, so that `sources` has
/// them; one layer is edited at most once.
std::string patch_text(const Sources& sources, const std::vector<LayerEdit>& edits);

}  // namespace shard
