// The keys of optimizers, of the transformations they are chains of, and of learning rates that
// change with the step. Names and defaults are those of optax.
#include <array>

#include "config/keys.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr KeyRow rate = {
    .name = "learning_rate", .kind = step_size, .help = "the step size: a number or a schedule"};
constexpr KeyRow rate_or_none = {.name = "learning_rate",
                                 .kind = step_size,
                                 .help = "the step size: a number or a schedule",
                                 .default_value = "none"};
constexpr KeyRow mu_dtype = {
    .name = "mu_dtype", .kind = dtype, .help = "of the mean; default: the parameter's"};
constexpr KeyRow accumulator_dtype = {
    .name = "accumulator_dtype", .kind = dtype, .help = "of the trace; default: the parameter's"};
constexpr KeyRow momentum_or_none = {
    .name = "momentum", .kind = number, .help = "decay of the trace; none: no trace"};
constexpr KeyRow momentum = {
    .name = "momentum", .kind = number, .help = "decay of the trace", .default_value = "0.9"};
constexpr KeyRow nesterov = {
    .name = "nesterov", .kind = flag, .help = "look ahead", .default_value = "false"};
constexpr KeyRow b1 = {
    .name = "b1", .kind = number, .help = "decay of the mean", .default_value = "0.9"};
constexpr KeyRow b2 = {
    .name = "b2", .kind = number, .help = "decay of the squares", .default_value = "0.999"};
constexpr KeyRow lion_b2 = {
    .name = "b2", .kind = number, .help = "decay of what is kept", .default_value = "0.99"};
constexpr KeyRow eps = {
    .name = "eps", .kind = number, .help = "added outside the root", .default_value = "1e-8"};
constexpr KeyRow eps_root = {
    .name = "eps_root", .kind = number, .help = "added inside the root", .default_value = "0"};
constexpr KeyRow decay_of(std::string_view standard) {
  return {.name = "weight_decay",
          .kind = number,
          .help = "strength of the decay",
          .default_value = standard};
}
constexpr KeyRow mask = {
    .name = "mask",
    .kind = names,
    .help = "globs of the parameters that decay, e.g. [*kernel]; default: all"};
constexpr KeyRow min_dim_size = {.name = "min_dim_size_to_factor",
                                 .kind = whole,
                                 .help = "least size of the two dims that are factored",
                                 .default_value = "128"};
constexpr KeyRow factored = {.name = "factored",
                             .kind = flag,
                             .help = "rows and columns instead of all squares",
                             .default_value = "true"};
constexpr KeyRow decay_rate = {
    .name = "decay_rate", .kind = number, .help = "of the squares", .default_value = "0.8"};

constexpr std::array<KeyRow, 4> sgd_rows = {{rate, momentum_or_none, nesterov, accumulator_dtype}};
constexpr std::array<KeyRow, 4> momentum_rows = {{rate, momentum, nesterov, accumulator_dtype}};
constexpr std::array<KeyRow, 7> adam_rows = {{rate, b1, b2, eps, eps_root, mu_dtype, nesterov}};
constexpr std::array<KeyRow, 9> adamw_rows = {
    {rate, b1, b2, eps, eps_root, mu_dtype, nesterov, decay_of("1e-4"), mask}};
constexpr std::array<KeyRow, 6> lion_rows = {{rate, b1, lion_b2, mu_dtype, decay_of("1e-3"), mask}};
constexpr std::array<KeyRow, 7> lamb_rows = {{
    rate,
    b1,
    b2,
    {.name = "eps", .kind = number, .help = "added outside the root", .default_value = "1e-6"},
    eps_root,
    decay_of("0"),
    mask,
}};
constexpr std::array<KeyRow, 10> adafactor_rows = {{
    rate_or_none,
    min_dim_size,
    factored,
    decay_rate,
    {.name = "clipping_threshold",
     .kind = number,
     .help = "of the update; 0: none",
     .default_value = "1"},
    {.name = "multiply_by_parameter_scale",
     .kind = flag,
     .help = "the rate is relative to the parameter",
     .default_value = "true"},
    momentum_or_none,
    {.name = "dtype_momentum", .kind = dtype, .help = "of the average", .default_value = "f32"},
    {.name = "weight_decay_rate", .kind = number, .help = "strength of the decay; none: no decay"},
    mask,
}};
constexpr std::array<KeyRow, 5> rmsprop_rows = {{
    rate,
    {.name = "decay", .kind = number, .help = "of the squares", .default_value = "0.9"},
    eps,
    momentum_or_none,
    nesterov,
}};
constexpr KeyRow first_square = {.name = "initial_accumulator_value",
                                 .kind = number,
                                 .help = "the squares before the first step",
                                 .default_value = "0.1"};
