#include "config/block_setters.h"

#include <array>

#include "base/check.h"
#include "config/checked_map.h"
#include "config/read_spec.h"
#include "config/scalars.h"

namespace shard {
namespace {

using BlockSetter = void (*)(LayerConfig& layer, const TextNode& node, const KeyRow& row,
                             ReadContext& context);

std::string key_in_quotes(const KeyRow& row) { return "'" + std::string(row.name) + "'"; }

void set_count(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  if (auto count = read_count(node, key_in_quotes(row), context)) {
    layer.counts.emplace_back(row.name, std::move(*count));
  }
}

void set_number(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  if (const auto number = read_double(node, key_in_quotes(row), context.diagnostics)) {
    layer.numbers.emplace_back(row.name, *number);
  }
}

void set_flag(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  if (const auto flag = read_flag(node, key_in_quotes(row), context.diagnostics)) {
    layer.flags.emplace_back(row.name, *flag);
  }
}

void set_word(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  if (auto word = read_word(node, row, context.diagnostics)) {
    layer.words.emplace_back(row.name, std::move(*word));
  }
}

void set_identifier(LayerConfig& layer, const TextNode& node, const KeyRow& row,
                    ReadContext& context) {
  if (auto name = read_identifier(node, key_in_quotes(row), context.diagnostics)) {
    layer.words.emplace_back(row.name, std::move(*name));
  }
}

void set_initializer(LayerConfig& layer, const TextNode& node, const KeyRow& row,
                     ReadContext& context) {
  if (auto init = read_init(node, context.diagnostics)) {
    layer.inits.emplace_back(row.name, std::move(*init));
  }
}

void set_labels(LayerConfig& layer, const TextNode& node, const KeyRow&, ReadContext& context) {
  for (const TextEntry& entry : node.entries) {
    const auto label = read_identifier(entry.value, "'" + entry.key + "'", context.diagnostics);
    if (label) layer.names.push_back({entry.key, *label, entry.key_at});
  }
}

void set_constraints(LayerConfig& layer, const TextNode& node, const KeyRow&,
                     ReadContext& context) {
  for (const TextEntry& entry : node.entries) {
    if (const auto spec = read_spec(entry.value, "'" + entry.key + "'", context.diagnostics)) {
      layer.constrain.emplace_back(entry.key, *spec);
    }
  }
}

constexpr std::array<KeyRow, 1> rotary_rows = {{{.name = "base",
                                                 .kind = ValueKind::number,
                                                 .help = "of the frequencies",
                                                 .default_value = "10000"}}};
constexpr KeyTable rotary_table = {.name = "rotary",
                                   .what = "'rotary'",
                                   .help = "rotary positions",
                                   .rows = rotary_rows,
                                   .main_key = "base"};

void set_rotary(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  if (node.is_scalar()) return set_number(layer, node, row, context);
  const CheckedMap map(node, rotary_table, context.diagnostics);
  std::optional<double> base = 10000;
  if (const TextNode* value = map.get("base")) {
    base = read_double(*value, "'base'", context.diagnostics);
  }
  if (base) layer.numbers.emplace_back(row.name, *base);
}

struct BlockSetterRow {
  ValueKind kind;
  BlockSetter set;
};

constexpr std::array<BlockSetterRow, 9> block_setters = {{
    {ValueKind::count, set_count},
    {ValueKind::number, set_number},
    {ValueKind::flag, set_flag},
    {ValueKind::word, set_word},
    {ValueKind::identifier, set_identifier},
    {ValueKind::initializer, set_initializer},
    {ValueKind::labels, set_labels},
    {ValueKind::specs, set_constraints},
    {ValueKind::rotary, set_rotary},
}};

}  // namespace

void set_block_key(LayerConfig& layer, const TextNode& node, const KeyRow& row,
                   ReadContext& context) {
  for (const BlockSetterRow& setter : block_setters) {
    if (setter.kind == row.kind) return setter.set(layer, node, row, context);
  }
  throw InternalError("a key of a named block has a kind that a layer can hold");
}

}  // namespace shard
