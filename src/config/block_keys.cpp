// The keys of the named blocks: layers with an inside, whose values can be constrained and whose
// labels can be renamed.
#include <array>

#include "config/key_rows.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<std::string_view, 2> masks = {"none", "causal"};
constexpr std::array<std::string_view, 6> activations = {"gelu", "relu",    "silu",
                                                         "tanh", "sigmoid", "square"};
constexpr std::array<std::string_view, 3> dispatches = {"dense", "capacity", "ragged"};

constexpr std::array<KeyRow, 1> placed_parameters = {{
    {.name = "params", .kind = specs, .help = "placements by parameter name"},
}};
constexpr std::array<KeyRow, 2> inside = {{
    {.name = "names", .kind = labels, .help = "other labels for dims of the block"},
    {.name = "constrain",
     .kind = specs,
     .help = "placements by value of the block, and of its parameters where they are used"},
}};
constexpr std::array<KeyRow, 1> kernels = {{
    {.name = "kernel_init", .kind = initializer, .help = "first values of the kernels"},
}};
constexpr std::array<KeyRow, 2> biases = {{
    {.name = "use_bias", .kind = flag, .help = "add biases", .default_value = "true"},
    {.name = "bias_init", .kind = initializer, .help = "first values of the biases"},
}};
constexpr std::array<KeyRow, 1> table_init = {{
    {.name = "embedding_init",
     .kind = initializer,
     .help = "first values of the table; default: normal, by the number of features"},
}};

constexpr std::array<KeyRow, 2> table_size = {{
    {.name = "vocab", .kind = count, .help = "rows of the table", .is_required = true},
    {.name = "features", .kind = count, .help = "columns of the table", .is_required = true},
}};
constexpr auto embedding_rows =
    joined_rows(table_size, every_layer_rows, table_init, placed_parameters);

constexpr std::array<KeyRow, 1> tied = {{
    {.name = "embedding",
     .kind = identifier,
     .help = "the embedding whose table is used",
     .is_required = true},
}};
constexpr auto attend_rows = joined_rows(tied, every_layer_rows);

constexpr std::array<KeyRow, 1> positions = {{
    {.name = "positions", .kind = count, .help = "rows of the table; default: one per position"},
}};
constexpr auto position_rows =
    joined_rows(positions, every_layer_rows, table_init, placed_parameters);

constexpr std::array<KeyRow, 2> norm_own = {{
    {.name = "eps", .kind = number, .help = "added inside the root", .default_value = "1e-6"},
    {.name = "scale_init", .kind = initializer, .help = "first values", .default_value = "ones"},
}};
constexpr auto rms_norm_rows = joined_rows(norm_own, every_layer_rows, placed_parameters);
constexpr auto layer_norm_rows = joined_rows(norm_own, every_layer_rows, placed_parameters, biases);

constexpr std::array<KeyRow, 1> softmax_own = {{
    {.name = "dims", .kind = dims, .help = "the dims it sums over; default: the last"},
}};
constexpr auto softmax_rows = joined_rows(softmax_own, every_layer_rows);

constexpr std::array<KeyRow, 7> attention_own = {{
    {.name = "heads", .kind = count, .help = "heads of the queries", .is_required = true},
    {.name = "kv_heads",
     .kind = count,
     .help = "heads of the keys and values; default: as many as heads"},
    {.name = "head_dim",
     .kind = count,
     .help = "size of a head; default: the input's last dim over heads"},
    {.name = "rotary", .kind = rotary, .help = "turn queries and keys by their positions"},
    {.name = "mask",
     .kind = word,
     .help = "what a position may see",
     .default_value = "none",
     .choices = masks},
    {.name = "scale", .kind = number, .help = "of the scores; default: 1 / sqrt(head_dim)"},
    {.name = "fused_qkv",
     .kind = flag,
     .help = "queries, keys and values by one kernel",
     .default_value = "false"},
}};
constexpr auto attention_rows =
    joined_rows(attention_own, every_layer_rows, placed_parameters, inside, kernels, biases);

