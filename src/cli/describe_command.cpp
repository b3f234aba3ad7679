#include <array>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/diagnostic.h"
#include "base/nearest.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/layout.h"
#include "config/keys.h"
#include "config/load.h"
#include "model/model.h"
#include "report/describe_blocks.h"

namespace shard {
namespace {

/// How a block is built so that all it can have inside is there.
struct DescribedLayer {
  const char* word;
  const char* input;
  const char* layers;
};

constexpr const char* activations = "x: \"f32[batch, length, embed]\"";
constexpr const char* integers = "tokens: \"i32[batch, length]\"";

constexpr std::array<DescribedLayer, 12> described_layers = {{
    {"embedding", integers, "embedding: {vocab: vocab, features: embed}"},
    {"attend", integers, "embedding: {name: table, vocab: vocab, features: embed}, attend: table"},
    {"position_embedding", activations, "position_embedding"},
    {"rms_norm", activations, "rms_norm"},
    {"layer_norm", activations, "layer_norm"},
    {"softmax", activations, "softmax"},
    {"log_softmax", activations, "log_softmax"},
    {"attention", activations,
     "attention: {heads: heads, kv_heads: kv_heads, head_dim: head_dim, rotary: 10000, mask: "
     "causal}"},
    {"swiglu", activations, "swiglu: {features: mlp}"},
    {"geglu", activations, "geglu: {features: mlp}"},
    {"mlp", activations, "mlp: {features: mlp}"},
    {"moe", activations,
     "moe: {experts: expert, top_k: 2, features: mlp, dispatch: capacity, balance: 0.01}"},
}};

BlockExample example_of(const DescribedLayer& row) {
  const KeyTable* table = find_table(named_block_tables(), row.word);
  SHARD_CHECK(table != nullptr, "a block that is described has a table of its keys");
  return {row.word, std::string(table->help), row.layers, row.input};
}

/// The example as a model, for what is really inside of it.
Model example_model(const BlockExample& example) {
  const std::string text =
      "name: example\n"
      "sizes: {batch: 2, length: 4, embed: 8, heads: 4, kv_heads: 2, head_dim: 2, mlp: 8, "
      "vocab: 16, expert: 4}\n"
      "inputs: {" +
      example.input + "}\nlayers: [" + example.layer + "]\n";
  MemoryReader memory({{"example.yaml", text}});
  Sources sources(memory);
  BuildOptions options;
  options.lists_parts = true;
  return build_model(read_model(merge_model_file("example.yaml", {}, sources)), options);
}

}  // namespace

int describe_command(const Options& options, Sources& /*sources*/) {
  std::vector<BlockExample> examples;
  std::vector<std::string> names;
  for (const DescribedLayer& row : described_layers) {
    examples.push_back(example_of(row));
    names.push_back(examples.back().word);
  }
  if (options.arguments.empty()) {
    write_answer(options, block_list_text(examples, layout_of(options)));
    return 0;
  }
  for (const BlockExample& example : examples) {
    if (example.word != options.arguments.front()) continue;
    const KeyTable& keys = *find_table(named_block_tables(), example.word);
    write_answer(options,
                 block_text(example, keys, example_model(example).parts, layout_of(options)));
    return 0;
  }
  throw Error("unknown-block", {"command line"},
              "there is no block called '" + options.arguments.front() + "'",
              did_you_mean(options.arguments.front(), names, "blocks", 12));
}

}  // namespace shard
