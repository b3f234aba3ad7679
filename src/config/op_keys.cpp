// The keys of the layers that are an op (or a few) with arguments of its own.
#include <array>

#include "config/key_rows.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<std::string_view, 4> pool_kinds = {"max", "mean", "min", "sum"};

constexpr std::array<KeyRow, 1> new_shape = {{
    {.name = "shape",
     .kind = shape,
     .help = "all dims: sizes by name, numbers, label=size",
     .is_required = true},
}};
constexpr auto reshape_rows = joined_rows(new_shape, every_layer_rows);

constexpr std::array<KeyRow, 4> slice_own = {{
    {.name = "dim", .kind = dims, .help = "the dim to cut", .is_required = true},
    {.name = "start", .kind = integer, .help = "the first position", .default_value = "0"},
    {.name = "limit", .kind = integer, .help = "the position behind the last; default: the size"},
    {.name = "stride", .kind = integer, .help = "the step", .default_value = "1"},
}};
constexpr auto slice_rows = joined_rows(slice_own, every_layer_rows);

constexpr std::array<KeyRow, 1> some_dims = {{
    {.name = "dims", .kind = dims, .help = "the dims to reverse", .is_required = true},
}};
constexpr auto reverse_rows = joined_rows(some_dims, every_layer_rows);

constexpr std::array<KeyRow, 1> joined_dim = {{
    {.name = "dim", .kind = dims, .help = "the dim along which", .is_required = true},
}};
constexpr auto concatenate_rows = joined_rows(joined_dim, every_layer_rows);

constexpr std::array<KeyRow, 3> split_own = {{
    {.name = "dim", .kind = dims, .help = "the dim to cut", .is_required = true},
    {.name = "into", .kind = names, .help = "names of the parts", .is_required = true},
    {.name = "sizes", .kind = integers, .help = "sizes of the parts; default: equal"},
}};
constexpr auto split_rows = joined_rows(split_own, every_layer_rows);

constexpr std::array<KeyRow, 5> pad_own = {{
    {.name = "dim", .kind = dims, .help = "the dim to pad", .is_required = true},
    {.name = "low",
     .kind = integer,
     .help = "elements before; negative: cut off",
     .default_value = "0"},
    {.name = "high",
     .kind = integer,
     .help = "elements behind; negative: cut off",
     .default_value = "0"},
    {.name = "interior", .kind = integer, .help = "elements between two", .default_value = "0"},
    {.name = "value", .kind = number, .help = "what is put there", .default_value = "0"},
}};
constexpr auto pad_rows = joined_rows(pad_own, every_layer_rows);

constexpr std::array<KeyRow, 1> one_dim = {{
    {.name = "dim", .kind = dims, .help = "the dim along which; default: the last"},
}};
constexpr std::array<KeyRow, 1> from_the_end = {{
    {.name = "reverse", .kind = flag, .help = "from the end", .default_value = "false"},
}};
constexpr auto cumulative_rows = joined_rows(one_dim, from_the_end, every_layer_rows);
constexpr auto extremum_rows = joined_rows(one_dim, every_layer_rows);

constexpr std::array<KeyRow, 1> ordered_positions = {{
    {.name = "positions", .kind = identifier, .help = "makes the places they came from a value"},
}};
constexpr auto sort_rows = joined_rows(one_dim, ordered_positions, every_layer_rows);

constexpr std::array<KeyRow, 1> how_many = {{
    {.name = "k", .kind = count, .help = "how many of the last dim", .is_required = true},
}};
constexpr auto top_k_rows = joined_rows(how_many, ordered_positions, every_layer_rows);

constexpr std::array<KeyRow, 2> reduced_dims = {{
    {.name = "dims", .kind = dims, .help = "the dims to reduce; default: all"},
    {.name = "keep_dims", .kind = flag, .help = "keep them with size 1", .default_value = "false"},
}};
constexpr auto reduce_rows = joined_rows(reduced_dims, every_layer_rows);

constexpr std::array<KeyRow, 1> taken_dim = {{
    {.name = "dim", .kind = dims, .help = "the dim that is looked up", .default_value = "0"},
}};
constexpr auto take_rows = joined_rows(taken_dim, every_layer_rows);

constexpr std::array<KeyRow, 1> class_count = {{
    {.name = "classes", .kind = count, .help = "the new last dim", .is_required = true},
}};
constexpr auto one_hot_rows = joined_rows(class_count, every_layer_rows);

constexpr std::array<KeyRow, 1> transformed_dims = {{
    {.name = "dims", .kind = dims, .help = "the dims along which; default: the last"},
}};
constexpr auto fft_rows = joined_rows(transformed_dims, every_layer_rows);

constexpr std::array<KeyRow, 1> real_length = {{
    {.name = "length",
     .kind = count,
     .help = "the new size of the last of the dims; default: the even one"},
}};
constexpr auto irfft_rows = joined_rows(transformed_dims, real_length, every_layer_rows);

