#include "dialects/import_arrays.h"

#include <doctest/doctest.h>

#include "dialects/importing.h"

namespace shard {
namespace {

std::string arrays(const std::string& text, const std::string& path = "a.json") {
  return imported_arrays(path, {{path, text}});
}

std::string safetensors(const std::string& header, const std::string& data = "") {
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i)
    length[i] = static_cast<char>((header.size() >> (8 * i)) & 255);
  return length + header + data;
}

}  // namespace

TEST_CASE("a JSON list of arrays is read") {
  CHECK(arrays(R"([
  {"name": "params/a", "shape": [4, 32], "logical_axes": ["embed", null], "dtype": "bfloat16"},
  {"name": "params/b", "shape": []},
  {"name": "c", "partition_spec": ["data", ["fsdp", "tensor"], null]}])") ==
        "params/a: bf16[4,32] [embed, None]\n"
        "params/b: ?[()] null\n"
        "c: ?[?] P('data', ('fsdp', 'tensor'), None)\n");
}

TEST_CASE("a YAML list of arrays is read") {
  CHECK(arrays("arrays:\n  - {name: w, shape: [2, 1_000], logical_axes: ['embed', 'mlp']}\n",
               "a.yml") == "w: ?[2,1000] [embed, mlp]\n");
}

TEST_CASE("a dump of logical axes and one of placements are told apart by the mesh") {
  CHECK(arrays(R"({".step": {"partition_spec": [], "shape": []},
 ".w": {"partition_spec": ["norm", null], "shape": [8, 2]}})") ==
        ".step: ?[()] []\n.w: ?[8,2] [norm, None]\n");
  CHECK(arrays(R"({".w": {"mesh": {"axis_names": ["data", "fsdp"], "shape": {"data": 2, "fsdp": 4}},
 "partition_spec": [["fsdp", "data"], null]}})") ==
        "data 2\nfsdp 4\n.w: ?[?] P(('fsdp', 'data'), None)\n");
}

TEST_CASE("a dump of activations is read where it knows the axes") {
  CHECK(arrays(R"_({"Activation Sharding Dump": [
 {"m/x: bfloat16[96,2048]": {"logic_axes": "('batch', None)", "PartitionSpec": "P('a', None)"}},
 {"m/y: int32[]": {"logic_axes": "()", "PartitionSpec": "P()"}},
 {"m/z: float32[2]": {"logic_axes": "Unknown", "PartitionSpec": "P()"}}]})_") ==
        "m/x: bfloat16[96,2048] ('batch', None): bf16[96,2048] [batch, None]\n"
        "m/y: int32[] (): i32[()] []\n"
        "a.json:1:30: note: 1 activations are left out: the dump does not know their axes "
        "[axes-unknown]\n"
        "    1 | {\"Activation Sharding Dump\": [\n"
        "      |                              ^\n");
}

TEST_CASE("activations that cannot be read are placed inside the dump") {
  CHECK(arrays(R"_({"Activation Sharding Dump": [
 {"x: bf16[2]": {"logic_axes": "('a', b + c)"}}]})_") ==
        "a.json:2:39: error: 'b + c' is code, expected a literal value [not-a-literal]\n"
        "    2 |  {\"x: bf16[2]\": {\"logic_axes\": \"('a', b + c)\"}}]}\n"
        "      |                                       ^~~~~\n"
        "  hint: paste the value that Python prints for it\n");
  CHECK(arrays(R"_({"Activation Sharding Dump": [{"x": {"logic_axes": "()"}}]})_") ==
        "a.json:1:32: error: 'x' is not NAME: TYPE[SIZES] [bad-array]\n"
        "    1 | {\"Activation Sharding Dump\": [{\"x\": {\"logic_axes\": \"()\"}}]}\n"
        "      |                                ^~~\n");
}

