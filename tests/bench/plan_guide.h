#pragma once
// The guide's programs, planned from the shipped files.

#include "config/load.h"
#include "mesh/mesh.h"
#include "model/model.h"
#include "shard/sharded_graph.h"
#include "spmd/fuse.h"
#include "spmd/partition.h"

namespace shard::bench {

/// The train step, or inference, of `models/guide_mlp.yaml` under `rules/flax_guide.yaml`.
inline Program plan_guide(const Overrides& overrides, bool is_train_step) {
  DiskReader disk;
  Sources sources(disk);
  const std::string root = SHARD_SOURCE_DIR;
  const Model model = build_model(
      read_model(merge_model_file(root + "/models/guide_mlp.yaml", overrides, sources)));
  const RulesConfig rules =
      read_rules(merge_rules_file(root + "/rules/flax_guide.yaml", overrides, sources));
  return fused(partition(
      shard_graph(is_train_step ? *model.train_step : model.apply, rules, make_mesh(rules))));
}

}  // namespace shard::bench
