#pragma once
// Configs as text, every field that is set, so that a test compares whole values.

#include <string>

#include "config/load.h"

namespace shard {

std::string outline(const ModelConfig& model);
std::string outline(const RulesConfig& rules);

}  // namespace shard
