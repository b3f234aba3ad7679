#include <algorithm>

#include "base/nearest.h"
#include "base/tensor_type.h"
#include "config/checked_map.h"
#include "config/read_context.h"
#include "config/read_spec.h"
#include "config/scalars.h"
#include "config/text_cursor.h"

namespace shard {
namespace {

/// Reads dims one after the other; the text is a whole type or one item of a list.
class DimParser {
 public:
  DimParser(std::string_view text, const Location& at, ReadContext& context)
      : cursor_(text, at), context_(context) {}

  TextCursor& cursor() { return cursor_; }

  // `label`, `label=size`, `label@axis`, `label=size@(a, b)`; nothing when the size is refused.
  std::optional<DimConfig> dim() {
    DimConfig result;
    const std::size_t start = cursor_.offset();
    result.label = std::string(cursor_.take_word());
    result.at = cursor_.place(start, result.label.size());
    if (result.label.empty()) fail(cursor_.found() + ", expected a dim's label");
    if (!is_identifier(result.label) && context_.takes_bare_sizes) return bare_size(result);
    if (!is_identifier(result.label)) {
      throw Error("type-syntax", result.at, "'" + result.label + "' is not a dim's label",
                  "a dim with a size of its own is written label=" + result.label);
    }
    std::optional<std::int64_t> size;
    bool has_size = false;
    while (cursor_.peek() == '=' || cursor_.peek() == '@') {
      const bool is_size = cursor_.peek() == '=';
      if (is_size && has_size) fail("a second '=' in one dim");
      if (!is_size && !result.placed.empty()) fail("a second '@' in one dim");
      cursor_.take(is_size ? '=' : '@');
      if (is_size) {
        size = own_size(result);
        has_size = true;
      } else {
        result.placed = axes();
      }
    }
    if (!has_size) size = size_named(result);
    if (!size) return std::nullopt;
    result.size = *size;
    return result;
  }

  [[noreturn]] void fail(std::string message, std::string hint = "") const {
    throw Error("type-syntax", cursor_.here(), std::move(message), std::move(hint));
  }

 private:
  // `4096`, `4096@fsdp`: the label is empty.
  std::optional<DimConfig> bare_size(DimConfig dim) {
    const auto size = read_positive(dim.label, dim.at, "a dim", context_.diagnostics);
    dim.label.clear();
    if (cursor_.take('@')) dim.placed = axes();
    if (!size) return std::nullopt;
    dim.size = *size;
    return dim;
  }

  std::optional<std::int64_t> own_size(const DimConfig& dim) {
    const std::size_t start = cursor_.offset();
    const std::string_view word = cursor_.take_word();
    const Location at = cursor_.place(start, word.size());
    if (word.empty()) fail(cursor_.found() + ", expected a size");
    if (!is_identifier(word)) {
      return read_positive(word, at, "dim '" + dim.label + "'", context_.diagnostics);
    }
    return named(word, at);
  }

  std::optional<std::int64_t> size_named(const DimConfig& dim) { return named(dim.label, dim.at); }

  std::optional<std::int64_t> named(std::string_view name, const Location& at) {
    if (const CountConfig* argument = context_.argument(name)) return argument->value;
    if (context_.sizes.is_declared(name)) return context_.sizes.value(name);
    context_.diagnostics.error("unknown-size", at, "'" + std::string(name) + "' is not a size",
                               did_you_mean(name, context_.sizes.names(), "sizes"));
    return std::nullopt;
  }

  std::vector<MeshAxis> axes() {
    std::vector<MeshAxis> result;
    const bool is_tuple = cursor_.take('(');
    do {
      if (is_tuple && cursor_.peek() == ')') break;
      const std::string_view word = cursor_.take_word();
      if (word.empty()) fail(cursor_.found() + ", expected a mesh axis");
      result.emplace_back(std::string(word));
    } while (is_tuple && cursor_.take(','));
    if (is_tuple && !cursor_.take(')')) fail(cursor_.found() + ", expected ',' or ')'");
    if (result.empty()) fail("no mesh axis between the parentheses");
    return result;
  }

