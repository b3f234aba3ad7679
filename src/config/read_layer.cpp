#include <algorithm>

#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/layer_setters.h"
#include "config/read_context.h"
#include "config/scalars.h"
#include "text/number.h"

namespace shard {
namespace {

/// A layer as written: its word and what stands behind it.
struct Written {
  std::string kind;
  Location at;
  const TextNode* value = nullptr;  ///< nullptr: the word stands alone
};

std::optional<Written> written_layer(const TextNode& node, Diagnostics& diagnostics) {
  if (node.is_scalar() && !node.scalar.empty()) return Written{node.scalar, node.at, nullptr};
  if (node.is_map() && node.entries.size() == 1) {
    const TextEntry& entry = node.entries.front();
    return Written{entry.key, entry.key_at, &entry.value};
  }
  std::string hint = "e.g. `- relu` or `- dense: {features: hidden}`";
  if (node.is_map() && node.entries.size() > 1) {
    const std::string first = "'" + node.entries.front().key + "'";
    const bool is_misindented = node.entries.front().value.is_null();
    hint = is_misindented ? "indent the keys of " + first + " further than " + first
                          : "each layer is an item of its own, with its own dash";
  }
  report_type(node, "a layer", "a word or a map with one key", diagnostics, hint);
  return std::nullopt;
}

// `defaults` reach every layer whose table has the key.
void apply_defaults(LayerConfig& layer, const KeyTable& table, const LayerConfig& defaults) {
  const auto fill = [&](std::string_view key, auto& field, const auto& value) {
    if (!field && value && table.find(key) != nullptr) field = value;
  };
  fill("kernel_init", layer.kernel_init, defaults.kernel_init);
  fill("bias_init", layer.bias_init, defaults.bias_init);
  fill("use_bias", layer.use_bias, defaults.use_bias);
  fill("dtype", layer.dtype, defaults.dtype);
}

// What stands behind the word, as a map: a bare main argument becomes the value of its key.
std::optional<TextNode> as_map(const Written& written, const KeyTable& table,
                               Diagnostics& diagnostics) {
  if (written.value != nullptr && written.value->is_map()) return *written.value;
  TextNode map;
  map.kind = TextNode::Kind::map;
  map.at = written.at;
  if (written.value == nullptr) return map;
  const KeyRow* main = table.find(table.main_key);
  const bool null_means_something =
      main != nullptr && (row_of(main->kind).shapes & takes_null) != 0;
  if (written.value->is_null() && !null_means_something) return map;
  if (main == nullptr) {
    diagnostics.error("wrong-type", written.value->at,
                      std::string(table.what) + " is given " + describe(*written.value) +
                          ", expected a map of its keys",
                      did_you_mean("", table.valid_keys(), "its keys", 12));
    return std::nullopt;
  }
  map.entries.push_back({std::string(table.main_key), written.value->at, *written.value});
  return map;
}

void check_repeat(const LayerConfig& layer, const CheckedMap& map, Diagnostics& diagnostics) {
  const bool has_block = map.get("block") != nullptr;
  const bool has_pattern = map.get("pattern") != nullptr;
  if (has_block && has_pattern) {
    diagnostics.error("conflicting-keys", map.key_at("pattern"),
                      "layer 'repeat' has both 'block' and 'pattern'", "keep one of the two");
  } else if (!has_block && !has_pattern) {
    diagnostics.error("missing-key", layer.at,
                      "layer 'repeat' needs the key 'block' (or 'pattern')",
                      "block: the block of the file that is repeated");
  }
}

void finish_param(LayerConfig& layer) {
  ParamConfig& param = *layer.param;
  param.name = layer.name;
  param.has_dtype = layer.dtype.has_value();
  if (layer.dtype) param.type.dtype = *layer.dtype;
  param.at = layer.at;
  if (param.init.kind.empty()) param.init = {"lecun_normal", {}, layer.at};
}

LayerConfig known_layer(const Written& written, const KeyTable& table, ReadContext& context) {
  LayerConfig layer;
  layer.kind = written.kind;
  layer.at = written.at;
  const auto node = as_map(written, table, context.diagnostics);
  if (!node) return layer;
  const CheckedMap map(*node, table, context.diagnostics);
  if (table.name == "param") layer.param.emplace();
  if (table.find("times") != nullptr) {
    layer.repeat.emplace();
    layer.repeat->at = written.at;
    check_repeat(layer, map, context.diagnostics);
  }
  set_layer_keys(layer, map, table, context);
  apply_defaults(layer, table, context.defaults);
  if (layer.param) finish_param(layer);
  return layer;
}

bool is_positive(const std::string& text) {
  const IntegerReading read = read_integer(text);
  return !read.fault && read.value > 0;
}

// Whether the op takes the argument, or is an op at all, is known to the model only; a value that
// is no count goes there as 0 with its text.
CountConfig open_argument(const TextNode& node, const Location& at, ReadContext& context) {
  const bool is_count =
      node.is_scalar() && (context.sizes.is_declared(node.scalar) ||
                           context.argument(node.scalar) != nullptr || is_positive(node.scalar));
  if (is_count) {
    if (auto count = read_count(node, "an argument", context)) return *count;
  }
  CountConfig argument;
  argument.label = node.is_scalar() ? node.scalar : describe(node);
  argument.at = at;
  return argument;
}

/// An op, or a word that nobody knows: the model decides.
LayerConfig generic_layer(const Written& written, ReadContext& context) {
  const KeyTable& table = generic_layer_table();
  LayerConfig layer;
  layer.kind = written.kind;
  layer.at = written.at;
  if (written.value != nullptr && written.value->is_sequence()) {
    layer.dims = read_names(*written.value, "'" + written.kind + "'", context.diagnostics);
    return layer;
  }
  const bool is_number = written.value != nullptr && written.value->is_scalar() &&
                         !written.value->quoted && read_number(written.value->scalar);
  if (written.value != nullptr && written.value->is_scalar() && !is_number) {
    layer.arguments.emplace_back("", open_argument(*written.value, written.value->at, context));
    return layer;
  }
  const auto node = as_map(written, table, context.diagnostics);
  if (!node) return layer;
  const CheckedMap map(*node, table, context.diagnostics);
  set_layer_keys(layer, map, table, context);
  for (const TextEntry* entry : map.extra()) {
    layer.arguments.emplace_back(entry->key, open_argument(entry->value, entry->key_at, context));
  }
  apply_defaults(layer, table, context.defaults);
  return layer;
}

using Arguments = std::vector<std::pair<std::string, CountConfig>>;

std::vector<std::string> names_of(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const auto& [name, value] : arguments) names.push_back(name);
  return names;
}

void check_arguments(const LayerConfig& layer, const CheckedMap& map, const Arguments& declared,
                     Diagnostics& diagnostics) {
  std::vector<std::string> valid = names_of(declared);
  for (const TextEntry* entry : map.extra()) {
    if (std::find(valid.begin(), valid.end(), entry->key) != valid.end()) continue;
    for (const std::string& key : block_call_table().valid_keys()) valid.push_back(key);
    diagnostics.error("unknown-key", entry->key_at,
                      "'" + entry->key + "' is not an argument of block '" + layer.kind + "'",
                      did_you_mean(entry->key, valid, "valid keys"));
  }
  for (const auto& [name, value] : declared) {
    const auto is_given = [&](const TextEntry* entry) { return entry->key == name; };
    const bool has_default = value.value > 0;
    if (has_default || std::any_of(map.extra().begin(), map.extra().end(), is_given)) continue;
    diagnostics.error("missing-key", layer.at,
                      "block '" + layer.kind + "' needs the argument '" + name + "'",
                      "it has no default");
  }
}

LayerConfig block_call(const Written& written, const Arguments& declared, ReadContext& context) {
  const std::string what = "block '" + written.kind + "'";
  KeyTable table = block_call_table();
  table.what = what;
  LayerConfig layer;
  layer.kind = written.kind;
  layer.at = written.at;
  TextNode node;
  node.kind = TextNode::Kind::map;
  node.at = written.at;
  if (written.value != nullptr && !written.value->is_null()) {
    const bool is_bare = written.value->is_scalar() && declared.size() == 1;
    if (is_bare) {
      node.entries.push_back({declared.front().first, written.value->at, *written.value});
    } else {
      node = *written.value;
    }
  }
  const CheckedMap map(node, table, context.diagnostics);
  set_layer_keys(layer, map, table, context);
  check_arguments(layer, map, declared, context.diagnostics);
  for (const TextEntry* entry : map.extra()) {
    const auto is_declared = [&](const auto& one) { return one.first == entry->key; };
    if (std::none_of(declared.begin(), declared.end(), is_declared)) continue;
    if (const auto count = read_count(entry->value, "'" + entry->key + "'", context)) {
      layer.arguments.emplace_back(entry->key, *count);
    }
  }
  return layer;
}

}  // namespace