constexpr KeyRow rss_eps = {
    .name = "eps", .kind = number, .help = "added inside the root", .default_value = "1e-7"};
constexpr std::array<KeyRow, 3> adagrad_rows = {{rate, first_square, rss_eps}};

constexpr std::array<KeyRow, 1> chain_optimizer_rows = {
    {{.name = "of", .kind = optimizers, .help = "one after the other", .is_required = true}}};
constexpr std::array<KeyRow, 3> multi_steps_rows = {{
    {.name = "optimizer",
     .kind = optimizer,
     .help = "what is done every few steps",
     .is_required = true},
    {.name = "every", .kind = whole, .help = "steps to an update"},
    accumulator_dtype,
}};

constexpr std::array<KeyRow, 1> threshold_rows = {
    {{.name = "value", .kind = number, .help = "the largest norm, size or factor"}}};
constexpr std::array<KeyRow, 2> decayed_rows = {
    {{.name = "value", .kind = number, .help = "strength of the decay"}, mask}};
constexpr std::array<KeyRow, 3> trace_rows = {
    {{.name = "decay", .kind = number, .help = "of the trace"}, nesterov, accumulator_dtype}};
constexpr std::array<KeyRow, 6> scale_by_adam_rows = {{b1, b2, eps, eps_root, mu_dtype, nesterov}};
constexpr std::array<KeyRow, 3> scale_by_lion_rows = {{b1, lion_b2, mu_dtype}};
constexpr std::array<KeyRow, 2> scale_by_rms_rows = {{
    {.name = "decay", .kind = number, .help = "of the squares", .default_value = "0.9"},
    eps,
}};
constexpr std::array<KeyRow, 2> scale_by_rss_rows = {{first_square, rss_eps}};
constexpr std::array<KeyRow, 3> factored_rms_rows = {{factored, min_dim_size, decay_rate}};
constexpr std::array<KeyRow, 1> rate_rows = {{rate}};

constexpr std::array<KeyTable, 26> known_optimizers = {{
    {"sgd", "optimizer 'sgd'", "gradient descent, with a trace or without", sgd_rows,
     "learning_rate"},
    {"momentum", "optimizer 'momentum'", "sgd with a trace", momentum_rows, "learning_rate"},
    {"adam", "optimizer 'adam'", "adam", adam_rows, "learning_rate"},
    {"adamw", "optimizer 'adamw'", "adam with weight decay", adamw_rows, "learning_rate"},
    {"adafactor", "optimizer 'adafactor'", "factored squares", adafactor_rows, "learning_rate"},
    {"lion", "optimizer 'lion'", "sign updates", lion_rows, "learning_rate"},
    {"rmsprop", "optimizer 'rmsprop'", "by the root of the squares", rmsprop_rows, "learning_rate"},
    {"adagrad", "optimizer 'adagrad'", "by the root of all squares", adagrad_rows, "learning_rate"},
    {"lamb", "optimizer 'lamb'", "adam relative to the parameter's norm", lamb_rows,
     "learning_rate"},
    {"chain", "optimizer 'chain'", "several in a row", chain_optimizer_rows, "of"},
    {"multi_steps", "optimizer 'multi_steps'", "gradients of several steps averaged",
     multi_steps_rows, "optimizer"},
    {"clip_by_global_norm", "'clip_by_global_norm'", "keeps nothing", threshold_rows, "value"},
    {"clip", "'clip'", "keeps nothing", threshold_rows, "value"},
    {"clip_by_block_rms", "'clip_by_block_rms'", "keeps nothing", threshold_rows, "value"},
    {"add_decayed_weights", "'add_decayed_weights'", "keeps nothing", decayed_rows, "value"},
    {"scale", "'scale'", "keeps nothing", threshold_rows, "value"},
    {"identity", "'identity'", "keeps nothing", {}},
    {"scale_by_learning_rate", "'scale_by_learning_rate'", "a count, with a schedule", rate_rows,
     "learning_rate"},
    {"scale_by_adam", "'scale_by_adam'", "means and squares", scale_by_adam_rows},
    {"scale_by_lion", "'scale_by_lion'", "means", scale_by_lion_rows},
    {"scale_by_rms", "'scale_by_rms'", "squares", scale_by_rms_rows},
    {"scale_by_rss", "'scale_by_rss'", "sums of squares", scale_by_rss_rows},
    {"scale_by_trust_ratio", "'scale_by_trust_ratio'", "keeps nothing", {}},
    {"scale_by_param_block_rms", "'scale_by_param_block_rms'", "keeps nothing", {}},
    {"scale_by_factored_rms", "'scale_by_factored_rms'", "factored squares", factored_rms_rows},
    {"trace", "'trace'", "a trace", trace_rows, "decay"},
}};

// Schedules.

constexpr KeyRow first_rate = {
    .name = "init_value", .kind = number, .help = "the first rate", .is_required = true};
