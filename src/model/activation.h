#pragma once
// The words for what is done to hidden values.

#include <string_view>

#include "ops/op.h"

namespace shard {

/// The op of a word that the key tables allow.
Op activation_named(std::string_view word);

}  // namespace shard