TEST_CASE("what an array lacks or has wrong is named") {
  const std::string first = R"_([{"shape": [1]}, {"name": "a", "shape": 3},)_";
  const std::string second =
      R"_( {"name": "b", "shape": [1, -2]}, 5, {"name": "c", "dtype": "f31"},)_";
  const std::string third = R"_( {"name": "d", "logical_axes": [["x"]]}, {"name": "d"},)_";
  const std::string fourth = R"_( {"name": "e", "partition_spec": [7, {}, true]}])_";
  const auto excerpt = [](int line, const std::string& text, int column, int length) {
    return "    " + std::to_string(line) + " | " + text + "\n      | " +
           std::string(static_cast<std::size_t>(column - 1), ' ') + "^" +
           std::string(static_cast<std::size_t>(length - 1), '~') + "\n";
  };
  CHECK(
      arrays(first + "\n" + second + "\n" + third + "\n" + fourth) ==
      "a.json:1:2: error: this array has no name [bad-array]\n" + excerpt(1, first, 2, 1) +
          "a.json:1:41: error: the shape is '3', expected a list of sizes [bad-array]\n" +
          excerpt(1, first, 41, 1) +
          "a.json:2:29: error: a size is '-2', expected a whole number [bad-shape]\n" +
          excerpt(2, second, 29, 2) +
          "a.json:2:35: error: an array is '5', expected a map with name and shape [bad-array]\n" +
          excerpt(2, second, 35, 1) +
          "a.json:2:61: error: element type 'f31' is not known [unknown-dtype]\n" +
          excerpt(2, second, 61, 5) +
          "  hint: valid: float32, bfloat16, float16, float64, int32, int64, uint32, bool, int8, "
          "int16, uint8, uint16, uint64, float8_e4m3fn, float8_e5m2, complex64\n"
          "a.json:3:33: error: a logical axis is a list, expected a name or null [bad-array]\n" +
          excerpt(3, third, 33, 1) +
          "a.json:3:51: error: array 'd' is listed twice [duplicate-array]\n" +
          excerpt(3, third, 51, 3) +
          "a.json:4:35: error: a mesh axis is '7', expected a name [bad-array]\n" +
          excerpt(4, fourth, 35, 1) +
          "a.json:4:38: error: a mesh axis is a map, expected a name [bad-array]\n" +
          excerpt(4, fourth, 38, 1) +
          "a.json:4:42: error: a mesh axis is 'true', expected a name [bad-array]\n" +
          excerpt(4, fourth, 42, 4));
}

TEST_CASE("an array too large to count is refused") {
  CHECK(arrays(R"_([{"name": "a", "shape": [576460752303423488, 2]}])_") ==
        "a.json:1:25: error: the array has more than 2^59 elements [bad-shape]\n"
        "    1 | [{\"name\": \"a\", \"shape\": [576460752303423488, 2]}]\n"
        "      |                         ^\n");
}

TEST_CASE("a dump without specs or without arrays is refused") {
  CHECK(arrays(R"_({"a": {"partition_spec": []}, "b": {"shape": [1]}})_") ==
        "a.json:1:31: error: 'b' has no partition_spec [bad-array]\n"
        "    1 | {\"a\": {\"partition_spec\": []}, \"b\": {\"shape\": [1]}}\n"
        "      |                               ^~~\n");
  CHECK(arrays("arrays: [] # none\n", "a.yml") ==
        "a.yml: error: this looks like a list of arrays of shard-plan, expected arrays: a list of "
        "names and shapes, a dump of shardings, or a safetensors file [unknown-format]\n");
  CHECK(arrays(R"_({"Activation Sharding Dump": []})_") ==
        "a.json:1:1: error: the file lists no arrays [bad-array]\n"
        "    1 | {\"Activation Sharding Dump\": []}\n"
        "      | ^\n");
}

TEST_CASE("a dumped mesh without its parts is refused") {
  CHECK(
      arrays(
          R"_({"a": {"partition_spec": [], "mesh": {"axis_names": ["x"], "shape": {"y": 2}}}})_") ==
      "a.json:1:69: error: the size of mesh axis 'x' is a map, expected a whole number "
      "[bad-array]\n"
      "    1 | {\"a\": {\"partition_spec\": [], \"mesh\": {\"axis_names\": [\"x\"], \"shape\": "
      "{\"y\": 2}}}}\n"
      "      |                                                                     ^\n");
}

