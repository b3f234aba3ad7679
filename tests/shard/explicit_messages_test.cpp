// What each refusal of explicit mode says, whole.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <span>

#include "recorded_types.h"
#include "shard/explicit_gradient.h"

using namespace shard;
using namespace shard::tests;

namespace {

struct Said {
  const char* id;
  const char* question;  ///< as the recordings write an op
  const char* message;
};

constexpr Said
    all_said[] =
        {
            {"illegal-result",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.outer", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}, {"dtype": "float32", "shape": [4], "spec": ["x"]}]})",
             R"(mul operation with inputs: f32[8@x,1], f32[1,4@x] produces an illegally sharded result: f32[8@x,4@x])"},
            {"indivisible",
             R"({"mesh": [["x", 2], ["y", 3]], "op": "jit", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "params": {"body": {"args": ["c"], "results": ["d"], "steps": [{"out": "d", "op": "lax.neg", "in": ["c"]}]}}, "out_sharding": {"spec": ["y"]}})",
             R"(jit's P('y',) cuts dim 0 into 3 parts, which should evenly divide the shape of f32[8@x,4])"},
            {"spec-rank",
             R"({"mesh": [["x", 2], ["y", 3]], "op": "jit", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "params": {"body": {"args": ["c"], "results": ["d"], "steps": [{"out": "d", "op": "lax.neg", "in": ["c"]}]}}, "out_sharding": {"spec": ["x", null, "y"]}})",
             R"(the result f32[8@x,4] is incompatible with its sharding annotation: P('x', None, 'y'))"},
            {"unknown-mesh-axis",
             R"({"mesh": [["x", 2]], "op": "auto_axes", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "params": {"body": {"args": ["c"], "results": ["d"], "steps": [{"out": "d", "op": "lax.neg", "in": ["c"]}]}, "axes": "q"}, "out_sharding": {"spec": ["x"]}})",
             R"('q' is no axis of the mesh x 2)"},
            {"index-type",
             R"({"mesh": [["x", 4]], "op": "lax.ragged_all_to_all", "inputs": [{"dtype": "float32", "shape": [16, 8], "spec": [null, null]}, {"dtype": "float32", "shape": [8, 8], "spec": [null, null]}, {"dtype": "int32", "shape": [4], "spec": [null]}, {"dtype": "float32", "shape": [4], "spec": [null]}, {"dtype": "int32", "shape": [4], "spec": [null]}, {"dtype": "int32", "shape": [4], "spec": [null]}], "params": {"axis_name": "x"}})",
             R"(ragged_all_to_all send_sizes must be integer type, got float32)"},
            {"bad-dim",
             R"({"mesh": [["x", 4]], "op": "lax.ragged_all_to_all", "inputs": [{"dtype": "float32", "shape": [16, 8], "spec": [null, null]}, {"dtype": "float32", "shape": [8, 8], "spec": [null, null]}, {"dtype": "int32", "shape": [4], "spec": [null]}, {"dtype": "int32", "shape": [4], "spec": [null]}, {"dtype": "int32", "shape": [4, 1], "spec": [null, null]}, {"dtype": "int32", "shape": [4], "spec": [null]}], "params": {"axis_name": "x"}})",
             R"(each list of ragged_all_to_all must be rank 1 with positive dimension size, but got i32[4,1])"},
            {"indivisible",
             R"({"mesh": [["x", 8]], "op": "jnp.ones", "inputs": [], "params": {"shape": [2, 3]}, "out_sharding": {"spec": ["x"]}})",
             R"(sharding spec P('x', None) cuts dim 0 into 8 parts, but does not evenly divide the dimension size 2)"},
            {"spec-rank",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.zeros", "inputs": [], "params": {"shape": [8]}, "out_sharding": {"spec": ["x", "y"]}})",
             R"(the spec is longer than the rank: (1, P('x', 'y')))"},
            {"duplicate-mesh-axis",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.zeros", "inputs": [], "params": {"shape": [8, 4]}, "out_sharding": {"spec": ["x", "x"]}})",
             R"(P('x', 'x') has duplicate entries for `x`)"},
            {"unknown-mesh-axis",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.arange", "inputs": [], "params": {"start": 8}, "out_sharding": {"spec": ["q"]}})",
             R"(Resource axis: q of P('q',) is not found in mesh: x 2 x y 2)"},
            {"split-dim",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.linalg.det", "inputs": [{"dtype": "float32", "shape": [4, 8, 8], "spec": ["y", "x", null]}]})",
             R"(Input 0 to lu must be unsharded on non-batch dimensions, but got P('y', 'x', None).)"},
            {"unconstrained-without-auto",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "reshard", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": [null, null]}], "out_sharding": {"spec": ["*", "x"]}})",
             R"(a spec cannot contain `P.UNCONSTRAINED` when no mesh axis_types are `Auto`)"},
            {"axis-not-explicit",
             R"({"mesh": [["x", 2], ["y", 2, "auto"]], "op": "jnp.zeros", "inputs": [], "params": {"shape": [8]}, "out_sharding": {"spec": ["y"]}})",
             R"(PartitionSpec passed to jnp.zeros cannot contain axis names that are of type Auto or Manual. Got P('y',))"},
            {"unreduced-overlap",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "reshard", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "out_sharding": {"spec": ["x"], "unreduced": ["x"]}})",
             R"(partitions cannot overlap with unreduced axes: P('x', unreduced={'x'}))"},
            {"mesh-differs",
             R"({"mesh": [["x", 4], ["y", 2]], "op": "lax.add", "inputs": [{"dtype": "float32", "mesh": [["x", 2], ["y", 2]], "shape": [8], "spec": ["x"]}, {"dtype": "float32", "shape": [8], "spec": ["x"]}]})",
             R"(For primitive lax.add, context mesh x 4 x y 2 should match the aval mesh x 2 x y 2: a value keeps the axis types it was typed with)"},
            {"no-unreduced-rule",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.neg", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"], "unreduced": ["y"]}]})", R"(unreduced rule for neg is not implemented)"},
            {"no-unreduced-rule",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.rev", "inputs": [{"dtype": "float32", "reduced": ["y"], "shape": [8, 4], "spec": ["x", null]}], "params": {"dimensions": [0]}})",
             R"(unreduced/reduced rule for rev is not implemented)"},
            {"no-unreduced-rule",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.cumsum", "inputs": [{"dtype": "float32", "reduced": ["y"], "shape": [8, 4], "spec": ["x", null]}], "params": {"axis": 1}})",
             R"(Using pspec[...] is dangerous when PartitionSpec has non-empty unreduced/reduced set)"},
            {"incompatible-shardings",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.add", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}, {"dtype": "float32", "shape": [8], "spec": ["y"]}], "eager": true})",
             R"(add got incompatible shardings for broadcasting: ('x',), ('y',))"},
            {"element-types",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "scan", "inputs": [{"dtype": "bfloat16", "shape": [8], "spec": ["x"]}, {"dtype": "float32", "shape": [4, 8], "spec": [null, "x"]}], "params": {"body": {"args": ["c", "a"], "results": ["d"], "steps": [{"in": ["c", "a"], "op": "lax.add", "out": "d"}]}}})",
             R"(lax.add requires arguments to have the same dtypes, got bfloat16, float32)"},
            {"unreduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.add", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"], "unreduced": ["y"]}, 2.0]})",
             R"(lhs is unreduced while rhs is not)"},
            {"unreduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.add", "inputs": [{"dtype": "float32", "shape": [8], "spec": [null], "unreduced": ["x"]}, {"dtype": "float32", "shape": [8], "spec": [null], "unreduced": ["y"]}]})",
             R"(must be unreduced along the same mesh axes)"},
            {"unreduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.mul", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"], "unreduced": ["y"]}, {"dtype": "float32", "shape": [8], "spec": ["x"], "unreduced": ["y"]}]})",
             R"(cannot be unreduced since mul is bilinear)"},
            {"unreduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.multiply", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"], "unreduced": ["y"]}, 2.0]})",
             R"(RHS should be reduced along the same axes that the other side is unreduced along)"},
            {"reduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.add", "inputs": [{"dtype": "float32", "reduced": ["x"], "shape": [8], "spec": [null]}, {"dtype": "float32", "reduced": ["y"], "shape": [8], "spec": [null]}]})",
             R"(should be reduced across the same mesh axes)"},
            {"reduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.add", "inputs": [{"dtype": "float32", "reduced": ["y"], "shape": [8], "spec": ["x"]}, {"dtype": "float32", "shape": [8], "spec": ["x"]}]})",
             R"(cannot be replicated on the same axes)"},
            {"reduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.add", "inputs": [{"dtype": "float32", "reduced": ["x"], "shape": [8], "spec": [null]}, {"dtype": "float32", "shape": [8], "spec": ["x"]}]})",
             R"(cannot be sharded/varying on the same axes)"},
            {"unreduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.where", "inputs": [{"dtype": "bool", "shape": [8, 4], "spec": ["x", null]}, {"dtype": "float32", "reduced": ["y"], "shape": [8, 4], "spec": ["x", null]}, 0.0]})",
             R"(a spec with unreduced or reduced axes cannot be of instance `tuple` and so is not padded to the other case's rank)"},
            {"incompatible-shardings",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.broadcast_to", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}], "params": {"shape": [8]}, "out_sharding": {"spec": ["y"]}})",
             R"(Incompatible types for broadcasting: ('x',) and ('y',))"},
            {"spec-rank",
             R"({"mesh": [["x", 4], ["y", 2]], "op": "jnp.broadcast_to", "inputs": [{"dtype": "float32", "shape": [4], "spec": ["y"]}], "params": {"shape": [4, 4]}, "out_sharding": {"spec": []}})",
             R"(safe_zip() argument 1 has length 0, not 2)"},
            {"incompatible-shardings",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.where", "inputs": [{"dtype": "bool", "shape": [], "spec": []}, {"dtype": "float32", "shape": [8], "spec": ["x"]}, {"dtype": "float32", "shape": [8], "spec": [null]}]})",
             R"(select cases must have the same shardings, got f32[8@x] and f32[8])"},
            {"incompatible-shardings",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.trace", "inputs": [{"dtype": "float32", "shape": [8, 8], "spec": ["x", null]}]})",
             R"(select `which` must be scalar or have the same sharding as cases, got f32[8,8] beside f32[8@x,8])"},
            {"incompatible-shardings",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.stack", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}, {"dtype": "float32", "shape": [8, 4], "spec": [null, null]}], "params": {"axis": 0}})",
             R"(All operands should have the same sharding. Got f32[8@x,4] and f32[8,4])"},
            {"split-dim",
             R"({"mesh": [["x", 8]], "op": "lax.unstack", "inputs": [{"dtype": "float32", "shape": [2, 16], "spec": [null, "x"]}], "params": {"axis": 1}})",
             R"(f32[2,16@x] cannot be sharded on the unstacking axis 1)"},
            {"split-dim",
             R"({"mesh": [["x", 8]], "op": "jnp.tile", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}], "params": {"reps": [2]}})",
             R"(operand cannot be sharded on dimension 0 when the tiling is non-trivial: f32[8@x])"},
            {"split-dim",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.repeat", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "params": {"repeats": 2}})", R"(Please pass sharding to repeat: f32[8@x,4] is split on what is repeated)"},
            {"uneven-result",
             R"({"mesh": [["x", 8]], "op": "index", "inputs": [{"dtype": "float32", "shape": [32], "spec": ["x"]}], "params": {"index": [18]}})",
             R"(slicing on sharded dims where out dim (1) is not divisible by mesh axes (8) is not implemented. Got input type=f32[32@x])"},
            {"incompatible-shardings",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.dynamic_update_slice", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}, {"dtype": "float32", "shape": [8, 2], "spec": [null, null]}, 0, 0]})",
             R"(dynamic_update_slice operand sharding must be equal to update sharding, got f32[8@x,4] and f32[8,2])"},
            {"ambiguous-reshape",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.ravel", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": [null, "x"]}]})",
             R"(This reshape is not supported: from f32[8,4@x] to the shape (32))"},
            {"ambiguous-reshape",
             R"({"mesh": [["x", 4], ["y", 2]], "op": "lax.reshape", "inputs": [{"dtype": "float32", "shape": [4, 8], "spec": ["y", null]}], "params": {"new_sizes": [2, 2, 8, 1]}})",
             R"(This reshape is not supported: dims are left over, tuple index out of range)"},
            {"ambiguous-reshape",
             R"({"mesh": [["x", 8]], "op": "lax.reshape", "inputs": [{"dtype": "float32", "shape": [24, 1], "spec": ["x", null]}], "params": {"new_sizes": [3, 2, 4]}})",
             R"(This reshape is not supported: dims are left over)"},
            {"unreduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.reshape", "inputs": [{"dtype": "float32", "reduced": ["y"], "shape": [8, 4], "spec": ["x", null]}], "params": {"new_sizes": [32]}, "out_sharding": {"spec": ["x"]}})",
             R"(must be reduced over the same mesh axes)"},
            {"unreduced-operand",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.reshape", "inputs": [{"dtype": "float32", "reduced": ["y"], "shape": [8, 4], "spec": ["x", null]}], "params": {"new_sizes": [32]}, "out_sharding": {"spec": ["x"], "unreduced": ["y"]}})",
             R"(out_sharding cannot contain unreduced axes that the operand does not have)"},
            {"split-dim",
             R"({"mesh": [["x", 8]], "op": "lax.cummax", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}], "params": {"axis": 0}})",
             R"(Input should be unsharded over the axis being reduced. Got f32[8@x] and axis 0)"},
            {"split-dim",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.cumsum", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}]})",
             R"(the input should be fully replicated when axis is not specified to a cumulative op: f32[8@x])"},
            {"split-dim",
             R"({"mesh": [["x", 8]], "op": "jnp.argsort", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}], "params": {"axis": 0}})",
             R"(Arguments to sort must be unsharded over the sorting dimension. Got f32[8@x])"},
            {"incompatible-shardings",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.sort_multi", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}, {"dtype": "int32", "shape": [8, 4], "spec": [null, null]}], "params": {"dimension": 1}})",
             R"(must have equal shardings. Got f32[8@x,4] and i32[8,4])"},
            {"split-dim",
             R"({"mesh": [["x", 8]], "op": "lax.top_k", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}], "params": {"k": 8}})",
             R"(operand f32[8@x] should be unsharded over the axis 0)"},
            {"unreduced-axes",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.reduce_sum", "inputs": [{"dtype": "float32", "shape": [4, 2, 2], "spec": ["x", "y", null]}], "params": {"axes": [0]}, "out_sharding": {"spec": [null, null], "unreduced": ["y"]}})",
             R"(unreduced axes of out_sharding should be in operand's specs that were summed over: f32[4@x,2@y,2])"},
            {"contracted-differ",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.dot_general", "inputs": [{"dtype": "float32", "shape": [8, 2], "spec": ["x", "y"]}, {"dtype": "float32", "shape": [2, 8], "spec": ["x", "y"]}], "params": {"dimension_numbers": [[[1], [0]], [[], []]]}})",
             R"(dot_general requires contracting dimensions to have consistent sharding, got ('y',) and ('x',))"},
            {"ambiguous-contraction",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.dot", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}, {"dtype": "float32", "shape": [8], "spec": ["x"]}]})",
             R"(Contracting dimensions are sharded and it is ambiguous how the output should be sharded. Please specify the output sharding via the `out_sharding` parameter. Got ('x',) and ('x',))"},
            {"batch-differ",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.dot_general", "inputs": [{"dtype": "float32", "shape": [4, 8, 2], "spec": ["x", null, null]}, {"dtype": "float32", "shape": [4, 2, 8], "spec": ["y", null, null]}], "params": {"dimension_numbers": [[[2], [1]], [[0], [0]]]}})",
             R"(lhs batch dimensions and rhs batch dimensions must have the same sharding, got f32[4@x,8,2] and f32[4@y,2,8])"},
            {"unreduced-operand", R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.dot_general", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null], "unreduced": ["y"]}, {"dtype": "float32", "shape": [4, 8], "spec": [null, null]}], "params": {"dimension_numbers": [[[1], [0]], [[], []]]}})",
             R"(operands of dot_general cannot be unreduced)"},
            {"unreduced-axes",
             R"({"mesh": [["x", 8]], "op": "lax.dot_general", "inputs": [{"dtype": "float32", "shape": [24], "spec": ["x"]}, {"dtype": "float32", "shape": [4, 24], "spec": [null, null]}], "params": {"dimension_numbers": [[[0], [1]], [[], []]]}, "out_sharding": {"spec": [], "unreduced": ["x"]}})",
             R"(the contracted dims should be sharded identically where the result is unreduced)"},
            {"unreduced-axes",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.dot_general", "inputs": [{"dtype": "float32", "shape": [8, 2], "spec": ["x", "y"]}, {"dtype": "float32", "shape": [2, 8], "spec": ["y", null]}], "params": {"dimension_numbers": [[[1], [0]], [[], []]]}, "out_sharding": {"spec": [null], "unreduced": ["x"]}})",
             R"(out_sharding's unreduced axes should be equal to the contracting specs ('y',))"},
            {"batch-differ",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.matmul", "inputs": [{"dtype": "float32", "shape": [4, 8, 2], "spec": ["x", null, null]}, {"dtype": "float32", "shape": [4, 2, 8], "spec": [null, null, null]}]})",
             R"(Incompatible types for matmul arguments: f32[4@x,8,2] and f32[4,2,8])"},
            {"ambiguous-gather",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.diagonal", "inputs": [{"dtype": "float32", "shape": [8, 8], "spec": ["x", null]}]})",
             R"(Use `.at[...].get(out_sharding=)`)"},
            {"ambiguous-gather",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.gather", "inputs": [{"dtype": "float32", "shape": [64, 16], "spec": [null, "y"]}, {"dtype": "int32", "shape": [8, 1], "spec": [null, null]}], "params": {"dimension_numbers_": {"collapsed_slice_dims": [0], "offset_dims": [1], "start_index_map": [0]}, "slice_sizes": [1, 8]}})",
             R"(a split dim of f32[64,16@y] is taken in part without being looked up)"},
            {"ambiguous-scatter",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.bincount", "inputs": [{"dtype": "int32", "shape": [8], "spec": ["x"]}], "params": {"length": 4}})",
             R"(Use `.at[...].set/add/mul/...(out_sharding=)` to say how the result of the scatter is split. Got operand=i32[4])"},
            {"boolean-index",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "index", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}, {"dtype": "bool", "shape": [8], "spec": [null]}], "params": {"index": [{"arg": 1}]}})",
             R"(Array boolean indices must be concrete; got bool[8])"},
            {"ambiguous-convolution",
             R"({"mesh": [["x", 8]], "op": "lax.conv_general_dilated", "inputs": [{"dtype": "float32", "shape": [4, 8, 8], "spec": [null, null, "x"]}, {"dtype": "float32", "shape": [1, 8, 4], "spec": [null, null, null]}], "params": {"dimension_numbers": ["NWC", "WIO", "NWC"], "padding": "SAME", "window_strides": [1]}})",
             R"(Please specify the output sharding via `out_sharding` parameter of conv_general_dilated: the kernel or the features of the input are split)"},
            {"no-typing-rule",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.ragged_dot", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}, {"dtype": "float32", "shape": [2, 4, 6], "spec": [null, null, null]}, {"dtype": "int32", "shape": [2], "spec": [null]}]})",
             R"(Explicit sharding inference for ragged_dot_general is not implemented: give it an out_sharding)"},
            {"bad-dim",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.expand_dims", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", "y"]}], "params": {"dimensions": [3]}})",
             R"(axis 3 is out of bounds for array of dimension 3)"},
            {"bad-dim",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "lax.squeeze", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "params": {"dimensions": [1]}})",
             R"(cannot select an axis to squeeze out whose size is 4)"},
            {"bad-dim",
             R"({"mesh": [["x", 8]], "op": "nn.glu", "inputs": [{"dtype": "float32", "shape": [6, 2, 3], "spec": [null, null, null]}], "params": {"axis": 2}})",
             R"(axis size must be divisible by 2, not 3)"},
            {"split-dim",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "map", "inputs": [{"dtype": "float32", "shape": [4, 8], "spec": ["x", "y"]}], "params": {"body": {"args": ["c"], "results": ["d"], "steps": [{"in": ["c"], "op": "lax.neg", "out": "d"}]}}})",
             R"(0th dimension of all xs should be replicated. Got P('x', 'y'))"},
            {"carry-type",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "fori_loop", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}], "params": {"body": {"args": ["i", "c"], "results": ["d"], "steps": [{"in": ["c"], "op": "reshard", "out": "d", "out_sharding": {"spec": [null]}}]}, "lower": 0, "upper": 3}})", R"(carry input and carry output must have equal types: the loop starts with float32[8@x] and goes on with float32[8])"},
            {"branch-type",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "cond", "inputs": [{"dtype": "bool", "shape": [], "spec": []}, {"dtype": "float32", "shape": [8], "spec": ["x"]}, {"dtype": "float32", "shape": [8], "spec": ["y"]}], "params": {"branches": [{"args": ["a", "b"], "results": ["a"], "steps": []}, {"args": ["a", "b"], "results": ["b"], "steps": []}]}})",
             R"(branches must have equal output types, but they are float32[8@x] and float32[8@y])"},
            {"branch-type",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "cond", "inputs": [{"dtype": "bool", "shape": [8], "spec": ["x"]}, {"dtype": "float32", "shape": [8], "spec": ["x"]}], "params": {"branches": [{"args": ["c"], "results": ["d"], "steps": [{"in": ["c"], "op": "lax.neg", "out": "d"}]}, {"args": ["c"], "results": ["d"], "steps": [{"in": ["c"], "op": "lax.neg", "out": "d"}]}]}})",
             R"(Pred must be a scalar, got bool[8@x])"},
            {"mapped-dim",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "vmap", "inputs": [{"dtype": "float32", "shape": [4, 8], "spec": ["x", null]}, {"dtype": "float32", "shape": [4, 8], "spec": ["y", null]}], "params": {"body": {"args": ["a", "b"], "results": ["c"], "steps": [{"in": ["a", "b"], "op": "lax.add", "out": "c"}]}}})",
             R"(Mapped away dimension of inputs passed to vmap should be sharded the same. Got ('x',) and ('y',))"},
            {"mapped-dim",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "vmap", "inputs": [{"dtype": "float32", "shape": [4, 8], "spec": ["x", null]}, {"dtype": "float32", "shape": [8], "spec": ["x"]}], "params": {"body": {"args": ["a", "b"], "results": ["c"], "steps": [{"in": ["a", "b"], "op": "lax.add", "out": "c"}]}, "in_axes": [0, null]}})",
             R"(Unmapped values passed to vmap cannot be sharded along the mapped axes: f32[8@x])"},
            {"constraint-differs",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "with_sharding_constraint", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "out_sharding": {"spec": []}})",
             R"(a constraint acts as an assert when all axes are Explicit: the value is float32[8@x,4], not P())"},
            {"axis-not-auto",
             R"({"mesh": [["x", 2], ["y", 2, "auto"]], "op": "with_sharding_constraint", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "out_sharding": {"spec": ["x"]}})",
             R"(a constraint can only refer to Auto axes of the mesh: P('x',))"},
            {"spec-rank",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "device_put", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "out_sharding": {"spec": ["x", null, null]}, "eager": true})",
             R"(P('x', None, None) is only valid for values of rank at least 3, but was applied to a value of rank 2)"},
            {"missing-out-sharding",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "auto_axes", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", "y"]}, {"dtype": "float32", "shape": [4, 6], "spec": ["y", null]}], "params": {"body": {"args": ["a", "b"], "results": ["c"], "steps": [{"in": ["a", "b"], "op": "jnp.dot", "out": "c"}]}}})",
             R"(Missing required keyword argument: 'out_sharding')"},
            {"in-specs",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "shard_map", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", "y"]}], "params": {"body": {"args": ["c"], "results": ["d"], "steps": [{"in": ["c"], "op": "lax.neg", "out": "d"}]}, "in_specs": {"spec": ["x"]}, "out_specs": {"spec": ["x"]}}})",
             R"(in_specs passed to shard_map: P('x',) does not match the specs of the input: P('x', 'y'))"},
            {"indivisible",
             R"({"mesh": [["x", 2], ["y", 2]], "op": "shard_map", "inputs": [{"dtype": "float32", "shape": [7, 4], "spec": [null, null]}], "params": {"body": {"args": ["c"], "results": ["d"], "steps": [{"in": ["c"], "op": "lax.neg", "out": "d"}]}, "in_specs": {"spec": ["x"]}, "out_specs": {"spec": ["x"]}}})",
             R"(the sizes of f32[7,4] are not evenly divisible by the corresponding mesh axis sizes of P('x',))"},
            {"out-specs",
             R"({"mesh": [["x", 8]], "op": "shard_map", "inputs": [{"dtype": "float32", "shape": [8], "spec": ["x"]}], "params": {"body": {"args": ["a"], "results": ["b"], "steps": [{"in": ["a"], "op": "lax.exp", "out": "b"}]}, "in_specs": [{"spec": ["x"]}], "out_specs": {"spec": []}}})",
             R"(shard_map was given out_specs which require replication which can't be inferred: P())"},
};