constexpr KeyRow last_rate = {
    .name = "end_value", .kind = number, .help = "the last rate", .is_required = true};
constexpr KeyRow transition_steps = {.name = "transition_steps",
                                     .kind = whole,
                                     .help = "how many steps it takes",
                                     .is_required = true};
constexpr KeyRow transition_begin = {.name = "transition_begin",
                                     .kind = whole,
                                     .help = "the step it begins at",
                                     .default_value = "0"};
constexpr KeyRow exponent = {
    .name = "exponent", .kind = number, .help = "of the cosine", .default_value = "1"};
constexpr KeyRow decay_steps = {
    .name = "decay_steps", .kind = whole, .help = "the step it ends at", .is_required = true};

constexpr std::array<KeyRow, 1> constant_rows = {
    {{.name = "value", .kind = number, .help = "the rate", .is_required = true}}};
constexpr std::array<KeyRow, 4> linear_rows = {
    {first_rate, last_rate, transition_steps, transition_begin}};
constexpr std::array<KeyRow, 5> polynomial_rows = {{
    first_rate,
    last_rate,
    {.name = "power", .kind = number, .help = "of the part that is left", .is_required = true},
    transition_steps,
    transition_begin,
}};
constexpr std::array<KeyRow, 4> cosine_rows = {{
    first_rate,
    decay_steps,
    {.name = "alpha", .kind = number, .help = "the last rate over the first", .default_value = "0"},
    exponent,
}};
constexpr std::array<KeyRow, 6> warmup_cosine_rows = {{
    {.name = "init_value", .kind = number, .help = "the first rate", .default_value = "0"},
    {.name = "peak_value", .kind = number, .help = "the largest rate", .is_required = true},
    {.name = "warmup_steps", .kind = whole, .help = "steps up to the peak", .is_required = true},
    decay_steps,
    {.name = "end_value", .kind = number, .help = "the last rate", .default_value = "0"},
    exponent,
}};
constexpr std::array<KeyRow, 6> exponential_rows = {{
    first_rate,
    transition_steps,
    {.name = "decay_rate",
     .kind = number,
     .help = "factor per transition_steps",
     .is_required = true},
    transition_begin,
    {.name = "staircase",
     .kind = flag,
     .help = "only after whole transitions",
     .default_value = "false"},
    {.name = "end_value", .kind = number, .help = "the least rate (the largest, if it grows)"},
}};
constexpr std::array<KeyRow, 2> piecewise_rows = {{
    first_rate,
    {.name = "boundaries_and_scales",
     .kind = step_scales,
     .help = "factors by the step from which they hold",
     .is_required = true},
}};
constexpr std::array<KeyRow, 2> rsqrt_rows = {{
    {.name = "scale", .kind = number, .help = "times 1 / sqrt(step)", .is_required = true},
    {.name = "least_step",
     .kind = whole,
     .help = "earlier steps count as this one",
     .default_value = "1"},
}};
constexpr std::array<KeyRow, 2> warmup_rsqrt_rows = {{
    {.name = "scale", .kind = number, .help = "times 1 / sqrt(step)", .is_required = true},
    {.name = "warmup_steps", .kind = whole, .help = "steps of linear growth", .is_required = true},
}};
constexpr std::array<KeyRow, 2> join_rows = {{
    {.name = "schedules", .kind = schedules, .help = "one after the other", .is_required = true},
    {.name = "boundaries",
     .kind = wholes,
     .help = "the step at which each but the first begins",
     .is_required = true},
}};

constexpr std::array<KeyTable, 10> known_schedules = {{
    {"constant", "schedule 'constant'", "one rate", constant_rows, "value"},
    {"linear", "schedule 'linear'", "a straight line", linear_rows},
    {"polynomial", "schedule 'polynomial'", "a power of the part that is left", polynomial_rows},
    {"cosine_decay", "schedule 'cosine_decay'", "half a cosine", cosine_rows},
    {"warmup_cosine_decay", "schedule 'warmup_cosine_decay'", "a line up, half a cosine down",
     warmup_cosine_rows},
    {"exponential_decay", "schedule 'exponential_decay'", "a factor per transition",
     exponential_rows},
    {"piecewise_constant", "schedule 'piecewise_constant'", "a staircase", piecewise_rows},
    {"rsqrt", "schedule 'rsqrt'", "one over the root of the step", rsqrt_rows, "scale"},
    {"warmup_rsqrt", "schedule 'warmup_rsqrt'", "a line up, then one over the root",
     warmup_rsqrt_rows},
    {"join", "schedule 'join'", "several in turn", join_rows},
}};

}  // namespace

std::span<const KeyTable> optimizer_tables() { return known_optimizers; }
std::span<const KeyTable> schedule_tables() { return known_schedules; }

}  // namespace shard