constexpr std::array<KeyRow, 1> hidden = {{
    {.name = "features", .kind = count, .help = "the hidden dim", .is_required = true},
}};
constexpr std::array<KeyRow, 1> activation = {{
    {.name = "activation",
     .kind = word,
     .help = "of the hidden values",
     .default_value = "gelu",
     .choices = activations},
}};
constexpr std::array<KeyRow, 2> gated_biases = {{
    {.name = "use_bias", .kind = flag, .help = "add biases", .default_value = "false"},
    {.name = "bias_init", .kind = initializer, .help = "first values of the biases"},
}};
constexpr auto gated_rows =
    joined_rows(hidden, every_layer_rows, placed_parameters, inside, kernels, gated_biases);
constexpr auto mlp_rows =
    joined_rows(hidden, activation, every_layer_rows, placed_parameters, inside, kernels, biases);

constexpr std::array<KeyRow, 10> moe_own = {{
    {.name = "experts", .kind = count, .help = "how many experts", .is_required = true},
    {.name = "features", .kind = count, .help = "the experts' hidden dim", .is_required = true},
    {.name = "top_k", .kind = count, .help = "experts of a token", .default_value = "2"},
    {.name = "dispatch",
     .kind = word,
     .help = "dense: each expert sees every token; capacity: room for some in each expert; ragged: "
             "tokens sorted by expert, as many as there are for each",
     .default_value = "dense",
     .choices = dispatches},
    {.name = "capacity", .kind = count, .help = "room for tokens in an expert, per sequence"},
    {.name = "capacity_factor",
     .kind = number,
     .help = "that room, times the tokens of a sequence over the experts and times top_k"},
    {.name = "activation",
     .kind = word,
     .help = "of the hidden values",
     .default_value = "silu",
     .choices = activations},
    {.name = "gated",
     .kind = flag,
     .help = "the hidden values times a second product",
     .default_value = "true"},
    {.name = "renormalize",
     .kind = flag,
     .help = "the weights of a token's experts add up to one",
     .default_value = "true"},
    {.name = "balance",
     .kind = number,
     .help = "weight of the load-balance term in the loss",
     .default_value = "0"},
}};
constexpr auto moe_rows =
    joined_rows(moe_own, every_layer_rows, placed_parameters, inside, kernels);

constexpr std::array<KeyTable, 12> named_blocks = {{
    {"embedding", "layer 'embedding'", "rows of a table, by integers", embedding_rows},
    {"attend", "layer 'attend'", "the product with an embedding's table: tied logits", attend_rows,
     "embedding"},
    {"position_embedding", "layer 'position_embedding'", "x + a row of a table per position",
     position_rows, "positions"},
    {"rms_norm", "layer 'rms_norm'", "x / sqrt(mean(x^2)) * scale", rms_norm_rows},
    {"layer_norm", "layer 'layer_norm'", "(x - mean) / deviation * scale + bias", layer_norm_rows},
    {"softmax", "layer 'softmax'", "exp(x) over its sum", softmax_rows, "dims"},
    {"log_softmax", "layer 'log_softmax'", "the logarithm of softmax", softmax_rows, "dims"},
    {"attention", "layer 'attention'", "attention over the positions", attention_rows},
    {"swiglu", "layer 'swiglu'", "(silu(x @ gate) * (x @ up)) @ down", gated_rows, "features"},
    {"geglu", "layer 'geglu'", "(gelu(x @ gate) * (x @ up)) @ down", gated_rows, "features"},
    {"mlp", "layer 'mlp'", "activation(x @ up) @ down", mlp_rows, "features"},
    {"moe", "layer 'moe'", "a mixture of experts", moe_rows},
}};

}  // namespace

std::span<const KeyTable> named_block_tables() { return named_blocks; }

}  // namespace shard
