#pragma once
// Imports from files in memory, and what the user is told about them.

#include <map>
#include <string>

#include "dialects/import_arrays.h"
#include "dialects/import_rules.h"
#include "dialects/rules_yaml.h"
#include "text/render.h"

namespace shard {

using Files = std::map<std::string, std::string>;

/// The rules of the first-named file as our YAML, then the remarks; or the rendered errors.
inline std::string imported(const std::string& path, const Files& files,
                            const ImportOptions& options = {}) {
  MemoryReader reader(files);
  Sources sources(reader);
  try {
    const ImportedRules found = import_rules(path, options, sources);
    return write_rules_yaml(found.rules) + render(found.remarks, sources);
  } catch (const Error& error) {
    return render(error.diagnostics(), sources);
  }
}

/// One line an array: name, type, axes; then the remarks; or the rendered errors.
inline std::string imported_arrays(const std::string& path, const Files& files) {
  MemoryReader reader(files);
  Sources sources(reader);
  try {
    const ImportedArrays found = import_arrays(path, sources);
    std::string text;
    for (const MeshAxisConfig& axis : found.arrays.mesh) {
      text += axis.name.text() + " " + std::to_string(axis.size) + "\n";
    }
    for (const ArrayConfig& array : found.arrays.arrays) {
      text += array.name + ": ";
      text += array.dtype ? std::string(info(*array.dtype).name) : std::string("?");
      text += array.shape ? "[" + to_string(*array.shape) + "] " : std::string("[?] ");
      text += to_string(array.axes) + "\n";
    }
    return text + render(found.remarks, sources);
  } catch (const Error& error) {
    return render(error.diagnostics(), sources);
  }
}

}  // namespace shard
