#pragma once
// The words for initial values, and the numbers behind them.

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor_type.h"
#include "config/model_config.h"
#include "model/model.h"

namespace shard {

/// Works out `init` for a parameter of this (unstacked) shape. The fans of a kernel are its last
/// two sizes, times the others (Flax's variance_scaling). Errors: `unknown-init`,
/// `unknown-argument`, `init-rank` (fans of a vector), `not-yet`.
std::optional<InitialValue> initial_value(const InitConfig& init, const Shape& shape,
                                          Diagnostics& diagnostics);

/// The words in the order of the reference: `zeros`, `ones`, ...
std::vector<std::string> initial_value_words();

}  // namespace shard