constexpr std::array<KeyRow, 12> custom_own = {{
    {.name = "call", .kind = text, .help = "the name of the code", .is_required = true},
    {.name = "factors",
     .kind = text,
     .help = "a factor for each dim: \"b q d, b k d -> b q k\"",
     .is_required = true},
    {.name = "sum", .kind = text, .help = "factors whose parts are added"},
    {.name = "max", .kind = text, .help = "factors of whose parts the largest is taken"},
    {.name = "min", .kind = text, .help = "factors of whose parts the smallest is taken"},
    {.name = "prod", .kind = text, .help = "factors whose parts are multiplied"},
    {.name = "whole", .kind = text, .help = "factors that must not be split"},
    {.name = "neighbours", .kind = text, .help = "factors whose parts need each other"},
    {.name = "sizes",
     .kind = shape,
     .help = "of factors that only results have, or that share a dim: \"b (h d) -> b h d\""},
    {.name = "dtypes", .kind = text, .help = "of the results; default: that of the first input"},
    {.name = "flops",
     .kind = number,
     .help = "for each point of the factors' space",
     .default_value = "1"},
    {.name = "as", .kind = text, .help = "the op that computes the same, so that it can be run"},
}};
constexpr std::array<KeyRow, 1> result_names = {{
    {.name = "into", .kind = names, .help = "names of the results, where there are several"},
}};
constexpr auto custom_rows = joined_rows(custom_own, result_names, every_layer_rows);

constexpr std::array<KeyRow, 1> equation = {{
    {.name = "equation",
     .kind = text,
     .help = "letters for the dims, as numpy has them: \"bld,df->blf\", \"...d,df->...f\"",
     .is_required = true},
}};
constexpr auto einsum_rows = joined_rows(equation, every_layer_rows);

constexpr std::array<KeyRow, 2> dropout_own = {{
    {.name = "rate", .kind = number, .help = "the chance to be dropped", .is_required = true},
    {.name = "broadcast_dims",
     .kind = dims,
     .help = "dims along which all elements are dropped or kept together"},
}};
constexpr auto dropout_rows = joined_rows(dropout_own, every_layer_rows);

constexpr std::array<KeyRow, 3> window_own = {{
    {.name = "window",
     .kind = integers,
     .help = "sizes along the dims between the first and the last",
     .is_required = true},
    {.name = "strides", .kind = integers, .help = "steps of the window", .default_value = "1"},
    {.name = "padding",
     .kind = padding,
     .help = "same: as many windows as elements (over the stride); valid: whole windows; or pairs",
     .default_value = "valid"},
}};
constexpr std::array<KeyRow, 1> pool_own = {{
    {.name = "kind",
     .kind = word,
     .help = "of what is in a window",
     .default_value = "max",
     .choices = pool_kinds},
}};
constexpr auto pool_rows = joined_rows(pool_own, window_own, every_layer_rows);

constexpr std::array<KeyRow, 9> conv_own = {{
    {.name = "features", .kind = count, .help = "the new last dim", .is_required = true},
    {.name = "dilation", .kind = integers, .help = "steps inside the window", .default_value = "1"},
    {.name = "groups",
     .kind = count,
     .help = "groups of features that do not mix",
     .default_value = "1"},
    {.name = "kernel", .kind = spec, .help = "placement of the kernel; default: its labels"},
    {.name = "bias", .kind = spec, .help = "placement of the bias; default: its label"},
    {.name = "params", .kind = specs, .help = "placements by parameter name"},
    {.name = "kernel_init", .kind = initializer, .help = "first values of the kernel"},
    {.name = "bias_init", .kind = initializer, .help = "first values of the bias"},
    {.name = "use_bias", .kind = flag, .help = "add a bias", .default_value = "true"},
}};
constexpr auto conv_rows = joined_rows(conv_own, window_own, every_layer_rows);

