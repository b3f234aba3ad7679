#pragma once
// What a named block does inside, for people who write rules and constraints for it.

#include <string>
#include <vector>

#include "config/keys.h"
#include "model/model.h"
#include "report/plan.h"

namespace shard {

/// A block as it stands in the example it was built from.
struct BlockExample {
  std::string word;   ///< `attention`
  std::string help;   ///< one line
  std::string layer;  ///< `attention: {heads: heads, ...}`
  std::string input;  ///< `x: f32[batch, length, embed]`
};

/// Its keys, values, parameters and labels, with what each may be used for in a file.
std::string block_text(const BlockExample& example, const KeyTable& keys,
                       const std::vector<BlockPart>& parts, const Layout& layout);

/// All named blocks, one line each.
std::string block_list_text(const std::vector<BlockExample>& examples, const Layout& layout);

}  // namespace shard
