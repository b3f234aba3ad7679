// How a layer is run: its inputs, its name, the function of its kind, its placement.

#include "base/nearest.h"
#include "model/layer_kinds.h"

namespace shard {
namespace {

std::string plural(int count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Reports and returns false when a layer gets another number of arrays than it takes.
bool takes(Lowering& lowering, const LayerConfig& layer, int least, int most, int given) {
  if (given >= least && given <= most) return true;
  const std::string wanted = least == most ? plural(most, "input")
                                           : std::to_string(least) + " to " + plural(most, "input");
  lowering.diagnostics.error("wrong-input-count", layer.of.empty() ? layer.at : layer.of_at,
                             layer.kind + " takes " + wanted + ", found " + std::to_string(given),
                             "name them: of: [a, b]");
  return false;
}

/// The values that `of:` names, or the running one.
std::vector<ValueId> inputs_of(Lowering& lowering, const Scope& scope, const LayerConfig& layer) {
  if (layer.of.empty()) return {scope.running};
  std::vector<ValueId> inputs;
  for (const std::string& name : layer.of) {
    inputs.push_back(scope.find(name, layer.of_at, lowering.diagnostics));
  }
  return inputs;
}

/// The layer's full name, claimed in its scope. Constraints and the like have none of their own.
std::string path_of(Lowering& lowering, Scope& scope, const LayerConfig& layer, bool is_named) {
  if (layer.name.empty() && !is_named) return "";
  std::string path = layer.name.empty()
                         ? scope.counted(word_for(layer.kind, lowering.config.naming))
                         : scope.path(layer.name);
  if (!scope.claim(path)) {
    lowering.diagnostics.error("duplicate-name", layer.name.empty() ? layer.at : layer.name_at,
                               "there is a layer '" + path + "' already",
                               "give one of them another name:");
  }
  return path;
}

/// The arguments of a call: the block's defaults, overlaid by what the layer says.
std::vector<std::pair<std::string, CountConfig>> arguments_of(Lowering& lowering,
                                                              const Scope& scope,
                                                              const LayerConfig& layer,
                                                              const BlockConfig& block) {
  std::vector<std::pair<std::string, CountConfig>> arguments;
  for (const auto& [key, standard] : block.arguments) {
    CountConfig value = standard;
    for (const auto& [given, count] : layer.arguments) {
      if (given == key) value = lowering.count(count, scope).value_or(standard);
    }
    arguments.emplace_back(key, std::move(value));
  }
  return arguments;
}

ValueId call_block(Lowering& lowering, Scope& scope, const LayerConfig& layer,
                   const BlockConfig& block) {
  const std::vector<ValueId> inputs = inputs_of(lowering, scope, layer);
  const int wanted = block.inputs.empty() ? 1 : static_cast<int>(block.inputs.size());
  const std::string path = path_of(lowering, scope, layer, true);
  if (!takes(lowering, layer, wanted, wanted, static_cast<int>(inputs.size()))) {
    return ValueId::none;
  }
  return lower_block(lowering, block, path, inputs, arguments_of(lowering, scope, layer, block));
}

ValueId call_kind(Lowering& lowering, Scope& scope, const LayerConfig& layer,
                  const LayerKind& kind) {
  LayerCall call{scope, layer, {}, path_of(lowering, scope, layer, kind.is_named)};
  if (kind.most_inputs > 0) call.inputs = inputs_of(lowering, scope, layer);
  if (!takes(lowering, layer, kind.least_inputs, kind.most_inputs,
             static_cast<int>(call.inputs.size()))) {
    return ValueId::none;
  }
  // A part that is missing was reported when the layers were checked.
  const unsigned parts = kind.keys & required_parts;
  if (parts != 0 && (keys_of(layer) & parts) != parts) return ValueId::none;
  lowering.builder.origin.name = call.path;
  return kind.lower(lowering, call);
}

void lower_layer(Lowering& lowering, Scope& scope, const LayerConfig& layer) {
  lowering.builder.origin.at = layer.at;
  ValueId value = ValueId::none;
  if (const LayerKind* kind = layer_kind(layer.kind)) {
    value = call_kind(lowering, scope, layer, *kind);
  } else if (const BlockConfig* block = lowering.block_named(layer.kind)) {
    value = call_block(lowering, scope, layer, *block);
  }
  if (layer.out_sharding && value != ValueId::none) {
    lowering.builder.origin.at = layer.out_sharding->at;
    lowering.builder.origin.name = lowering.builder.graph().value(value).name;
    const bool leaves = layer.kind == "auto_axes";
    value = lowering.constrained(value, *layer.out_sharding,
                                 leaves ? PlacementAsk::leave_auto : PlacementAsk::out_sharding);
  }
  // A parameter binds itself and is not the running value.
  if (!layer.name.empty() && !layer.param) scope.bind(layer.name, value);
  scope.running = value;
}

}  // namespace

void lower_layers(Lowering& lowering, Scope& scope, std::span<const LayerConfig> layers) {
  for (const LayerConfig& layer : layers) lower_layer(lowering, scope, layer);
}

ValueId lower_block(Lowering& lowering, const BlockConfig& block, const std::string& path,
                    std::span<const ValueId> inputs,
                    std::vector<std::pair<std::string, CountConfig>> arguments, BlockRest* rest) {
  Scope scope(path + "/", block.layers);
  scope.arguments = std::move(arguments);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == ValueId::none) return ValueId::none;
    scope.bind(block.inputs.empty() ? "x" : block.inputs[i], inputs[i]);
  }
  scope.running = inputs.front();
  lower_layers(lowering, scope, block.layers);
  if (rest == nullptr) return scope.running;
  rest->values.clear();
  for (const std::string& name : rest->names) {
    rest->values.push_back(scope.find(name, rest->at, lowering.diagnostics));
  }
  return scope.running;
}

}  // namespace shard
