#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/read_context.h"
#include "config/scalars.h"

namespace shard {
namespace {

struct Call {
  std::string_view word;
  Location at;
  const TextNode* value = nullptr;  ///< nullptr: the word stands alone
};

std::optional<Call> call_of(const TextNode& node, const std::string& what,
                            Diagnostics& diagnostics) {
  if (node.is_scalar()) return Call{node.scalar, node.at, nullptr};
  if (node.is_map() && node.entries.size() == 1) {
    const TextEntry& entry = node.entries.front();
    return Call{entry.key, entry.key_at, &entry.value};
  }
  report_type(node, "'" + what + "'", "a word or a map with one key", diagnostics,
              node.is_map() ? "indent the arguments below the " + what + "'s name" : "");
  return std::nullopt;
}

void read_arguments(const TextNode& value, const KeyTable& table, CallConfig& call,
                    Diagnostics& diagnostics) {
  const CheckedMap map(value, table, diagnostics);
  for (const TextEntry& entry : value.entries) {
    if (table.find(entry.key) == nullptr) continue;
    const TextNode* node = map.get(entry.key);
    if (node == nullptr) continue;
    if (const auto number = read_double(*node, "'" + entry.key + "'", diagnostics)) {
      call.arguments.emplace_back(entry.key, *number);
    }
  }
}

// `normal: 0.02` is short for `normal: {stddev: 0.02}`; nothing written is an empty map.
TextNode as_map(const Call& call, const KeyTable& table) {
  if (call.value != nullptr && call.value->is_map()) return *call.value;
  TextNode map;
  map.kind = TextNode::Kind::map;
  map.at = call.at;
  if (call.value != nullptr && !call.value->is_null()) {
    map.entries.push_back({std::string(table.main_key), call.value->at, *call.value});
  }
  return map;
}

}  // namespace

std::optional<CallConfig> read_call(const TextNode& node, std::span<const KeyTable> kinds,
                                    const std::string& what, Diagnostics& diagnostics) {
  const auto call = call_of(node, what, diagnostics);
  if (!call) return std::nullopt;
  const KeyTable* table = find_table(kinds, call->word);
  if (table == nullptr) {
    diagnostics.error("unknown-" + what, call->at,
                      "there is no " + what + " '" + std::string(call->word) + "'",
                      did_you_mean(call->word, valid_names(kinds), "it is one of", 12));
    return std::nullopt;
  }
  if (!table->not_yet.empty()) {
    diagnostics.error("not-yet", call->at, std::string(table->what) + " is not supported yet",
                      std::string(table->not_yet));
    return std::nullopt;
  }
  CallConfig result{std::string(call->word), {}, call->at};
  const bool is_bare = call->value != nullptr && !call->value->is_map() && !call->value->is_null();
  if (is_bare && table->main_key.empty()) {
    diagnostics.error(
        "wrong-type", call->value->at,
        std::string(table->what) + " takes no argument, found " + describe(*call->value),
        "write it as a word: " + result.kind);
    return result;
  }
  read_arguments(as_map(*call, *table), *table, result, diagnostics);
  return result;
}

std::optional<InitConfig> read_init(const TextNode& node, Diagnostics& diagnostics) {
  auto call = read_call(node, initializer_tables(), "initializer", diagnostics);
  if (!call) return std::nullopt;
  return InitConfig{std::move(call->kind), std::move(call->arguments), call->at};
}

}  // namespace shard
