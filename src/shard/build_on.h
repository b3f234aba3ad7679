#pragma once
// What building a model asks about the mesh it will run on.

#include "mesh/mesh.h"
#include "model/model.h"

namespace shard {

/// The options of `build_model` for this mesh: manual regions see a device's part.
BuildOptions options_on(const Mesh& mesh);

}  // namespace shard
