// Tables of rows: token embeddings, the logits tied to them, positions.

#include <algorithm>
#include <cmath>

#include "base/nearest.h"
#include "model/block_builder.h"
#include "ops/composed.h"

namespace shard {
namespace {

/// Flax's: a normal of variance 1 / features.
InitConfig table_init(const BlockBuilder& block, const BlockDim& features) {
  for (const auto& [key, init] : block.layer.inits) {
    if (key == "embedding_init") return init;
  }
  const double deviation = 1 / std::sqrt(static_cast<double>(features.size));
  return {"normal", {{"stddev", deviation}}, block.layer.at};
}

ValueId table_of(BlockBuilder& block, const BlockDim& rows, const BlockDim& features) {
  return block.parameter("embedding", {rows, features}, table_init(block, features));
}

}  // namespace

ValueId lower_embedding(Lowering& lowering, LayerCall& call) {
  BlockBuilder block(lowering, call);
  const auto vocab = block.dim("vocab", "vocab");
  const auto features = block.dim("features", "features");
  const ValueId tokens = block.input(0, 0, false);
  if (!vocab || !features || tokens == ValueId::none) return ValueId::none;
  const ValueId table = table_of(block, *vocab, *features);
  if (table == ValueId::none) return table;
  lowering.tables[call.path] = {table, lowering.frames.size()};
  std::vector<std::string> labels = block.compose.labels(tokens);
  labels.push_back(features->label);
  const ValueId rows = take(lowering.builder, table, tokens, 0);
  block.compose.set_labels(rows, std::move(labels));
  return block.finish(rows);
}

ValueId lower_attend(Lowering& lowering, LayerCall& call) {
  BlockBuilder block(lowering, call);
  const std::string name = block.word("embedding", "");
  const auto found = lowering.tables.find(call.scope.path(name));
  if (found == lowering.tables.end()) {
    std::vector<std::string> known;
    for (const auto& entry : lowering.tables) known.push_back(entry.first);
    std::sort(known.begin(), known.end());
    return block.fail("unknown-value", "there is no embedding '" + name + "' here",
                      did_you_mean(name, known, "embeddings"));
  }
  if (found->second.frames != lowering.frames.size()) {
    return block.fail("unknown-value",
                      "the embedding '" + name + "' stands outside of the loop around attend",
                      "use it outside of the scanned repeat");
  }
  const ValueId x = block.input(0, 1);
  if (x == ValueId::none) return x;
  const ValueId table = found->second.value;
  const int last = block.compose.last_dim(x);
  if (block.compose.size(x, last) != block.compose.size(table, 1)) {
    return block.fail("shape-mismatch", "attend of " + lowering.described(x) + " and the table " +
                                            lowering.described(table) + ": the last dims differ");
  }
  return block.finish(block.product(x, table, paired({{}, {}, {last}, {1}})));
}

ValueId lower_position_embedding(Lowering& lowering, LayerCall& call) {
  BlockBuilder block(lowering, call);
  const ValueId input = block.input(0, 2);
  if (input == ValueId::none) return input;
  Composer& c = block.compose;
  const ValueId x = c.converted(input, block.compute());
  const int last = c.last_dim(x);
  const BlockDim positions = block.dim_of(x, last - 1, "positions");
  const BlockDim features = block.dim_of(x, last, "features");
  const auto rows =
      block.has("positions") ? block.dim("positions", "positions") : std::optional(positions);
  if (!rows) return ValueId::none;
  if (rows->size < positions.size) {
    return block.fail("shape-mismatch", "a table of " + std::to_string(rows->size) +
                                            " positions is too short for " +
                                            lowering.described(input));
  }
  ValueId table = table_of(block, *rows, features);
  if (table == ValueId::none) return table;
  if (rows->size > positions.size) table = c.sliced(table, 0, 0, positions.size);
  const ValueId spread =
      c.placed(c.converted(table, block.compute()), c.type(x).shape, {last - 1, last});
  return block.finish(c.two(Op::add, x, spread));
}

}  // namespace shard
