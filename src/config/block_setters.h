#pragma once
// Keys of named blocks into the layer: what a key takes decides where its value goes.

#include "config/read_context.h"

namespace shard {

/// Puts the value of a key into the list of its kind: counts, numbers, flags, words ...
void set_block_key(LayerConfig& layer, const TextNode& node, const KeyRow& row,
                   ReadContext& context);

}  // namespace shard