std::optional<LayerConfig> read_layer(const TextNode& node, ReadContext& context) {
  const auto written = written_layer(node, context.diagnostics);
  if (!written) return std::nullopt;
  if (const auto block = context.blocks.find(written->kind); block != context.blocks.end()) {
    return block_call(*written, block->second, context);
  }
  const KeyTable* table = find_table(layer_tables(), written->kind);
  if (table == nullptr) return generic_layer(*written, context);
  if (!table->not_yet.empty()) {
    context.diagnostics.error("not-yet", written->at,
                              std::string(table->what) + " is not supported yet",
                              std::string(table->not_yet));
    return std::nullopt;
  }
  return known_layer(*written, *table, context);
}

std::vector<LayerConfig> read_layers(const TextNode& list, ReadContext& context) {
  std::vector<LayerConfig> layers;
  layers.reserve(list.items.size());
  for (const TextNode& item : list.items) {
    if (auto layer = read_layer(item, context)) layers.push_back(std::move(*layer));
  }
  return layers;
}

LayerConfig read_defaults(const TextNode& node, Diagnostics& diagnostics) {
  const KeyTable& table = *model_table().find("defaults")->table;
  const CheckedMap map(node, table, diagnostics);
  const Sizes none;
  ReadContext context{diagnostics, none, {}, {}, {}};
  LayerConfig defaults;
  set_layer_keys(defaults, map, table, context);
  return defaults;
}

}  // namespace shard