constexpr Said said_of_linear_algebra[] = {
    {"unknown-mesh-axis",
     R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.searchsorted", "inputs": [{"dtype": "float32", "shape": [8], "spec": [null]}, {"dtype": "float32", "shape": [4], "spec": ["x"]}]})",
     R"(Resource axis: x of P('x',) is not found in mesh: ().)"},
    {"mapped-dim",
     R"({"mesh": [["x", 2], ["y", 2]], "op": "jnp.linalg.inv", "inputs": [{"dtype": "float32", "shape": [4, 8, 8], "spec": ["y", "x", null]}]})",
     R"(Mapped away dimension of inputs passed to vmap should be sharded the same. Got inconsistent axis specs: y vs None)"},
};

constexpr Said said_of_numpy[] = {
    {"ambiguous-reshape",
     R"({"mesh": [["x", 2]], "op": "jnp.argmax", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": [null, "x"]}]})",
     R"(This reshape is not supported: from f32[8,4@x] to the shape (32))"},
    {"split-dim",
     R"({"mesh": [["x", 1], ["y", 2]], "op": "jnp.pad", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", "y"]}], "params": {"pad_width": [[0, 0], [1, 1]], "mode": "edge"}})",
     R"(Please pass sharding to repeat: f32[1@x,4@y] is split on what is repeated)"},
    {"uneven-result",
     R"({"mesh": [["x", 2]], "op": "jnp.pad", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": [null, "x"]}], "params": {"pad_width": [[0, 0], [1, 1]], "mode": "reflect"}})",
     R"(slicing on sharded dims where out dim (1) is not divisible by mesh axes (2) is not implemented. Got input type=f32[8,4@x])"},
};

