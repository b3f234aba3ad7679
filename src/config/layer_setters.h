#pragma once
// One row per key of a layer: how its value gets into the struct.

#include "config/checked_map.h"
#include "config/read_context.h"

namespace shard {

/// Reads every key of `table` that `map` has into `layer`. `layer.param` and `layer.repeat` are
/// there already when the table has their keys.
void set_layer_keys(LayerConfig& layer, const CheckedMap& map, const KeyTable& table,
                    ReadContext& context);

}  // namespace shard
