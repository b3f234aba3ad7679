#include "dialects/import_arrays.h"

#include <filesystem>
#include <functional>

#include "config/in_file_order.h"
#include "dialects/array_reader.h"
#include "dialects/import_rules.h"
#include "dialects/rule_list.h"
#include "dialects/safetensors_header.h"
#include "text/number.h"
#include "text/python_literal.h"
#include "text/read.h"

namespace shard {
namespace {

constexpr std::string_view activations_key = "Activation Sharding Dump";

void read_listed(const TextNode& node, ArrayReader& reader) {
  if (!node.is_map()) {
    reader.refuse(node, "an array", "a map with name and shape");
    return;
  }
  ArrayConfig array;
  array.at = node.at;
  for (const TextEntry& entry : node.entries) {
    const TextNode& value = entry.value;
    if (entry.key == "name") {
      if (!value.is_scalar()) reader.refuse(value, "the name", "a text");
      array.name = value.scalar;
      array.at = value.at;
    } else if (entry.key == "shape") {
      array.shape = reader.shape(value);
    } else if (entry.key == "dtype") {
      array.dtype = reader.dtype(value);
    } else if (entry.key == "logical_axes" || entry.key == "axes") {
      array.axes = reader.logical_axes(value);
    } else if (entry.key == "partition_spec" || entry.key == "spec") {
      array.axes = reader.mesh_axes(value);
    } else {
      reader.note_unread(entry);
    }
  }
  if (array.name.empty()) {
    reader.diagnostics().error("bad-array", node.at, "this array has no name");
    return;
  }
  reader.add(std::move(array));
}

void read_list(const TextNode& root, ArrayReader& reader) {
  const TextNode* list = root.is_map() ? root.find("arrays") : &root;
  if (list == nullptr || !list->is_sequence()) {
    reader.refuse(list == nullptr ? root : *list, "'arrays'", "a list of maps");
    return;
  }
  for (const TextNode& item : list->items) read_listed(item, reader);
}

// `{"axis_names": [...], "shape": {axis: size}}`
std::vector<MeshAxisConfig> read_dumped_mesh(const TextNode& node, ArrayReader& reader) {
  const TextNode* names = node.find("axis_names");
  const TextNode* sizes = node.find("shape");
  if (names == nullptr || sizes == nullptr || !sizes->is_map()) {
    reader.refuse(node, "the mesh", "axis_names and a shape");
    return {};
  }
  std::vector<MeshAxisConfig> axes = read_axis_names(*names, reader.diagnostics());
  for (MeshAxisConfig& axis : axes) {
    const TextNode* size = sizes->find(axis.name.text());
    const bool is_scalar = size != nullptr && size->is_scalar();
    const IntegerReading number =
        is_scalar ? read_integer(size->scalar) : IntegerReading{0, NumberFault::not_a_number};
    if (number.fault) {
      reader.refuse(size == nullptr ? *sizes : *size,
                    "the size of mesh axis '" + axis.name.text() + "'", "a whole number");
    }
    axis.size = number.value;
  }
  return axes;
}

void read_dumped(const TextEntry& entry, ArraysConfig& arrays, ArrayReader& reader) {
  const TextNode* spec = entry.value.find("partition_spec");
  if (spec == nullptr) {
    reader.diagnostics().error("bad-array", entry.key_at,
                               "'" + entry.key + "' has no partition_spec");
    return;
  }
  ArrayConfig array;
  array.name = entry.key;
  array.at = entry.key_at;
  const TextNode* mesh = entry.value.find("mesh");
  array.axes = mesh != nullptr ? reader.mesh_axes(*spec) : reader.logical_axes(*spec);
  if (const TextNode* shape = entry.value.find("shape")) array.shape = reader.shape(*shape);
  if (const TextNode* dtype = entry.value.find("dtype")) array.dtype = reader.dtype(*dtype);
  // Every array repeats the mesh.
  if (mesh != nullptr && arrays.mesh.empty()) arrays.mesh = read_dumped_mesh(*mesh, reader);
  reader.add(std::move(array));
}

// The place `offset` bytes behind the opening quote of a text.
Location inside(Location quoted, std::size_t offset) {
  quoted.column += 1 + static_cast<int>(offset);
  return quoted;
}

// `FILE/VARIABLE: bfloat16[96,2048]` into name, element type and shape.
ArrayConfig described(const TextEntry& entry, ArrayReader& reader) {
  ArrayConfig array;
  array.at = entry.key_at;
  array.name = entry.key;
  const std::string& text = entry.key;
  const std::size_t open = text.rfind('[');
  const std::size_t colon = text.rfind(": ", open);
  if (open == text.npos || colon == text.npos || !text.ends_with(']')) {
    reader.diagnostics().error("bad-array", entry.key_at,
                               "'" + text + "' is not NAME: TYPE[SIZES]");
    return array;
  }
  TextNode type;
  type.kind = TextNode::Kind::scalar;
  type.scalar = text.substr(colon + 2, open - colon - 2);
  type.at = entry.key_at;
  array.dtype = reader.dtype(type);
  Diagnostics found;
  const PythonValue sizes =
      read_python_literal(entry.key_at.file, text.substr(open), inside(entry.key_at, open));
  TextNode shape = to_tree(sizes, found);
  reader.diagnostics().append(found.all());
  shape.at = entry.key_at;
  array.shape = reader.shape(shape);
  return array;
}

// Where the axes come from code there are none to resolve; returns false then.
bool read_activation(const TextEntry& entry, ArrayReader& reader) {
  const TextNode* axes = entry.value.find("logic_axes");
  if (axes == nullptr || !axes->is_scalar()) {
    reader.refuse(entry.value, "'" + entry.key + "'", "a map with logic_axes");
    return true;
  }
  if (axes->scalar == "Unknown") return false;
  ArrayConfig array = described(entry, reader);
  Diagnostics found;
  TextNode names =
      to_tree(read_python_literal(axes->at.file, axes->scalar, inside(axes->at, 0)), found);
  reader.diagnostics().append(found.all());
  names.at = axes->at;
  array.axes = reader.logical_axes(names);
  array.axes.at = axes->at;
  // One variable may be dumped under several axes: the axes are part of what it is called.
  array.name += " " + axes->scalar;
  reader.add(std::move(array));
  return true;
}

void read_activations(const TextNode& root, ArrayReader& reader) {
  const TextNode* list = root.find(activations_key);
  if (list == nullptr || !list->is_sequence()) {
    reader.refuse(root, "the dump", "a list of activations");
    return;
  }
  int unknown = 0;
  for (const TextNode& item : list->items) {
    for (const TextEntry& entry : item.entries) {
      if (!read_activation(entry, reader)) ++unknown;
    }
  }
  if (unknown == 0) return;
  reader.diagnostics().note(
      "axes-unknown", list->at,
      std::to_string(unknown) + " activations are left out: the dump does not know their axes");
}

void read_index(const std::string& path, const TextNode& root, Sources& sources,
                ArrayReader& reader) {
  const TextNode* map = root.find("weight_map");
  if (map == nullptr || !map->is_map()) {
    reader.refuse(root, "the index", "a weight_map");
    return;
  }
  std::set<std::string> files;
  for (const TextEntry& entry : map->entries) {
    if (!entry.value.is_scalar()) {
      reader.refuse(entry.value, "the file of '" + entry.key + "'", "a text");
      continue;
    }
    if (!files.insert(entry.value.scalar).second) continue;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const std::string file = (folder / entry.value.scalar).string();
    if (!sources.has(file)) {
      throw Error("missing-file", entry.value.at, "there is no file '" + file + "'");
    }
    read_safetensors_header(file, sources, reader);
  }
}

TextNode read_tree(const std::string& path, const std::string& text, Diagnostics& diagnostics) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != text.npos && (text[first] == '{' || text[first] == '[');
  if (is_json) return read_json(path, text);
  return read_foreign_yaml(path, text, diagnostics);
}

void read_text(const std::string& path, Sources& sources, ImportedArrays& result,
               ArrayReader& reader) {
  const std::string& text = sources.load(path);
  const Sniffed found = sniff(path, text);
  result.format = found.format;
  result.looks_like = found.looks_like;
  if (found.format == FileFormat::safetensors) {
    read_safetensors_header(path, sources, reader);
    return;
  }
  const bool is_dump =
      found.format == FileFormat::array_list || found.format == FileFormat::sharding_dump ||
      found.format == FileFormat::activation_dump || found.format == FileFormat::safetensors_index;
  if (!is_dump) {
    fail_unknown_format(path, found,
                        "arrays: a list of names and shapes, a dump of shardings, or a safetensors "
                        "file");
  }
  Diagnostics yaml;
  const TextNode root = read_tree(path, text, yaml);
  reader.diagnostics().append(yaml.all());
  if (found.format == FileFormat::array_list) {
    read_list(root, reader);
  } else if (found.format == FileFormat::activation_dump) {
    read_activations(root, reader);
  } else if (found.format == FileFormat::safetensors_index) {
    read_index(path, root, sources, reader);
  } else {
    for (const TextEntry& entry : root.entries) read_dumped(entry, result.arrays, reader);
  }
  if (!reader.has_arrays() && !reader.diagnostics().has_errors()) {
    reader.diagnostics().error("bad-array", root.at, "the file lists no arrays");
  }
}

}  // namespace

ImportedArrays import_arrays(const std::string& path, Sources& sources) {
  ImportedArrays result;
  result.arrays.file = path;
  result.arrays.name = std::filesystem::path(path).stem().string();
  Diagnostics diagnostics;
  ArrayReader reader(diagnostics);
  if (path.ends_with(".safetensors")) {  // may be far larger than any text
    result.format = FileFormat::safetensors;
    result.looks_like = "a safetensors file";
    read_safetensors_header(path, sources, reader);
  } else {
    read_text(path, sources, result, reader);
  }
  throw_in_file_order(diagnostics);
  result.arrays.arrays = reader.take_arrays();
  result.remarks = diagnostics.all();
  return result;
}

}  // namespace shard