/// A question and the type of its one result.
struct Answered {
  const char* question;
  const char* type;
};

constexpr Answered all_answered[] = {
    {R"({"mesh": [["y", 2], ["x", 4]], "op": "shard_map", "inputs": [{"dtype": "bfloat16", "shape": [64, 8], "spec": ["x", null]}, {"dtype": "float32", "shape": [32, 8], "spec": ["x", null]}, {"dtype": "int32", "shape": [16], "spec": ["x"]}], "params": {"body": {"args": ["a", "b", "i"], "results": ["r"], "steps": [{"out": "r", "op": "lax.ragged_all_to_all", "in": ["a", "b", "i", "i", "i", "i"], "params": {"axis_name": "x"}}]}, "out_specs": {"spec": ["x"]}}})",
     "float32[32@x,8]"},
    {R"({"mesh": [["y", 2], ["x", 4]], "op": "shard_map", "inputs": [{"dtype": "float32", "shape": [64, 8], "spec": ["x", null]}, {"dtype": "float32", "shape": [32, 8], "spec": [null, null]}, {"dtype": "int32", "shape": [16], "spec": ["x"]}], "params": {"body": {"args": ["a", "b", "i"], "results": ["r"], "steps": [{"out": "r", "op": "lax.ragged_all_to_all", "in": ["a", "b", "i", "i", "i", "i"], "params": {"axis_name": "x"}}]}, "out_specs": {"spec": []}}})",
     "float32[32,8]"},
    {R"({"mesh": [["x", 2], ["y", 3]], "op": "jit", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "params": {"body": {"args": ["c"], "results": ["d"], "steps": [{"out": "d", "op": "lax.neg", "in": ["c"]}]}}, "eager": true, "out_sharding": {"spec": [null, "x"]}})",
     "float32[8,4@x]"},
    {R"({"mesh": [["x", 2], ["y", 3]], "op": "jit", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["x", null]}], "params": {"body": {"args": ["c"], "results": ["d"], "steps": [{"out": "d", "op": "lax.neg", "in": ["c"]}]}}, "out_sharding": {"spec": [null, "x"]}})",
     "float32[8@x,4]"},
    {R"({"mesh": [["x", 2]], "op": "jnp.pad", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": [null, "x"]}], "params": {"pad_width": [[2, 2], [0, 0]], "mode": "reflect"}})",
     "float32[12,4@x]"},
    {R"({"mesh": [["x", 2]], "op": "jnp.argmax", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": [null, null]}]})",
     "int32[]"},
    {R"({"mesh": [["y", 2]], "op": "jnp.prod", "inputs": [{"dtype": "uint8", "shape": [8, 4], "spec": ["y", null]}], "params": {"axis": -1, "keepdims": true}})",
     "uint32[8@y,1]"},
    {R"({"mesh": [["x", 1], ["y", 1]], "op": "lax.conv_general_dilated", "inputs": [{"dtype": "float32", "shape": [16, 32, 8], "spec": [null, null, null]}, {"dtype": "float32", "shape": [5, 8, 10], "spec": ["y", "x", null]}], "params": {"window_strides": [1], "padding": "SAME", "dimension_numbers": ["NWC", "WIO", "NWC"]}})",
     "float32[16,32,10]"},
    {R"({"mesh": [["x", 2], ["y", 2, "auto"], ["z", 2]], "op": "shard_map", "inputs": [{"dtype": "float32", "shape": [8, 4], "spec": ["z", null]}], "params": {"body": {"args": ["a"], "results": ["b"], "steps": [{"in": ["a"], "op": "lax.neg", "out": "b"}]}, "in_specs": {"spec": ["x", "y"]}, "out_specs": {"spec": ["x", "y"]}}})",
     "float32[8@x,4]"},
};

