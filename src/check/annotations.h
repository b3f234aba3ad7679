#pragma once
// Edits of a model file that place one value otherwise: what might remove a reshard. They are only
// candidates; whoever proposes one plans the edited model first.

#include <string>
#include <vector>

#include "check/reshards.h"
#include "config/model_config.h"

namespace shard {

struct Annotation {
  /// `out_sharding: "P('data', None)" on the dense at models/mlp.yaml:11:7`
  std::string words;
  ModelConfig config;  ///< the edited model
};

/// Where the moved value is made, or what the op works on beside it, placed as one side of the
/// reshard is: the likeliest first, each edit once. Empty where no layer of the file makes it.
std::vector<Annotation> annotations_against(const ModelConfig& config, const ShardedGraph& sharded,
                                            const Reshard& reshard);

}  // namespace shard
