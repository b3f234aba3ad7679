// Which element types the typing rules take, and of which their results are.

#include <doctest/doctest.h>

#include <set>

#include "recorded_types.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Names = std::vector<std::string>;

/// The op on arrays of shape [8,4] that are split over x, of these element types.
ShardedTypes types_of(const std::string& op, const Names& elements, const json& parameters) {
  const Mesh mesh = typed_mesh(json::parse(R"([["x", 2], ["y", 2]])"));
  ShardedTypes operands;
  for (const std::string& element : elements) {
    operands.push_back(make_type(mesh, {element}, {8, 4}, {{0}, {}}));
  }
  const Parameters all = parameters_of({{"params", parameters}});
  return type_op({mesh, op, operands, all});
}

struct Refused {
  std::string op;
  Names elements;
  std::string id;
  std::string message;
  json parameters = json::object();
};

const std::vector<Refused> refused = {
    {"lax.exp",
     {"int32"},
     "element-type",
     "lax.exp does not accept dtype int32, only floating, complex"},
    {"lax.abs",
     {"uint8"},
     "element-type",
     "lax.abs does not accept dtype uint8, only signed integer, floating, complex"},
    {"lax.sub",
     {"float32", "bool"},
     "element-type",
     "lax.sub does not accept dtype bool at position 1, only integer, floating, complex"},
    {"lax.lt",
     {"complex64", "complex64"},
     "element-type",
     "lax.lt does not accept dtype complex64 at position 0, only integer, floating, bool"},
    {"lax.complex",
     {"bfloat16", "bfloat16"},
     "element-type",
     "lax.complex does not accept dtype bfloat16, only float32 and float64"},
    {"jnp.subtract",
     {"bool", "bool"},
     "element-type",
     "jnp.subtract does not accept dtype bool, only integer, floating, complex"},
    {"lax.max",
     {"float32", "int32"},
     "element-types",
     "lax.max requires arguments to have the same dtypes, got float32, int32"},
    {"lax.concatenate",
     {"float32", "float16"},
     "element-types",
     "lax.concatenate requires arguments to have the same dtypes, got float32, float16",
     {{"dimension", 1}}},
    {"lax.pow",
     {"float32", "float16"},
     "element-types",
     "the first argument to pow must have an inexact dtype, and the second the same or a whole "
     "one, got float32 and float16"},
    {"lax.bitcast_convert_type",
     {"float16"},
     "bit-size",
     "Attempting to convert array of shape 8,4 from float16 to int32: the bits of its last dim "
     "are not those of one element",
     {{"new_dtype", "int32"}}},
    {"lax.bitcast_convert_type",
     {"complex64"},
     "element-type",
     "lax.bitcast_convert_type does not support bool or complex values, got complex64 to int32",
     {{"new_dtype", "int32"}}},
    {"lax.reduce_or",
     {"float32"},
     "element-type",
     "logical reduction requires operand dtype bool or int, got float32",
     {{"axes", json::array({1})}}},
    {"lax.approx_max_k",
     {"int32"},
     "element-type",
     "operand must be a floating type, got int32",
     {{"k", 2}}},
    {"lax.top_k",
     {"complex64"},
     "element-type",
     "lax.top_k is not compatible with complex inputs, got complex64",
     {{"k", 2}}},
    {"jnp.clip",
     {"complex64", "float32", "float32"},
     "element-type",
     "Clip received a complex value, and those have no order, got complex64"},
    {"jnp.median",
     {"complex64"},
     "element-type",
     "jnp.median does not support complex input, got complex64",
     {{"axis", 1}}},
    {"lax.select_n",
     {"float32", "float32", "float32"},
     "element-type",
     "select `which` must be boolean or integer type, got float32"},
    {"cond",
     {"complex64"},
     "element-type",
     "Pred type must be either boolean or number, got complex64"},
    {"cond",
     {"bfloat16"},
     "element-type",
     "Pred type must be either boolean or number of a kind that numpy has, got bfloat16"},
    {"switch", {"bool"}, "element-type", "Index type must be an integer, got bool"},
    {"at.set",
     {"float32", "float16", "float32"},
     "index-type",
     "Indexer must have integer or boolean type, got f16[8@x,4]",
     {{"index", json::array({{{"arg", 1}}})}}},
    {"lax.scatter_add",
     {"float32", "float32", "float32"},
     "index-type",
     "indices must have an integer type, got float32"},
    {"jnp.take_along_axis",
     {"float32", "bool"},
     "index-type",
     "indices must be of integer type, got bool",
     {{"axis", 1}}},
    {"lax.dynamic_update_slice",
     {"float32", "float32", "float32"},
     "index-type",
     "index arguments to lax.dynamic_update_slice must be integers of the same type, got float32"},
    {"lax.ragged_dot",
     {"float32", "float32", "float32"},
     "index-type",
     "it is required that group_sizes.dtype is subtype of integer, got float32"},
    {"jnp.bincount",
     {"float32"},
     "index-type",
     "what is counted must have an integer type, got float32",
     {{"length", 4}}},
    {"nn.dot_product_attention",
     {"bfloat16", "float32", "float32"},
     "element-types",
     "dtype should be that of the keys, float32, but is bfloat16"},
    {"jnp.dot",
     {"float32", "float32"},
     "contraction-sizes",
     "dot_general requires contracting dimensions to have the same shape, got 4 and 8"},
    {"lax.batch_matmul",
     {"float32", "float32"},
     "contraction-sizes",
     "dot_general requires contracting dimensions to have the same shape, got 4 and 8"},
};