ShardedTypes types_of_question(const json& asked) {
  const Mesh mesh = typed_mesh(asked.at("mesh"));
  ShardedTypes operands;
  for (const json& written : asked.at("inputs")) operands.push_back(recorded_type(mesh, written));
  const Parameters parameters = parameters_of(asked);
  std::optional<PartitionSpec> out;
  if (asked.contains("out_sharding")) out = written_spec(asked.at("out_sharding"));
  return type_op({mesh, asked.at("op").get_ref<const std::string&>(), operands, parameters,
                  out ? &*out : nullptr, asked.value("eager", false)});
}

/// Checks each message and its id.
std::set<RefusalKind> refused_kinds(std::span<const Said> all) {
  std::set<RefusalKind> kinds;
  for (const Said& said : all) {
    CAPTURE(said.question);
    try {
      types_of_question(json::parse(said.question));
      FAIL_CHECK("was not refused");
    } catch (const TypingRefusal& refusal) {
      CHECK(std::string(refusal.what()) == said.message);
      CHECK(std::string(refusal.row().id) == said.id);
      kinds.insert(refusal.kind());
    }
  }
  return kinds;
}

}  // namespace

TEST_CASE("every refusal of a type says what stands in the way") {
  CHECK(refused_kinds(all_said).size() == std::size(all_said));
}