  TextCursor cursor_;
  ReadContext& context_;
};

// Mesh axes anywhere make all dims placed by mesh axes.
SpecConfig placement_of(const std::vector<DimConfig>& dims, const Location& at) {
  const bool is_placed = std::any_of(dims.begin(), dims.end(),
                                     [](const DimConfig& dim) { return !dim.placed.empty(); });
  if (is_placed) {
    PartitionSpec spec;
    for (const DimConfig& dim : dims) spec.entries.push_back({dim.placed, false});
    return {std::move(spec), at};
  }
  LogicalSpec spec;
  for (const DimConfig& dim : dims) {
    spec.names.push_back(dim.label.empty() ? std::nullopt : std::optional(LogicalAxis(dim.label)));
  }
  return {std::move(spec), at};
}

std::optional<DType> dtype_word(DimParser& parser, ReadContext& context, bool& is_good) {
  TextCursor& cursor = parser.cursor();
  cursor.skip_blanks();
  const std::size_t start = cursor.offset();
  const std::string_view word = cursor.take_word();
  const Location at = cursor.place(start, word.size());
  if (word.empty()) {
    parser.fail(cursor.found() + ", expected an element type",
                "a type is written f32[batch, embed]");
  }
  if (cursor.peek() != '[') {
    parser.fail(cursor.found() + ", expected '[' and the dims",
                cursor.is_at_end() ? "a scalar is written " + std::string(word) + "[]"
                                   : "a type is one word: f32[batch, embed]");
  }
  TextNode node;
  node.kind = TextNode::Kind::scalar;
  node.scalar = std::string(word);
  node.at = at;
  const auto found = read_dtype(node, context.diagnostics);
  is_good = found.has_value();
  return found;
}

std::optional<TypeConfig> type_text(const TextNode& node, ReadContext& context) {
  DimParser parser(node.scalar, content_at(node), context);
  TypeConfig type;
  bool is_good = true;
  type.dtype = dtype_word(parser, context, is_good).value_or(DType::f32);
  TextCursor& cursor = parser.cursor();
  cursor.take('[');
  while (cursor.peek() != ']') {
    auto dim = parser.dim();
    is_good = is_good && dim.has_value();
    if (dim) type.dims.push_back(std::move(*dim));
    cursor.skip_blanks();
    if (!cursor.take(',')) break;
  }
  if (!cursor.take(']')) parser.fail(cursor.found() + ", expected ',' or ']'");
  if (!cursor.is_at_end()) parser.fail(cursor.found() + " behind the closing bracket");
  if (!is_good) return std::nullopt;
  return type;
}

std::optional<TypeConfig> type_list(const TextNode& node, std::string_view what,
                                    ReadContext& context) {
  TypeConfig type;
  bool is_good = true;
  for (const TextNode& item : node.items) {
    if (!item.is_scalar() || is_none(item)) {
      report_type(item, "an item of " + std::string(what), "a dim's label", context.diagnostics,
                  "every dim has a label, which is where its size comes from");
      is_good = false;
      continue;
    }
    DimParser parser(item.scalar, content_at(item), context);
    auto dim = parser.dim();
    if (!parser.cursor().is_at_end()) {
      parser.fail(parser.cursor().found() + " behind the dim");
    }
    is_good = is_good && dim.has_value();
    if (dim) type.dims.push_back(std::move(*dim));
  }
  if (!is_good) return std::nullopt;
  return type;
}

bool check_elements(const TypeConfig& type, Diagnostics& diagnostics) {
  Shape shape;
  for (const DimConfig& dim : type.dims) shape.push_back(dim.size);
  shape.push_back(info(type.dtype).bytes);
  if (checked_product(shape)) return true;
  diagnostics.error("size-overflow", type.at, "the array takes more than 2^63 - 1 bytes");
  return false;
}

}  // namespace

std::optional<TypeConfig> read_type(const TextNode& node, std::string_view what,
                                    ReadContext& context) {
  if (!node.is_scalar() && !node.is_sequence()) {
    report_type(node, what, row_of(ValueKind::type).expected, context.diagnostics);
    return std::nullopt;
  }
  if (node.is_scalar() && is_partition_text(node.scalar)) {
    report_type(node, what, row_of(ValueKind::type).expected, context.diagnostics,
                "mesh axes stand behind the labels: f32[batch@data, embed]");
    return std::nullopt;
  }
  try {
    auto type = node.is_scalar() ? type_text(node, context) : type_list(node, what, context);
    if (!type) return std::nullopt;
    type->at = node.at;
    type->placement = placement_of(type->dims, node.at);
    if (!check_elements(*type, context.diagnostics)) return std::nullopt;
    return type;
  } catch (const Error& problem) {
    context.diagnostics.append(problem.diagnostics());
    return std::nullopt;
  }
}

}  // namespace shard
