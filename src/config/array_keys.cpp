// The keys of a model file that is a list of arrays, and the optimizers whose state it can have.
#include <array>

#include "base/check.h"
#include "config/keys.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<std::string_view, 11> keys_of_arrays = {
    "name",   "base",   "set",  "sizes", "size_sets", "dtype",
    "naming", "arrays", "from", "axes",  "optimizer"};

/// The rows of the model's table, but for the element type: there is one use of it only.
std::array<KeyRow, keys_of_arrays.size()> rows_of_arrays() {
  std::array<KeyRow, keys_of_arrays.size()> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const KeyRow* row = model_table().find(keys_of_arrays[i]);
    SHARD_CHECK(row != nullptr, "the keys of a list of arrays are keys of a model");
    rows[i] = *row;
    if (row->name != "dtype") continue;
    rows[i].kind = ValueKind::dtype;
    rows[i].help = "element type of arrays that do not say theirs";
    rows[i].table = nullptr;
  }
  return rows;
}

constexpr KeyRow rate = {.name = "learning_rate",
                         .kind = step_size,
                         .help = "the step size; the word schedule keeps a count of steps"};
constexpr KeyRow mu_dtype = {
    .name = "mu_dtype", .kind = dtype, .help = "of the mean; default: the parameter's"};
constexpr KeyRow accumulator_dtype = {
    .name = "accumulator_dtype", .kind = dtype, .help = "of the trace; default: the parameter's"};
constexpr KeyRow momentum = {
    .name = "momentum", .kind = number, .help = "decay of the trace; none: no trace"};
constexpr KeyRow nesterov = {.name = "nesterov", .kind = flag, .help = "look ahead"};
constexpr KeyRow b1 = {.name = "b1", .kind = number, .help = "decay of the mean"};
constexpr KeyRow b2 = {.name = "b2", .kind = number, .help = "decay of the squares"};
constexpr KeyRow eps = {.name = "eps", .kind = number, .help = "added outside the root"};
constexpr KeyRow eps_root = {.name = "eps_root", .kind = number, .help = "added inside the root"};
constexpr KeyRow weight_decay = {
    .name = "weight_decay", .kind = number, .help = "strength of the decay"};
constexpr KeyRow min_dim_size = {.name = "min_dim_size_to_factor",
                                 .kind = whole,
                                 .help = "least size of the two dims that are factored",
                                 .default_value = "128"};
constexpr KeyRow factored = {.name = "factored",
                             .kind = flag,
                             .help = "rows and columns instead of all squares",
                             .default_value = "true"};

constexpr std::array<KeyRow, 4> sgd_rows = {{rate, momentum, nesterov, accumulator_dtype}};
constexpr std::array<KeyRow, 7> adam_rows = {{rate, b1, b2, eps, eps_root, mu_dtype, nesterov}};
constexpr std::array<KeyRow, 8> adamw_rows = {
    {rate, b1, b2, eps, eps_root, mu_dtype, nesterov, weight_decay}};
constexpr std::array<KeyRow, 5> lion_rows = {{rate, b1, b2, mu_dtype, weight_decay}};
constexpr std::array<KeyRow, 9> adafactor_rows = {{
    rate,
    min_dim_size,
    factored,
    {.name = "decay_rate", .kind = number, .help = "of the squares"},
    {.name = "clipping_threshold",
     .kind = number,
     .help = "of the update; 0: none",
     .default_value = "1"},
    {.name = "multiply_by_parameter_scale",
     .kind = flag,
     .help = "the rate is relative to the parameter",
     .default_value = "true"},
    momentum,
    {.name = "dtype_momentum", .kind = dtype, .help = "of the average", .default_value = "f32"},
    {.name = "weight_decay_rate", .kind = number, .help = "strength of the decay; none: no decay"},
}};

constexpr std::array<KeyRow, 1> chain_rows = {
    {{.name = "of", .kind = state_optimizers, .help = "one after the other", .is_required = true}}};
constexpr std::array<KeyRow, 3> multi_steps_rows = {{
    {.name = "optimizer",
     .kind = state_optimizer,
     .help = "what is done every few steps",
     .is_required = true},
    {.name = "every", .kind = whole, .help = "steps between updates"},
    accumulator_dtype,
}};

constexpr std::array<KeyRow, 1> threshold_rows = {
    {{.name = "value", .kind = number, .help = "the largest norm, size or factor"}}};
constexpr std::array<KeyRow, 3> trace_rows = {
    {{.name = "decay", .kind = number, .help = "of the trace"}, nesterov, accumulator_dtype}};
constexpr std::array<KeyRow, 6> scale_by_adam_rows = {{b1, b2, eps, eps_root, mu_dtype, nesterov}};
constexpr std::array<KeyRow, 3> scale_by_lion_rows = {{b1, b2, mu_dtype}};
constexpr std::array<KeyRow, 3> factored_rms_rows = {
    {factored, min_dim_size, {.name = "decay_rate", .kind = number, .help = "of the squares"}}};
constexpr std::array<KeyRow, 1> rate_rows = {{rate}};

constexpr std::array<KeyTable, 19> optimizers = {{
    {"sgd", "optimizer 'sgd'", "gradient descent, with a trace or without", sgd_rows,
     "learning_rate"},
    {"momentum", "optimizer 'momentum'", "sgd with a trace", sgd_rows, "learning_rate"},
    {"adam", "optimizer 'adam'", "adam", adam_rows, "learning_rate"},
    {"adamw", "optimizer 'adamw'", "adam with weight decay", adamw_rows, "learning_rate"},
    {"adafactor", "optimizer 'adafactor'", "factored squares", adafactor_rows, "learning_rate"},
    {"lion", "optimizer 'lion'", "sign updates", lion_rows, "learning_rate"},
    {"chain", "optimizer 'chain'", "several in a row", chain_rows, "of"},
    {"multi_steps", "optimizer 'multi_steps'", "gradients of several steps added up",
     multi_steps_rows, "optimizer"},
    {"clip_by_global_norm", "'clip_by_global_norm'", "keeps nothing", threshold_rows, "value"},
    {"clip", "'clip'", "keeps nothing", threshold_rows, "value"},
    {"clip_by_block_rms", "'clip_by_block_rms'", "keeps nothing", threshold_rows, "value"},
    {"add_decayed_weights", "'add_decayed_weights'", "keeps nothing", threshold_rows, "value"},
    {"scale", "'scale'", "keeps nothing", threshold_rows, "value"},
    {"identity", "'identity'", "keeps nothing", {}},
    {"scale_by_learning_rate", "'scale_by_learning_rate'", "a count, with a schedule", rate_rows,
     "learning_rate"},
    {"scale_by_adam", "'scale_by_adam'", "means and squares", scale_by_adam_rows},
    {"scale_by_lion", "'scale_by_lion'", "means", scale_by_lion_rows},
    {"scale_by_factored_rms", "'scale_by_factored_rms'", "factored squares", factored_rms_rows},
    {"trace", "'trace'", "a trace", trace_rows, "decay"},
}};

}  // namespace

const KeyTable& arrays_table() {
  static const std::array<KeyRow, keys_of_arrays.size()> rows = rows_of_arrays();
  static const KeyTable table = {.name = "arrays",
                                 .what = "a model of arrays",
                                 .help = "a list of arrays without a program",
                                 .rows = rows};
  return table;
}

std::span<const KeyTable> state_optimizer_tables() { return optimizers; }

}  // namespace shard
