#include "config/checked_map.h"

#include <algorithm>

#include "base/check.h"
#include "base/nearest.h"

namespace shard {
namespace {

unsigned shape_of(const TextNode& node) {
  switch (node.kind) {
    case TextNode::Kind::null:
      return takes_null;
    case TextNode::Kind::scalar:
      return takes_scalar;
    case TextNode::Kind::sequence:
      return takes_list;
    case TextNode::Kind::map:
      return takes_map;
  }
  return takes_null;
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

const KeyTable* other_file(const KeyTable& table) {
  if (&table == &model_table()) return &rules_table();
  if (&table == &rules_table()) return &model_table();
  return nullptr;
}

// A file of the other kind: no key of this one, some of that one (`base` and `set` are both's).
const TextEntry* sign_of_other_file(const TextNode& node, const KeyTable& table) {
  const KeyTable* other = other_file(table);
  if (other == nullptr) return nullptr;
  const TextEntry* sign = nullptr;
  for (const TextEntry& entry : node.entries) {
    if (table.find(entry.key) != nullptr) return nullptr;
    if (sign == nullptr && other->find(entry.key) != nullptr) sign = &entry;
  }
  return sign;
}

}  // namespace

void report_type(const TextNode& found, std::string_view what, std::string_view expected,
                 Diagnostics& diagnostics, std::string hint) {
  diagnostics.error(
      "wrong-type", found.at,
      std::string(what) + " is " + describe(found) + ", expected " + std::string(expected),
      std::move(hint));
}

bool check_shape(const TextNode& node, const KeyRow& row, Diagnostics& diagnostics) {
  const ValueKindRow& kind = row_of(row.kind);
  if ((kind.shapes & shape_of(node)) != 0) return true;
  std::string hint;
  if (row.kind == ValueKind::rules && node.is_map()) {
    hint = "their order counts, so each rule is an item of its own: - [batch, data]";
  }
  if (row.kind == ValueKind::layers && node.is_scalar()) {
    hint = "also a single layer stands in a list: [" + node.scalar + "]";
  }
  report_type(node, in_quotes(row.name), kind.expected, diagnostics, std::move(hint));
  return false;
}

CheckedMap::CheckedMap(const TextNode& node, const KeyTable& table, Diagnostics& diagnostics)
    : table_(table), found_(table.rows.size(), nullptr) {
  if (!node.is_map()) {
    report_type(node, table.what, "a map", diagnostics,
                did_you_mean("", table.valid_keys(), "its keys"));
    return;
  }
  if (const TextEntry* sign = sign_of_other_file(node, table)) {
    const std::string other(other_file(table)->what);
    diagnostics.error("wrong-file", sign->key_at,
                      "this is " + other + ", expected " + std::string(table.what),
                      in_quotes(sign->key) + " is a key of " + other);
    return;
  }
  for (const TextEntry& entry : node.entries) check_entry(entry, diagnostics);
  // A form of the file that is not supported yet may need other keys.
  if (!has_later_key_) check_required(node, diagnostics);
}

void CheckedMap::check_required(const TextNode& node, Diagnostics& diagnostics) const {
  for (const KeyRow& row : table_.rows) {
    if (!row.is_required || node.find(row.name) != nullptr) continue;
    // One mistake, one message: the misspelt key was reported already.
    if (std::find(misspelt_.begin(), misspelt_.end(), row.name) != misspelt_.end()) continue;
    diagnostics.error("missing-key", node.at,
                      std::string(table_.what) + " needs the key " + in_quotes(row.name),
                      std::string(row.name) + ": " + std::string(row.help));
  }
}

void CheckedMap::check_entry(const TextEntry& entry, Diagnostics& diagnostics) {
  const KeyRow* row = table_.find(entry.key);
  if (row == nullptr) {
    if (table_.is_open) {
      extra_.push_back(&entry);
    } else {
      report_unknown(entry, diagnostics);
    }
    return;
  }
  if (!row->not_yet.empty()) {
    has_later_key_ = true;
    diagnostics.error("not-yet", entry.key_at,
                      in_quotes(entry.key) + " is not supported yet in " + std::string(table_.what),
                      std::string(row->not_yet));
    return;
  }
  const bool is_left_out =
      entry.value.is_null() && !row->is_required && (row_of(row->kind).shapes & takes_null) == 0;
  if (is_left_out || !check_shape(entry.value, *row, diagnostics)) return;
  found_[static_cast<std::size_t>(row - table_.rows.data())] = &entry;
}

void CheckedMap::report_unknown(const TextEntry& entry, Diagnostics& diagnostics) {
  const std::vector<std::string> valid = table_.valid_keys();
  if (const auto near = nearest(entry.key, valid)) misspelt_.push_back(*near);
  std::string hint = did_you_mean(entry.key, valid, "valid keys", 10);
  if (valid.empty()) hint = std::string(table_.what) + " takes no keys";
  if (const KeyTable* other = other_file(table_); other && other->find(entry.key)) {
    hint = "it is a key of " + std::string(other->what);
  }
  diagnostics.error("unknown-key", entry.key_at,
                    in_quotes(entry.key) + " is not a key of " + std::string(table_.what), hint);
}

const KeyRow& CheckedMap::row(std::string_view key) const {
  const KeyRow* row = table_.find(key);
  SHARD_CHECK(row != nullptr, "a reader asks for keys of its table");
  return *row;
}

const TextNode* CheckedMap::get(std::string_view key) const {
  const TextEntry* entry = found_[static_cast<std::size_t>(&row(key) - table_.rows.data())];
  return entry == nullptr ? nullptr : &entry->value;
}

Location CheckedMap::key_at(std::string_view key) const {
  const TextEntry* entry = found_[static_cast<std::size_t>(&row(key) - table_.rows.data())];
  return entry == nullptr ? Location{} : entry->key_at;
}

}  // namespace shard