struct Typed {
  std::string op;
  Names elements;
  std::string element;
  json parameters = json::object();
};

const std::vector<Typed> typed_elements = {
    {"jnp.exp", {"bool"}, "float32"},
    {"jnp.exp", {"bfloat16"}, "bfloat16"},
    {"jnp.square", {"bool"}, "int32"},
    {"jnp.abs", {"complex64"}, "float32"},
    {"jnp.add", {"uint32", "int32"}, "int32"},
    {"jnp.add", {"uint8", "int8"}, "int16"},
    {"jnp.add", {"bfloat16", "float16"}, "float32"},
    {"jnp.divide", {"int32", "uint8"}, "float32"},
    {"jnp.power", {"bool", "bool"}, "int32"},
    {"jnp.power", {"bool", "uint8"}, "uint8"},
    {"jnp.subtract", {"bool", "float32"}, "float32"},
    {"jnp.std", {"complex64"}, "float32", {{"axis", 1}}},
    {"jnp.concatenate", {"int32", "float16"}, "float16", {{"axis", 1}}},
    {"jnp.stack", {"bool", "float32"}, "float32"},
    {"lax.pow", {"float32", "uint32"}, "float32"},
    {"nn.relu", {"bool"}, "~int32"},
    {"nn.relu6", {"int32"}, "~float32"},
    {"nn.softplus", {"bool"}, "~float32"},
    {"nn.softplus", {"int8"}, "float32"},
    {"nn.softmax", {"int32"}, "float32"},
};

}  // namespace

TEST_CASE("an op refuses the element types that it does not take") {
  for (const Refused& one : refused) {
    CAPTURE(one.op);
    try {
      types_of(one.op, one.elements, one.parameters);
      FAIL_CHECK("was not refused");
    } catch (const TypingRefusal& refusal) {
      CHECK(std::string(refusal.what()) == one.message);
      CHECK(std::string(refusal.row().id) == one.id);
    }
  }
}

TEST_CASE("an out_sharding of a reshape has no reduced axes that its operand lacks") {
  const Mesh mesh = typed_mesh(json::parse(R"([["x", 2], ["y", 2]])"));
  const PartitionSpec out = written_spec(json::parse(R"({"spec": ["x"], "reduced": ["y"]})"));
  const Parameters parameters = {{"new_sizes", Parameter(std::vector<std::int64_t>{32})}};
  try {
    type_op({mesh, "lax.reshape", {make_type(mesh, {}, {8, 4}, {{0}, {}})}, parameters, &out});
    FAIL_CHECK("was not refused");
  } catch (const TypingRefusal& refusal) {
    CHECK(std::string(refusal.what()) ==
          "out_sharding cannot contain reduced axes that the operand does not have");
  }
}

TEST_CASE("results have the element types that promotion gives") {
  for (const Typed& one : typed_elements) {
    CAPTURE(one.op);
    const ElementType found = types_of(one.op, one.elements, one.parameters).front().element;
    CHECK((found.is_weak ? "~" : "") + found.name == one.element);
  }
}
