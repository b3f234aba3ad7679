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

constexpr const char* conditions =
    "x: \"f32[batch, length, embed]\", holds: \"bool[batch, length]\"";
constexpr const char* rows = "x: \"f32[batch, length, embed]\", places: \"i32[length]\"";
constexpr const char* places =
    "x: \"f32[batch, length, embed]\", places: \"i32[batch, length, embed]\"";

constexpr const char* lists =
    "x: \"f32[batch, embed]\", at: \"i32[entries=8]\", counts: \"i32[entries=8]\"";

constexpr std::array<DescribedLayer, 56> described_layers = {{
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
    {"reshape", activations, "reshape: [batch, length, heads, head_dim]"},
    {"slice", activations, "slice: {dim: length, start: 1, limit: 3}"},
    {"reverse", activations, "reverse: length"},
    {"concatenate", activations, "concatenate: {of: [x, x], dim: embed}"},
    {"split", activations, "split: {dim: embed, into: [left, right]}"},
    {"pad", activations, "pad: {dim: length, low: 1}"},
    {"cumsum", activations, "cumsum: length"},
    {"cumprod", activations, "cumprod: length"},
    {"cummax", activations, "cummax: length"},
    {"cummin", activations, "cummin: length"},
    {"cumlogsumexp", activations, "cumlogsumexp: length"},
    {"argmax", activations, "argmax: embed"},
    {"argmin", activations, "argmin: embed"},
    {"sort", activations, "sort: {dim: embed, positions: order}"},
    {"top_k", activations, "top_k: {k: 2, positions: best}"},
    {"reduce_and", conditions, "reduce_and: {of: holds, dims: length}"},
    {"reduce_or", conditions, "reduce_or: {of: holds, dims: length}"},
    {"reduce_mean", activations, "reduce_mean: embed"},
    {"logsumexp", activations, "logsumexp: embed"},
    {"take", rows, "take: {of: [x, places], dim: length}"},
    {"take_along", places, "take_along: {of: [x, places], dim: embed}"},
    {"one_hot", integers, "one_hot: vocab"},
    {"where", conditions,
     "reshape: {of: holds, shape: [batch, length, one=1], name: mask}, where: {of: [mask, x, x]}"},
    {"custom_call", activations,
     "custom_call: {of: [x, x], call: overlaps, factors: \"b q e, b k e -> b q k\", sum: e}"},
    {"angle", activations, "fft: embed, angle"},
    {"fft", activations, "fft: embed"},
    {"ifft", activations, "ifft: [length, embed]"},
    {"rfft", activations, "rfft: embed"},
    {"irfft", activations, "irfft: {dims: embed, length: 14}"},
    {"einsum", activations, "einsum: {of: [x, x], equation: \"bqe,bke->bqk\"}"},
    {"dropout", activations, "dropout: 0.1"},
    {"conv", activations, "conv: {features: mlp, window: 3, padding: same}"},
    {"pool", activations, "pool: {window: 2, strides: 2}"},
    {"manual", activations,
     "manual: {in_specs: P(data), out_specs: P(), layers: [reduce_sum: batch, psum: data]}"},
    {"psum", activations, "manual: {in_specs: P(data), out_specs: P(), layers: [psum: data]}"},
    {"pmean", activations, "manual: {in_specs: P(data), out_specs: P(), layers: [pmean: data]}"},
    {"pmax", activations, "manual: {in_specs: P(data), out_specs: P(), layers: [pmax: data]}"},
    {"pmin", activations, "manual: {in_specs: P(data), out_specs: P(), layers: [pmin: data]}"},
    {"all_gather", activations,
     "manual: {in_specs: P(data), out_specs: P(data), layers: [all_gather: {axes: data, dim: "
     "length}]}"},
    {"psum_scatter", activations,
     "manual: {in_specs: P(), out_specs: P(data), layers: [psum_scatter: data]}"},
    {"all_to_all", activations,
     "manual: {in_specs: P(data), out_specs: \"P(None, data)\", layers: [all_to_all: {axes: data, "
     "split: length, concat: batch}]}"},
    {"ragged_all_to_all", lists,
     "manual: {of: [x, at, counts], in_specs: P(data), out_specs: P(data), layers: "
     "[ragged_all_to_all: {of: [x, x, at, counts, at, counts], axes: data}]}"},
    {"ppermute", activations,
     "manual: {in_specs: P(data), out_specs: P(data), layers: [ppermute: {axes: data, shift: 1}]}"},
    {"axis_index", activations,
     "manual: {in_specs: P(data), out_specs: P(data), layers: [axis_index: {axes: data, name: me}, "
     "convert: {of: me, dtype: f32, name: number}, let: y = x + number]}"},
}};

BlockExample example_of(const DescribedLayer& row) {
  const KeyTable* table = find_table(layer_tables(), row.word);
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
  options.mesh_axes = {{"data", 2}};
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
    const KeyTable& keys = *find_table(layer_tables(), example.word);
    write_answer(options,
                 block_text(example, keys, example_model(example).parts, layout_of(options)));
    return 0;
  }
  throw Error("unknown-block", {"command line"},
              "there is no block called '" + options.arguments.front() + "'",
              did_you_mean(options.arguments.front(), names, "blocks", 12));
}

}  // namespace shard
