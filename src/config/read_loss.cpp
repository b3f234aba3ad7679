#include "config/read_loss.h"

#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/scalars.h"

namespace shard {
namespace {

/// `labels`, or `shift(tokens)`.
std::optional<TargetsConfig> read_targets(const TextNode& node, Diagnostics& diagnostics) {
  constexpr std::string_view open = "shift(";
  TargetsConfig targets{node.scalar, false, node.at};
  targets.is_shifted = node.scalar.starts_with(open) && node.scalar.ends_with(')');
  if (targets.is_shifted) {
    targets.input = node.scalar.substr(open.size(), node.scalar.size() - open.size() - 1);
  }
  if (is_identifier(targets.input)) return targets;
  diagnostics.error("bad-targets", node.at,
                    "'targets' is '" + node.scalar + "', expected an input's name or shift(INPUT)",
                    "shift(tokens) makes the next token the target of each position");
  return std::nullopt;
}

/// The loss's arguments as a map; a bare one is its main key's.
TextNode loss_arguments(const TextNode& node, const KeyTable& table) {
  TextNode map;
  map.kind = TextNode::Kind::map;
  map.at = node.at;
  if (node.is_scalar()) return map;
  const TextNode& value = node.entries.front().value;
  if (value.is_map()) return value;
  if (!value.is_null()) map.entries.push_back({std::string(table.main_key), value.at, value});
  return map;
}

}  // namespace

void read_loss(const TextNode& node, TrainConfig& train, Diagnostics& diagnostics) {
  const bool is_call = node.is_map() && node.entries.size() == 1;
  if (!node.is_scalar() && !is_call) {
    return report_type(node, "'loss'", "a word or a map with one key", diagnostics,
                       node.is_map() ? "indent the arguments below the loss's name" : "");
  }
  const std::string& word = is_call ? node.entries.front().key : node.scalar;
  const Location& at = is_call ? node.entries.front().key_at : node.at;
  const KeyTable* table = find_table(loss_tables(), word);
  if (table == nullptr) {
    return diagnostics.error("unknown-loss", at, "there is no loss '" + word + "'",
                             did_you_mean(word, valid_names(loss_tables()), "it is one of", 12));
  }
  train.loss = word;
  train.loss_at = at;
  const TextNode arguments = loss_arguments(node, *table);
  const bool is_bare = !arguments.entries.empty() && arguments.entries.front().key.empty();
  if (is_bare) {
    return diagnostics.error("wrong-type", arguments.entries.front().value.at,
                             std::string(table->what) + " takes no argument, found " +
                                 describe(arguments.entries.front().value),
                             "write it as a word: " + word);
  }
  const CheckedMap map(arguments, *table, diagnostics);
  if (table->find("targets") == nullptr) return;
  if (const TextNode* targets = map.get("targets")) {
    train.targets = read_targets(*targets, diagnostics);
  }
  if (const TextNode* flag = map.get("ignore_negative")) {
    train.ignores_negative = read_flag(*flag, "'ignore_negative'", diagnostics).value_or(true);
  }
}

}  // namespace shard
