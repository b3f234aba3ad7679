#include "model/expression_calls.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/nearest.h"
#include "config/keys.h"

namespace shard {
namespace {

const KeyTable* callable_table(std::string_view word) {
  const KeyTable* table = find_table(op_layer_tables(), word);
  return table != nullptr ? table : find_table(collective_tables(), word);
}

std::optional<std::int64_t> whole_of(const Expression& value) {
  const bool is_minus = value.kind == Expression::Kind::unary && value.arguments.size() == 1;
  const Expression& digits = is_minus ? value.arguments.front() : value;
  if (digits.kind != Expression::Kind::number || digits.number != std::floor(digits.number)) {
    return std::nullopt;
  }
  const auto whole = static_cast<std::int64_t>(digits.number);
  return is_minus ? -whole : whole;
}

bool is_word(const Expression& value) {
  return value.kind == Expression::Kind::name || value.kind == Expression::Kind::string;
}

/// A list's items, or the value alone.
std::vector<Expression> items_of(const Expression& value) {
  return value.kind == Expression::Kind::list ? value.arguments : std::vector<Expression>{value};
}

/// Labels and positions as they are written.
std::optional<std::vector<std::string>> words_of(const Expression& value) {
  std::vector<std::string> words;
  for (const Expression& item : items_of(value)) {
    const auto whole = whole_of(item);
    if (!whole && !is_word(item)) return std::nullopt;
    words.push_back(whole ? std::to_string(*whole) : item.text);
  }
  return words;
}

std::optional<CountConfig> count_of(const Expression& value, const Scope& scope) {
  CountConfig count;
  count.at = value.at;
  if (const auto whole = whole_of(value)) {
    count.value = *whole;
    return *whole > 0 ? std::optional(count) : std::nullopt;
  }
  if (value.kind != Expression::Kind::name) return std::nullopt;
  (scope.argument(value.text) != nullptr ? count.argument : count.label) = value.text;
  return count;
}

using TakeArgument = bool (*)(LayerConfig& layer, const KeyRow& row, const Expression& value,
                              const Scope& scope);

bool take_dims(LayerConfig& layer, const KeyRow& /*row*/, const Expression& value,
               const Scope& /*scope*/) {
  auto words = words_of(value);
  if (words) layer.dims = std::move(*words);
  return words.has_value();
}

bool take_axes(LayerConfig& layer, const KeyRow& row, const Expression& value,
               const Scope& /*scope*/) {
  auto words = words_of(value);
  if (words && row.name == "axes") layer.mesh_axes = *words;
  return words && row.name == "axes";
}

bool take_integers(LayerConfig& layer, const KeyRow& row, const Expression& value,
                   const Scope& /*scope*/) {
  std::vector<std::int64_t> numbers;
  for (const Expression& item : items_of(value)) {
    const auto whole = whole_of(item);
    if (!whole) return false;
    numbers.push_back(*whole);
  }
  layer.lists.emplace_back(row.name, std::move(numbers));
  return true;
}

bool take_count(LayerConfig& layer, const KeyRow& row, const Expression& value,
                const Scope& scope) {
  auto count = count_of(value, scope);
  if (count) layer.counts.emplace_back(row.name, std::move(*count));
  return count.has_value();
}

bool take_flag(LayerConfig& layer, const KeyRow& row, const Expression& value,
               const Scope& /*scope*/) {
  if (!is_word(value) || (value.text != "true" && value.text != "false")) return false;
  const bool is_true = value.text == "true";
  if (row.name == "keep_dims") {
    layer.keep_dims = is_true;
  } else {
    layer.flags.emplace_back(row.name, is_true);
  }
  return true;
}

bool take_number(LayerConfig& layer, const KeyRow& row, const Expression& value,
                 const Scope& /*scope*/) {
  const bool is_minus = value.kind == Expression::Kind::unary && value.arguments.size() == 1;
  const Expression& digits = is_minus ? value.arguments.front() : value;
  if (digits.kind != Expression::Kind::number) return false;
  const double number = is_minus ? -digits.number : digits.number;
  if (row.name == "value") {
    layer.number = number;
  } else {
    layer.numbers.emplace_back(row.name, number);
  }
  return true;
}

bool take_text(LayerConfig& layer, const KeyRow& row, const Expression& value,
               const Scope& /*scope*/) {
  const auto whole = whole_of(value);
  if (!whole && !is_word(value)) return false;
  const std::string text = whole ? std::to_string(*whole) : value.text;
  const bool is_known = row.choices.empty() || std::find(row.choices.begin(), row.choices.end(),
                                                         text) != row.choices.end();
  if (is_known) layer.words.emplace_back(row.name, text);
  return is_known;
}

bool take_dtype(LayerConfig& layer, const KeyRow& /*row*/, const Expression& value,
                const Scope& /*scope*/) {
  if (is_word(value)) layer.dtype = dtype_named(value.text);
  return layer.dtype.has_value();
}

bool take_shape(LayerConfig& layer, const KeyRow& /*row*/, const Expression& value,
                const Scope& scope) {
  for (const Expression& item : items_of(value)) {
    auto count = count_of(item, scope);
    if (!count) return false;
    layer.shape.push_back({std::move(*count), ""});
  }
  return true;
}

struct ArgumentRow {
  ValueKind kind;
  TakeArgument take;
};
constexpr std::array<ArgumentRow, 11> argument_rows = {{
    {ValueKind::dims, take_dims},
    {ValueKind::names, take_axes},
    {ValueKind::integer, take_integers},
    {ValueKind::integers, take_integers},
    {ValueKind::count, take_count},
    {ValueKind::flag, take_flag},
    {ValueKind::number, take_number},
    {ValueKind::word, take_text},
    {ValueKind::text, take_text},
    {ValueKind::dtype, take_dtype},
    {ValueKind::shape, take_shape},
}};

/// The keys that a call may have: not those that name values or place the result.
std::vector<std::string> keys_of_calls(const KeyTable& table) {
  std::vector<std::string> keys;
  for (const KeyRow& row : table.rows) {
    const bool is_read =
        std::any_of(argument_rows.begin(), argument_rows.end(),
                    [&](const ArgumentRow& argument) { return argument.kind == row.kind; });
    if (is_read && row.name != "of" && row.name != "into") keys.emplace_back(row.name);
  }
  return keys;
}

bool read_argument(Lowering& lowering, const Scope& scope, const Expression& call,
                   const KeyTable& table, const KeywordArgument& keyword, LayerConfig& layer) {
  const std::vector<std::string> keys = keys_of_calls(table);
  // Reductions name their dims `axes` in expressions, as numpy does.
  const bool means_dims = keyword.key == "axes" && table.find("axes") == nullptr;
  const std::string key = means_dims ? "dims" : keyword.key;
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
    lowering.diagnostics.error("unknown-argument", keyword.at,
                               call.text + " takes no '" + keyword.key + "'",
                               did_you_mean(keyword.key, keys, "arguments"));
    return false;
  }
  const KeyRow& row = *table.find(key);
  for (const ArgumentRow& argument : argument_rows) {
    if (argument.kind != row.kind) continue;
    if (argument.take(layer, row, keyword.value.front(), scope)) return true;
  }
  lowering.diagnostics.error("bad-argument", keyword.at,
                             "'" + keyword.key + "' of " + call.text + " cannot be that",
                             "expected " + std::string(row_of(row.kind).expected));
  return false;
}

/// All required keys are there.
bool is_complete(Lowering& lowering, const Expression& call, const KeyTable& table) {
  for (const KeyRow& row : table.rows) {
    const auto is_given = [&](const KeywordArgument& keyword) { return keyword.key == row.name; };
    if (!row.is_required || std::any_of(call.keywords.begin(), call.keywords.end(), is_given)) {
      continue;
    }
    lowering.diagnostics.error("missing-argument", call.at,
                               call.text + " needs " + std::string(row.name),
                               "write " + call.text + "(.., " + std::string(row.name) + "=..)");
    return false;
  }
  return true;
}

/// Numbers become constants of the dtype of an array beside them.
std::optional<std::vector<ValueId>> arrays_of(Lowering& lowering, const Expression& call,
                                              const LayerKind& kind,
                                              const std::vector<Operand>& operands) {
  const auto count = static_cast<int>(operands.size());
  const auto is_array = [](const Operand& operand) { return !operand.is_number; };
  const auto last = std::find_if(operands.rbegin(), operands.rend(), is_array);
  const bool has_array = last != operands.rend() || kind.most_inputs == 0;
  if (count < kind.least_inputs || count > kind.most_inputs || !has_array) {
    lowering.diagnostics.error(
        "wrong-input-count", call.at,
        call.text + " takes " + std::to_string(kind.least_inputs) +
            (kind.least_inputs == kind.most_inputs ? ""
                                                   : " to " + std::to_string(kind.most_inputs)) +
            (kind.most_inputs == 1 ? " array" : " arrays") + ", found " + std::to_string(count));
    return std::nullopt;
  }
  std::vector<ValueId> values;
  for (const Operand& operand : operands) {
    if (operand.is_number && last->value == ValueId::none) return std::nullopt;
    values.push_back(operand.is_number
                         ? lowering.number(operand.number, lowering.type(last->value).dtype)
                         : operand.value);
  }
  return values;
}

}  // namespace

bool is_callable_layer(std::string_view word) {
  // A split has several results, and a convolution has parameters.
  const KeyTable* table = callable_table(word);
  return table != nullptr && table->not_yet.empty() && word != "split" && word != "conv";
}

ValueId call_layer(Lowering& lowering, const Scope& scope, const Expression& call,
                   const LayerKind& kind, const std::vector<Operand>& operands) {
  const KeyTable& table = *callable_table(call.text);
  LayerConfig layer;
  layer.kind = call.text;
  layer.at = call.at;
  for (const KeywordArgument& keyword : call.keywords) {
    if (!read_argument(lowering, scope, call, table, keyword, layer)) return ValueId::none;
  }
  if (!is_complete(lowering, call, table)) return ValueId::none;
  auto values = arrays_of(lowering, call, kind, operands);
  if (!values) return ValueId::none;
  Scope inside = scope;
  LayerCall made{inside, layer, std::move(*values), ""};
  return kind.lower(lowering, made);
}

}  // namespace shard
