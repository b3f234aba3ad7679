// The keys of the layers that are known here; other words are ops or blocks of the file.
#include <array>
#include <vector>

#include "config/key_rows.h"

namespace shard {
namespace {

using enum ValueKind;

constexpr std::array<KeyRow, 2> place_in_chain = {{
    {.name = "name", .kind = identifier, .help = "makes the result a value of this name"},
    {.name = "of", .kind = names, .help = "the inputs; default: the value before"},
}};
constexpr std::array<KeyRow, 1> result_dtype = {{
    {.name = "dtype", .kind = dtype, .help = "of the arithmetic and the result"},
}};
constexpr std::array<KeyRow, 1> result_placement = {{
    {.name = "out_sharding", .kind = spec, .help = "placement of the result"},
}};
constexpr auto call_rows = joined_rows(place_in_chain, result_placement);

constexpr std::array<KeyRow, 1> required_features = {{
    {.name = "features",
     .kind = count,
     .help = "the new last dim: its label and size",
     .is_required = true},
}};
constexpr std::array<KeyRow, 1> optional_features = {{
    {.name = "features", .kind = count, .help = "the new last dim; without it `of` names two"},
}};
constexpr std::array<KeyRow, 4> kernel_rows = {{
    {.name = "kernel", .kind = spec, .help = "placement of the kernel; default: its labels"},
    {.name = "params", .kind = specs, .help = "placements by parameter name"},
    {.name = "constrain",
     .kind = specs,
     .help = "placements by parameter name where they are used: {kernel: P()} gathers it"},
    {.name = "kernel_init", .kind = initializer, .help = "first values of the kernel"},
}};
constexpr std::array<KeyRow, 3> bias_rows = {{
    {.name = "bias", .kind = spec, .help = "placement of the bias; default: its label"},
    {.name = "bias_init", .kind = initializer, .help = "first values of the bias"},
    {.name = "use_bias", .kind = flag, .help = "add a bias", .default_value = "true"},
}};
constexpr auto dense_rows =
    joined_rows(required_features, every_layer_rows, kernel_rows, bias_rows);
constexpr auto dot_rows = joined_rows(optional_features, every_layer_rows, kernel_rows);

constexpr std::array<KeyRow, 1> placement = {{
    {.name = "spec", .kind = spec, .help = "the placement", .is_required = true},
}};
constexpr auto placement_rows = joined_rows(placement, place_in_chain);

constexpr std::array<KeyRow, 1> assignment = {{
    {.name = "expression",
     .kind = expression,
     .help = "NAME = EXPRESSION of values, numbers, + - * / @ and op(args, key=value)",
     .is_required = true},
}};
constexpr auto let_rows = joined_rows(assignment, result_dtype, result_placement);

constexpr std::array<KeyRow, 4> param_rows = {{
    {.name = "name", .kind = identifier, .help = "the parameter's name", .is_required = true},
    {.name = "axes",
     .kind = dims,
     .help = "its dims: labels, label=size, label@mesh_axis",
     .is_required = true},
    {.name = "init", .kind = initializer, .help = "first values", .default_value = "lecun_normal"},
    {.name = "dtype", .kind = dtype, .help = "of the parameter"},
}};

constexpr std::array<std::string_view, 4> remat_policies = {"none", "full", "dots",
                                                            "dots_no_batch"};
constexpr std::array<KeyRow, 9> repeat_own_rows = {{
    {.name = "block", .kind = identifier, .help = "the block of the file that is repeated"},
    {.name = "pattern", .kind = names, .help = "blocks in turn, instead of `block`"},
    {.name = "times", .kind = count, .help = "how often", .is_required = true},
    {.name = "scan",
     .kind = flag,
     .help = "one loop over stacked parameters",
     .default_value = "false"},
    {.name = "axis",
     .kind = axis,
     .help = "logical axis of the stacked dim; null: not split",
     .default_value = "null"},
    {.name = "remat",
     .kind = word,
     .help = "what the backward pass computes again instead of keeping it: full: all inside the "
             "block; dots: all but products; dots_no_batch: all but products without batch dims",
     .default_value = "none",
     .choices = remat_policies},
    {.name = "carries",
     .kind = names,
     .help = "inputs of the block that the next iteration has as the block leaves them, beside the "
             "first one"},
    {.name = "stacks",
     .kind = names,
     .help = "values of the block that are kept of every iteration, along a new first dim"},
    {.name = "into", .kind = names, .help = "names of the last carries, then of the stacks"},
}};
constexpr auto repeat_rows = joined_rows(repeat_own_rows, place_in_chain);

constexpr std::array<KeyRow, 3> cond_own_rows = {{
    {.name = "when",
     .kind = identifier,
     .help = "the value that decides: one truth value",
     .is_required = true},
    {.name = "then", .kind = identifier, .help = "the block where it holds", .is_required = true},
    {.name = "else", .kind = identifier, .help = "the block where it does not; default: the input"},
}};
constexpr auto cond_rows = joined_rows(cond_own_rows, call_rows);

constexpr std::array<KeyRow, 1> chain = {{
    {.name = "layers", .kind = layers, .help = "the layers inside", .is_required = true},
}};
constexpr auto chain_rows = joined_rows(chain, place_in_chain);

constexpr std::array<KeyRow, 3> region_rows = {{
    {.name = "axes", .kind = names, .help = "mesh axes; default: all of the mesh"},
    {.name = "out_sharding",
     .kind = spec,
     .help = "placement of the result outside",
     .is_required = true},
    {.name = "layers", .kind = layers, .help = "the layers inside", .is_required = true},
}};
constexpr auto auto_axes_rows = joined_rows(region_rows, place_in_chain);

constexpr std::array<KeyRow, 4> typed_region_rows = {{
    {.name = "axes", .kind = names, .help = "mesh axes; default: all of the mesh"},
    {.name = "in_sharding",
     .kind = spec_or_specs,
     .help = "how the inputs are split inside, one spec or one for each; default: whole"},
    {.name = "out_sharding", .kind = spec, .help = "placement of the result outside"},
    {.name = "layers", .kind = layers, .help = "the layers inside", .is_required = true},
}};
constexpr auto explicit_axes_rows = joined_rows(typed_region_rows, place_in_chain);

constexpr std::array<KeyRow, 5> manual_own_rows = {{
    {.name = "axes", .kind = names, .help = "mesh axes; default: all of the mesh"},
    {.name = "in_specs",
     .kind = spec_or_specs,
     .help = "how the inputs are cut, one spec or one for each",
     .is_required = true},
    {.name = "out_specs",
     .kind = spec_or_specs,
     .help = "how the results are put together, one spec or one for each",
     .is_required = true},
    {.name = "into",
     .kind = names,
     .help = "the values inside that are results; default: the last one"},
    {.name = "layers",
     .kind = layers,
     .help = "what each device does with its part",
     .is_required = true},
}};
constexpr auto manual_rows = joined_rows(manual_own_rows, place_in_chain);

constexpr std::array<KeyRow, 1> order = {{
    {.name = "dims", .kind = dims, .help = "the dims in their new order", .is_required = true},
}};
constexpr auto transpose_rows = joined_rows(order, every_layer_rows);

constexpr std::array<KeyRow, 1> wider = {{
    {.name = "dims", .kind = dims, .help = "labels of all dims", .is_required = true},
}};
constexpr auto broadcast_rows = joined_rows(wider, every_layer_rows);

constexpr std::array<KeyRow, 1> required_dtype = {{
    {.name = "dtype", .kind = dtype, .help = "the new element type", .is_required = true},
}};
constexpr auto convert_rows = joined_rows(required_dtype, place_in_chain, result_placement);

constexpr std::array<KeyRow, 2> reduced = {{
    {.name = "dims", .kind = dims, .help = "the dims to reduce; default: all"},
    {.name = "keep_dims", .kind = flag, .help = "keep them with size 1", .default_value = "false"},
}};
constexpr auto reduction_rows = joined_rows(reduced, every_layer_rows);

constexpr std::array<KeyRow, 3> op_arguments = {{
    {.name = "value", .kind = number, .help = "the op's number"},
    {.name = "dims", .kind = dims, .help = "the op's dims"},
    {.name = "keep_dims", .kind = flag, .help = "keep dims with size 1"},
}};
constexpr auto generic_rows = joined_rows(every_layer_rows, op_arguments);

constexpr std::array<KeyTable, 20> layers_known = {{
    {"dense", "layer 'dense'", "x @ kernel + bias", dense_rows, "features"},
    {"dot", "layer 'dot'", "x @ kernel, or the product of two values", dot_rows, "features"},
    {"constrain", "layer 'constrain'", "asks for a placement", placement_rows, "spec"},
    {"reshard", "layer 'reshard'", "moves to a placement", placement_rows, "spec"},
    {"let", "layer 'let'", "an expression", let_rows, "expression"},
    {"param", "layer 'param'", "a parameter of its own", param_rows},
    {"repeat", "layer 'repeat'", "a block several times", repeat_rows},
    {"cond", "layer 'cond'", "one block or another", cond_rows},
    {"residual", "layer 'residual'", "x + chain(x)", chain_rows, "layers"},
    {"parallel", "layer 'parallel'", "the sum of layers on the same input", chain_rows, "layers"},
    {"transpose", "layer 'transpose'", "dims in another order", transpose_rows, "dims"},
    {"broadcast", "layer 'broadcast'", "repeated to more dims", broadcast_rows, "dims"},
    {"convert", "layer 'convert'", "another element type", convert_rows, "dtype"},
    {"reduce_sum", "layer 'reduce_sum'", "sums over dims", reduction_rows, "dims"},
    {"reduce_max", "layer 'reduce_max'", "maxima over dims", reduction_rows, "dims"},
    {"reduce_min", "layer 'reduce_min'", "minima over dims", reduction_rows, "dims"},
    {"reduce_prod", "layer 'reduce_prod'", "products over dims", reduction_rows, "dims"},
    {"auto_axes", "layer 'auto_axes'", "layers whose axes are left to propagation", auto_axes_rows},
    {"explicit_axes", "layer 'explicit_axes'", "layers whose axes are checked by types",
     explicit_axes_rows},
    {"manual", "layer 'manual'", "a program per device, with collectives by name", manual_rows},
}};

}  // namespace

std::span<const KeyTable> layer_tables() {
  static const std::vector<KeyTable> all = [] {
    std::vector<KeyTable> tables(layers_known.begin(), layers_known.end());
    for (const auto& more : {named_block_tables(), op_layer_tables(), collective_tables()}) {
      tables.insert(tables.end(), more.begin(), more.end());
    }
    return tables;
  }();
  return all;
}

const KeyTable& generic_layer_table() {
  static constexpr KeyTable table = {.name = "op",
                                     .what = "a layer",
                                     .help = "an op or a block of the file",
                                     .rows = generic_rows,
                                     .main_key = "value",
                                     .is_open = true};
  return table;
}

const KeyTable& block_call_table() {
  static constexpr KeyTable table = {.name = "block_call",
                                     .what = "a block of this file",
                                     .help = "a block of the file with its arguments",
                                     .rows = call_rows,
                                     .is_open = true};
  return table;
}

}  // namespace shard