TEST_CASE("a dim of one that is split in one and taken away has no cotangent") {
  const Mesh mesh = typed_mesh(json::parse(R"([["y", 2], ["w", 1]])"));
  const auto gradient_of = [&](const char* op, const char* spec, const char* parameters) {
    const json operand = {{"dtype", "float32"}, {"shape", {16, 1}}, {"spec", json::parse(spec)}};
    const json asked = {{"op", op}, {"params", json::parse(parameters)}};
    TypedStep step{{"y"}, false, op, {std::string("a")}, parameters_of(asked), std::nullopt};
    const TypedProgram program{{"a"}, {std::move(step)}, {"y"}};
    try {
      return type_text(
          mesh, gradient_types(mesh, program, {recorded_type(mesh, operand)}, {"a"}).front());
    } catch (const TypingRefusal& refusal) {
      return std::string(refusal.row().id) + ": " + refusal.what();
    }
  };
  const std::string refused =
      "cotangent-type: Expected cotangent type float32[16@y,1@w] but got float32[16@y,1]";
  CHECK(gradient_of("jnp.squeeze", R"(["y", "w"])", "{}") == refused);
  CHECK(gradient_of("lax.squeeze", R"(["y", "w"])", R"({"dimensions": [1]})") == refused);
  CHECK(gradient_of("lax.squeeze", R"(["y", null])", R"({"dimensions": [1]})") ==
        "float32[16@y,1]");
  CHECK(gradient_of("lax.reduce_sum", R"(["y", "w"])", R"({"axes": [1]})") == "float32[16@y,1@w]");
}

TEST_CASE("inverses and searches are refused as their insides are") {
  CHECK(!refused_kinds(said_of_linear_algebra).empty());
}

TEST_CASE("functions of numpy are refused as what they are made of") {
  CHECK(!refused_kinds(said_of_numpy).empty());
}

TEST_CASE("axes of one device and what is not padded stand in nobody's way") {
  for (const Answered& answered : all_answered) {
    CAPTURE(answered.question);
    const json asked = json::parse(answered.question);
    const ShardedTypes found = types_of_question(asked);
    REQUIRE(found.size() == 1);
    CHECK(type_text(typed_mesh(asked.at("mesh")), found.front()) == answered.type);
  }
}
