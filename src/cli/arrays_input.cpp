#include "cli/arrays_input.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "dialects/import_arrays.h"

namespace shard {
namespace {

constexpr std::size_t telling_bytes = std::size_t{256} << 10U;

constexpr std::array<FileFormat, 5> dumps = {FileFormat::array_list, FileFormat::sharding_dump,
                                             FileFormat::activation_dump, FileFormat::safetensors,
                                             FileFormat::safetensors_index};

void put_before(ArraysConfig& model, ImportedArrays imported) {
  std::vector<ArrayConfig> own = std::move(model.arrays);
  model.arrays = std::move(imported.arrays.arrays);
  model.mesh = std::move(imported.arrays.mesh);
  model.holds_activations = imported.format == FileFormat::activation_dump;
  model.remarks = std::move(imported.remarks);
  if (own.empty()) return;
  std::set<std::string> known;
  for (const ArrayConfig& array : model.arrays) known.insert(array.name);
  Diagnostics diagnostics;
  for (const ArrayConfig& array : own) {
    if (!known.contains(array.name)) continue;
    diagnostics.error("duplicate-array", array.at,
                      "array '" + array.name + "' is in " + model.from + " too");
  }
  diagnostics.throw_if_errors();
  std::move(own.begin(), own.end(), std::back_inserter(model.arrays));
}

}  // namespace

bool is_dump_of_arrays(const std::string& path, Sources& sources) {
  const FileFormat format = sniff(path, sources.start_of(path, telling_bytes)).format;
  return std::find(dumps.begin(), dumps.end(), format) != dumps.end();
}

ArraysConfig read_all_arrays(const MergedDocument& document, Sources& sources) {
  ArraysConfig model = read_arrays(document);
  if (model.from.empty()) return model;
  if (!sources.has(model.from)) {
    throw Error("missing-file", model.from_at, "there is no file '" + model.from + "'");
  }
  put_before(model, import_arrays(model.from, sources));
  return model;
}

}  // namespace shard
