#include <algorithm>

#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/read_context.h"
#include "config/read_loss.h"
#include "config/read_optimizer.h"
#include "config/scalars.h"

namespace shard {
namespace {

void read_returns(const TextNode& node, const KeyRow& row, TrainConfig& train,
                  Diagnostics& diagnostics) {
  std::vector<TextNode> words = node.is_scalar() ? std::vector<TextNode>{node} : node.items;
  train.returns_state = train.returns_loss = false;
  for (const TextNode& item : words) {
    const auto word = read_word(item, row, diagnostics);
    if (!word) continue;
    if (*word == "state") train.returns_state = true;
    if (*word == "loss") train.returns_loss = true;
    if (*word == "grads") train.returns_grads = true;
    if (*word == "outputs") train.returns_outputs = true;
  }
  if (!words.empty()) return;
  report_type(node, "'returns'", "at least one of state, loss, grads, outputs", diagnostics);
}

void read_microbatches(const TextNode& node, TrainConfig& train, Diagnostics& diagnostics) {
  const auto count = read_whole(node, "'microbatches'", diagnostics);
  if (!count) return;
  train.microbatches = *count;
  train.microbatches_at = node.at;
  if (*count > 0) return;
  diagnostics.error("bad-size", node.at, "'microbatches' must be at least 1, found 0");
}

}  // namespace

std::optional<TrainConfig> read_train(const TextNode& node, Diagnostics& diagnostics) {
  const CheckedMap map(node, *model_table().find("train")->table, diagnostics);
  TrainConfig train;
  train.at = node.at;
  if (const TextNode* loss = map.get("loss")) read_loss(*loss, train, diagnostics);
  if (const TextNode* node_of_optimizer = map.get("optimizer")) {
    if (auto optimizer = read_optimizer(*node_of_optimizer, diagnostics)) {
      check_can_run(*optimizer, diagnostics);
      train.optimizer = std::move(*optimizer);
    }
  }
  if (const TextNode* returns = map.get("returns")) {
    read_returns(*returns, map.row("returns"), train, diagnostics);
  }
  if (const TextNode* count = map.get("microbatches")) {
    read_microbatches(*count, train, diagnostics);
  };
  if (const TextNode* donate = map.get("donate")) {
    train.donate = read_flag(*donate, "'donate'", diagnostics).value_or(true);
  }
  return train;
}

}  // namespace shard
