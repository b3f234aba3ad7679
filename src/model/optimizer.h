#pragma once
// Optimizers as a table: the slots they keep per parameter and the op that updates them.
// Names, defaults and the places of slots are those of optax (sgd, adam, adamw).

#include <span>
#include <string_view>
#include <vector>

#include "config/model_config.h"
#include "model/graph_builder.h"
#include "model/model.h"

namespace shard {

/// An argument in the file and the attribute of the update op it becomes.
struct OptimizerArgument {
  std::string_view word;
  std::string_view attribute;
  double standard;
  bool is_required = false;
  bool is_flag = false;
};

struct OptimizerKind {
  std::string_view word;
  Op update;
  std::span<const std::string_view> slots;  ///< `mu`, `nu`: mirrors of each parameter
  bool counts;                              ///< has `opt_state/0/count`
  std::span<const OptimizerArgument> arguments;
  /// Attributes that the update op has and this kind fixes at zero.
  std::span<const std::string_view> zeros;
};

/// The kind, or nullptr after `not-yet` or `unknown-optimizer`.
const OptimizerKind* optimizer_kind(const OptimizerConfig& config, Diagnostics& diagnostics);

/// Attributes of the update op. Errors: `unknown-argument`, `missing-argument`.
Attributes update_attributes(const OptimizerKind& kind, const OptimizerConfig& config,
                             Diagnostics& diagnostics);

}  // namespace shard
