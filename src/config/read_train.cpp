#include <algorithm>

#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/read_context.h"
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

void read_microbatches(const TextNode& node, Diagnostics& diagnostics) {
  const auto count = read_whole(node, "'microbatches'", diagnostics);
  if (!count || *count == 1) return;
  diagnostics.error("not-yet", node.at,
                    "'microbatches' cannot be " + std::to_string(*count) + " yet",
                    "only 1 is supported, which is the default");
}

}  // namespace

std::optional<TrainConfig> read_train(const TextNode& node, Diagnostics& diagnostics) {
  const CheckedMap map(node, *model_table().find("train")->table, diagnostics);
  TrainConfig train;
  train.at = node.at;
  if (const TextNode* loss = map.get("loss")) {
    if (const auto call = read_call(*loss, loss_tables(), "loss", diagnostics)) {
      train.loss = call->kind;
      train.loss_at = call->at;
    }
  }
  if (const TextNode* optimizer = map.get("optimizer")) {
    if (auto call = read_call(*optimizer, optimizer_tables(), "optimizer", diagnostics)) {
      train.optimizer = {std::move(call->kind), std::move(call->arguments), call->at};
    }
  }
  if (const TextNode* returns = map.get("returns")) {
    read_returns(*returns, map.row("returns"), train, diagnostics);
  }
  if (const TextNode* count = map.get("microbatches")) read_microbatches(*count, diagnostics);
  if (const TextNode* donate = map.get("donate")) {
    train.donate = read_flag(*donate, "'donate'", diagnostics).value_or(true);
  }
  return train;
}

}  // namespace shard
