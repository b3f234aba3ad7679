#include "config/block_setters.h"

#include <array>
#include <span>

#include "base/check.h"
#include "config/checked_map.h"
#include "config/read_spec.h"
#include "config/scalars.h"
#include "text/number.h"

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

/// The whole number that an item is, also a negative one.
std::optional<std::int64_t> read_signed(const TextNode& node, const std::string& what,
                                        Diagnostics& diagnostics) {
  if (node.is_scalar() && !node.quoted) {
    const IntegerReading read = read_integer(node.scalar);
    if (!read.fault) return read.value;
  }
  report_type(node, what, "a whole number", diagnostics);
  return std::nullopt;
}

void set_integers(LayerConfig& layer, const TextNode& node, const KeyRow& row,
                  ReadContext& context) {
  std::vector<std::int64_t> numbers;
  const std::span<const TextNode> items =
      node.is_sequence() ? std::span<const TextNode>(node.items) : std::span(&node, 1);
  const std::string what = (node.is_sequence() ? "an item of " : "") + key_in_quotes(row);
  for (const TextNode& item : items) {
    const auto number = read_signed(item, what, context.diagnostics);
    if (!number) return;
    numbers.push_back(*number);
  }
  layer.lists.emplace_back(row.name, std::move(numbers));
}

/// Pairs, one after the other.
void set_pairs(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  std::vector<std::int64_t> numbers;
  const std::string what = "an item of " + key_in_quotes(row);
  for (const TextNode& item : node.items) {
    if (!item.is_sequence() || item.items.size() != 2) {
      return report_type(item, what, "a pair of whole numbers", context.diagnostics);
    }
    for (const TextNode& part : item.items) {
      const auto number = read_signed(part, what, context.diagnostics);
      if (!number) return;
      numbers.push_back(*number);
    }
  }
  layer.lists.emplace_back(row.name, std::move(numbers));
}

constexpr std::array<std::string_view, 2> paddings = {"same", "valid"};

void set_padding(LayerConfig& layer, const TextNode& node, const KeyRow& row,
                 ReadContext& context) {
  if (node.is_sequence()) return set_pairs(layer, node, row, context);
  KeyRow words = row;
  words.choices = paddings;
  set_word(layer, node, words, context);
}

/// `batch`, `8`, `rest=8`, `heads=kv_heads`.
std::optional<ShapeDim> read_shape_dim(const TextNode& item, const std::string& what,
                                       ReadContext& context) {
  if (!item.is_scalar() || item.scalar.empty()) {
    report_type(item, what, "a size, or label=size", context.diagnostics);
    return std::nullopt;
  }
  const std::size_t equals = item.scalar.find('=');
  TextNode size = item;
  ShapeDim dim;
  if (equals != item.scalar.npos) {
    dim.label = item.scalar.substr(0, equals);
    size.scalar = item.scalar.substr(equals + 1);
    size.at.column += static_cast<int>(equals) + 1;
    if (!is_identifier(dim.label)) {
      report_type(item, what, "a size, or label=size", context.diagnostics);
      return std::nullopt;
    }
  }
  const auto count = read_count(size, what, context);
  if (!count) return std::nullopt;
  dim.size = *count;
  return dim;
}

void set_shape(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  for (const TextNode& item : node.items) {
    if (auto dim = read_shape_dim(item, "an item of " + key_in_quotes(row), context)) {
      layer.shape.push_back(std::move(*dim));
    }
  }
}

void set_names(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  const std::string what = key_in_quotes(row);
  const std::span<const TextNode> items =
      node.is_sequence() ? std::span<const TextNode>(node.items) : std::span(&node, 1);
  for (const TextNode& item : items) {
    if (auto name = read_identifier(item, what, context.diagnostics)) {
      layer.into.push_back(std::move(*name));
    }
  }
}

void set_text(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  if (auto text = read_text(node, key_in_quotes(row), context.diagnostics)) {
    layer.words.emplace_back(row.name, std::move(*text));
  }
}

/// A list is a spec for each, where it has a spec of mesh axes or is of lists.
void set_specs(LayerConfig& layer, const TextNode& node, const KeyRow& row, ReadContext& context) {
  std::vector<SpecConfig>& specs = row.name == "out_specs" ? layer.out_specs : layer.in_specs;
  const std::span<const TextNode> items =
      node.is_sequence() ? std::span<const TextNode>(node.items) : std::span(&node, 1);
  for (const TextNode& item : items) {
    if (auto spec = read_spec(item, key_in_quotes(row), context.diagnostics)) {
      specs.push_back(std::move(*spec));
    }
  }
}

struct BlockSetterRow {
  ValueKind kind;
  BlockSetter set;
};

constexpr std::array<BlockSetterRow, 17> block_setters = {{
    {ValueKind::count, set_count},
    {ValueKind::number, set_number},
    {ValueKind::flag, set_flag},
    {ValueKind::word, set_word},
    {ValueKind::identifier, set_identifier},
    {ValueKind::initializer, set_initializer},
    {ValueKind::labels, set_labels},
    {ValueKind::specs, set_constraints},
    {ValueKind::rotary, set_rotary},
    {ValueKind::integer, set_integers},
    {ValueKind::integers, set_integers},
    {ValueKind::shape, set_shape},
    {ValueKind::padding, set_padding},
    {ValueKind::pairs, set_pairs},
    {ValueKind::names, set_names},
    {ValueKind::text, set_text},
    {ValueKind::spec_or_specs, set_specs},
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
