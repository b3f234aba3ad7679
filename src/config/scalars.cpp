#include "config/scalars.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/nearest.h"
#include "config/checked_map.h"
#include "text/number.h"

namespace shard {
namespace {

bool is_word_of(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string quotes_hint(const TextNode& node, bool reads_without_quotes) {
  return node.quoted && reads_without_quotes ? "remove the quotes" : "";
}

}  // namespace

bool is_none(const TextNode& node) {
  return node.is_null() || (node.is_scalar() && !node.quoted && node.scalar == "None");
}

bool is_identifier(std::string_view text) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), is_part);
}

std::optional<std::string> read_text(const TextNode& node, std::string_view what,
                                     Diagnostics& diagnostics) {
  if (node.is_scalar() && !node.scalar.empty()) return node.scalar;
  report_type(node, what, "a text", diagnostics);
  return std::nullopt;
}

std::optional<std::string> read_identifier(const TextNode& node, std::string_view what,
                                           Diagnostics& diagnostics) {
  if (!node.is_scalar()) {
    report_type(node, what, "a name", diagnostics);
    return std::nullopt;
  }
  if (is_identifier(node.scalar)) return node.scalar;
  diagnostics.error("bad-name", node.at,
                    std::string(what) + " is '" + node.scalar + "', expected a name",
                    "a name is made of letters, digits and _, and starts with no digit");
  return std::nullopt;
}

bool check_name(const TextEntry& entry, std::string_view what, Diagnostics& diagnostics) {
  if (is_identifier(entry.key)) return true;
  diagnostics.error("bad-name", entry.key_at,
                    "'" + entry.key + "' cannot be the name of " + std::string(what),
                    "a name is made of letters, digits and _, and starts with no digit");
  return false;
}

std::optional<bool> read_flag(const TextNode& node, std::string_view what,
                              Diagnostics& diagnostics) {
  const std::string& text = node.scalar;
  const bool is_true = text == "true" || text == "True" || text == "TRUE";
  const bool is_false = text == "false" || text == "False" || text == "FALSE";
  if (node.is_scalar() && !node.quoted && (is_true || is_false)) return is_true;
  std::string hint = quotes_hint(node, is_true || is_false);
  if (text == "yes" || text == "on" || text == "1") hint = "write true";
  if (text == "no" || text == "off" || text == "0") hint = "write false";
  report_type(node, what, "true or false", diagnostics, hint);
  return std::nullopt;
}

std::optional<double> read_double(const TextNode& node, std::string_view what,
                                  Diagnostics& diagnostics) {
  const auto value = node.is_scalar() ? read_number(node.scalar) : std::nullopt;
  if (value && !node.quoted) return value;
  report_type(node, what, "a number", diagnostics, quotes_hint(node, value.has_value()));
  return std::nullopt;
}

std::optional<std::int64_t> read_whole(const TextNode& node, std::string_view what,
                                       Diagnostics& diagnostics) {
  if (node.is_scalar()) {
    const IntegerReading read = read_integer(node.scalar);
    if (!read.fault && read.value >= 0 && !node.quoted) return read.value;
    report_type(node, what, "a whole number of 0 or more", diagnostics,
                quotes_hint(node, !read.fault));
    return std::nullopt;
  }
  report_type(node, what, "a whole number of 0 or more", diagnostics);
  return std::nullopt;
}

std::optional<DType> read_dtype(const TextNode& node, Diagnostics& diagnostics) {
  if (!node.is_scalar()) {
    report_type(node, "'dtype'", "an element type such as bf16", diagnostics);
    return std::nullopt;
  }
  if (const auto found = dtype_named(node.scalar)) return found;
  std::vector<std::string> names;
  for (const DTypeInfo& row : shard::dtype_table()) names.emplace_back(row.name);
  diagnostics.error("unknown-dtype", node.at, "'" + node.scalar + "' is not an element type",
                    did_you_mean(node.scalar, names, "element types", names.size()));
  return std::nullopt;
}

std::optional<std::string> read_word(const TextNode& node, const KeyRow& row,
                                     Diagnostics& diagnostics) {
  const std::string what = "'" + std::string(row.name) + "'";
  if (!node.is_scalar()) {
    report_type(node, what, "a word", diagnostics);
    return std::nullopt;
  }
  if (row.choices.empty() || is_word_of(row.choices, node.scalar)) return node.scalar;
  if (is_word_of(row.later_choices, node.scalar)) {
    diagnostics.error(
        "not-yet", node.at, what + " cannot be '" + node.scalar + "' yet",
        "only '" + std::string(row.choices.front()) + "' is supported, which is the default");
    return std::nullopt;
  }
  const std::vector<std::string> words(row.choices.begin(), row.choices.end());
  diagnostics.error("unknown-word", node.at, what + " cannot be '" + node.scalar + "'",
                    did_you_mean(node.scalar, words, "it is one of"));
  return std::nullopt;
}

std::optional<Bytes> read_limit(const TextNode& node, std::string_view key,
                                Diagnostics& diagnostics) {
  const std::optional<Bytes> bytes = read_bytes(node.scalar);
  if (!bytes) {
    diagnostics.error("bad-value", node.at,
                      "'" + std::string(key) + "' is " + describe(node) +
                          ", expected a number of bytes such as 16 GiB or 800 MB");
  }
  return bytes;
}

std::vector<std::string> read_names(const TextNode& node, std::string_view what,
                                    Diagnostics& diagnostics) {
  if (node.is_scalar()) return {node.scalar};
  std::vector<std::string> names;
  for (const TextNode& item : node.items) {
    if (item.is_scalar()) {
      names.push_back(item.scalar);
    } else {
      report_type(item, "an item of " + std::string(what), "a name", diagnostics);
    }
  }
  return names;
}

}  // namespace shard
