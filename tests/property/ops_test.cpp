// Every op on its own: split over devices in random ways it gives what it gives whole, its gradient
// too, and bytes and peaks are those of the plan.

#include <doctest/doctest.h>

#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "exec/cluster.h"
#include "exec/measure.h"
#include "exec/reference.h"
#include "model/graph_builder.h"
#include "model/model.h"
#include "property/op_cases.h"
#include "property/planned_equals_counted.h"
#include "shard/sharded_graph.h"
#include "spmd/partition.h"

using namespace shard;
using namespace shard::test;

namespace {

class RandomSplit {
 public:
  /// With `misfits` the sizes of the mesh divide none of the arrays.
  explicit RandomSplit(std::uint64_t seed, bool misfits = false) : rng_(seed), misfits_(misfits) {
    static const std::vector<std::vector<std::int64_t>> meshes = {{2, 4},    {4, 2}, {8},
                                                                  {2, 2, 2}, {2},    {4}};
    static const std::vector<std::vector<std::int64_t>> odd_meshes = {
        {3}, {5}, {2, 3}, {3, 2}, {7}};
    const auto& among = misfits ? odd_meshes : meshes;
    sizes_ = among[rng_() % among.size()];
  }

  Mesh mesh() const {
    std::vector<MeshAxisInfo> axes;
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      axes.push_back({MeshAxis(name(i)), sizes_[i], {}});
    return Mesh(std::move(axes));
  }

  /// Every axis on some dim that it divides, or on none.
  SpecConfig placement(const Shape& shape) {
    PartitionSpec spec;
    spec.entries.resize(shape.size());
    Shape left = shape;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const std::size_t dim = rng_() % (shape.size() + 1);
      if (dim == shape.size() || (!misfits_ && left[dim] % sizes_[i] != 0)) continue;
      left[dim] /= sizes_[i];
      spec.entries[dim].axes.emplace_back(name(i));
    }
    return {spec, {"random", 1, 1, 1}};
  }

 private:
  static std::string name(std::size_t axis) {
    return std::string(1, static_cast<char>('x' + axis));
  }

  std::mt19937_64 rng_;
  bool misfits_;
  std::vector<std::int64_t> sizes_;
};

/// The op's results and, where it has one, the gradient of their weighted sum.
class OpGraph {
 public:
  OpGraph(const OpCase& test, RandomSplit& split) : builder_(graph_) {
    graph_.name = "one op";
    std::vector<ValueId> operands, moving;
    for (const TensorType& type : test.operands) {
      operands.push_back(input(type, split));
      if (is_inexact(type.dtype)) moving.push_back(operands.back());
    }
    const std::vector<ValueId> results = builder_.emit_all(test.op, operands, test.attributes);
    for (const ValueId result : results) output(result, split);
    const bool has_gradient = is_inexact(builder_.type(results[0]).dtype) && !moving.empty() &&
                              def(test.op).derivative != nullptr;
    if (!has_gradient) return;
    const ValueId weights = input(TensorType(builder_.type(results[0])), split);
    ValueId product = builder_.emit(Op::multiply, {results[0], weights});
    if (info(builder_.type(product).dtype).is_complex) product = builder_.emit(Op::real, {product});
    std::vector<std::int64_t> all(static_cast<std::size_t>(builder_.type(product).rank()));
    std::iota(all.begin(), all.end(), 0);
    const ValueId loss = builder_.emit(Op::reduce_sum, {product}, Attributes{{"dims", all}});
    for (const ValueId gradient : differentiate(graph_, loss, moving)) output(gradient, split);
  }

  Graph take() {
    remove_dead_code(graph_);
    verify(graph_);
    return std::move(graph_);
  }

 private:
  ValueId input(TensorType type, RandomSplit& split) {
    const std::string path = "in" + std::to_string(graph_.inputs.size());
    const SpecConfig placement = split.placement(type.shape);
    const std::vector<std::string> labels(type.shape.size());
    const ValueId value = builder_.add_value(std::move(type), path, labels, {});
    graph_.inputs.push_back({value, path, Role::parameter, -1, placement});
    graph_.regions.front().parameters.push_back(value);
    return value;
  }

  void output(ValueId value, RandomSplit& split) {
    const std::string path = "out" + std::to_string(graph_.outputs.size());
    const Shape shape = builder_.type(value).shape;
    graph_.outputs.push_back({value, path, Role::output, -1, -1, split.placement(shape)});
    graph_.regions.front().results.push_back(value);
  }

  Graph graph_;
  GraphBuilder builder_;
};

