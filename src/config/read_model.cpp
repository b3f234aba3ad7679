#include <filesystem>

#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/in_file_order.h"
#include "config/load.h"
#include "config/read_context.h"
#include "config/scalars.h"

namespace shard {
namespace {

Naming naming_of(const std::string& word) {
  if (word == "nnx") return Naming::nnx;
  if (word == "plain") return Naming::plain;
  return Naming::linen;
}

std::optional<DType> read_float(const TextNode& node, const KeyRow& row, Diagnostics& diagnostics) {
  const auto found = read_dtype(node, diagnostics);
  if (!found || info(*found).is_float) return found;
  diagnostics.error(
      "wrong-type", node.at,
      "'" + std::string(row.name) + "' is '" + node.scalar + "', expected a floating-point type",
      "e.g. f32 or bf16");
  return std::nullopt;
}

DTypesConfig read_dtypes(const TextNode& node, const KeyRow& row, Diagnostics& diagnostics) {
  DTypesConfig types;
  if (node.is_scalar()) {
    const DType all = read_float(node, row, diagnostics).value_or(DType::f32);
    return {all, all, all};
  }
  const CheckedMap map(node, *row.table, diagnostics);
  const auto read = [&](std::string_view key, DType& into) {
    const TextNode* value = map.get(key);
    if (value != nullptr) into = read_float(*value, map.row(key), diagnostics).value_or(into);
  };
  read("params", types.params);
  read("compute", types.compute);
  read("state", types.state);
  return types;
}

std::vector<InputConfig> read_inputs(const TextNode& node, ReadContext& context) {
  std::vector<InputConfig> inputs;
  for (const TextEntry& entry : node.entries) {
    if (!check_name(entry, "an input", context.diagnostics)) continue;
    if (auto type = read_type(entry.value, "input '" + entry.key + "'", context)) {
      inputs.push_back({entry.key, std::move(*type), entry.key_at});
    }
  }
  return inputs;
}

void read_named_outputs(const TextNode& node, ReadContext& context,
                        std::vector<OutputConfig>& outputs) {
  const std::vector<TextNode> one = {node};
  for (const TextNode& item : node.is_scalar() ? one : node.items) {
    if (const auto name = read_identifier(item, "an output", context.diagnostics)) {
      outputs.push_back({*name, std::nullopt, item.at});
    }
  }
}

std::vector<OutputConfig> read_outputs(const TextNode& node, ReadContext& context) {
  std::vector<OutputConfig> outputs;
  if (!node.is_map()) read_named_outputs(node, context, outputs);
  for (const TextEntry& entry : node.entries) {
    if (!check_name(entry, "an output", context.diagnostics)) continue;
    OutputConfig output{entry.key, std::nullopt, entry.key_at};
    if (!is_none(entry.value)) {
      output.type = read_type(entry.value, "output '" + entry.key + "'", context);
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// A block of layers alone is short for `{layers: [...]}`.
TextNode block_as_map(const TextNode& node) {
  if (!node.is_sequence()) return node;
  TextNode map;
  map.kind = TextNode::Kind::map;
  map.at = node.at;
  map.entries.push_back({"layers", node.at, node});
  return map;
}

bool check_block_name(const TextEntry& entry, Diagnostics& diagnostics) {
  if (!check_name(entry, "a block", diagnostics)) return false;
  const KeyTable* table = find_table(layer_tables(), entry.key);
  if (table == nullptr || !table->not_yet.empty()) return true;
  diagnostics.error("reserved-name", entry.key_at,
                    "a block cannot be called '" + entry.key + "', which is a layer",
                    "choose another name, e.g. My" + entry.key);
  return false;
}

std::vector<std::pair<std::string, CountConfig>> read_block_arguments(const TextNode& node,
                                                                      ReadContext& context) {
  std::vector<std::pair<std::string, CountConfig>> arguments;
  for (const TextEntry& entry : node.entries) {
    if (!check_name(entry, "an argument", context.diagnostics)) continue;
    if (block_call_table().find(entry.key) != nullptr) {
      context.diagnostics.error(
          "reserved-name", entry.key_at,
          "an argument cannot be called '" + entry.key + "', which every layer has",
          "choose another name");
      continue;
    }
    CountConfig value;
    value.at = entry.key_at;
    if (!is_none(entry.value)) {
      value = read_count(entry.value, "'" + entry.key + "'", context).value_or(value);
    }
    arguments.emplace_back(entry.key, value);
  }
  return arguments;
}

/// A block whose name and arguments are known; its layers may call blocks that come later.
struct OpenBlock {
  BlockConfig config;
  TextNode map;
};

std::vector<OpenBlock> open_blocks(const TextNode& node, ReadContext& context) {
  std::vector<OpenBlock> open;
  for (const TextEntry& entry : node.entries) {
    if (!check_block_name(entry, context.diagnostics)) continue;
    OpenBlock block;
    block.config.name = entry.key;
    block.config.at = entry.key_at;
    block.map = block_as_map(entry.value);
    const TextNode* args = block.map.is_map() ? block.map.find("args") : nullptr;
    if (args != nullptr && args->is_map()) {
      block.config.arguments = read_block_arguments(*args, context);
    }
    context.blocks[entry.key] = block.config.arguments;
    open.push_back(std::move(block));
  }
  return open;
}

std::vector<BlockConfig> read_blocks(const TextNode& node, ReadContext& context) {
  std::vector<BlockConfig> blocks;
  for (OpenBlock& block : open_blocks(node, context)) {
    const CheckedMap map(block.map, block_table(), context.diagnostics);
    context.block = block.config.name;
    block.config.inputs = {"x"};
    if (const TextNode* inputs = map.get("inputs")) {
      block.config.inputs = read_names(*inputs, "'inputs'", context.diagnostics);
    }
    if (const TextNode* layers = map.get("layers")) {
      block.config.layers = read_layers(*layers, context);
    }
    blocks.push_back(std::move(block.config));
  }
  context.block.clear();
  return blocks;
}

void check_size_sets(const TextNode& node, const Sizes& sizes, Diagnostics& diagnostics) {
  for (const TextEntry& set : node.entries) {
    if (!set.value.is_map()) {
      report_type(set.value, "size set '" + set.key + "'", "a map of sizes", diagnostics);
      continue;
    }
    for (const TextEntry& size : set.value.entries) {
      if (sizes.is_declared(size.key)) continue;
      diagnostics.error("unknown-size", size.key_at,
                        "'" + size.key + "' is not a size, so a set cannot change it",
                        did_you_mean(size.key, sizes.names(), "sizes"));
    }
  }
}

void read_program(const CheckedMap& map, ReadContext& context, ModelConfig& model) {
  if (const TextNode* inputs = map.get("inputs")) model.inputs = read_inputs(*inputs, context);
  if (const TextNode* blocks = map.get("blocks")) model.blocks = read_blocks(*blocks, context);
  if (const TextNode* layers = map.get("layers")) model.layers = read_layers(*layers, context);
  if (const TextNode* outputs = map.get("outputs")) model.outputs = read_outputs(*outputs, context);
}

void refuse_keys_of_arrays(const CheckedMap& map, Diagnostics& diagnostics) {
  for (const std::string_view key : {"axes", "optimizer"}) {
    if (map.get(key) == nullptr) continue;
    diagnostics.error("conflicting-keys", map.key_at(key),
                      "'" + std::string(key) + "' is of a list of arrays, and this is a program",
                      "a list of arrays has the key arrays or from; a program's optimizer stands "
                      "under train");
  }
}

void read_settings(const CheckedMap& map, Diagnostics& diagnostics, ModelConfig& model) {
  if (const TextNode* name = map.get("name")) {
    model.name = read_text(*name, "'name'", diagnostics).value_or(model.name);
  }
  if (const TextNode* dtype = map.get("dtype")) {
    model.dtypes = read_dtypes(*dtype, map.row("dtype"), diagnostics);
  }
  if (const TextNode* naming = map.get("naming")) {
    model.naming = naming_of(read_word(*naming, map.row("naming"), diagnostics).value_or("linen"));
  }
  if (const TextNode* seed = map.get("seed")) {
    model.seed = read_whole(*seed, "'seed'", diagnostics).value_or(0);
  }
}

}  // namespace

ModelConfig read_model(const MergedDocument& document) {
  Diagnostics diagnostics;
  diagnostics.append(document.problems);
  const CheckedMap map(document.root, model_table(), diagnostics);
  refuse_keys_of_arrays(map, diagnostics);
  const Sizes sizes(map.get("sizes"), diagnostics);
  ReadContext context{diagnostics, sizes, {}, {}, {}};
  ModelConfig model;
  model.file = document.file;
  model.name = std::filesystem::path(document.file).stem().string();
  model.sizes = sizes.all();
  if (const TextNode* sets = map.get("size_sets")) check_size_sets(*sets, sizes, diagnostics);
  if (const TextNode* node = map.get("defaults")) {
    context.defaults = read_defaults(*node, diagnostics);
  }
  read_settings(map, diagnostics, model);
  read_program(map, context, model);
  if (const TextNode* train = map.get("train")) model.train = read_train(*train, diagnostics);
  throw_in_file_order(diagnostics);
  return model;
}

}  // namespace shard
