#pragma once
// The mesh of a MaxText configuration: names from `mesh_axes`, sizes inside a slice
// (`ici_*_parallelism`) times sizes across slices (`dcn_*_parallelism`).
//
// Example: v5p-16 (8 devices), 4 slices, ici_fsdp -1, dcn_data -1: fsdp 8 x data 4 = 32 devices.

#include "config/rules_config.h"
#include "dialects/maxtext_files.h"

namespace shard {

struct MaxTextMesh {
  std::vector<MeshAxisConfig> axes;  ///< totals; -1 where only the number of devices decides
  std::vector<MeshAxisConfig> dcn;   ///< the axes that cross slices, with how much of them does
  bool may_split = false;            ///< `allow_split_physical_axes`
  std::string devices;               ///< hardware by name, empty when unknown
  Location devices_at;
  bool has_pipeline = false;
};

/// One -1 is filled in each group: with devices per slice over the other sizes, with the number of
/// slices over the other sizes. Devices come from the options, else from `compile_topology`; the
/// number of slices also from `compile_topology_num_slices`, `num_slices`. Without a number of
/// slices there is one, unless the sizes across slices say more. A file without any size has
/// MaxText's: fsdp inside a slice and data across slices are -1, the others 1.
///
/// Raises `bad-parallelism` (not a whole number of at least 1, nor -1), `bad-mesh-axis`,
/// `bad-mesh-size` (two -1 in a group), `mesh-size` (the product is not the number of devices or
/// slices), `unknown-devices`; remarks `needs-device-count`, `mesh-missing`, `one-slice-assumed`.
MaxTextMesh read_maxtext_mesh(const MaxTextConfig& config, const ImportOptions& options,
                              Diagnostics& diagnostics);

/// What MaxText changes with pipeline parallelism: `stage` before `data` in the mesh, and the first
/// rule of `activation_embed_and_logits_batch` over all of stage, data, fsdp, fsdp_transpose,
/// expert. A remark `pipeline-rules` tells each change.
void apply_pipeline(RulesConfig& rules, Diagnostics& diagnostics);

}  // namespace shard
