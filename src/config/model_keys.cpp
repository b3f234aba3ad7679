// The keys of a model file, except those of its layers.
#include <array>

#include "config/keys.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<std::string_view, 3> namings = {"linen", "nnx", "plain"};
constexpr std::array<std::string_view, 4> float_dtypes = {"f32", "bf16", "f16", "f64"};
constexpr std::array<std::string_view, 4> returned = {"state", "loss", "grads", "outputs"};

constexpr std::array<KeyRow, 3> dtype_rows = {{
    {.name = "params", .kind = dtype, .help = "of the parameters", .default_value = "f32"},
    {.name = "compute", .kind = dtype, .help = "of the layers' arithmetic", .default_value = "f32"},
    {.name = "state", .kind = dtype, .help = "of the optimizer's slots", .default_value = "f32"},
}};
constexpr KeyTable dtype_table = {
    .name = "dtypes", .what = "'dtype'", .help = "element types by use", .rows = dtype_rows};

constexpr std::array<KeyRow, 4> default_rows = {{
    {.name = "kernel_init", .kind = initializer, .help = "for layers with a kernel"},
    {.name = "bias_init", .kind = initializer, .help = "for layers with a bias"},
    {.name = "use_bias", .kind = flag, .help = "for layers that may have a bias"},
    {.name = "dtype", .kind = ValueKind::dtype, .help = "for all layers"},
}};
constexpr KeyTable defaults_table = {.name = "defaults",
                                     .what = "'defaults'",
                                     .help = "values for every layer that knows the key",
                                     .rows = default_rows};

constexpr std::array<KeyRow, 5> train_rows = {{
    {.name = "loss",
     .kind = loss,
     .help = "what is made of the output: sum, mean ...",
     .is_required = true},
    {.name = "optimizer",
     .kind = optimizer,
     .help = "how the state is updated, e.g. {adam: {learning_rate: 1e-3}}",
     .is_required = true},
    {.name = "returns",
     .kind = words,
     .help = "what the step returns",
     .default_value = "[state, loss]",
     .choices = returned},
    {.name = "microbatches",
     .kind = whole,
     .help = "parts of a batch, one after the other, whose gradients are averaged",
     .default_value = "1"},
    {.name = "donate",
     .kind = flag,
     .help = "the new state may take the memory of the old one",
     .default_value = "true"},
}};
constexpr KeyTable train_table = {.name = "train",
                                  .what = "'train'",
                                  .help = "the train step; without it the model is only applied",
                                  .rows = train_rows};

constexpr std::array<KeyRow, 19> model_rows = {{
    {.name = "name", .kind = text, .help = "the model's name; default: the file's"},
    {.name = "base", .kind = files, .help = "files this one is laid over, relative to it"},
    {.name = "set", .kind = settings, .help = "dotted paths to new values, applied after merging"},
    {.name = "sizes", .kind = sizes, .help = "sizes by name: a number, a name, or a product"},
    {.name = "size_sets", .kind = size_sets, .help = "other sizes, chosen with --sizes NAME"},
    {.name = "dtype",
     .kind = word_or_table,
     .help = "element type of everything, or by use",
     .default_value = "f32",
     .choices = float_dtypes,
     .table = &dtype_table},
    {.name = "inputs",
     .kind = types,
     .help = "the inputs by name, e.g. x: f32[batch, embed]",
     .is_required = true},
    {.name = "defaults",
     .kind = table,
     .help = "values for every layer that knows the key",
     .table = &defaults_table},
    {.name = "naming",
     .kind = word,
     .help = "how unnamed layers are named",
     .default_value = "linen",
     .choices = namings},
    {.name = "blocks", .kind = blocks, .help = "blocks of layers by name"},
    {.name = "layers",
     .kind = layers,
     .help = "the program: each layer works on the value before it",
     .is_required = true},
    {.name = "outputs",
     .kind = outputs,
     .help = "the outputs by name; default: the last value, placed by propagation"},
    {.name = "train", .kind = table, .help = "the train step", .table = &train_table},
    {.name = "seed", .kind = whole, .help = "of the initial values", .default_value = "0"},
    {.name = "apply",
     .kind = anything,
     .help = "the inference function",
     .not_yet = "remove it: the layers themselves are applied"},
    {.name = "arrays",
     .kind = arrays,
     .help = "instead of a program: arrays by name, {0..31} in a name is 32 of them, "
             "e.g. layers.{0..31}.kernel: bf16[embed=4096, mlp=14336]"},
    {.name = "from",
     .kind = text,
     .help = "instead of a program: a file with arrays, a dump or a safetensors header"},
    {.name = "axes",
     .kind = path_rules,
     .help = "of arrays: their axes by glob, the first that matches wins"},
    {.name = "optimizer",
     .kind = optimizer,
     .help = "of arrays: whose state is derived from them, e.g. adamw"},
}};

