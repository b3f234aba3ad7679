// Sorts along a split dim: bit by bit what one device gives, ties, signed zeros and NaN included,
// in fewer bytes than gathering the dim.

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "exec/cluster.h"
#include "exec/measure.h"
#include "model/graph_builder.h"
#include "property/planned_equals_counted.h"
#include "shard/sharded_graph.h"
#include "spmd/partition.h"

using namespace shard;
using namespace shard::test;

namespace {

struct SortCase {
  std::vector<TensorType> operands;
  std::int64_t dim = 0;
  std::int64_t keys = 1;
};

Graph graph_of(const SortCase& test, bool is_split) {
  Graph graph;
  graph.name = "sort";
  GraphBuilder builder(graph);
  std::vector<ValueId> operands;
  for (const TensorType& type : test.operands) {
    PartitionSpec spec;
    spec.entries.resize(type.shape.size());
    if (is_split) spec.entries[static_cast<std::size_t>(test.dim)].axes.emplace_back("x");
    const std::string path = "in" + std::to_string(operands.size());
    const ValueId value =
        builder.add_value(type, path, std::vector<std::string>(type.shape.size()), {});
    graph.inputs.push_back({value, path, Role::parameter, -1, SpecConfig{spec, {"x", 1, 1, 1}}});
    graph.regions.front().parameters.push_back(value);
    operands.push_back(value);
  }
  for (const ValueId result :
       builder.emit_all(Op::sort, operands, {{"dim", test.dim}, {"keys", test.keys}})) {
    // Placed, so that nothing is gathered afterwards.
    PartitionSpec spec;
    spec.entries.resize(test.operands.front().shape.size());
    if (is_split) spec.entries[static_cast<std::size_t>(test.dim)].axes.emplace_back("x");
    const std::string path = "out" + std::to_string(graph.outputs.size());
    graph.outputs.push_back({result, path, Role::output, -1, -1, SpecConfig{spec, {"x", 1, 1, 1}}});
    graph.regions.front().results.push_back(result);
  }
  verify(graph);
  return graph;
}

/// Few different numbers, so that many are equal; floats with both zeros, infinities and NaN.
HostTensor drawn(const TensorType& type, std::mt19937_64& random) {
  HostTensor tensor = zeros(type);
  const float odd[] = {
      0.0F,  -0.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
      -1.5F, 2.0F};
  for (std::int64_t i = 0; i < element_count(type.shape); ++i) {
    if (type.dtype == DType::f32) {
      tensor.data<float>()[i] = odd[random() % 6];
    } else {
      tensor.data<std::int32_t>()[i] = static_cast<std::int32_t>(random() % 9) - 4;
    }
  }
  return tensor;
}

std::vector<std::vector<std::byte>> results_of(const Program& program,
                                               const std::vector<HostTensor>& inputs) {
  Cluster cluster(program, {1});
  for (std::size_t i = 0; i < inputs.size(); ++i) cluster.write_input(i, inputs[i]);
  cluster.run();
  CHECK(differences_from_plan(program, cluster) == std::vector<std::string>{});
  std::vector<std::vector<std::byte>> results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const HostTensor result = cluster.read_output(i);
    const std::byte* const begin = result.bytes.data();
    results.emplace_back(begin, begin + bytes_of(result.type).count());
  }
  return results;
}

std::int64_t gathered_bytes(const SortCase& test, std::int64_t parts) {
  std::int64_t bytes = 0;
  for (const TensorType& type : test.operands) {
    bytes += bytes_of(type).count() / parts * (parts - 1);
  }
  return bytes;
}

/// The bytes that a device sends.
std::int64_t check_sort(const SortCase& test, std::int64_t parts) {
  CAPTURE(parts);
  CAPTURE(to_string(test.operands.front()));
  const Mesh mesh({{MeshAxis("x"), parts, {}}});
  const Program program = partition(shard_graph(graph_of(test, true), {}, mesh));
  REQUIRE_NOTHROW(verify(program));
  CHECK(read_program("program", to_string(program)) == program);
  std::mt19937_64 random(static_cast<std::uint64_t>(parts));
  std::vector<HostTensor> inputs;
  for (const TensorType& type : test.operands) inputs.push_back(drawn(type, random));
  const Mesh one({{MeshAxis("x"), 1, {}}});
  const Program alone = partition(shard_graph(graph_of(test, false), {}, one));
  CHECK(results_of(program, inputs) == results_of(alone, inputs));
  CHECK(wire_of(program).count() <= gathered_bytes(test, parts));
  return wire_of(program).count();
}

TensorType whole_numbers(Shape shape) { return {DType::i32, std::move(shape)}; }
TensorType floats(Shape shape) { return {DType::f32, std::move(shape)}; }

}  // namespace

TEST_CASE("sorted parts are merged where that sends less than a gather") {
  // Rounds for 2, 4, 8, 16, 32 parts: 1, 3, 6, 10, 15, of a part of 12 numbers each.
  for (const auto& [parts, rounds] :
       {std::pair<std::int64_t, std::int64_t>{8, 6}, {16, 10}, {32, 15}}) {
    CHECK(check_sort({{whole_numbers({12 * parts})}}, parts) == rounds * 12 * 4);
    CHECK(check_sort({{whole_numbers({12 * parts}), whole_numbers({12 * parts})}, 0, 2}, parts) ==
          rounds * 12 * 8);
  }
  // Equal keys, or zeros of either sign, are told apart by their positions, which are sent too.
  CHECK(check_sort({{floats({12 * 32})}}, 32) == 15 * 12 * 8);
  CHECK(check_sort({{floats({12 * 16}), floats({12 * 16}), floats({12 * 16}), floats({12 * 16})}},
                   16) == 10 * 12 * 20);
  CHECK(check_sort({{whole_numbers({1, 12 * 32}), floats({1, 12 * 32})}, 1}, 32) == 15 * 12 * 12);
}

TEST_CASE("a split dim is gathered for a sort where nothing sends less") {
  for (const std::int64_t parts : {2, 3, 4, 6, 12}) {
    const SortCase test{{floats({12 * parts})}};
    CHECK(check_sort(test, parts) == gathered_bytes(test, parts));
  }
}

TEST_CASE("another dim is split for a sort and padded where it does not divide") {
  // 5 columns on 4 parts are padded to 8: a part of 12 rows is sent there and back.
  CHECK(check_sort({{floats({48, 5})}}, 4) == 2 * 3 * (12 * 8 * 4) / 4);
  CHECK(check_sort({{floats({48, 7}), whole_numbers({48, 7})}}, 4) == 2 * 2 * 3 * (12 * 8 * 4) / 4);
  CHECK(check_sort({{floats({3, 72}), floats({3, 72})}, 1, 2}, 6) == 2 * 2 * 5 * (12 * 6 * 4) / 6);
}