constexpr std::array<KeyTable, 33> op_layers = {{
    {"reshape", "layer 'reshape'", "the same elements in another shape", reshape_rows, "shape"},
    {"slice", "layer 'slice'", "a range of a dim", slice_rows},
    {"reverse", "layer 'reverse'", "dims from the end", reverse_rows, "dims"},
    {"concatenate", "layer 'concatenate'", "one after the other", concatenate_rows, "dim"},
    {"split", "layer 'split'", "parts of a dim, each with a name", split_rows},
    {"pad", "layer 'pad'", "a value before, behind and between", pad_rows},
    {"cumsum", "layer 'cumsum'", "the sum so far", cumulative_rows, "dim"},
    {"cumprod", "layer 'cumprod'", "the product so far", cumulative_rows, "dim"},
    {"cummax", "layer 'cummax'", "the largest so far", cumulative_rows, "dim"},
    {"cummin", "layer 'cummin'", "the smallest so far", cumulative_rows, "dim"},
    {"cumlogsumexp", "layer 'cumlogsumexp'", "log of the sum of exp so far", cumulative_rows,
     "dim"},
    {"argmax", "layer 'argmax'", "where the largest is", extremum_rows, "dim"},
    {"argmin", "layer 'argmin'", "where the smallest is", extremum_rows, "dim"},
    {"sort", "layer 'sort'", "in rising order", sort_rows, "dim"},
    {"top_k", "layer 'top_k'", "the largest of the last dim", top_k_rows, "k"},
    {"reduce_and", "layer 'reduce_and'", "whether all hold", reduce_rows, "dims"},
    {"reduce_or", "layer 'reduce_or'", "whether any holds", reduce_rows, "dims"},
    {"reduce_mean", "layer 'reduce_mean'", "means over dims", reduce_rows, "dims"},
    {"logsumexp", "layer 'logsumexp'", "log of the sum of exp over dims", reduce_rows, "dims"},
    {"take", "layer 'take'", "slices of the first input at the places in the second", take_rows,
     "dim"},
    {"take_along", "layer 'take_along'", "elements of the first input, one for each place",
     take_rows, "dim"},
    {"one_hot", "layer 'one_hot'", "1 where the class is, else 0", one_hot_rows, "classes"},
    {"where", "layer 'where'", "the second input where the first holds, else the third",
     every_layer_rows},
    {"custom_call", "layer 'custom_call'", "code that is not ours, by its factors", custom_rows},
    {"angle", "layer 'angle'", "the angle of a complex number", every_layer_rows},
    {"fft", "layer 'fft'", "the discrete Fourier transform", fft_rows, "dims"},
    {"ifft", "layer 'ifft'", "the inverse of fft", fft_rows, "dims"},
    {"rfft", "layer 'rfft'", "fft of real numbers, the first half", fft_rows, "dims"},
    {"irfft", "layer 'irfft'", "the inverse of rfft", irfft_rows, "dims"},
    {"einsum", "layer 'einsum'", "a product of inputs by letters", einsum_rows, "equation"},
    {"conv", "layer 'conv'", "convolution over the dims between the first and the last", conv_rows},
    {"pool", "layer 'pool'", "windows over the dims between the first and the last", pool_rows},
    {"dropout", "layer 'dropout'", "zeros by chance in training, the others scaled", dropout_rows,
     "rate"},
}};

constexpr std::array<KeyRow, 1> over_axes = {{
    {.name = "axes",
     .kind = names,
     .help = "mesh axes of the region, major first",
     .is_required = true},
}};
constexpr auto sum_rows = joined_rows(over_axes, every_layer_rows);

constexpr std::array<KeyRow, 1> part_dim = {{
    {.name = "dim", .kind = dims, .help = "the dim of the parts", .default_value = "0"},
}};
constexpr auto part_rows = joined_rows(over_axes, part_dim, every_layer_rows);

constexpr std::array<KeyRow, 2> exchanged_dims = {{
    {.name = "split",
     .kind = text,
     .help = "the dim that is cut for the others",
     .is_required = true},
    {.name = "concat",
     .kind = text,
     .help = "the dim along which their parts stand",
     .is_required = true},
}};
constexpr auto exchange_rows = joined_rows(over_axes, exchanged_dims, every_layer_rows);

constexpr std::array<KeyRow, 2> senders = {{
    {.name = "shift", .kind = integer, .help = "how far each sends, round the ring"},
    {.name = "pairs", .kind = pairs, .help = "who sends to whom; who gets nothing has zeros"},
}};
constexpr auto permute_rows = joined_rows(over_axes, senders, every_layer_rows);

constexpr std::array<KeyRow, 1> one_sender = {{
    {.name = "source",
     .kind = integer,
     .help = "the number along the axes of the device whose value all get",
     .is_required = true},
}};
constexpr auto sender_rows = joined_rows(over_axes, one_sender, every_layer_rows);

constexpr std::array<KeyRow, 1> own_name = {{
    {.name = "name", .kind = identifier, .help = "makes the result a value of this name"},
}};
constexpr auto index_rows = joined_rows(over_axes, own_name);

constexpr std::array<KeyTable, 11> collectives = {{
    {"psum", "layer 'psum'", "sum over devices", sum_rows, "axes"},
    {"pmean", "layer 'pmean'", "mean over devices", sum_rows, "axes"},
    {"pmax", "layer 'pmax'", "largest over devices", sum_rows, "axes"},
    {"pmin", "layer 'pmin'", "smallest over devices", sum_rows, "axes"},
    {"all_gather", "layer 'all_gather'", "the parts of all devices", part_rows, "axes"},
    {"psum_scatter", "layer 'psum_scatter'", "a part of the sum over devices", part_rows, "axes"},
    {"all_to_all", "layer 'all_to_all'", "a part of each device for each", exchange_rows},
    {"ragged_all_to_all", "layer 'ragged_all_to_all'", "rows for each device, as the data say",
     sum_rows},
    {"ppermute", "layer 'ppermute'", "the value of another device", permute_rows},
    {"pbroadcast", "layer 'pbroadcast'", "the value of one device", sender_rows},
    {"axis_index", "layer 'axis_index'", "the number of the device", index_rows, "axes"},
}};

}  // namespace

std::span<const KeyTable> op_layer_tables() { return op_layers; }

std::span<const KeyTable> collective_tables() { return collectives; }

}  // namespace shard