/// Runs the program on the inputs; bytes and peaks must be the plan's. The outputs that differ from
/// the whole graph in double precision by more than `tolerance`, one line each.
std::vector<std::string> differing(const ShardedGraph& sharded, const Program& program,
                                   const std::vector<HostTensor>& inputs, double tolerance) {
  const std::vector<HostTensor> expected = run_reference(sharded.given(), inputs);
  Cluster cluster(program, {1});
  for (std::size_t i = 0; i < inputs.size(); ++i) cluster.write_input(i, inputs[i]);
  cluster.run();
  CHECK(differences_from_plan(program, cluster) == std::vector<std::string>{});
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string& path = sharded.graph.outputs[i].path;
    const Difference difference = compare(path, cluster.read_output(i), expected[i], tolerance);
    if (difference.is_ok()) continue;
    lines.push_back(path + " differs by " + std::to_string(difference.largest) + " at " +
                    std::to_string(difference.index));
  }
  return lines;
}

std::vector<HostTensor> drawn_inputs(const Graph& graph, std::int64_t limit, std::uint64_t seed) {
  std::vector<HostTensor> inputs;
  for (const GraphInput& input : graph.inputs) {
    inputs.push_back(drawn_values(graph.value(input.value).type, limit, seed * 31 + inputs.size()));
  }
  return inputs;
}

void check_case(const OpCase& test, std::uint64_t seed) {
  RandomSplit split(seed);
  const ShardedGraph sharded = shard_graph(OpGraph(test, split).take(), {}, split.mesh());
  const Program program = partition(sharded);
  CAPTURE(to_string(program));
  REQUIRE_NOTHROW(verify(program));
  CHECK(read_program("program", to_string(program)) == program);
  const auto inputs = drawn_inputs(sharded.graph, test.index_limit, seed);
  CHECK(differing(sharded, program, inputs, 1e-5) == std::vector<std::string>{});
}

/// On arrays that are padded: right answers, or a refusal that says so. Whether it was computed.
bool check_padded(const OpCase& test, std::uint64_t seed) {
  RandomSplit split(seed, true);
  RulesConfig rules;
  rules.misfit = Misfit::pad;
  std::optional<ShardedGraph> sharded;
  try {
    sharded = shard_graph(OpGraph(test, split).take(), rules, split.mesh());
  } catch (const Error& error) {
    for (const Diagnostic& one : error.diagnostics()) CHECK(one.id == "indivisible");
    return false;
  }
  const Program program = partition(*sharded);
  CAPTURE(to_string(program));
  REQUIRE_NOTHROW(verify(program));
  const auto inputs = drawn_inputs(sharded->given(), test.index_limit, seed);
  CHECK(differing(*sharded, program, inputs, 1e-5) == std::vector<std::string>{});
  return true;
}

}  // namespace

TEST_CASE("every op split over devices gives what it gives whole") {
  for (const OpCase& test : op_cases()) {
    CAPTURE(def(test.op).name);
    CAPTURE(to_string(test.attributes));
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      CAPTURE(seed);
      check_case(test, seed);
    }
  }
}

TEST_CASE("every op on padded arrays gives what it gives whole or is refused") {
  int computed = 0, refused = 0;
  for (const OpCase& test : op_cases()) {
    CAPTURE(def(test.op).name);
    CAPTURE(to_string(test.attributes));
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      ++(check_padded(test, seed) ? computed : refused);
    }
  }
  CHECK(computed > 300);
  CHECK(refused > 100);
}

TEST_CASE("a table split along its rows is never gathered for a lookup") {
  RandomSplit split(1);
  for (const OpCase& test : op_cases()) {
    if (test.op != Op::gather || test.operands[0].shape != Shape{16, 8}) continue;
    if (test.attributes.integers("collapsed_dims") != std::vector<std::int64_t>{0}) continue;
    Graph graph = OpGraph(test, split).take();
    graph.inputs[0].placement = {PartitionSpec{{PartitionEntry{{MeshAxis("x")}, false}, {}}}, {}};
    for (std::size_t i = 1; i < graph.inputs.size(); ++i) graph.inputs[i].placement = {};
    for (GraphOutput& output : graph.outputs) output.placement = std::nullopt;
    const Mesh mesh({{MeshAxis("x"), 4, {}}});
    const Program program = partition(shard_graph(std::move(graph), {}, mesh));
    std::set<CollectiveKind> kinds;
    for (const CollectiveCount& one : count_collectives(program)) kinds.insert(one.kind);
    CAPTURE(to_string(program));
    CHECK(kinds == std::set<CollectiveKind>{CollectiveKind::all_reduce});
  }
}
