#include "model/layer_kinds.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/check.h"

namespace shard {
namespace {

constexpr unsigned any_op = key_name | key_of | key_dtype | key_out_sharding;
constexpr unsigned chain = key_name | key_of | key_out_sharding | key_layers;

constexpr unsigned any_block = any_op | key_params;
constexpr unsigned norm = any_block | key_use_bias | key_bias_init;
constexpr unsigned hidden = norm | key_features | key_kernel_init;

constexpr LayerKind own_kinds[] = {
    {"dense", 1, 1,
     any_op | key_features | key_kernel | key_bias | key_params | key_kernel_init | key_bias_init |
         key_use_bias,
     true, lower_dense, "x @ kernel + bias, features is the new last dim"},
    {"dot", 1, 2, any_op | key_features | key_kernel | key_params | key_kernel_init, true,
     lower_dot, "x @ parameter with features, or the product of two values"},
    {"constrain", 1, 1, key_name | key_of | key_spec, false, lower_constrain,
     "the value placed as the spec says"},
    {"reshard", 1, 1, key_name | key_of | key_spec, false, lower_reshard,
     "the value moved to where the spec says, in explicit mode"},
    {"auto_axes", 1, 64, chain | key_axes, false, lower_auto_axes,
     "layers inside which axes are of type auto"},
    {"explicit_axes", 1, 64, chain | key_axes, false, lower_explicit_axes,
     "layers inside which axes are of type explicit"},
    {"manual", 1, 64, key_name | key_of | key_layers | key_axes, true, lower_manual,
     "layers that every device runs on its part, with collectives by name"},
    {"let", 0, 0, key_let | key_dtype | key_out_sharding, false, lower_let,
     "NAME = an expression of values, numbers and ops"},
    {"param", 0, 0, key_param | key_name | key_dtype, false, lower_param,
     "a parameter of its own; the running value stays"},
    {"repeat", 1, 64, key_repeat | key_name | key_of | key_out_sharding, false, lower_repeat,
     "a block several times, each on the result of the one before"},
    {"cond", 1, 64, key_name | key_of | key_out_sharding, true, lower_cond,
     "one block or another, as a condition says while the program runs"},
    {"residual", 1, 1, chain, true, lower_residual, "x + the layers of x"},
    {"parallel", 1, 1, chain, true, lower_parallel, "the sum of each layer of x"},
    {"convert", 1, 1, any_op, true, lower_convert, "the value in another dtype"},
    {"transpose", 1, 1, any_op | key_dims, true, lower_transpose, "dims in another order"},
    {"broadcast", 1, 1, any_op | key_dims, true, lower_broadcast,
     "repeated to the sizes named, aligned at the right"},
    {"embedding", 1, 1, any_block | key_features, true, lower_embedding,
     "rows of a table, by integers"},
    {"attend", 1, 1, any_op, true, lower_attend, "the product with an embedding's table"},
    {"position_embedding", 1, 1, any_block, true, lower_position_embedding,
     "x + a row of a table per position"},
    {"rms_norm", 1, 1, any_block, true, lower_rms_norm, "x / sqrt(mean(x^2) + eps) * scale"},
    {"layer_norm", 1, 1, norm, true, lower_layer_norm,
     "(x - mean) / sqrt(variance + eps) * scale + bias"},
    {"softmax", 1, 1, any_op | key_dims, true, lower_softmax, "exp(x) over its sum"},
    {"log_softmax", 1, 1, any_op | key_dims, true, lower_log_softmax, "the logarithm of softmax"},
    {"attention", 1, 1, hidden, true, lower_attention,
     "each position's mean of the values, weighted by how its query meets their keys"},
    {"swiglu", 1, 1, hidden, true, lower_swiglu, "(silu(x @ gate) * (x @ up)) @ down"},
    {"geglu", 1, 1, hidden, true, lower_geglu, "(gelu(x @ gate) * (x @ up)) @ down"},
    {"mlp", 1, 1, hidden, true, lower_mlp, "activation(x @ up) @ down"},
    {"moe", 1, 1, hidden, true, lower_moe, "a few experts for each token, chosen by a router"},
    {"psum", 1, 1, any_op | key_axes, true, lower_collective,
     "sum over the devices along mesh axes"},
    {"pmean", 1, 1, any_op | key_axes, true, lower_collective,
     "mean over the devices along mesh axes"},
    {"pmax", 1, 1, any_op | key_axes, true, lower_collective,
     "largest over the devices along mesh axes"},
    {"pmin", 1, 1, any_op | key_axes, true, lower_collective,
     "smallest over the devices along mesh axes"},
    {"all_gather", 1, 1, any_op | key_axes | key_dims, true, lower_collective,
     "the parts of all devices one after the other"},
    {"psum_scatter", 1, 1, any_op | key_axes | key_dims, true, lower_collective,
     "the sum over the devices, a part for each"},
    {"all_to_all", 1, 1, any_op | key_axes, true, lower_collective,
     "a part of each device for each"},
    {"ragged_all_to_all", 6, 6, any_op | key_axes, true, lower_collective,
     "rows of the first input for each device, put into the second; offsets and sizes say which"},
    {"ppermute", 1, 1, any_op | key_axes, true, lower_collective, "the value of another device"},
    {"pbroadcast", 1, 1, any_op | key_axes, true, lower_collective,
     "the value of one device for all along mesh axes"},
    {"axis_index", 0, 0, key_name | key_axes, true, lower_collective,
     "the number of the device along a mesh axis"},
    {"reshape", 1, 1, any_op, true, lower_reshape, "the same elements in another shape"},
    {"slice", 1, 1, any_op | key_dims, true, lower_slice, "a range of a dim"},
    {"reverse", 1, 1, any_op | key_dims, true, lower_reverse, "dims from the end"},
    {"concatenate", 1, 64, any_op | key_dims, true, lower_concatenate, "one after the other"},
    {"split", 1, 1, any_op | key_dims, false, lower_split, "parts of a dim, each with a name"},
    {"pad", 1, 1, any_op | key_dims | key_number, true, lower_pad,
     "a value before, behind and between"},
    {"take", 2, 2, any_op | key_dims, true, lower_take,
     "slices of the first input at the places in the second"},
    {"take_along", 2, 2, any_op | key_dims, true, lower_take_along,
     "elements of the first input, one for each place"},
    {"one_hot", 1, 1, any_op, true, lower_one_hot, "1 where the class is, else 0"},
    {"where", 3, 3, any_op, true, lower_where,
     "the second input where the first holds, else the third"},
    {"cumsum", 1, 1, any_op | key_dims, true, lower_cumulative, "the sum so far"},
    {"cumprod", 1, 1, any_op | key_dims, true, lower_cumulative, "the product so far"},
    {"cummax", 1, 1, any_op | key_dims, true, lower_cumulative, "the largest so far"},
    {"cummin", 1, 1, any_op | key_dims, true, lower_cumulative, "the smallest so far"},
    {"cumlogsumexp", 1, 1, any_op | key_dims, true, lower_cumulative,
     "log of the sum of exp so far"},
    {"argmax", 1, 1, any_op | key_dims, true, lower_arg_extremum, "where the largest is"},
    {"argmin", 1, 1, any_op | key_dims, true, lower_arg_extremum, "where the smallest is"},
    {"sort", 1, 1, any_op | key_dims, true, lower_sort, "in rising order"},
    {"top_k", 1, 1, any_op, true, lower_top_k, "the largest of the last dim"},
    {"reduce_and", 1, 1, any_op | key_dims | key_keep_dims, true, lower_reduction,
     "whether all hold"},
    {"reduce_or", 1, 1, any_op | key_dims | key_keep_dims, true, lower_reduction,
     "whether any holds"},
    {"reduce_mean", 1, 1, any_op | key_dims | key_keep_dims, true, lower_reduce_mean,
     "means over dims"},
    {"logsumexp", 1, 1, any_op | key_dims | key_keep_dims, true, lower_logsumexp,
     "log of the sum of exp over dims"},
    {"angle", 1, 1, any_op, true, lower_angle, "the angle of a complex number, radians"},
    {"fft", 1, 1, any_op | key_dims, true, lower_fft, "the discrete Fourier transform along dims"},
    {"ifft", 1, 1, any_op | key_dims, true, lower_fft, "the inverse of fft"},
    {"rfft", 1, 1, any_op | key_dims, true, lower_fft,
     "fft of real numbers, of the last of the dims the first half"},
    {"irfft", 1, 1, any_op | key_dims, true, lower_fft, "the inverse of rfft, to real numbers"},
    {"custom_call", 1, 64, any_op, true, lower_custom_call,
     "code that is not ours, by the factors that its row declares"},
    {"einsum", 1, 64, any_op, true, lower_einsum, "a product of inputs by letters"},
    {"dropout", 1, 1, any_op | key_dims, true, lower_dropout,
     "zeros by chance in training, the others scaled so that the mean stays"},
    {"conv", 1, 1,
     any_op | key_features | key_kernel | key_bias | key_params | key_kernel_init | key_bias_init |
         key_use_bias,
     true, lower_conv, "convolution over the dims between the first and the last"},
    {"pool", 1, 1, any_op, true, lower_pool,
     "windows over the dims between the first and the last"},
};

constexpr std::string_view reductions[] = {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"};

// Words of the grammar whose engine comes later.
constexpr std::array<std::string_view, 5> later_kinds = {"group_norm", "batch_norm", "embed",
                                                         "dense_general", "rotary"};

bool is_reduction(std::string_view word) {
  return std::find(std::begin(reductions), std::end(reductions), word) != std::end(reductions);
}

/// Elementwise ops with attributes that no key of a layer stands for.
constexpr Op with_attributes[] = {Op::polygamma, Op::reduce_precision, Op::bitcast};

bool is_elementwise_layer(const OpDef& row) {
  const bool needs_more = std::find(std::begin(with_attributes), std::end(with_attributes),
                                    row.op) != std::end(with_attributes);
  return row.is_elementwise && row.derivative != nullptr && row.operand_count <= 3 && !needs_more;
}

/// The layer that an op of the table is, if it is one: elementwise ops and reductions.
std::optional<LayerKind> op_kind(const OpDef& row) {
  if (is_reduction(row.name)) {
    return LayerKind{row.name,        1,       1, any_op | key_dims | key_keep_dims, true,
                     lower_reduction, row.help};
  }
  if (!is_elementwise_layer(row)) return std::nullopt;
  // Two-operand ops take a number for the second, scale and shift always do.
  const bool takes_number = row.operand_count == 2 || row.op == Op::scale || row.op == Op::shift;
  return LayerKind{row.name,
                   1,
                   row.operand_count,
                   any_op | (takes_number ? key_number : 0U),
                   true,
                   lower_elementwise,
                   row.help};
}

std::vector<LayerKind> all_kinds() {
  std::vector<LayerKind> kinds(std::begin(own_kinds), std::end(own_kinds));
  for (const OpDef& row : op_table()) {
    const auto is_same = [&](const LayerKind& kind) { return kind.word == row.name; };
    if (std::any_of(kinds.begin(), kinds.end(), is_same)) continue;
    if (const auto kind = op_kind(row)) kinds.push_back(*kind);
  }
  return kinds;
}

struct WrittenKey {
  LayerKey key;
  std::string_view word;
  bool (*is_written)(const LayerConfig& layer);
};

constexpr std::array<WrittenKey, 21> key_rows = {{
    {key_name, "name", [](const LayerConfig& l) { return !l.name.empty(); }},
    {key_of, "of", [](const LayerConfig& l) { return !l.of.empty(); }},
    {key_dtype, "dtype", [](const LayerConfig& l) { return l.dtype.has_value(); }},
    {key_out_sharding, "out_sharding",
     [](const LayerConfig& l) { return l.out_sharding.has_value(); }},
    {key_features, "features", [](const LayerConfig& l) { return l.features.has_value(); }},
    {key_kernel, "kernel", [](const LayerConfig& l) { return l.kernel.has_value(); }},
    {key_bias, "bias", [](const LayerConfig& l) { return l.bias.has_value(); }},
    {key_params, "params", [](const LayerConfig& l) { return !l.params.empty(); }},
    {key_kernel_init, "kernel_init",
     [](const LayerConfig& l) { return l.kernel_init.has_value(); }},
    {key_bias_init, "bias_init", [](const LayerConfig& l) { return l.bias_init.has_value(); }},
    {key_use_bias, "use_bias", [](const LayerConfig& l) { return l.use_bias.has_value(); }},
    {key_spec, "spec", [](const LayerConfig& l) { return l.spec.has_value(); }},
    {key_layers, "layers", [](const LayerConfig& l) { return !l.layers.empty(); }},
    {key_dims, "dims", [](const LayerConfig& l) { return !l.dims.empty(); }},
    {key_keep_dims, "keep_dims", [](const LayerConfig& l) { return l.keep_dims; }},
    {key_number, "value", [](const LayerConfig& l) { return l.number.has_value(); }},
    {key_arguments, "arguments", [](const LayerConfig& l) { return !l.arguments.empty(); }},
    {key_let, "expression", [](const LayerConfig& l) { return l.let.has_value(); }},
    {key_axes, "axes", [](const LayerConfig& l) { return !l.mesh_axes.empty(); }},
    {key_param, "axes", [](const LayerConfig& l) { return l.param.has_value(); }},
    {key_repeat, "block", [](const LayerConfig& l) { return l.repeat.has_value(); }},
}};

}  // namespace

std::span<const LayerKind> layer_kinds() {
  static const std::vector<LayerKind> kinds = all_kinds();
  return kinds;
}

const LayerKind* layer_kind(std::string_view word) {
  static const auto by_word = [] {
    std::unordered_map<std::string_view, const LayerKind*> map;
    for (const LayerKind& kind : layer_kinds()) map.emplace(kind.word, &kind);
    return map;
  }();
  const auto found = by_word.find(word);
  return found == by_word.end() ? nullptr : found->second;
}

bool is_later_layer(std::string_view word) {
  return std::find(later_kinds.begin(), later_kinds.end(), word) != later_kinds.end();
}

unsigned keys_of(const LayerConfig& layer) {
  unsigned keys = 0;
  for (const WrittenKey& row : key_rows) {
    if (row.is_written(layer)) keys |= row.key;
  }
  return keys;
}

std::string_view key_word(LayerKey key) {
  for (const WrittenKey& row : key_rows) {
    if (row.key == key) return row.word;
  }
  throw InternalError("every layer key has a word");
}

}  // namespace shard