constexpr std::array<KeyRow, 3> block_rows = {{
    {.name = "inputs", .kind = names, .help = "names of the block's inputs", .default_value = "x"},
    {.name = "args", .kind = block_arguments, .help = "arguments with their defaults"},
    {.name = "layers", .kind = layers, .help = "the block's layers", .is_required = true},
}};

constexpr std::array<KeyRow, 2> cross_entropy_rows = {{
    {.name = "targets",
     .kind = targets,
     .help = "an integer input, or shift(INPUT): the next position's",
     .is_required = true},
    {.name = "ignore_negative",
     .kind = flag,
     .help = "negative targets do not count",
     .default_value = "true"},
}};
constexpr std::array<KeyTable, 4> losses = {{
    {"sum", "loss 'sum'", "the sum of the output", {}},
    {"mean", "loss 'mean'", "the mean of the output", {}},
    {"mse", "loss 'mse'", "the mean square of the output", {}},
    {"cross_entropy", "loss 'cross_entropy'",
     "of the output, as logits over its last dim, and targets", cross_entropy_rows, "targets"},
}};

constexpr std::array<KeyRow, 1> stddev_rows = {
    {{.name = "stddev", .kind = number, .help = "standard deviation", .default_value = "0.01"}}};
constexpr std::array<KeyRow, 1> scale_rows = {{{.name = "scale",
                                                .kind = number,
                                                .help = "values are in [0, scale)",
                                                .default_value = "0.01"}}};
constexpr std::array<KeyRow, 1> value_rows = {
    {{.name = "value", .kind = number, .help = "of every element", .is_required = true}}};
constexpr std::array<KeyTable, 12> initializers = {{
    {"zeros", "initializer 'zeros'", "zero everywhere", {}},
    {"ones", "initializer 'ones'", "one everywhere", {}},
    {"constant", "initializer 'constant'", "one value everywhere", value_rows, "value"},
    {"normal", "initializer 'normal'", "normal", stddev_rows, "stddev"},
    {"truncated_normal", "initializer 'truncated_normal'", "cut at two deviations", stddev_rows,
     "stddev"},
    {"uniform", "initializer 'uniform'", "uniform", scale_rows, "scale"},
    {"lecun_normal", "initializer 'lecun_normal'", "variance 1 / fan-in", {}},
    {"lecun_uniform", "initializer 'lecun_uniform'", "variance 1 / fan-in", {}},
    {"xavier_normal", "initializer 'xavier_normal'", "variance 2 / (fan-in + fan-out)", {}},
    {"xavier_uniform", "initializer 'xavier_uniform'", "variance 2 / (fan-in + fan-out)", {}},
    {"he_normal", "initializer 'he_normal'", "variance 2 / fan-in", {}},
    {"he_uniform", "initializer 'he_uniform'", "variance 2 / fan-in", {}},
}};

}  // namespace

const KeyTable& model_table() {
  static constexpr KeyTable table = {.name = "model",
                                     .what = "a model file",
                                     .help = "a model as one device would run it",
                                     .rows = model_rows};
  return table;
}

const KeyTable& block_table() {
  static constexpr KeyTable table = {.name = "block",
                                     .what = "a block",
                                     .help = "layers under a name",
                                     .rows = block_rows,
                                     .main_key = "layers"};
  return table;
}

std::span<const KeyTable> initializer_tables() { return initializers; }
std::span<const KeyTable> loss_tables() { return losses; }

}  // namespace shard
