#pragma once
// What the readers of one file carry along.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/keys.h"
#include "config/model_config.h"
#include "config/sizes.h"

namespace shard {

struct ReadContext {
  Diagnostics& diagnostics;
  const Sizes& sizes;
  /// Arguments of each block of the file, in their order.
  std::map<std::string, std::vector<std::pair<std::string, CountConfig>>, std::less<>> blocks;
  /// The block whose layers are being read; empty outside.
  std::string block;
  /// `defaults` of the file.
  LayerConfig defaults;
  /// Dims of types may be sizes without a label, as arrays of checkpoints have them.
  bool takes_bare_sizes = false;

  /// The argument of the block being read, or nullptr.
  const CountConfig* argument(std::string_view name) const;
};

/// A number of 1 or more, a size's name, or an argument's name. Raises `bad-size`, `unknown-size`,
/// `size-overflow`, `wrong-type`.
std::optional<CountConfig> read_count(const TextNode& node, std::string_view what,
                                      ReadContext& context);

/// One of `kinds` with its numbers, e.g. `xavier_normal`, `normal: {stddev: 0.02}`, `normal: 0.02`.
/// `what` is the noun (`initializer`); an unknown word raises `unknown-<what>`.
struct CallConfig {
  std::string kind;
  std::vector<std::pair<std::string, double>> arguments;
  Location at;
};
std::optional<CallConfig> read_call(const TextNode& node, std::span<const KeyTable> kinds,
                                    const std::string& what, Diagnostics& diagnostics);

std::optional<InitConfig> read_init(const TextNode& node, Diagnostics& diagnostics);

/// Text or list: see `TypeConfig`. Raises `type-syntax`, `unknown-dtype`, `unknown-size`,
/// `bad-size`, `size-overflow` (over 2^63 - 1 elements).
std::optional<TypeConfig> read_type(const TextNode& node, std::string_view what,
                                    ReadContext& context);

/// Reads one layer; nothing after raising what is wrong with it.
std::optional<LayerConfig> read_layer(const TextNode& node, ReadContext& context);
std::vector<LayerConfig> read_layers(const TextNode& list, ReadContext& context);

/// `defaults` as the fields of a layer.
LayerConfig read_defaults(const TextNode& node, Diagnostics& diagnostics);

std::optional<TrainConfig> read_train(const TextNode& node, Diagnostics& diagnostics);

}  // namespace shard
