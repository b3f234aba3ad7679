#include "config/layer_setters.h"

#include <algorithm>
#include <array>

#include "config/block_setters.h"
#include "config/read_spec.h"
#include "config/scalars.h"

namespace shard {
namespace {

/// Puts the value of one key into the layer.
using Setter = void (*)(LayerConfig& layer, const TextNode& node, Location key_at,
                        ReadContext& context);
struct SetterRow {
  std::string_view key;
  Setter set;
};

void set_params(LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
  for (const TextEntry& entry : node.entries) {
    if (const auto spec = read_spec(entry.value, "'" + entry.key + "'", context.diagnostics)) {
      layer.params.emplace_back(entry.key, *spec);
    }
  }
}

void set_expression(LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
  try {
    layer.let = read_assignment(node.scalar, content_at(node));
  } catch (const Error& problem) {
    context.diagnostics.append(problem.diagnostics());
  }
}

constexpr std::array<SetterRow, 28> setters = {{
    {"name",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.name = read_identifier(node, "'name'", context.diagnostics).value_or("");
       layer.name_at = node.at;
     }},
    {"of",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.of = read_names(node, "'of'", context.diagnostics);
       layer.of_at = node.at;
     }},
    {"dtype",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.dtype = read_dtype(node, context.diagnostics);
     }},
    {"out_sharding",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.out_sharding = read_spec(node, "'out_sharding'", context.diagnostics);
     }},
    {"features",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.features = read_count(node, "'features'", context);
     }},
    {"kernel",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.kernel = read_spec(node, "'kernel'", context.diagnostics);
     }},
    {"bias",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.bias = read_spec(node, "'bias'", context.diagnostics);
     }},
    {"params", set_params},
    {"kernel_init",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.kernel_init = read_init(node, context.diagnostics);
     }},
    {"bias_init",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.bias_init = read_init(node, context.diagnostics);
     }},
    {"use_bias",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.use_bias = read_flag(node, "'use_bias'", context.diagnostics);
     }},
    {"spec",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.spec = read_spec(node, "'" + layer.kind + "'", context.diagnostics);
     }},
    {"expression", set_expression},
    {"layers",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.layers = read_layers(node, context);
     }},
    {"dims",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.dims = read_names(node, "'dims'", context.diagnostics);
     }},
    {"dim",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.dims = read_names(node, "'dim'", context.diagnostics);
     }},
    {"broadcast_dims",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.dims = read_names(node, "'broadcast_dims'", context.diagnostics);
     }},
    {"keep_dims",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.keep_dims = read_flag(node, "'keep_dims'", context.diagnostics).value_or(false);
     }},
    {"value",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.number = read_double(node, "'" + layer.kind + "'", context.diagnostics);
     }},
    {"block",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       if (const auto name = read_identifier(node, "'block'", context.diagnostics)) {
         layer.repeat->pattern = {*name};
       }
     }},
    {"pattern",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.repeat->pattern = read_names(node, "'pattern'", context.diagnostics);
     }},
    {"carries",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.repeat->carries = read_names(node, "'carries'", context.diagnostics);
       layer.repeat->carries_at = node.at;
     }},
    {"stacks",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.repeat->stacks = read_names(node, "'stacks'", context.diagnostics);
       layer.repeat->stacks_at = node.at;
     }},
    {"times",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       if (const auto times = read_count(node, "'times'", context)) layer.repeat->times = *times;
     }},
    {"scan",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       layer.repeat->scan = read_flag(node, "'scan'", context.diagnostics).value_or(false);
     }},
    {"axis",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext&) {
       RepeatConfig& repeat = *layer.repeat;
       repeat.has_axis = true;
       if (!is_none(node)) repeat.axis = LogicalAxis(node.scalar);
     }},
    {"init",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       if (auto init = read_init(node, context.diagnostics)) layer.param->init = *init;
     }},
    {"axes",
     [](LayerConfig& layer, const TextNode& node, Location, ReadContext& context) {
       if (!layer.param) {
         layer.mesh_axes = read_names(node, "'axes'", context.diagnostics);
       } else if (auto type = read_type(node, "'axes'", context)) {
         layer.param->type = std::move(*type);
       }
     }},
}};

}  // namespace

void set_layer_keys(LayerConfig& layer, const CheckedMap& map, const KeyTable& table,
                    ReadContext& context) {
  for (const SetterRow& row : setters) {
    if (table.find(row.key) == nullptr) continue;
    if (const TextNode* node = map.get(row.key))
      row.set(layer, *node, map.key_at(row.key), context);
  }
  for (const KeyRow& row : table.rows) {
    const auto is_set = [&](const SetterRow& setter) { return setter.key == row.name; };
    if (std::any_of(setters.begin(), setters.end(), is_set)) continue;
    if (const TextNode* node = map.get(row.name)) set_block_key(layer, *node, row, context);
  }
}

}  // namespace shard