TEST_CASE("the header of a safetensors file is read and no more") {
  const std::string file = safetensors(
      R"({"__metadata__": {"format": "pt"}, "w": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]},)"
      R"("b": {"dtype": "F32", "shape": [], "data_offsets": [12, 16]}})");
  CHECK(imported_arrays("m.safetensors", {{"m.safetensors", file}}) ==
        "w: bf16[2,3] null\nb: f32[()] null\n");
  CHECK(imported_arrays("m.bin", {{"m.bin", file}}) == "w: bf16[2,3] null\nb: f32[()] null\n");
}

TEST_CASE("the index of several safetensors files names them all") {
  const Files files = {
      {"d/i.json",
       R"({"weight_map": {"w": "1.safetensors", "b": "2.safetensors", "c": "1.safetensors"}})"},
      {"d/1.safetensors",
       safetensors(R"({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})")},
      {"d/2.safetensors",
       safetensors(R"({"b": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4]}})")}};
  CHECK(imported_arrays("d/i.json", files) == "w: f32[1] null\nb: i32[1] null\n");
  CHECK(imported_arrays("i.json", {{"i.json", "{\"weight_map\": {\"w\": \"x.safetensors\"}}"}}) ==
        "i.json:1:22: error: there is no file 'x.safetensors' [missing-file]\n"
        "    1 | {\"weight_map\": {\"w\": \"x.safetensors\"}}\n"
        "      |                      ^~~~~~~~~~~~~~~\n");
}

TEST_CASE("a safetensors header that does not hold together is refused") {
  const auto header = [](const std::string& text) {
    return imported_arrays("m.safetensors", {{"m.safetensors", text}});
  };
  CHECK(header("abc") ==
        "m.safetensors: error: the file ends before its header's length [bad-safetensors]\n");
  CHECK(header(std::string("\x09\0\0\0\0\0\0\0{}", 10)) ==
        "m.safetensors: error: the file ends inside its header: 9 bytes expected, 2 found "
        "[bad-safetensors]\n");
  CHECK(header(std::string(8, '\xFF')) ==
        "m.safetensors: error: the header would be 18446744073709551615 bytes long, at most "
        "100000000 are read [bad-safetensors]\n");
  CHECK(header(safetensors("[]")) ==
        "m.safetensors:1:1: error: the header is a list, expected a map [bad-safetensors]\n"
        "    1 | []\n"
        "      | ^\n");
  CHECK(header(safetensors(R"({"w": {"dtype": "F32", "shape": [2]}})")) ==
        "m.safetensors:1:2: error: 'w' lacks dtype, shape or data_offsets [bad-safetensors]\n"
        "    1 | {\"w\": {\"dtype\": \"F32\", \"shape\": [2]}}\n"
        "      |  ^~~\n");
  CHECK(header(safetensors(R"({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})")) ==
        "m.safetensors:1:54: error: 'w' has 4 bytes, its shape and element type need 8 "
        "[bad-safetensors]\n"
        "    1 | {\"w\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 4]}}\n"
        "      |                                                      ^\n");
  CHECK(header(safetensors(R"({"w": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}})")) ==
        "m.safetensors:1:54: error: data_offsets of 'w' are not a begin and an end "
        "[bad-safetensors]\n"
        "    1 | {\"w\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [8, 0]}}\n"
        "      |                                                      ^\n");
}

TEST_CASE("a key of an array that is not read is warned of once") {
  CHECK(arrays(R"([{"name": "a", "size": 1}, {"name": "b", "size": 2}])") ==
        "a: ?[?] null\nb: ?[?] null\n"
        "a.json:1:16: warning: the key 'size' of an array is not read [unknown-key]\n"
        "    1 | [{\"name\": \"a\", \"size\": 1}, {\"name\": \"b\", \"size\": 2}]\n"
        "      |                ^~~~~~\n"
        "  hint: an array has name, shape, dtype, logical_axes or partition_spec\n");
}

TEST_CASE("a file that holds no arrays is called what it looks like") {
  CHECK(arrays("{\"a\": 1}") ==
        "a.json: error: this looks like a JSON object with the keys a, expected arrays: a list of "
        "names and shapes, a dump of shardings, or a safetensors file [unknown-format]\n");
}

}  // namespace shard
