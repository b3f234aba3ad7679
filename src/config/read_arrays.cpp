#include <algorithm>
#include <filesystem>
#include <set>

#include "config/checked_map.h"
#include "config/expand_names.h"
#include "config/in_file_order.h"
#include "config/load.h"
#include "config/read_context.h"
#include "config/read_optimizer.h"
#include "config/read_rules.h"
#include "config/scalars.h"
#include "text/files.h"

namespace shard {
namespace {

constexpr std::string_view forms[] = {"arrays", "from"};
constexpr std::string_view keys_of_programs[] = {"inputs", "layers", "blocks", "outputs", "train"};

ArrayConfig array_of(std::string name, const TypeConfig& type, const Location& at) {
  ArrayConfig array;
  array.name = std::move(name);
  array.dtype = type.dtype;
  Shape shape;
  bool is_labelled = false;
  for (const DimConfig& dim : type.dims) {
    shape.push_back(dim.size);
    is_labelled = is_labelled || !dim.label.empty() || !dim.placed.empty();
  }
  array.shape = std::move(shape);
  if (is_labelled) array.axes = type.placement;
  array.at = at;
  return array;
}

void read_listed_arrays(const TextNode& node, ReadContext& context, ArraysConfig& model) {
  std::set<std::string> known;
  for (const TextEntry& entry : node.entries) {
    const auto names = expand_names(entry.key, entry.key_at, context.diagnostics);
    const auto type = read_type(entry.value, "array '" + entry.key + "'", context);
    if (!names || !type) continue;
    for (const std::string& name : *names) {
      if (!known.insert(name).second) {
        context.diagnostics.error("duplicate-array", entry.key_at,
                                  "array '" + name + "' is listed twice");
        break;
      }
      model.arrays.push_back(array_of(name, *type, entry.key_at));
    }
  }
}

void read_from(const TextNode& node, Diagnostics& diagnostics, ArraysConfig& model) {
  const auto path = read_text(node, "'from'", diagnostics);
  if (!path) return;
  // A file built on another is found from where the word stands.
  model.from = beside(node.at.file.starts_with("--") ? model.file : node.at.file, *path);
  model.from_at = node.at;
}

void read_naming(const TextNode& node, const KeyRow& row, Diagnostics& diagnostics,
                 ArraysConfig& model) {
  const std::string word = read_word(node, row, diagnostics).value_or("linen");
  model.naming = word == "nnx" ? Naming::nnx : word == "plain" ? Naming::plain : Naming::linen;
}

void refuse_programs(const TextNode& root, Diagnostics& diagnostics) {
  for (const std::string_view key : keys_of_programs) {
    if (root.find(key) == nullptr) continue;
    for (const TextEntry& entry : root.entries) {
      if (entry.key != key) continue;
      diagnostics.error("conflicting-keys", entry.key_at,
                        "'" + entry.key + "' is of a program, and this model is a list of arrays",
                        "a model has either layers or arrays");
    }
  }
}

}  // namespace

bool lists_arrays(const MergedDocument& document) {
  for (const std::string_view form : forms) {
    if (document.root.find(form) != nullptr) return true;
  }
  return false;
}

ArraysConfig read_arrays(const MergedDocument& document) {
  Diagnostics diagnostics;
  diagnostics.append(document.problems);
  TextNode root = document.root;
  refuse_programs(root, diagnostics);
  std::erase_if(root.entries, [](const TextEntry& entry) {
    return std::find(std::begin(keys_of_programs), std::end(keys_of_programs), entry.key) !=
           std::end(keys_of_programs);
  });
  const CheckedMap map(root, arrays_table(), diagnostics);
  const Sizes sizes(map.get("sizes"), diagnostics);
  ReadContext context{diagnostics, sizes, {}, {}, {}};
  context.takes_bare_sizes = true;
  ArraysConfig model;
  model.file = document.file;
  model.name = std::filesystem::path(document.file).stem().string();
  if (const TextNode* name = map.get("name")) {
    model.name = read_text(*name, "'name'", diagnostics).value_or(model.name);
  }
  if (const TextNode* naming = map.get("naming")) {
    read_naming(*naming, map.row("naming"), diagnostics, model);
  }
  if (const TextNode* dtype = map.get("dtype")) model.dtype = read_dtype(*dtype, diagnostics);
  if (const TextNode* from = map.get("from")) read_from(*from, diagnostics, model);
  if (const TextNode* arrays = map.get("arrays")) read_listed_arrays(*arrays, context, model);
  if (const TextNode* axes = map.get("axes")) model.axes = read_path_rules(*axes, diagnostics);
  if (const TextNode* optimizer = map.get("optimizer")) {
    model.optimizer = read_optimizer(*optimizer, diagnostics);
  }
  throw_in_file_order(diagnostics);
  return model;
}

}  // namespace shard
