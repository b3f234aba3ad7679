// The keys of a model file that is a list of arrays.
#include <array>

#include "base/check.h"
#include "config/keys.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<std::string_view, 11> keys_of_arrays = {
    "name",   "base",   "set",  "sizes", "size_sets", "dtype",
    "naming", "arrays", "from", "axes",  "optimizer"};

/// The rows of the model's table, but for the element type: there is one use of it only.
std::array<KeyRow, keys_of_arrays.size()> rows_of_arrays() {
  std::array<KeyRow, keys_of_arrays.size()> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const KeyRow* row = model_table().find(keys_of_arrays[i]);
    SHARD_CHECK(row != nullptr, "the keys of a list of arrays are keys of a model");
    rows[i] = *row;
    if (row->name != "dtype") continue;
    rows[i].kind = ValueKind::dtype;
    rows[i].help = "element type of arrays that do not say theirs";
    rows[i].table = nullptr;
  }
  return rows;
}

}  // namespace

const KeyTable& arrays_table() {
  static const std::array<KeyRow, keys_of_arrays.size()> rows = rows_of_arrays();
  static const KeyTable table = {.name = "arrays",
                                 .what = "a model of arrays",
                                 .help = "a list of arrays without a program",
                                 .rows = rows};
  return table;
}

}  // namespace shard
